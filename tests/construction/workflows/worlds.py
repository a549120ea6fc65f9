"""Worlds made from the declarations, and requests to them: fitting, careless and hostile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

from construction.workflows.contracts import Request, World
from construction.workflows.declaration import Collection, operations, service, service_names
from construction.workflows.values import FieldRule, FieldType, parsed_now

NOW = "2026-03-05T09:00:00+01:00"
ACTOR = "dana.reyes@acme.example"
_WORDS = (
    "invoice", "order", "refund", "urgent", "meeting", "review", "contract", "stock", "policy",
    "supplier", "customer", "delay", "quarter", "budget", "Zürich", "会议", "報告", "naïve",
)  # fmt: skip
_PEOPLE = (ACTOR, "ann.lee@acme.example", "bo.kim@acme.example", "carl.diaz@acme.example")


def empty_world(*services: str) -> World:
    """A world without records."""
    return World({name: {} for name in services or service_names()}, NOW, ACTOR)


def filled_world(seed: int, records: int) -> World:
    """All services, each collection with so many records that fit its declaration."""
    random = Random(seed)
    state: dict[str, dict[str, dict[str, Any]]] = {}
    for name in service_names():
        collections = service(name).collections
        ids = {
            plural: [f"{collection.prefix}-{number:03d}" for number in range(1, records + 1)]
            for plural, collection in collections.items()
        }
        state[name] = {
            plural: {
                record_id: _record(random, collection, record_id, number, ids)
                for number, record_id in enumerate(ids[plural])
            }
            for plural, collection in collections.items()
        }
    return World(state, NOW, ACTOR)


def _record(
    random: Random,
    collection: Collection,
    record_id: str,
    number: int,
    ids: Mapping[str, list[str]],
) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": record_id}
    for name, rule in collection.fields.items():
        if rule.required or random.random() < 0.7:
            fields[name] = fitting(random, rule, number, ids)
    for low, high in collection.orders:
        if low in fields and high in fields:
            fields[low], fields[high] = sorted((fields[low], fields[high]))
    if collection.overlap is not None:
        fields.pop(collection.overlap.per, None)
    if collection.typed_by is not None:
        fields["value_type"] = "text"
    return fields


def fitting(
    random: Random, rule: FieldRule, number: int, ids: Mapping[str, list[str]] | None = None
) -> Any:
    """A value that fits a field, as it is stored."""
    if rule.reference is not None:
        return random.choice((ids or {}).get(rule.reference) or ["none-001"])
    moment = parsed_now(NOW) + timedelta(minutes=random.randrange(-200_000, 200_000))
    low = 0 if rule.minimum is None else int(rule.minimum)
    high = 1000 if rule.maximum is None else int(rule.maximum)
    match rule.type:
        case FieldType.ENUM:
            return random.choice(rule.values)
        case FieldType.BOOLEAN:
            return random.random() < 0.5
        case FieldType.INTEGER:
            return random.randint(low, high)
        case FieldType.NUMBER:
            return random.randint(low + 1, high) if random.random() < 0.5 else low + 0.25
        case FieldType.DATE:
            return moment.date().isoformat()
        case FieldType.DATETIME:
            return moment.isoformat()
        case FieldType.EMAIL:
            return f"person{number}@acme.example" if rule.unique else random.choice(_PEOPLE)
        case FieldType.EMAILS:
            return list(random.sample(_PEOPLE, 2))
        case FieldType.TEXTS:
            return random.sample(_WORDS, 2)
        case FieldType.ROWS:
            return [
                {name: fitting(random, column, number) for name, column in rule.columns.items()}
            ]
        case FieldType.TEXT:
            return _text(random, rule, number)


def _text(random: Random, rule: FieldRule, number: int) -> str:
    if rule.pattern is not None:
        return "EUR" if rule.max_chars == 3 else "0 6 * * 1-5"
    words = " ".join(random.choices(_WORDS, k=120 if rule.max_chars > 2000 else 4))
    return (f"{number} {words}" if rule.unique else words)[: rule.max_chars].strip()


# Requests


def fitting_requests(seed: int, count: int, world: World) -> Iterator[Request]:
    """Requests whose arguments fit, most of them to records that exist."""
    random = Random(seed)
    offered = [item for name in service_names() for item in operations(name).values()]
    for number in range(count):
        operation = random.choice(offered)
        known = {
            plural: list(records) for plural, records in world.state[operation.service].items()
        }
        arguments = {
            name: fitting(random, rule, 10_000 + number, known)
            for name, rule in operation.arguments.items()
            if name != "id" and (rule.required or random.random() < 0.15)
        }
        for name in arguments:
            if name.endswith(("_from", "_to")):
                arguments[name] = random.choice(["2026-03-01", NOW])
        if "id" in operation.arguments:
            arguments["id"] = random.choice(known[operation.collection] or ["none-001"])
        yield Request(operation.service, operation.name, arguments)


def hostile_value(random: Random) -> Any:
    """A value that no declaration asks for."""
    deep: Any = "x"
    for _ in range(random.choice((5, 100, 400))):
        deep = {"a": [deep]}
    return random.choice(
        [
            None, True, 0, -1, 10**30, 1e308, float("nan"), float("inf"), "", " ", "\x00", "\ud800",
            "../../etc/passwd", "messages/../../x", "'; DROP TABLE records; --", "<script>1",
            "x" * 100_000, "é" * 300, "\u202e\u0000", "💥" * 50, [], {}, [[]], [None], ["x"] * 500,
            {"id": "x"}, {"$ne": ""}, deep, "9999-99-99", "0000-00-00",
            "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+14:00", "(a+)+$",
            "{actor}", "{record.body}", "%s%n", b"bytes",
            datetime(2026, 3, 5), object(),
        ]
    )  # fmt: skip


def hostile_requests(seed: int, count: int, world: World) -> Iterator[Request]:
    """Fitting requests with something broken, and some that are no requests at all."""
    random = Random(seed)
    for number, request in enumerate(fitting_requests(seed, count, world)):
        arguments: Any = dict(request.arguments)
        service_name: Any = request.service
        operation: Any = request.operation
        names = list(operations(request.service)[request.operation].arguments)
        match number % 8:
            case 0:
                arguments[random.choice(names)] = hostile_value(random)
            case 1:
                arguments = {name: hostile_value(random) for name in names}
            case 2:
                arguments[str(hostile_value(random))[:200]] = hostile_value(random)
            case 3:
                operation = hostile_value(random)
            case 4:
                service_name = hostile_value(random)
            case 5:
                arguments = hostile_value(random)
            case 6:
                arguments |= {
                    "page": random.choice([-1, 0, 10**9]),
                    "limit": hostile_value(random),
                }
            case 7:
                arguments["id"] = hostile_value(random)
        yield Request(service_name, operation, arguments)
