"""Judging hard rules from what the sandboxed children saw: pure, no file is touched here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from construction.judging.hard_rule_runner import Seen
from data.contracts import Rule, Scalar
from data.errors import InputError

_RULES = TypeAdapter(tuple[Rule, ...])
_FILE = "rules.json"
_EVERY_TASK = "provenance.json"  # stands in each task's folder of a private half


class RuleReason(StrEnum):
    """Why a rule failed."""

    MISSING_FILE = "rules.missing_file"
    TOO_FEW_FILES = "rules.too_few_files"
    TOO_MANY_FILES = "rules.too_many_files"  # more than are looked at
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


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file of the output folder: its relative name, its extension, what was seen in it."""

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


def judge_rule(rule: Rule, outputs: Sequence[OutputFile], overflow: bool) -> RuleResult:
    """Judge one rule. `overflow`: the folder holds more files than were looked at."""
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
    """A hostile file name on one line: escapes for what a terminal or a log would act on."""
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


# Troubles after which not even the first bytes are known.
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


def load_rules(task: Path) -> tuple[Rule, ...]:
    """The rules of a released `rules.json`, or of a file that is a list of rules alone."""
    path = task / _FILE if task.is_dir() else task
    try:
        document = orjson.loads(path.read_bytes())
        return _RULES.validate_python(document["rules"] if isinstance(document, dict) else document)
    except OSError as error:
        if path != task and (task / _EVERY_TASK).is_file():
            raise InputError(
                str(task), f"no {_FILE}", "a task with hard rules", "This task has none to check."
            ) from None
        raise InputError(
            str(path), error.strerror or "an error", "a task's rules.json", "Check the path."
        ) from None
    except (orjson.JSONDecodeError, KeyError) as error:
        found = f"no rules ({type(error).__name__})"
        raise InputError(str(path), found, "a list of rules", "Use the released file.") from None
    except ValidationError as error:
        found = f"{error.error_count()} errors"
        raise InputError(str(path), found, "a list of rules", "Use the released file.") from None
