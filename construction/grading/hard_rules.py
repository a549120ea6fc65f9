"""Hard rules, checked on the folder of an agent's output files.

The outputs of an agent are untrusted: each file is opened in a confined process of its own
(`file_child`) with limits on time, memory and inflation. These processes only measure; the rules
are judged here, from what was seen. Nothing in a file can raise to the caller: a file that crashes,
hangs or inflates beyond the limits fails a rule, with the reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from construction.grading.content_rules import CONTENT_RULES, ContentReason
from construction.grading.file_child import look_in_children, regular_files
from construction.grading.file_look import RuleLimits, Seen, read_regular
from construction.grading.file_types import type_of
from construction.grading.text_openers import TooLarge

Scalar = int | float | str | bool | None
Look = Callable[[Path, Sequence[str], RuleLimits], list[Seen]]


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


class HardRule(Protocol):
    """A hard rule as data: `data.contracts.Rule` in the pool, `spec.RuleSpec` in a grader."""

    @property
    def rule_id(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def params(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file of the output folder: its relative name, its extension, and what was seen in it."""

    name: str
    extension: str
    seen: Seen


@dataclass(frozen=True, slots=True)
class Outputs:
    """The output files that rules ask about.

    `copies` are names of files that are byte for byte an input of the task: they deliver nothing
    and are not looked at. `overflow`: the folder holds more files than are examined.
    """

    files: tuple[OutputFile, ...] = ()
    copies: tuple[str, ...] = ()
    overflow: bool = False


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


def check(
    rules: Sequence[HardRule], output_dir: Path, limits: RuleLimits | None = None
) -> tuple[RuleResult, ...]:
    """Check every rule on the files below `output_dir`; one result per rule, in order."""
    outputs = look_at_outputs(rules, output_dir, limits)
    return tuple(judge_rule(rule, outputs.files, outputs.overflow) for rule in rules)


def look_at_outputs(
    rules: Sequence[HardRule],
    output_dir: Path,
    limits: RuleLimits | None = None,
    inputs: Sequence[str] = (),
    look: Look = look_in_children,
) -> Outputs:
    """Look at the output files with an extension that some rule names, except copies of inputs.

    Symlinks, devices and hidden files are skipped, so they deliver nothing. `inputs` are SHA-256
    digests. Files with the same content and type are looked at once.
    """
    limits = limits or RuleLimits()
    wanted = {extension for rule in rules for extension in rule.params.get("extensions", ())}
    present = list(regular_files(output_dir, limits.files + 1))
    names = [name for name in present[: limits.files] if _extension(name) in wanted]
    digests = {name: _digest(output_dir, name, limits.file_bytes) or name for name in names}
    copies = tuple(name for name in names if digests[name] in inputs)
    own = [name for name in names if name not in copies]
    alike = {name: (digests[name], type_of(name)) for name in own}
    first = {content: name for name, content in reversed(alike.items())}
    todo = [name for name in own if first[alike[name]] == name]
    seen = dict(zip(todo, look(output_dir, todo, limits), strict=True))
    files = tuple(OutputFile(name, _extension(name), seen[first[alike[name]]]) for name in own)
    return Outputs(files, copies, len(present) > limits.files)


def _extension(name: str) -> str:
    """Its ending; the whole name of a file that has none, such as Makefile."""
    return name.rpartition("/")[2].rpartition(".")[2].lower()


def _digest(folder: Path, name: str, max_bytes: int) -> str | None:
    """The SHA-256 of a file; None if it is too large or cannot be read."""
    try:
        return hashlib.sha256(read_regular(str(folder), name, max_bytes)).hexdigest()
    except (OSError, TooLarge):
        return None


def judge_rule(rule: HardRule, outputs: Sequence[OutputFile], overflow: bool) -> RuleResult:
    """Judge one rule. `overflow`: the folder holds more files than were examined."""
    judge = _content if rule.kind in CONTENT_RULES else _JUDGES.get(rule.kind)
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
    rule: HardRule,
    reason: RuleReason | ContentReason,
    observed: Scalar = None,
    limit: Scalar = None,
    file: OutputFile | None = None,
) -> RuleResult:
    name = printable(file.name) if file else None
    return RuleResult(rule.rule_id, rule.kind, False, str(reason), observed, limit, name)


