"""Worlds as files: the same bytes, and one readable line for what does not fit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from construction.workflows.contracts import Fault, FaultKind, Request, World
from construction.workflows.engine import handle, state_digest
from construction.workflows.world_file import read_world, world_bytes, write_world
from data.errors import InputError
from tests.construction.workflows.worlds import ACTOR, NOW, filled_world, fitting_requests


def test_a_world_comes_back_as_it_was(tmp_path: Path) -> None:
    world = filled_world(2, 3)
    for request in fitting_requests(2, 50, world):
        world = handle(world, request).world
    path = tmp_path / "world.json"
    write_world(path, world)
    again = read_world(path)
    assert state_digest(again.state) == state_digest(world.state)
    assert again.calls == world.calls
    assert world_bytes(again) == path.read_bytes()
    request = Request("mail", "search_messages", {"query": "order"})
    assert handle(again, request).response == handle(world, request).response


NOTE: dict[str, Any] = {"id": "n-1", "title": "a", "body": "b", "created_at": NOW}


def _notes(**changes: Any) -> dict[str, Any]:
    return {"state": {"notes": {"notes": {"n-1": NOTE | changes}}}, "now": NOW, "actor": ACTOR}


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (lambda: b"", "JSON"),
        (lambda: b"[]", "World"),
        (lambda: {"state": {}}, "now"),
        (lambda: _notes() | {"now": "2026-03-05"}, "offset"),
        (lambda: _notes() | {"actor": "Dana"}, "actor"),
        (lambda: _notes() | {"state": {"shop": {}}}, "no such service"),
        (lambda: _notes() | {"state": {"notes": {"letters": {}}}}, "no such collection"),
        (lambda: _notes(colour="red"), "no such field"),
        (lambda: _notes(title=None), "title"),
        (lambda: _notes() | {"initial": {"shop": {}}}, "initial: shop: no such service"),
        (lambda: _notes() | {"calls": {"notes.search_notes": -1}}, "below 0"),
        (lambda: _notes() | {"allowance": 0}, "allowance: below 1"),
        (lambda: _notes(id="n-2"), "id"),
        (lambda: _notes(created_at="2026-03-05T08:00:00Z"), "as services write it"),
        (lambda: _notes(created_at="yesterday"), "created_at"),
        (
            lambda: (
                _notes()
                | {"faults": [{"service": "notes", "operation": "x", "kind": "slow", "calls": [1]}]}
            ),
            "no such operation",
        ),
    ],
)
def test_what_does_not_fit_is_named_in_one_line(
    tmp_path: Path, content: Callable[[], Any], word: str
) -> None:
    raw = content()
    path = tmp_path / "world.json"
    path.write_bytes(raw if isinstance(raw, bytes) else orjson.dumps(raw))
    with pytest.raises(InputError, match=word) as caught:
        read_world(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_faults_are_kept(tmp_path: Path) -> None:
    faults = (Fault("notes", "get_note", FaultKind.STALE, (1, 2)),)
    world = World({"notes": {"notes": {"n-1": NOTE}}}, NOW, ACTOR, faults)
    write_world(tmp_path / "w.json", world)
    assert read_world(tmp_path / "w.json") == world


def test_an_allowance_is_kept_and_a_world_without_one_names_none(tmp_path: Path) -> None:
    world = World({"notes": {"notes": {"n-1": NOTE}}}, NOW, ACTOR)
    assert b"allowance" not in world_bytes(world)
    write_world(tmp_path / "w.json", replace(world, allowance=7))
    assert read_world(tmp_path / "w.json") == replace(world, allowance=7)


def test_a_world_of_many_records_is_read_without_comparing_each_with_each(tmp_path: Path) -> None:
    path = tmp_path / "world.json"
    employees = {
        f"emp-{n}": {
            "id": f"emp-{n}",
            "name": "A",
            "email": f"a{n}@acme.example",
            "status": "active",
        }
        for n in range(20_000)
    }
    content = {"state": {"hr": {"employees": employees}}, "now": NOW, "actor": ACTOR}
    path.write_bytes(orjson.dumps(content))
    began = time.perf_counter()
    read_world(path)
    assert time.perf_counter() - began < 20  # each with each takes minutes
    employees["emp-1"]["email"] = "A7@acme.example"
    path.write_bytes(orjson.dumps(content))
    with pytest.raises(InputError, match="email"):
        read_world(path)
