"""Metamorphic variants: a fact of the world is changed, and the gold has to follow, or to stay.

A gold value is believed if nothing in the world moves it. So the facts that the reference was shown
are changed by code, one field of a collection at a time: numbers, days, statuses, assignees and
references, and the figures and the whole text of the record with the rule. The reference runs again
on each changed world, and every answer and every wanted change has to differ somewhere. Records
that the reference never opened are changed the same way, where no list shows it; then nothing may.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from construction.grading.actions import CHANGES
from construction.grading.spec import TaskSpec
from construction.workflows.contracts import Draft, Fields, Scenario, World
from construction.workflows.declaration import operations
from construction.workflows.declaration import service as declared
from construction.workflows.engine import OK
from construction.workflows.runs import Run, answers_alike, graded, perform, spec_of_draft
from construction.workflows.values import FieldRule, FieldType
from construction.workflows.world_file import changed_faults
from data.contracts.attempt import AuditRow

_FIGURE = re.compile(r"\d+(?:\.\d+)?")
_BOUND = re.compile(r"_(?:from|to|min|max)$")
_SENTENCE = re.compile(r"[.!?。]\s+(?=\S)|\n+(?=\S)|。(?=\S)")
_BLANK = "Nothing is laid down here."
_WAYS = 3  # in which a value is changed
_MOST_REMOVED = 60  # records, one at a time: the last resort, and each costs a run
_DAYS = (-120, 120)
Place = tuple[str, str]  # service and collection


@dataclass(frozen=True, slots=True)
class _Variant:
    """A world in which `fact` ("service/collection.field" or a rule's record) is another."""

    fact: str
    world: World


@dataclass(frozen=True, slots=True)
class Proof:
    """What the variants say of a draft: names of what is wrong, none where all is proven.

    `believed`: answers and wanted changes that no fact moves; `idle`: overriding records, and
    collections of records that have to be read, that move nothing; `moved`: facts without a bearing
    on the task that change what the reference does.
    """

    believed: tuple[str, ...]
    idle: tuple[str, ...]
    moved: tuple[str, ...]


def proof_of(draft: Draft, scenario: Scenario, run: Run) -> Proof:
    """Try variants until every part of the gold and every overriding record has moved something.

    A reference that fails on a changed world shows that a change depends on it, but no answer.
    """
    spec = spec_of_draft(draft)
    changes = {f"check.{check.check_id}" for check in draft.checks if check.kind in CHANGES}
    believed = changes | {f"answer.{answer.part}" for answer in draft.answers}
    moving, rules = set(believed), set() if scenario.is_scripted else set(draft.overriding)
    idle = rules | {f"{service}/{plural}" for service, plural in _demanded(draft)}
    for variant in chain(_retold(draft, scenario), _relevant(draft, run)):
        about = variant.fact.partition(".")[0]
        if not believed and not idle:
            break
        if (not believed and about not in idle) or changed_faults(variant.world, draft.world):
            continue
        lost = _lost(variant, draft, scenario, spec) & moving
        believed -= lost
        if lost:
            idle.discard(about)
    first = _outcome(run)
    moved = (
        variant.fact
        for variant in _irrelevant(draft, run)
        if not answers_alike(run, draft.world, variant.world)
        and _outcome(perform(replace(draft, world=variant.world), scenario)) != first
    )
    return Proof(tuple(sorted(believed)), tuple(sorted(idle)), tuple(islice(moved, 1)))


def _retold(draft: Draft, scenario: Scenario) -> Iterator[_Variant]:
    """Worlds in which a rule says something else, where the scenario knows what it could say."""
    for record, fields in scenario.retold(draft):
        service, plural, identifier = record.split("/", 2)
        yield _Variant(record, _with(draft.world, service, plural, {identifier: fields}))


def _demanded(draft: Draft) -> Iterator[tuple[str, str]]:
    """The collections of the records that have to be read, but for those with the rules."""
    for check in draft.checks:
        if check.kind == "records_returned":
            service = check.params["service"]
            for record in check.params["records"]:
                if f"{service}/{record}" not in draft.overriding:
                    yield service, record.partition("/")[0]


def _lost(variant: _Variant, draft: Draft, scenario: Scenario, spec: TaskSpec) -> set[str]:
    """The parts of the gold that the reference does not reach on a changed world."""
    after = perform(replace(draft, world=variant.world), scenario)
    score = graded(spec, after.submission(), 1.0)
    lost = {part.name for part in score.parts if part.value == 0}
    return {name for name in lost if after.failure is None or name.startswith("check.")}


def _outcome(run: Run) -> tuple[Any, ...]:
    """What a run leaves: its answer, and the records that it changed as they are then."""
    changes = [(change.service, change.record, change.after) for change in run.submission().changes]
    return run.failure, run.answer, changes


def _relevant(draft: Draft, run: Run) -> Iterator[_Variant]:
    """The rules, what was shown whole, then all, each half and each of what was searched."""
    shown = _opened(run) - {*draft.overriding}
    places = {(row.service, _collection(row)) for row in run.audit if row.status == OK}
    listed = {name for name in _all(draft.world) if tuple(name.split("/")[:2]) in places}
    for record in draft.overriding:
        yield from _rule_variants(draft.world, record)
    searched = sorted(listed - {*draft.overriding})
    for records in (shown, searched, searched[::2], searched[1::2]):
        yield from _variants(draft.world, records)
    yield from _without_one(draft.world, searched[:_MOST_REMOVED])


def _without_one(world: World, records: Iterable[str]) -> Iterator[_Variant]:
    for record in records:
        service, plural, identifier = record.split("/", 2)
        rooms = world.state[service]
        kept = {name: fields for name, fields in rooms[plural].items() if name != identifier}
        state = {**world.state, service: {**rooms, plural: kept}}
        yield _Variant(f"{service}/{plural}.{identifier}", replace(world, state=state))


def _irrelevant(draft: Draft, run: Run) -> Iterator[_Variant]:
    """Fields that no list shows and no search asked for, of records that nobody had to open."""
    changed = {f"{change.service}/{change.record}" for change in run.submission().changes}
    far = _all(draft.world) - _opened(run) - changed - {*draft.overriding}
    sought = {
        f"{row.service}/{_collection(row)}.{_BOUND.sub('', name)}"
        for row in run.audit
        for name in row.arguments
    }
    for variant in _variants(draft.world, far, hidden=True):
        if variant.fact not in sought and not changed_faults(variant.world, draft.world):
            yield variant


def _collection(row: AuditRow) -> str:
    return operations(row.service)[row.operation].collection


def _all(world: World) -> set[str]:
    return {
        f"{service}/{plural}/{identifier}"
        for service, collections in world.state.items()
        for plural, records in collections.items()
        for identifier in records
    }


def _opened(run: Run) -> set[str]:
    """The records that were shown whole, as "service/collection/id"."""
    rows = (row for row in run.audit if row.status == OK)
    return {f"{row.service}/{record}" for row in rows for record in row.records}


def _variants(world: World, records: Iterable[str], *, hidden: bool = False) -> Iterator[_Variant]:
    """Each field of the records changed, in all records of a collection at once.

    `hidden`: only what a list does not show, so that no search finds others.
    """
    places: dict[Place, list[str]] = {}
    for name in sorted(records):
        service, plural, identifier = name.split("/", 2)
        places.setdefault((service, plural), []).append(identifier)
    for (service, plural), ids in places.items():
        collection = declared(service).collections[plural]
        for field, rule in collection.fields.items():
            if hidden and field in (collection.summary or collection.fields):
                continue
            held = world.state[service][plural]
            for title, fields in _changed(field, rule, {i: held[i] for i in ids}, world):
                yield _Variant(f"{service}/{plural}.{title}", _with(world, service, plural, fields))


def _rule_variants(world: World, record: str) -> Iterator[_Variant]:
    """The rule's text with each of its figures changed, and without what it says."""
    service, plural, identifier = record.split("/", 2)
    collection, fields = declared(service).collections[plural], world.state[service][plural]
    for field, rule in collection.fields.items():
        text = fields[identifier].get(field)
        is_prose = rule.type is FieldType.TEXT and not rule.reference and field in collection.query
        if not is_prose or not isinstance(text, str) or field in collection.summary:
            continue
        for other in (_BLANK, *_other_figures(text)):
            changed = {identifier: {**fields[identifier], field: other}}
            yield _Variant(record, _with(world, service, plural, changed))
    for variant in _variants(world, [record]):
        yield replace(variant, fact=record)


def _other_figures(text: str) -> Iterator[str]:
    for match in _FIGURE.finditer(text):
        for other in (float(match[0]) * 3 + 1, float(match[0]) / 3):
            decimals = len(match[0].partition(".")[2])
            yield f"{text[: match.start()]}{other:.{decimals}f}{text[match.end() :]}"


def _with(world: World, service: str, plural: str, fields: Mapping[str, Fields]) -> World:
    rooms = world.state[service]
    state = {**world.state, service: {**rooms, plural: {**rooms[plural], **fields}}}
    return replace(world, state=state)


def _changed(
    field: str, rule: FieldRule, records: Mapping[str, Fields], world: World
) -> Iterator[tuple[str, dict[str, Fields]]]:
    """The records with other values of a field, by each way in which it can be changed.

    One of them is that the records exchange their values.
    """
    held = {i: fields[field] for i, fields in records.items() if fields.get(field) is not None}
    turned = dict(zip(held, [*held.values()][1:] + [*held.values()][:1], strict=True))
    for number in range(_WAYS):
        others = {i: _other(rule, value, number, world) for i, value in held.items()}
        for changed in (others, turned) if number == 0 else (others,):
            new = {i: other for i, other in changed.items() if other not in (None, held[i])}
            if new:
                yield field, {i: {**records[i], field: other} for i, other in new.items()}


def _other(rule: FieldRule, value: Any, number: int, world: World) -> Any:
    """Another value that the field may hold, by the way of this number; None if there is none."""
    if number == _WAYS - 1 and rule.type is not FieldType.TEXT:
        return None
    match rule.type:
        case FieldType.INTEGER | FieldType.NUMBER:
            other = value * 3 + 1 if number == 0 else value / 4
            return round(other) if rule.type is FieldType.INTEGER else round(other, 2)
        case FieldType.DATE:
            return str(dt.date.fromisoformat(value) + dt.timedelta(_DAYS[number]))
        case FieldType.DATETIME:
            return (dt.datetime.fromisoformat(value) + dt.timedelta(_DAYS[number])).isoformat()
        case FieldType.BOOLEAN:
            return None if number else not value
        case FieldType.ENUM:
            at = rule.values.index(value)
            return rule.values[at + 1 - len(rule.values) if number == 0 else at - 1]
        case FieldType.EMAIL:
            return None if number else f"other.{value}"
        case FieldType.TEXT if not rule.reference:
            return _half(value, number) if number else f"{value} (other)"
        case FieldType.TEXTS:
            return None if number else [f"{item}-other" for item in value]
        case FieldType.ROWS:
            return None if number else [_row(rule, row) for row in value]
    return None


def _half(text: str, number: int) -> str | None:
    """The second half of prose, or the first; None for a single sentence or line."""
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    middle = ends[len(ends) // 2] if ends else 0
    return (text[middle:] if number == 1 else text[:middle]) or None if ends else None


def _row(rule: FieldRule, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _other(rule.columns[name], value, 0, World({}, "", ""))
        if rule.columns[name].type in (FieldType.INTEGER, FieldType.NUMBER)
        else value
        for name, value in row.items()
    }
