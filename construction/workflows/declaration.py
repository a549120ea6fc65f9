"""Services declared as data: collections of records, and the operations on them.

Each service is a file of `services/`. A collection offers the common operations (`search_messages`,
`get_message`, `create_message`, `update_message`, `delete_message`); special ones, such as sending
or approving, are declared with the statuses that allow them and the fields that they set.

An agent has operations as tools. A tool's name is the service, an underline, and the operation: no
service has an underline in its name, and tool names may not hold dots.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from construction.workflows.values import FieldRule, FieldType, object_schema
from data.contracts.candidate import Candidate, Contract

FOLDER = Path(__file__).parent / "services"
PAGE_ROWS, MAX_PAGE_ROWS, MAX_PAGE = 20, 50, 10_000
Common = Literal["search", "get", "create", "update", "delete"]
SpecialKind = Literal["create", "change", "derive"]
_RANGES = {
    FieldType.DATE: ("from", "to"),
    FieldType.DATETIME: ("from", "to"),
    FieldType.INTEGER: ("min", "max"),
    FieldType.NUMBER: ("min", "max"),
}
_DAY_TEXT = "a day (2026-03-05, the whole day) or a time (2026-03-05T09:00:00+01:00)"


class Overlap(Contract):
    """Records that share the value of `per` must not overlap in time, unless `unless` says so."""

    per: str
    start: str
    end: str
    ignored: tuple[str, ...] = ()  # statuses of records that take no time


class Collection(Contract):
    """The records of one kind.

    `summary` are the fields, beside `id`, that a search shows; none: it shows whole records.
    `query` are the fields that the words of a search are sought in, `sort` the order of a search
    without another. `transitions` lists, by status, those that an update may set. In a status of
    `locked` a record is neither updated nor deleted. Of each pair of `orders`, the first field is
    not greater than the second. Nobody minds a new record that fits `harmless_new`, unless a task
    is about just that.
    """

    record: str
    prefix: str
    about: str
    operations: tuple[Common, ...] = get_args(Common)
    summary: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    sort: str = "id"
    transitions: Mapping[str, tuple[str, ...]] = {}
    locked: tuple[str, ...] = ()
    orders: tuple[tuple[str, str], ...] = ()
    overlap: Overlap | None = None
    harmless_new: Mapping[str, Any] | None = None
    typed_by: tuple[str, str] | None = None  # a text field, and the field that names its type
    fields: Mapping[str, FieldRule]


class Special(Contract):
    """An operation beside the common ones.

    `create` makes a record; `change` changes the record named by `id`; `derive` makes a record from
    the one named by `id`. `takes` are fields that the caller gives, `needs` those that must be
    given, `arguments` what is no field. `sets` are templates, `adds` are amounts added to number
    fields. `only_if` and `not_if` compare fields of the named record with templates. `settles`
    (field, total, status): where the field reaches the total, the record gets the status. `log`
    is a collection that gets a record of its own, with the fields of `log_sets`.
    """

    collection: str
    kind: SpecialKind
    about: str
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    arguments: Mapping[str, FieldRule] = {}
    sets: Mapping[str, Any] = {}
    adds: Mapping[str, Any] = {}
    allowed_in: tuple[str, ...] = ()
    only_if: Mapping[str, str] = {}
    not_if: Mapping[str, str] = {}
    settles: tuple[str, str, str] | None = None
    log: str | None = None
    log_sets: Mapping[str, Any] = {}

    @property
    def is_repeatable(self) -> bool:
        """Does the same value once more change nothing? What only stamps the time is done anew."""
        return self.kind == "change" and any(value != "{now}" for value in self.sets.values())


class Service(Contract):
    title: str
    about: str
    collections: Mapping[str, Collection]
    specials: Mapping[str, Special] = {}


@dataclass(frozen=True, slots=True)
class Operation:
    """What clients may call: its arguments by name, and the collection that it is about."""

    service: str
    name: str
    kind: str  # one of Common, or that of the special operation
    about: str
    collection: str
    arguments: Mapping[str, FieldRule]
    special: Special | None = None

    @property
    def is_read(self) -> bool:
        return self.kind in ("search", "get")

    @property
    def creates(self) -> bool:
        return self.kind in ("create", "derive")


@cache
def service_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def service(name: str) -> Service:
    """A declared service. Raises KeyError for another name."""
    if name not in service_names():
        raise KeyError(name)
    return Service.model_validate(tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")))


@cache
def operations(name: str) -> Mapping[str, Operation]:
    """The operations of a service by name, in the order of its declaration."""
    declared = service(name)
    listed = [
        _common(name, plural, collection, kind)
        for plural, collection in declared.collections.items()
        for kind in collection.operations
    ]
    listed += [
        _special(name, title, special, declared.collections[special.collection])
        for title, special in declared.specials.items()
    ]
    return {operation.name: operation for operation in listed}


def _common(service_name: str, plural: str, collection: Collection, kind: Common) -> Operation:
    record = collection.record
    noun = record.replace("_", " ")
    make = {
        "search": (f"search_{plural}", _search_about(plural, collection), _search_arguments),
        "get": (f"get_{record}", f"The whole {noun}, by id.", _by_id),
        "create": (f"create_{record}", f"Make a new {noun}.", _creation),
        "update": (f"update_{record}", f"Change fields of one {noun}.", _update),
        "delete": (f"delete_{record}", f"Delete one {noun}.", _by_id),
    }
    name, about, arguments = make[kind]
    return Operation(service_name, name, kind, about, plural, arguments(collection))


def _search_about(plural: str, collection: Collection) -> str:
    noun = collection.record.replace("_", " ")
    shown = (
        f"Rows are short; get_{collection.record} returns a whole {noun}."
        if collection.summary
        else "Rows are whole records."
    )
    plain = plural.replace("_", " ")
    return f"Find {plain}. {collection.about} All conditions given have to hold. {shown}"


def _by_id(collection: Collection) -> dict[str, FieldRule]:
    noun = collection.record.replace("_", " ")
    return {"id": FieldRule(required=True, max_chars=200, about=f"id of the {noun}")}


def _creation(collection: Collection) -> dict[str, FieldRule]:
    return {name: rule for name, rule in collection.fields.items() if not rule.read_only}


def _update(collection: Collection) -> dict[str, FieldRule]:
    changeable = {
        name: rule.model_copy(update={"required": False})
        for name, rule in collection.fields.items()
        if not rule.read_only and not rule.fixed
    }
    return _by_id(collection) | changeable


def _search_arguments(collection: Collection) -> dict[str, FieldRule]:
    arguments: dict[str, FieldRule] = {}
    if collection.query:
        sought = ", ".join(collection.query)
        arguments["query"] = FieldRule(about=f"words that all occur in {sought}")
    for name, rule in collection.fields.items():
        arguments |= _conditions(name, rule)
    signed = [f"{sign}{name}" for name in _sortable(collection) for sign in ("", "-")]
    return arguments | {
        "sort": FieldRule(type=FieldType.ENUM, values=tuple(signed), about="- for descending"),
        "limit": FieldRule(
            type=FieldType.INTEGER, minimum=1, maximum=MAX_PAGE_ROWS,
            about=f"rows of a page; {PAGE_ROWS} without",
        ),
        "page": FieldRule(
            type=FieldType.INTEGER, minimum=1, maximum=MAX_PAGE, about="from 1; 1 without"
        ),
    }  # fmt: skip


def _conditions(name: str, rule: FieldRule) -> dict[str, FieldRule]:
    """The arguments by which a search compares a field."""
    if rule.type is FieldType.ROWS or rule.max_chars > 2000:
        return {}
    if rule.type in _RANGES:
        low, high = _RANGES[rule.type]
        is_time = rule.type in (FieldType.DATE, FieldType.DATETIME)
        bound = FieldRule(about=_DAY_TEXT, max_chars=40) if is_time else FieldRule(type=rule.type)
        return {f"{name}_{low}": bound, f"{name}_{high}": bound}
    if rule.type is FieldType.ENUM:
        return {name: FieldRule(type=FieldType.ENUM, values=rule.values)}
    if rule.type is FieldType.BOOLEAN:
        return {name: FieldRule(type=FieldType.BOOLEAN)}
    is_list = rule.type in (FieldType.TEXTS, FieldType.EMAILS)
    return {name: FieldRule(about="is among them" if is_list else "")}


def _sortable(collection: Collection) -> list[str]:
    """The fields by which a search may sort."""
    lists = (FieldType.TEXTS, FieldType.EMAILS, FieldType.ROWS)
    plain = [
        name
        for name, rule in collection.fields.items()
        if rule.type not in lists and rule.max_chars <= 2000
    ]
    return ["id", *plain]


def _special(service_name: str, name: str, special: Special, collection: Collection) -> Operation:
    taken = {
        field: collection.fields[field].model_copy(update={"required": field in special.needs})
        for field in special.takes
    }
    named = {} if special.kind == "create" else _by_id(collection)
    arguments = named | taken | dict(special.arguments)
    return Operation(
        service_name, name, special.kind, special.about, special.collection, arguments, special
    )


@dataclass(frozen=True, slots=True)
class ServiceTool:
    """One tool. `parameters` is a JSON schema without references and alternatives."""

    name: str
    description: str
    parameters: dict[str, Any]
    operation: Operation


def tools_of(services: Iterable[str]) -> tuple[ServiceTool, ...]:
    """The tools of these services, in the order of their declaration. Raises KeyError."""
    return tuple(
        ServiceTool(
            _tool_name(operation),
            operation.about,
            object_schema(operation.arguments),
            operation,
        )
        for name in services
        for operation in operations(name).values()
    )


def _tool_name(operation: Operation) -> str:
    return f"{operation.service}_{operation.name}"


def has_services(task: Candidate) -> bool:
    """Does a task list an operation of a service as a tool?"""
    return any(split_tool_name(name) is not None for name in task.tools)


def split_tool_name(name: str) -> tuple[str, str] | None:
    """Service and operation of a tool; None for the tools of others."""
    service, _, operation = name.partition("_")
    if service not in service_names() or operation not in operations(service):
        return None
    return service, operation
