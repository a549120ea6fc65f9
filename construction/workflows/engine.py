"""The service engine: (world, request) -> (world, response, audit rows), without any effect.

Every request is answered: with a body, or with one of the declared refusals. A refused request
leaves the records as they were and is counted and logged all the same. `changes_of` says what a
world's records are now, against what they were at the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from construction.workflows.contracts import (
    FaultKind,
    Fields,
    Handled,
    Refused,
    Request,
    Response,
    State,
    World,
)
from construction.workflows.declaration import (
    PAGE_ROWS,
    Collection,
    Operation,
    operations,
    service,
)
from construction.workflows.records import Act, Refusal, matching, record_named, written
from construction.workflows.values import ValueFault, parsed_now, stored
from data.canonical import digest, is_deeper
from data.contracts.attempt import AuditRow, StateChange
from data.neutralise import one_line

OK = "ok"
MAX_REQUEST_BYTES = 64 * 1024
MAX_DELAY_MS = 2000
_MAX_DEPTH = 64  # of arguments; what is deeper could not be written into logs and attempts
_MAX_NAME = 80  # characters of a name that is unknown, or of a message's part
_UNKNOWN = "unknown"  # what calls of unknown operations are counted as
# In the log instead of arguments that are none; no operation has an argument of this name, so that
# the request is refused for the same reason when it is made again.
_LEFT_OUT = {"…": "no JSON object, or too large"}


def handle(world: World, request: Request) -> Handled:
    """The world after a request, its answer, and one audit row with the number of the request.

    Does not raise, whatever a request holds; the given world is never changed.
    """
    arguments = _plain(request.arguments)
    name, title = _name(request.service), _name(request.operation)
    operation = _operation(world, name, title)
    key = f"{name}.{title}" if operation else _UNKNOWN
    count = world.calls.get(key, 0) + 1
    counted = replace(world, calls={**world.calls, key: count})
    number = sum(counted.calls.values())
    kinds = _faults(world, name, title, count) if operation else frozenset[FaultKind]()
    try:
        if world.allowance is not None and number > world.allowance:
            message = f"all {world.allowance} requests are used up: none is left"
            raise Refusal(Refused.RATE_LIMITED, message)
        if operation is None:
            raise _unknown(world, name)
        if arguments is None:
            message = (
                f"expected an object of JSON values, at most {MAX_REQUEST_BYTES} bytes and "
                f"{_MAX_DEPTH} levels"
            )
            raise Refusal(Refused.INVALID_ARGUMENT, message)
        _refuse_faulty(kinds)
        after, body, records = _carried_out(counted, operation, arguments, kinds)
    except Refusal as refusal:
        body = {"error": refusal.refused.value, "message": refusal.message}
        kept = _LEFT_OUT if arguments is None else arguments
        row = AuditRow(name, title, kept, refusal.refused.value, step=number)
        return Handled(counted, Response(body, refusal.refused), (row,))
    delay = MAX_DELAY_MS if FaultKind.SLOW in kinds else 0
    row = AuditRow(name, title, arguments or {}, OK, step=number, records=records)
    return Handled(after, Response(body, None, delay), (row,))


def read_again(world: World, request: Request) -> World:
    """The world after a request that was logged as an answered read: only its count is new."""
    key = f"{request.service}.{request.operation}"
    return replace(world, calls={**world.calls, key: world.calls.get(key, 0) + 1})


def is_read(request: Request) -> bool:
    """Is it an operation that changes no record, if it is answered?"""
    try:
        return operations(request.service)[request.operation].is_read
    except KeyError:
        return False


def _name(value: Any) -> str:
    """A name as messages and the log show it: short, and one line that can be written."""
    return one_line(str(value)[:_MAX_NAME]).encode("utf-8", "replace").decode()


def _plain(arguments: Any) -> dict[str, Any] | None:
    """The arguments as JSON values of their own, None where they are none or too many."""
    if not isinstance(arguments, Mapping):
        return None
    try:
        raw = orjson.dumps(dict(arguments))
    except (TypeError, RecursionError, ValueError):
        return None
    if len(raw) > MAX_REQUEST_BYTES:
        return None
    plain = dict(orjson.loads(raw))
    return None if is_deeper(plain, _MAX_DEPTH) else plain


def _operation(world: World, name: str, title: str) -> Operation | None:
    """Declared, and of a service that the world has."""
    return _offered(world, name).get(title)


def _offered(world: World, name: str) -> Mapping[str, Operation]:
    try:
        return operations(name) if name in world.state else {}
    except KeyError:
        return {}


def _unknown(world: World, name: str) -> Refusal:
    offered = _offered(world, name)
    if not offered:
        services = ", ".join(sorted(world.state))
        return Refusal(Refused.UNKNOWN_SERVICE, f"no such service; there are: {services}")
    listed = ", ".join(offered)
    return Refusal(Refused.UNKNOWN_OPERATION, f"no such operation; {name} has: {listed}")


def _faults(world: World, name: str, title: str, count: int) -> frozenset[FaultKind]:
    return frozenset(
        fault.kind
        for fault in world.faults
        if (fault.service, fault.operation) == (name, title) and count in fault.calls
    )


def _refuse_faulty(kinds: frozenset[FaultKind]) -> None:
    if FaultKind.RATE_LIMITED in kinds:
        raise Refusal(Refused.RATE_LIMITED, "too many requests; try again")
    if FaultKind.UNAVAILABLE in kinds:
        raise Refusal(Refused.UNAVAILABLE, "the service is not available; try again")


def _carried_out(
    world: World, operation: Operation, arguments: Mapping[str, Any], kinds: frozenset[FaultKind]
) -> tuple[World, dict[str, Any], tuple[str, ...]]:
    """The world after, the body, and the ids of the records that were returned whole."""
    now = parsed_now(world.now)
    checked = _checked(operation, arguments, now)
    collection = service(operation.service).collections[operation.collection]
    if operation.is_read:
        shown = world
        if FaultKind.STALE in kinds and world.initial is not None:
            shown = replace(world, state=world.initial)
        body, records = _read(shown, operation, checked, now)
        return world, body, _as_they_are(world, shown, operation, records)
    state, record = written(Act(world, operation, checked))
    if operation.kind == "delete":
        body = {"id": record["id"], "deleted": True}
    else:
        body = _row_of(record, collection)
    return _after(world, state), body, ()


def _row_of(fields: Fields, collection: Collection) -> dict[str, Any]:
    """What a search shows of a record."""
    shown = ("id", *collection.summary) if collection.summary else tuple(fields)
    return {name: fields[name] for name in shown if name in fields}


def _as_they_are(
    world: World, shown: World, operation: Operation, records: tuple[str, ...]
) -> tuple[str, ...]:
    """Those of the records shown that are still so: of others, a stale read returned no content."""
    if shown is world:
        return records
    before, after = (
        each.state.get(operation.service, {}).get(operation.collection, {})
        for each in (shown, world)
    )
    ids = ((name, name.partition("/")[2]) for name in records)
    return tuple(name for name, record_id in ids if before[record_id] == after.get(record_id))


def _after(world: World, state: State) -> World:
    initial = world.state if world.initial is None else world.initial
    return replace(world, state=state, initial=initial)


def _checked(operation: Operation, arguments: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The arguments as they are stored; null counts as not given. Raises Refusal."""
    given = {name: value for name, value in arguments.items() if value is not None}
    if strays := sorted(given.keys() - operation.arguments.keys()):
        known = ", ".join(operation.arguments)
        message = f"{_name(strays[0])}: no such argument; {operation.name} takes: {known}"
        raise Refusal(Refused.INVALID_ARGUMENT, message)
    checked = {}
    for name, rule in operation.arguments.items():
        if name in given:
            try:
                checked[name] = stored(rule, given[name], now)
            except ValueFault as fault:
                raise Refusal(Refused.INVALID_ARGUMENT, f"{name}: {fault}") from None
        elif rule.required and rule.default is None:
            raise Refusal(Refused.INVALID_ARGUMENT, f"{name}: expected a value")
    return checked


