"""Hard rules: made from a candidate's deliverables, as data, and checked on an output folder.

The outputs of an agent are untrusted: each file is opened in a child process of its own
(`hard_rule_runner`) with limits on time, memory and inflation. The children only measure; the
rules are judged here, from what was seen. Nothing in a file can raise to the caller: a file that
crashes, hangs or inflates beyond the limits fails a rule, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from construction.judging.file_types import TYPES, FileType, type_of
from construction.judging.hard_rule_runner import Seen, look_in_child, regular_files
from data.contracts import Deliverable, Rule, Scalar, StageConfig

_PLACEHOLDER_KINDS = ("document", "data")
_TALKS_ABOUT_ERRORS = ("traceback", "stack trace", "stacktrace", "报错", "堆栈", "异常信息")
_TALKS_ABOUT_GAPS = ("placeholder", "todo", "tbd", "template", "{{", "占位", "模板", "待补充")


class RuleReason(StrEnum):
    """Why a rule failed."""

    MISSING_FILE = "rules.missing_file"
    TOO_FEW_FILES = "rules.too_few_files"
    TOO_MANY_FILES = "rules.too_many_files"  # more than are examined
    MISSING_NAME = "rules.missing_name"
    WRONG_CONTENT = "rules.wrong_content"  # the extension says one type, the bytes another
    EMPTY_FILE = "rules.empty_file"
    DOES_NOT_OPEN = "rules.does_not_open"
    TRACEBACK = "rules.traceback"
    PLACEHOLDER = "rules.placeholder"
    UNKNOWN_RULE = "rules.unknown_rule"
    # The file could not be judged within the limits, or not safely.
    ENCRYPTED = "rules.encrypted"
    TOO_LARGE = "rules.too_large"
    TOO_DEEP = "rules.too_deep"
    TIMEOUT = "rules.timeout"
    OUT_OF_MEMORY = "rules.out_of_memory"
    CRASHED = "rules.crashed"
    UNSAFE_FILE = "rules.unsafe_file"


_TROUBLES = {
    "broken": RuleReason.DOES_NOT_OPEN,
    "encrypted": RuleReason.ENCRYPTED,
    "too_large": RuleReason.TOO_LARGE,
    "too_deep": RuleReason.TOO_DEEP,
    "timeout": RuleReason.TIMEOUT,
    "out_of_memory": RuleReason.OUT_OF_MEMORY,
    "crashed": RuleReason.CRASHED,
    "unsafe_file": RuleReason.UNSAFE_FILE,
}


class RuleLimits(StageConfig):
    """Limits of one check. Seconds are wall time; `total_seconds` is for all files together."""

    seconds: int = 30
    total_seconds: int = 300
    memory_bytes: int = 1 << 30
    files: int = 500
    file_bytes: int = 100 << 20
    inflated_bytes: int = 300 << 20
    archive_entries: int = 10_000
    cells: int = 5_000_000
    pixels: int = 100_000_000
    pages: int = 2_000
    text_chars: int = 10_000_000


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file of the output folder: its relative name, its extension, and what was seen in it."""

    name: str
    extension: str
    seen: Seen


@dataclass(frozen=True, slots=True)
class RuleResult:
    """The outcome of one rule. `file` is the first file that failed it, as a printable name."""

    rule_id: str
    kind: str
    passed: bool
    reason: str | None = None
    observed: Scalar = None
    limit: Scalar = None
    file: str | None = None


