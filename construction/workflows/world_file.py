"""Worlds as files: canonical JSON, checked against the declared services when it is read; and an
archive of papers as a world, in which what is read has to be found first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from construction.workflows.contracts import Fields, State, World
from construction.workflows.declaration import operations, service, service_names
from construction.workflows.records import Rivals, record_faults, rivals_in
from construction.workflows.values import FieldRule, FieldType, ValueFault, parsed_now, stored
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.errors import InputError

WORLDS = "worlds"  # in the output of a stage: the world of each task that has one
MAX_BYTES = 64 << 20
_WORLD = TypeAdapter(World)
_TODO = "Correct the record, or build the task again."


def write_world(path: Path, world: World) -> None:
    """Write a world atomically. The same world is the same bytes."""
    write_bytes(path, world_bytes(world))


def worlds_of(folders: Sequence[Path]) -> dict[str, Path]:
    """The world of each task that has one, by task id."""
    return {
        path.stem: path for folder in folders for path in sorted((folder / WORLDS).glob("*.json"))
    }


def world_bytes(world: World) -> bytes:
    fields = asdict(world)
    if world.allowance is None:
        del fields["allowance"]
    return canonical_json(fields) + b"\n"


def read_world(path: Path) -> World:
    """The world in a file. Raises InputError with the first fault, or OSError."""
    if path.stat().st_size > MAX_BYTES:
        size, limit = f"{path.stat().st_size} bytes", f"at most {MAX_BYTES}"
        raise InputError(str(path), size, limit, _TODO)
    return world_of(path.read_bytes(), str(path))


def world_of(content: bytes, where: str) -> World:
    """A world from its JSON text; `where` is named in errors. Raises InputError."""
    try:
        world = _WORLD.validate_python(orjson.loads(content))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        location = ".".join(map(str, first["loc"]))[:100]
        raise InputError(where, f"{location}: {first['msg']}", "a world", _TODO) from None
    except orjson.JSONDecodeError as error:
        raise InputError(where, "no JSON", "a world", _TODO, error.lineno) from None
    if faults := world_faults(world):
        raise InputError(where, faults[0], "records as their service declares them", _TODO)
    return world


def world_faults(world: World) -> list[str]:
    """What is wrong with a world, one line each; none if services can start from it."""
    try:
        now = parsed_now(world.now)
    except ValueError:
        return ["now: no time with an offset"]
    try:
        stored(FieldRule(type=FieldType.EMAIL), world.actor, now)
    except ValueFault as fault:
        return [f"actor: {fault}"]
    faults = _state_faults(world.state, now)
    if world.initial is not None:
        faults += [f"initial: {fault}" for fault in _state_faults(world.initial, now)]
    faults += [f"calls: {name[:60]}: below 0" for name, n in world.calls.items() if n < 0]
    if world.allowance is not None and world.allowance < 1:
        faults.append("allowance: below 1")
    return faults + _fault_faults(world)


def changed_faults(world: World, before: World) -> list[str]:
    """`world_faults` of a world made from one without faults, by looking at what differs alone."""
    now, faults = parsed_now(world.now), []
    for name, collections in world.state.items():
        for plural, records in collections.items():
            old = before.state.get(name, {}).get(plural, {})
            if records is old:
                continue
            if old.keys() - records.keys():  # somebody may refer to what is gone
                return world_faults(world)
            rivals = rivals_in(service(name).collections[plural], records.values())
            faults += [
                f"{name}/{plural}/{key[:60]}: {fault}"
                for key, fields in records.items()
                if old.get(key) is not fields
                for fault in _record_faults(world.state, name, plural, fields, now, rivals)
            ]
    return faults


def _state_faults(state: State, now: datetime) -> list[str]:
    faults = []
    for name, collections in state.items():
        if name not in service_names():
            faults.append(f"{name[:60]}: no such service")
            continue
        declared = service(name).collections
        for plural in collections:
            if plural not in declared:
                faults.append(f"{name}.{plural[:60]}: no such collection")
                continue
            faults += _collection_faults(state, name, plural, now)
    return faults


def _collection_faults(state: State, name: str, plural: str, now: datetime) -> list[str]:
    records = state[name][plural]
    misnamed = [key for key, fields in records.items() if fields.get("id") != key]
    if misnamed:
        return [f"{name}/{plural}/{misnamed[0][:60]}: id: not the id under which it is kept"]
    rivals = rivals_in(service(name).collections[plural], records.values())
    return [
        f"{name}/{plural}/{key[:60]}: {fault}"
        for key, fields in records.items()
        for fault in _record_faults(state, name, plural, fields, now, rivals)
    ]


def _record_faults(
    state: State, name: str, plural: str, fields: Fields, now: datetime, rivals: Rivals
) -> list[str]:
    rules = service(name).collections[plural].fields
    faults = [f"{field[:60]}: no such field" for field in fields.keys() - {"id", *rules}]
    for field, rule in rules.items():
        if field not in fields:
            continue
        try:
            if stored(rule, fields[field], now) != fields[field]:
                faults.append(f"{field}: not written as services write it")
        except ValueFault as fault:
            faults.append(f"{field}: {fault}")
    if faults:
        return faults
    return [message for _, message in record_faults(state, name, plural, fields, now, rivals)]


def _fault_faults(world: World) -> list[str]:
    return [
        f"faults: no such operation as {fault.service[:60]}.{fault.operation[:60]}"
        for fault in world.faults
        if fault.service not in world.state or fault.operation not in operations(fault.service)
    ]


ARCHIVE, PAPERS = "archive", "papers"


@dataclass(frozen=True, slots=True)
class ArchivedPaper:
    """A paper as it is filed: what a clerk would note of it, and its whole text."""

    heading: str
    body: str
    folder: str | None = None
    filed_on: str | None = None  # an ISO 8601 day


def archive_world(
    papers: Sequence[ArchivedPaper], now: str, actor: str, allowance: int | None = None
) -> World:
    """A world whose only service is an archive; ids are numbers in the order of the papers.

    Raises InputError with the first thing that does not fit.
    """
    prefix = service(ARCHIVE).collections[PAPERS].prefix
    records = {}
    for number, paper in enumerate(papers, 1):
        fields = {
            "id": f"{prefix}-{number:03d}",
            "heading": paper.heading,
            "folder": paper.folder,
            "filed_on": paper.filed_on,
            "body": paper.body,
        }
        filled = {name: value for name, value in fields.items() if value is not None}
        records[filled["id"]] = filled
    world = World({ARCHIVE: {PAPERS: records}}, now, actor, allowance=allowance)
    if faults := world_faults(world):
        todo = "Shorten the paper, or correct it."
        raise InputError(ARCHIVE, faults[0], "papers as the archive keeps them", todo)
    return world