def _read(
    world: World, operation: Operation, arguments: Mapping[str, Any], now: datetime
) -> tuple[dict[str, Any], tuple[str, ...]]:
    act = Act(world, operation, arguments)
    plural = operation.collection
    if operation.kind == "get":
        record = record_named(act)
        return dict(record), (f"{plural}/{record['id']}",)
    try:
        rows = matching(act.records(), act.collection, arguments, now)
    except ValueFault as fault:
        raise Refusal(Refused.INVALID_ARGUMENT, str(fault)) from None
    return _page(rows, act.collection, plural, arguments)


def _page(
    rows: list[Fields], collection: Collection, plural: str, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A page of rows; they count as returned records only where rows are whole records."""
    shown = _page_of(rows, arguments)
    body = {
        "total": len(rows),
        "page": arguments.get("page", 1),
        "rows": [_row_of(fields, collection) for fields in shown],
    }
    whole = () if collection.summary else tuple(f"{plural}/{fields['id']}" for fields in shown)
    return body, whole


def _page_of(rows: Sequence[Fields], arguments: Mapping[str, Any]) -> list[Fields]:
    """The rows of the page asked for; none beyond the last."""
    limit, page = arguments.get("limit", PAGE_ROWS), arguments.get("page", 1)
    return list(rows[(page - 1) * limit : page * limit])


def changes_of(world: World) -> tuple[StateChange, ...]:
    """The records that differ from the state at the start."""
    return state_changes(world.state if world.initial is None else world.initial, world.state)


def state_changes(before: State, after: State) -> tuple[StateChange, ...]:
    """The records that differ, by service and id ("collection/id"), in that order."""
    changes = []
    for service_name in sorted({*before, *after}):
        first, second = before.get(service_name, {}), after.get(service_name, {})
        for plural in sorted({*first, *second}):
            old, new = first.get(plural, {}), second.get(plural, {})
            if old is new:
                continue
            changes += [
                StateChange(service_name, f"{plural}/{name}", old.get(name), new.get(name))
                for name in sorted({*old, *new})
                if old.get(name) != new.get(name)
            ]
    return tuple(changes)


def state_digest(state: State) -> str:
    """SHA-256 (hex) of all records, whatever their order."""
    return digest(state)
