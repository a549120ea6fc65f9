"""The records of a world: search with conditions, order and pages; changes; and what forbids them.

The rules of a collection say about a record beside the others of a state what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from construction.workflows.contracts import Fields, Refused, State, World
from construction.workflows.declaration import (
    Collection,
    Operation,
    Special,
    operations,
    service,
)
from construction.workflows.values import FieldRule, FieldType, ValueFault, parsed_now, stored
from data.text.folding import plain_form

_DAY = FieldRule(type=FieldType.DATE)
_INSTANT = FieldRule(type=FieldType.DATETIME)
_DAY_CHARS = len("2026-03-05")


def matching(
    records: Mapping[str, Fields],
    collection: Collection,
    arguments: Mapping[str, Any],
    now: datetime,
) -> list[Fields]:
    """The records that meet all conditions, in the order asked for.

    Records without the field that they are sorted by come last; ties are in order of id. Raises
    ValueFault.
    """
    tests = _tests(collection, arguments, now)
    rows = [fields for fields in records.values() if all(test(fields) for test in tests)]
    order = arguments.get("sort", collection.sort)
    name = order.removeprefix("-")
    rows.sort(key=lambda fields: str(fields["id"]))
    present = [fields for fields in rows if fields.get(name) is not None]
    present.sort(key=lambda fields: fields[name], reverse=order.startswith("-"))
    return present + [fields for fields in rows if fields.get(name) is None]


Test = Callable[[Fields], bool]


def _tests(collection: Collection, arguments: Mapping[str, Any], now: datetime) -> list[Test]:
    tests = []
    if words := _folded(arguments.get("query", "")).split():
        tests.append(_has_words(words, collection.query))
    for name, rule in collection.fields.items():
        if name in arguments:
            tests.append(_equals(name, rule, arguments[name]))
        for suffix in ("from", "to"):
            if (bound := arguments.get(f"{name}_{suffix}")) is not None:
                tests.append(_in_time(name, rule, bound, suffix == "from", now))
        for suffix in ("min", "max"):
            if (bound := arguments.get(f"{name}_{suffix}")) is not None:
                tests.append(_in_range(name, bound, suffix == "min"))
    return tests


def _has_words(words: Sequence[str], names: Sequence[str]) -> Test:
    def test(fields: Fields) -> bool:
        texts = [_searched(_as_text(fields[name])) for name in names if name in fields]
        return all(any(word in text for text in texts) for word in words)

    return test


def _as_text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _searched(text: str) -> str:
    """`_folded` as far as a word without white space can notice, which costs far less for ASCII."""
    return text.lower() if text.isascii() else _folded(text)


@lru_cache(maxsize=1 << 12)
def _folded(text: str) -> str:
    """A text without differences of width, case and white space; kept, for it is compared often."""
    return plain_form(text)


def _equals(name: str, rule: FieldRule, wanted: Any) -> Test:
    if rule.type is FieldType.BOOLEAN:
        return lambda fields: fields.get(name, False) is wanted
    plain = _folded(wanted)
    if rule.type in (FieldType.TEXTS, FieldType.EMAILS):
        return lambda fields: plain in map(_folded, fields.get(name, ()))
    return lambda fields: _folded(str(fields.get(name, ""))) == plain


def _in_time(name: str, rule: FieldRule, bound: str, is_lower: bool, now: datetime) -> Test:
    """Compares days with days, and instants with instants, which are stored with one offset."""
    try:
        limit = stored(_DAY, bound.strip(), now)
    except ValueFault:
        limit = stored(_INSTANT, bound.strip(), now)
    chars = _DAY_CHARS if rule.type is FieldType.DATE else len(limit)
    limit = limit[:chars]

    def test(fields: Fields) -> bool:
        value = fields.get(name)
        if value is None:
            return False
        return bool(value[:chars] >= limit if is_lower else value[:chars] <= limit)

    return test


def _in_range(name: str, bound: float, is_lower: bool) -> Test:
    def test(fields: Fields) -> bool:
        value = fields.get(name)
        if value is None:
            return False
        return bool(value >= bound if is_lower else value <= bound)

    return test


_TYPES = {"integer": FieldType.INTEGER, "number": FieldType.NUMBER, "boolean": FieldType.BOOLEAN}
Faults = list[tuple[Refused, str]]
Rivals = Mapping[tuple[str, str], Sequence[Fields]]


def rivals_in(collection: Collection, records: Iterable[Fields]) -> Rivals:
    """The records by each field and value that a record may have to itself alone."""
    rivals: dict[tuple[str, str], list[Fields]] = {}
    keys = _keys(collection)
    for fields in records if keys else ():
        for name in keys:
            if name in fields:
                rivals.setdefault((name, _folded(str(fields[name]))), []).append(fields)
    return rivals


def _keys(collection: Collection) -> list[str]:
    per = [] if collection.overlap is None else [collection.overlap.per]
    return per + [name for name, rule in collection.fields.items() if rule.unique]


def record_faults(
    state: State,
    service_name: str,
    plural: str,
    fields: Fields,
    now: datetime,
    rivals: Rivals | None = None,
) -> Faults:
    """What is wrong with a record beside the others of a state, if it is stored with its id.

    `rivals` are those of all records of its collection, for whoever asks about many.
    """
    collection = service(service_name).collections[plural]
    near: Iterable[Fields] = ()
    if keys := _keys(collection):
        near = state.get(service_name, {}).get(plural, {}).values()
        if rivals is not None:
            named = [(name, _folded(str(fields.get(name)))) for name in keys]
            near = (other for key in named for other in rivals.get(key, ()))
    others = [other for other in near if other["id"] != fields["id"]]
    faults = _missing(collection, fields) + _unordered(collection, fields)
    faults += _unknown_references(state, service_name, collection, fields)
    faults += _untyped(collection, fields, now)
    return faults + _taken(collection, fields, others) + _overlapping(collection, fields, others)


def _missing(collection: Collection, fields: Fields) -> Faults:
    return [
        (Refused.INVALID_ARGUMENT, f"{name}: expected a value")
        for name, rule in collection.fields.items()
        if rule.required and _is_empty(fields.get(name))
    ]


def _is_empty(value: Any) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _unordered(collection: Collection, fields: Fields) -> Faults:
    return [
        (Refused.INVALID_ARGUMENT, f"{low}: expected at most the value of {high}")
        for low, high in collection.orders
        if fields.get(low) is not None
        and fields.get(high) is not None
        and fields[low] > fields[high]
    ]


def _unknown_references(
    state: State, service_name: str, collection: Collection, fields: Fields
) -> Faults:
    faults: Faults = []
    for name, rule in collection.fields.items():
        if rule.reference is None or name not in fields:
            continue
        target, _, plural = rule.reference.rpartition("/")
        target = target or service_name
        if target in state and fields[name] not in state[target].get(plural, {}):
            message = f"{name}: expected the id of one of the {plural.replace('_', ' ')}"
            faults.append((Refused.INVALID_ARGUMENT, message))
    return faults


def _untyped(collection: Collection, fields: Fields, now: datetime) -> Faults:
    """A text that does not read as the type that another field names."""
    if collection.typed_by is None:
        return []
    name, kind = collection.typed_by
    rule, text = _TYPES.get(str(fields.get(kind))), str(fields.get(name, ""))
    if rule is None or (rule is FieldType.BOOLEAN and text in ("true", "false")):
        return []
    try:
        stored(FieldRule(type=rule), float(text), now)
    except (ValueError, ValueFault):
        return [(Refused.INVALID_ARGUMENT, f"{name}: expected a value of type {rule}")]
    return []


def _taken(collection: Collection, fields: Fields, others: Sequence[Fields]) -> Faults:
    return [
        (Refused.CONFLICT, f"{name}: another {collection.record} has this value")
        for name, rule in collection.fields.items()
        if rule.unique
        and name in fields
        and any(_folded(str(other.get(name))) == _folded(str(fields[name])) for other in others)
    ]


def _overlapping(collection: Collection, fields: Fields, others: Sequence[Fields]) -> Faults:
    rule = collection.overlap
    if rule is None or rule.per not in fields or fields.get("status") in rule.ignored:
        return []
    for other in others:
        if (
            other.get(rule.per) == fields[rule.per]
            and other.get("status") not in rule.ignored
            and other[rule.start] < fields[rule.end]
            and fields[rule.start] < other[rule.end]
        ):
            return [(Refused.CONFLICT, f"{rule.per}: taken at this time by {other['id']}")]
    return []


_SLOT = re.compile(r"\{([a-z_.]+)\}")


class Refusal(Exception):
    """A request that is not carried out."""

    def __init__(self, refused: Refused, message: str) -> None:
        super().__init__(message)
        self.refused, self.message = refused, message


@dataclass(frozen=True, slots=True)
class Act:
    """A checked request to write: whose world, which operation, which arguments."""

    world: World
    operation: Operation
    arguments: Mapping[str, Any]

    @property
    def collection(self) -> Collection:
        return service(self.operation.service).collections[self.operation.collection]

    @property
    def now(self) -> datetime:
        return parsed_now(self.world.now)

    def records(self, plural: str | None = None) -> Mapping[str, Fields]:
        collections = self.world.state.get(self.operation.service, {})
        return collections.get(plural or self.operation.collection, {})


def record_named(act: Act) -> Fields:
    """The record whose id was given. Raises Refusal."""
    try:
        return act.records()[act.arguments["id"]]
    except KeyError:
        noun = act.collection.record.replace("_", " ")
        raise Refusal(Refused.NOT_FOUND, f"there is no {noun} with this id") from None


def written(act: Act) -> tuple[State, Fields]:
    """The state after a write, and the record as it is or was. Raises Refusal."""
    special = act.operation.special
    if special is not None:
        return _special(act, special)
    if act.operation.kind == "create":
        return _created(act, act.operation.collection, act.arguments)
    record = record_named(act)
    _refuse_locked(act, record)
    if act.operation.kind == "delete":
        _refuse_referred(act, record["id"])
        return _without(act, record["id"]), record
    changes = {name: value for name, value in act.arguments.items() if name != "id"}
    if not changes:
        raise Refusal(Refused.INVALID_ARGUMENT, "nothing to change: give at least one field")
    _refuse_transition(act, record, changes)
    return _replaced(act, record, changes)


def _special(act: Act, special: Special) -> tuple[State, Fields]:
    record: Fields = {} if special.kind == "create" else record_named(act)
    _refuse_condition(act, special, record)
    taken = {name: act.arguments[name] for name in special.takes if name in act.arguments}
    filled = {name: _filled(value, act, record) for name, value in special.sets.items()}
    sets = taken | {name: value for name, value in filled.items() if value is not None}
    if special.kind in ("create", "derive"):
        return _logged(act, special, record, _created(act, act.operation.collection, sets))
    for name, template in special.adds.items():
        rule = act.collection.fields[name]
        total = (record.get(name) or 0) + _filled(template, act, record)
        sets[name] = _fitting(rule, name, total, act.now)
    if special.settles:
        name, limit, status = special.settles
        if sets.get(name, record.get(name)) == record.get(limit):
            sets["status"] = status
    done = _replaced(act, record, sets)
    is_repeated = special.is_repeatable and done[1] == record  # and so leaves no second entry
    return done if is_repeated else _logged(act, special, record, done)


def _logged(
    act: Act, special: Special, record: Fields, done: tuple[State, Fields]
) -> tuple[State, Fields]:
    """A write with the record that it leaves in the log of the service."""
    if special.log is None:
        return done
    state, written_record = done
    known = record or written_record
    fields = {name: _filled(value, act, known) for name, value in special.log_sets.items()}
    present = {name: value for name, value in fields.items() if value is not None}
    after = Act(replace(act.world, state=state), act.operation, act.arguments)
    return _created(after, special.log, present)[0], written_record


def _created(act: Act, plural: str, given: Mapping[str, Any]) -> tuple[State, Fields]:
    collection = service(act.operation.service).collections[plural]
    fields: dict[str, Any] = {"id": _new_id(act, plural, collection)}
    for name, rule in collection.fields.items():
        value = given.get(name)
        if value is None and rule.default is not None:
            value = _filled(rule.default, act, {})
        if value is not None:
            fields[name] = _fitting(rule, name, value, act.now)
    if collection.transitions and act.operation.special is None:
        first = collection.fields["status"].default
        if fields["status"] != first:
            raise Refusal(Refused.NOT_ALLOWED, f"a new {collection.record} starts as {first}")
    _check(act, plural, collection, fields)
    return _put(act, plural, fields), fields


def _new_id(act: Act, plural: str, collection: Collection) -> str:
    """From the number of requests that make such records, so that it repeats with the requests."""
    name = act.operation.service
    makers = [
        operation
        for operation in operations(name).values()
        if (operation.creates and operation.collection == plural)
        or (operation.special is not None and operation.special.log == plural)
    ]
    number = sum(act.world.calls.get(f"{name}.{maker.name}", 0) for maker in makers)
    while f"{collection.prefix}-new-{number}" in act.records(plural):
        number += 1
    return f"{collection.prefix}-new-{number}"


def _replaced(act: Act, record: Fields, changes: Mapping[str, Any]) -> tuple[State, Fields]:
    fields = {**record, **changes}
    _check(act, act.operation.collection, act.collection, fields)
    return _put(act, act.operation.collection, fields), fields


def _put(act: Act, plural: str, fields: Fields) -> State:
    return _changed(act, plural, {**act.records(plural), fields["id"]: fields})


def _without(act: Act, record_id: str) -> State:
    records = act.records().items()
    kept = {name: fields for name, fields in records if name != record_id}
    return _changed(act, act.operation.collection, kept)


def _changed(act: Act, plural: str, records: Mapping[str, Fields]) -> State:
    name, state = act.operation.service, act.world.state
    return {**state, name: {**state.get(name, {}), plural: records}}


# Templates: "{actor}", "{now}", "{today}", "{record.field}", "{argument}"


def _filled(template: Any, act: Act, record: Fields) -> Any:
    """A template with its values; None where the only value of a template is missing."""
    if isinstance(template, list):
        items = [_filled(item, act, record) for item in template]
        return [item for item in items if item is not None]
    if isinstance(template, Mapping):  # a beginning that is written once: "Re: "
        start, text = template["start"], str(_filled(template["text"], act, record) or "")
        return text if _folded(text).startswith(_folded(start)) else f"{start}{text}"
    if not isinstance(template, str):
        return template
    if whole := _SLOT.fullmatch(template):
        return _slot(whole[1], act, record)
    return _SLOT.sub(lambda slot: str(_slot(slot[1], act, record) or ""), template)


def _slot(name: str, act: Act, record: Fields) -> Any:
    if name.startswith("record."):
        return record.get(name.removeprefix("record."))
    now = act.world.now
    known = {"actor": act.world.actor, "now": now, "today": now[: len("2026-03-05")]}
    return known[name] if name in known else act.arguments.get(name)


def _fitting(rule: FieldRule, name: str, value: Any, now: datetime) -> Any:
    try:
        return stored(rule, value, now)
    except ValueFault as fault:
        raise Refusal(Refused.INVALID_ARGUMENT, f"{name}: {fault}") from None


# What is forbidden


def _refuse_locked(act: Act, record: Fields) -> None:
    if record.get("status") in act.collection.locked:
        noun = act.collection.record.replace("_", " ")
        message = f"this {noun} is {record['status']}: it can be neither changed nor deleted"
        raise Refusal(Refused.NOT_ALLOWED, message)


def _refuse_transition(act: Act, record: Fields, changes: Mapping[str, Any]) -> None:
    transitions, before = act.collection.transitions, record.get("status")
    after = changes.get("status", before)
    if transitions and after != before and after not in transitions.get(str(before), ()):
        allowed = ", ".join(transitions.get(str(before), ())) or "no other status"
        message = f"status {before} can be followed by {allowed}"
        raise Refusal(Refused.NOT_ALLOWED, message)


def _refuse_condition(act: Act, special: Special, record: Fields) -> None:
    if special.allowed_in and record.get("status") not in special.allowed_in:
        allowed = ", ".join(special.allowed_in)
        message = f"allowed where the status is {allowed}; it is {record.get('status')}"
        raise Refusal(Refused.NOT_ALLOWED, message)
    for name, template in special.only_if.items():
        if record.get(name) != _filled(template, act, record):
            raise Refusal(Refused.NOT_ALLOWED, f"you are not the {name} of this record")
    for name, template in special.not_if.items():
        if record.get(name) == _filled(template, act, record):
            raise Refusal(Refused.NOT_ALLOWED, f"you are the {name} of this record")


def _refuse_referred(act: Act, record_id: str) -> None:
    """A record that others of its service refer to is not deleted."""
    name = act.operation.service
    for plural, collection in service(name).collections.items():
        referring = [
            field
            for field, rule in collection.fields.items()
            if rule.reference == act.operation.collection
        ]
        for fields in act.records(plural).values() if referring else ():
            if any(fields.get(field) == record_id for field in referring):
                noun = collection.record.replace("_", " ")
                message = f"a {noun} refers to this record"
                raise Refusal(Refused.CONFLICT, message)


def _check(act: Act, plural: str, collection: Collection, fields: Fields) -> None:
    """Raises Refusal if a record as it would be breaks a rule of its collection."""
    if faults := record_faults(act.world.state, act.operation.service, plural, fields, act.now):
        raise Refusal(*faults[0])
