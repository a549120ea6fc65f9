"""Hard rules as data, made from a candidate's deliverables; `construction.grading` checks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from construction.grading.file_look import holds_traceback
from construction.grading.file_types import TYPES, FileType
from data.contracts import Deliverable, Rule


def hard_rules(deliverables: Sequence[Deliverable], material: str) -> tuple[Rule, ...]:
    """The rules that any good output satisfies, whatever its content, in a fixed order.

    `material` is all that the task gives, in words. Where that holds a traceback, a deliverable may
    quote it, and there is no rule against one.
    """
    rules: list[Rule] = []
    for deliverable in deliverables:
        rules += _rules_of_type(deliverable)
    known = [TYPES[item.file_type] for item in deliverables if item.file_type in TYPES]
    everything = _extensions(known) or [item.file_type for item in deliverables]
    rules.append(_rule("non_empty", everything, "No deliverable is empty."))
    readable = _extensions([kind for kind in known if kind.opener])
    if readable and not holds_traceback(material) and "traceback" not in material.lower():
        text = "No deliverable contains a traceback instead of content."
        rules.append(_rule("no_traceback", readable, text))
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
