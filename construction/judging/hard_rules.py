"""Hard rules as data, made from a candidate's deliverables; `construction.grading` checks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from construction.grading.file_types import TYPES, FileType
from data.contracts import Deliverable, Rule

_PLACEHOLDER_KINDS = ("document", "data")
_TALKS_ABOUT_ERRORS = ("traceback", "stack trace", "stacktrace", "报错", "堆栈", "异常信息")
# Where a fact is missing, the draft of a message has an honest gap.
_TALKS_ABOUT_GAPS = (
    "draft",
    "草稿",
    "草案",
    "placeholder",
    "todo",
    "tbd",
    "template",
    "{{",
    "占位",
    "模板",
    "待补充",
)


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
            _rule(
                "no_traceback", readable, "No deliverable contains a traceback instead of content."
            )
        )
    prose = _extensions([kind for kind in known if kind.kind in _PLACEHOLDER_KINDS and kind.opener])
    if prose and not any(word in words for word in _TALKS_ABOUT_GAPS):
        rules.append(
            _rule("no_placeholder", prose, "No deliverable contains an unfilled placeholder.")
        )
    return tuple(rules)


def _rules_of_type(deliverable: Deliverable) -> Iterator[Rule]:
    name, count = deliverable.file_type, deliverable.count
    kind = TYPES.get(name)
    extensions = list(kind.extensions) if kind else [name]
    yield _rule(
        f"file_type.{name}",
        extensions,
        f"There is .{name} output, and its content is of that type.",
    )
    yield _rule(f"count.{name}", extensions, f"At least {count} .{name} file(s).", min=count)
    if deliverable.source != "produced" and deliverable.name_hints:
        names = list(deliverable.name_hints)
        yield _rule(
            f"named.{name}", extensions, f"Named as requested: {', '.join(names)}.", names=names
        )
    if kind is not None and kind.opener:
        yield _rule(f"opens.{name}", extensions, f"Every .{name} file opens with its own library.")


def _rule(rule_id: str, extensions: list[str], text: str, **params: object) -> Rule:
    kind = rule_id.partition(".")[0]
    return Rule(rule_id=rule_id, kind=kind, params={"extensions": extensions, **params}, text=text)


def _extensions(kinds: Sequence[FileType]) -> list[str]:
    return sorted({extension for kind in kinds for extension in kind.extensions})