def hard_rules(deliverables: Sequence[Deliverable], request: str) -> tuple[Rule, ...]:
    """The rules that any good output satisfies, whatever its content, in a fixed order.

    A request that itself mentions tracebacks or placeholders (a bug report, a template) has no
    rule against them: its deliverable may quote one.
    """
    rules: list[Rule] = []
    for deliverable in deliverables:
        rules += _rules_of_type(deliverable)
    known = [TYPES[item.file_type] for item in deliverables if item.file_type in TYPES]
    everything = _extensions(known) or [item.file_type for item in deliverables]
    rules.append(_rule("non_empty", everything, "No deliverable is empty."))
    words = request.lower()
    readable = _extensions([kind for kind in known if kind.opener])
    if readable and not any(word in words for word in _TALKS_ABOUT_ERRORS):
        rules.append(
            _rule("no_traceback", readable, "No deliverable holds a traceback in place of content.")
        )
    prose = _extensions([kind for kind in known if kind.kind in _PLACEHOLDER_KINDS and kind.opener])
    if prose and not any(word in words for word in _TALKS_ABOUT_GAPS):
        rules.append(
            _rule("no_placeholder", prose, "No deliverable holds an unfilled placeholder.")
        )
    return tuple(rules)


def _rules_of_type(deliverable: Deliverable) -> Iterator[Rule]:
    name, count = deliverable.file_type, deliverable.count
    kind = TYPES.get(name)
    extensions = list(kind.extensions) if kind else [name]
    yield _rule(
        f"file_type.{name}", extensions, f"There is .{name} output, and it is what it says."
    )
    yield _rule(f"count.{name}", extensions, f"At least {count} .{name} file(s).", min=count)
    if deliverable.source != "produced" and deliverable.name_hints:
        names = list(deliverable.name_hints)
        yield _rule(
            f"named.{name}", extensions, f"Named as asked: {', '.join(names)}.", names=names
        )
    if kind is not None and kind.opener:
        yield _rule(f"opens.{name}", extensions, f"Every .{name} file opens with its own library.")


def _rule(rule_id: str, extensions: list[str], text: str, **params: object) -> Rule:
    kind = rule_id.partition(".")[0]
    return Rule(rule_id=rule_id, kind=kind, params={"extensions": extensions, **params}, text=text)


def _extensions(kinds: Sequence[FileType]) -> list[str]:
    return sorted({extension for kind in kinds for extension in kind.extensions})


def check(
    rules: Sequence[Rule], output_dir: Path, limits: RuleLimits | None = None
) -> tuple[RuleResult, ...]:
    """Check every rule on the files below `output_dir`; one result per rule, in order.

    Symlinks, devices and hidden files are skipped, so they deliver nothing. Only files with an
    extension that some rule names are opened.
    """
    limits = limits or RuleLimits()
    wanted = {ext for rule in rules for ext in rule.params.get("extensions", ())}
    names = list(regular_files(output_dir, limits.files + 1))
    deadline = time.monotonic() + limits.total_seconds
    outputs: list[OutputFile] = []
    for name in names[: limits.files]:
        kind = type_of(name)
        extension = name.rpartition(".")[2].lower()
        if extension not in wanted:
            continue
        remaining = deadline - time.monotonic()
        seen = Seen("timeout")
        if remaining > 0:
            seen = look_in_child(output_dir, name, kind, limits.model_dump())
        outputs.append(OutputFile(name, extension, seen))
    overflow = len(names) > limits.files
    return tuple(judge_rule(rule, outputs, overflow) for rule in rules)


def judge_rule(rule: Rule, outputs: Sequence[OutputFile], overflow: bool) -> RuleResult:
    """Judge one rule. `overflow`: the folder holds more files than were examined."""
    judge = _JUDGES.get(rule.kind)
    if judge is None:
        return _failed(rule, RuleReason.UNKNOWN_RULE)
    if overflow:
        return _failed(rule, RuleReason.TOO_MANY_FILES)
    files = [file for file in outputs if file.extension in rule.params["extensions"]]
    if not files:
        return _failed(rule, RuleReason.MISSING_FILE, 0, rule.params.get("min", 1))
    return judge(rule, files)