def _each(
    rule: HardRule, files: Sequence[OutputFile], fault: Callable[[Seen], RuleReason | None]
) -> RuleResult:
    """Passed if no file has the fault; `observed` counts the files that have none."""
    faults = [fault(file.seen) for file in files]
    sound = faults.count(None)
    for file, reason in zip(files, faults, strict=True):
        if reason is not None:
            return _failed(rule, reason, sound, len(files), file)
    return RuleResult(rule.rule_id, rule.kind, True, None, sound, len(files))


def _file_type(rule: HardRule, files: Sequence[OutputFile]) -> RuleResult:
    def fault(seen: Seen) -> RuleReason | None:
        if seen.trouble in _NOT_LOOKED_AT:
            return _TROUBLES[seen.trouble]
        return None if seen.signature else RuleReason.WRONG_CONTENT

    return _each(rule, files, fault)


# After these not even the first bytes of the file are known.
_NOT_LOOKED_AT = frozenset({"timeout", "crashed", "unsafe_file"})


def _count(rule: HardRule, files: Sequence[OutputFile]) -> RuleResult:
    wanted = int(rule.params["min"])
    if len(files) < wanted:
        return _failed(rule, RuleReason.TOO_FEW_FILES, len(files), wanted)
    return RuleResult(rule.rule_id, rule.kind, True, None, len(files), wanted)


def _named(rule: HardRule, files: Sequence[OutputFile]) -> RuleResult:
    present = set(map(_base, files))
    wanted = [name.rpartition("/")[2].lower() for name in rule.params["names"]]
    there = sum(name in present for name in wanted)
    if there < len(wanted):
        return _failed(rule, RuleReason.MISSING_NAME, there, len(wanted))
    return RuleResult(rule.rule_id, rule.kind, True, None, there, len(wanted))


def _base(file: OutputFile) -> str:
    return file.name.rpartition("/")[2].lower()


def _non_empty(rule: HardRule, files: Sequence[OutputFile]) -> RuleResult:
    def fault(seen: Seen) -> RuleReason | None:
        if seen.trouble in _NOT_LOOKED_AT:
            return _TROUBLES[seen.trouble]
        hollow = not seen.trouble and not seen.items
        return RuleReason.EMPTY_FILE if seen.size == 0 or hollow else None

    return _each(rule, files, fault)


def _opens(rule: HardRule, files: Sequence[OutputFile]) -> RuleResult:
    return _each(rule, files, _trouble)


def _trouble(seen: Seen) -> RuleReason | None:
    return _TROUBLES.get(seen.trouble, RuleReason.CRASHED) if seen.trouble else None


def _no_traceback(rule: HardRule, files: Sequence[OutputFile]) -> RuleResult:
    return _each(
        rule,
        files,
        lambda seen: _trouble(seen) or (RuleReason.TRACEBACK if seen.traceback else None),
    )


def _content(rule: HardRule, files: Sequence[OutputFile]) -> RuleResult:
    """A rule on content; only files with the names that it states count, if it states any."""
    names = {name.lower() for name in rule.params.get("names_of_files", ())}
    chosen = [file for file in files if not names or _base(file) in names] or files
    outcome = CONTENT_RULES[rule.kind](rule.params, [file.seen for file in chosen])
    if outcome.reason is not None:
        return _failed(rule, outcome.reason, outcome.observed, outcome.limit, chosen[0])
    return RuleResult(rule.rule_id, rule.kind, True, None, outcome.observed, outcome.limit)


_JUDGES: dict[str, Callable[[HardRule, Sequence[OutputFile]], RuleResult]] = {
    "file_type": _file_type,
    "count": _count,
    "named": _named,
    "non_empty": _non_empty,
    "opens": _opens,
    "no_traceback": _no_traceback,
}
