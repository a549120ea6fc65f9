"""Hard rules as data: made from a candidate's deliverables, or read from a released task's files.

`construction.grading` checks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from construction.grading.file_types import TYPES, FileType
from construction.grading.hard_rules import RuleResult, check
from data.contracts import Deliverable, Rule
from data.errors import InputError
from data.neutralise import one_line
from data.snapshot.pages import amount

_PLACEHOLDER_KINDS = ("document", "data")
_TALKS_ABOUT_ERRORS = ("traceback", "stack trace", "stacktrace", "报错", "堆栈", "异常信息")
_TALKS_ABOUT_GAPS = ("placeholder", "todo", "tbd", "template", "{{", "占位", "模板", "待补充")


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


_RULES = TypeAdapter(tuple[Rule, ...])
_FILE = "rules.json"
_EVERY_TASK = "provenance.json"  # stands in each task's folder of a private half


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
        actual = f"no rules ({type(error).__name__})"
        raise InputError(str(path), actual, "a list of rules", "Use the released file.") from None
    except ValidationError as error:
        actual = amount(error.error_count(), "error")
        raise InputError(str(path), actual, "a list of rules", "Use the released file.") from None


def check_outputs(task: Path, outputs: Path) -> tuple[RuleResult, ...]:
    """The result of each rule of a released task over a folder of outputs. Raises InputError."""
    if not outputs.is_dir():
        raise InputError(str(outputs), "no folder", "the outputs folder", "Check the path.")
    try:
        return check(load_rules(task), outputs)
    except (KeyError, TypeError, ValueError) as error:
        actual = f"parameters that do not fit their rule ({type(error).__name__})"
        raise InputError(str(task), actual, "a list of rules", "Use the released file.") from error


def result_line(result: RuleResult) -> str:
    """The result of a rule in a line for a person."""
    name = one_line(result.rule_id)
    if result.passed:
        return f"pass  {name}"
    where = f" in {result.file}" if result.file else ""
    return f"FAIL  {name}  {result.reason}{where}: {result.observed}, limit {result.limit}"
