"""What the rules of a collection say about a record beside the others of a state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from construction.workflows.contracts import Fields, Refused, State
from construction.workflows.declaration import Collection, service
from construction.workflows.lookups import folded
from construction.workflows.values import FieldRule, FieldType, ValueFault, stored

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
                rivals.setdefault((name, folded(str(fields[name]))), []).append(fields)
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
    near: Iterable[Fields] = state.get(service_name, {}).get(plural, {}).values()
    if rivals is not None:
        keys = [(name, folded(str(fields.get(name)))) for name in _keys(collection)]
        near = (other for key in keys for other in rivals.get(key, ()))
    others = [other for other in near if other["id"] != fields["id"]]
    faults = _missing(collection, fields) + _unordered(collection, fields)
    faults += _unknown_references(state, service_name, collection, fields)
    faults += _untyped(collection, fields, now)
    return faults + _taken(collection, fields, others) + _overlapping(collection, fields, others)


def _missing(collection: Collection, fields: Fields) -> Faults:
    return [
        (Refused.INVALID_ARGUMENT, f"{name}: expected a value")
        for name, rule in collection.fields.items()
        if rule.required and fields.get(name) is None
    ]


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
        and any(folded(str(other.get(name))) == folded(str(fields[name])) for other in others)
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