def printable(name: str) -> str:
    """A hostile file name on one line, with escapes for control characters."""
    shown = name.encode("utf-8", "backslashreplace").decode()
    shown = "".join(
        ch if ch.isprintable() else ch.encode("unicode_escape").decode() for ch in shown
    )
    return shown if len(shown) <= 120 else f"{shown[:117]}..."


def _failed(
    rule: Rule,
    reason: RuleReason,
    observed: Scalar = None,
    limit: Scalar = None,
    file: OutputFile | None = None,
) -> RuleResult:
    name = printable(file.name) if file else None
    return RuleResult(rule.rule_id, rule.kind, False, str(reason), observed, limit, name)


def _each(
    rule: Rule, files: Sequence[OutputFile], fault: Callable[[Seen], RuleReason | None]
) -> RuleResult:
    """Passed if no file has the fault; `observed` counts the files that have none."""
    faults = [fault(file.seen) for file in files]
    sound = faults.count(None)
    for file, reason in zip(files, faults, strict=True):
        if reason is not None:
            return _failed(rule, reason, sound, len(files), file)
    return RuleResult(rule.rule_id, rule.kind, True, None, sound, len(files))


def _file_type(rule: Rule, files: Sequence[OutputFile]) -> RuleResult:
    def fault(seen: Seen) -> RuleReason | None:
        if seen.trouble in _NOT_LOOKED_AT:
            return _TROUBLES[seen.trouble]
        return None if seen.signature else RuleReason.WRONG_CONTENT

    return _each(rule, files, fault)


# After these not even the first bytes of the file are known.
_NOT_LOOKED_AT = frozenset({"timeout", "crashed", "unsafe_file"})


def _count(rule: Rule, files: Sequence[OutputFile]) -> RuleResult:
    wanted = int(rule.params["min"])
    if len(files) < wanted:
        return _failed(rule, RuleReason.TOO_FEW_FILES, len(files), wanted)
    return RuleResult(rule.rule_id, rule.kind, True, None, len(files), wanted)


def _named(rule: Rule, files: Sequence[OutputFile]) -> RuleResult:
    present = {file.name.rpartition("/")[2].lower() for file in files}
    wanted = [name.rpartition("/")[2].lower() for name in rule.params["names"]]
    there = sum(name in present for name in wanted)
    if there < len(wanted):
        return _failed(rule, RuleReason.MISSING_NAME, there, len(wanted))
    return RuleResult(rule.rule_id, rule.kind, True, None, there, len(wanted))


def _non_empty(rule: Rule, files: Sequence[OutputFile]) -> RuleResult:
    def fault(seen: Seen) -> RuleReason | None:
        if seen.trouble in _NOT_LOOKED_AT:
            return _TROUBLES[seen.trouble]
        hollow = not seen.trouble and not seen.items
        return RuleReason.EMPTY_FILE if seen.size == 0 or hollow else None

    return _each(rule, files, fault)


def _opens(rule: Rule, files: Sequence[OutputFile]) -> RuleResult:
    return _each(rule, files, _trouble)


def _trouble(seen: Seen) -> RuleReason | None:
    return _TROUBLES.get(seen.trouble, RuleReason.CRASHED) if seen.trouble else None


def _no_traceback(rule: Rule, files: Sequence[OutputFile]) -> RuleResult:
    return _each(
        rule,
        files,
        lambda seen: _trouble(seen) or (RuleReason.TRACEBACK if seen.traceback else None),
    )


def _no_placeholder(rule: Rule, files: Sequence[OutputFile]) -> RuleResult:
    return _each(
        rule,
        files,
        lambda seen: _trouble(seen) or (RuleReason.PLACEHOLDER if seen.placeholders else None),
    )


_JUDGES: dict[str, Callable[[Rule, Sequence[OutputFile]], RuleResult]] = {
    "file_type": _file_type,
    "count": _count,
    "named": _named,
    "non_empty": _non_empty,
    "opens": _opens,
    "no_traceback": _no_traceback,
    "no_placeholder": _no_placeholder,
}
