"""One world in one file: nothing is lost, nothing is changed afterwards, a kill is seen."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from construction.workflows.contracts import Refused, Request
from construction.workflows.world_file import world_bytes
from data.canonical import canonical_json, digest
from data.errors import InputError
from data.hash_chain import BrokenChain, linked
from flows.services.instance import Instance, InstanceGone, _row_of, logged, recorded
from tests.conftest import REPO
from tests.construction.workflows.worlds import filled_world, fitting_requests, hostile_requests

GET = Request("mail", "get_message", {"id": "msg-001"})


def test_an_instance_is_found_again_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    world = filled_world(1, 4)
    requests = [*fitting_requests(1, 300, world), *hostile_requests(1, 200, world)]
    with Instance.start(path, world) as instance:
        for request in requests:
            instance.answer(request)
        before, audit = instance.world, list(instance.audit)
    with Instance.reopen(path) as again:
        assert not again.was_killed
        assert (again.world.state, again.world.calls) == (before.state, before.calls)
        assert again.audit == audit
        assert again.answer(GET).refused in (None, Refused.NOT_FOUND)
    assert len(logged(path)) == len(requests) + 1


def test_an_instance_that_is_opened_again_keeps_its_allowance(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    with Instance.start(path, replace(filled_world(1, 2), allowance=3)) as instance:
        for _ in range(2):
            assert instance.answer(GET).refused is None
    for refused in (None, Refused.RATE_LIMITED, Refused.RATE_LIMITED):
        with Instance.reopen(path) as again:
            assert again.answer(GET).refused is refused
    audit, _ = recorded(path)
    assert [row.status for row in audit] == ["ok"] * 3 + ["rate_limited"] * 2


def test_entries_are_chained(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    world = filled_world(1, 2)
    with Instance.start(path, world) as instance:
        for _ in range(3):
            instance.answer(GET)
        entries = logged(path)
        assert [entry["previous"] for entry in entries] == [
            digest(world_bytes(world)), entries[0]["hash"], entries[1]["hash"],
        ]  # fmt: skip
        assert [_row_of(entry) for entry in entries] == instance.audit


def test_a_second_process_on_a_file_cannot_break_its_log(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    with Instance.start(path, filled_world(1, 2)) as first, Instance.reopen(path) as second:
        first.answer(GET)
        with pytest.raises(InstanceGone, match="another process is using it"):
            second.answer(GET)
        first.answer(GET)
    with Instance.reopen(path) as again:
        assert len(again.audit) == 2


def test_an_instance_is_not_gone_on_with_for_another_world(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    world = filled_world(1, 2)
    Instance.start(path, world).close()
    Instance.reopen(path, world).close()
    with pytest.raises(InputError, match="found another world"):
        Instance.reopen(path, filled_world(2, 2))


def test_arguments_of_any_depth_are_answered_and_logged(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    with Instance.start(path, filled_world(1, 2)) as instance:
        for depth in (1, 63, 64, 252, 253, 254, 1_000, 100_000):
            value: object = "x"
            for _ in range(depth):
                value = [value]
            answer = instance.answer(Request("mail", "get_message", {"id": value}))
            assert answer.refused is Refused.INVALID_ARGUMENT
    assert len(logged(path)) == 8


def test_the_log_can_be_neither_changed_nor_shortened(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    with Instance.start(path, filled_world(1, 2)) as instance:
        instance.answer(GET)
    database = sqlite3.connect(path)
    for statement in ("DELETE FROM log", "UPDATE log SET entry = '{}'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            database.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM log WHERE number = 2",
        "UPDATE log SET number = number + 1 WHERE number = 3",
        "UPDATE log SET entry = replace(entry, 'msg-001', 'msg-002') WHERE number = 2",
        "UPDATE log SET entry = (SELECT entry FROM log WHERE number = 1) WHERE number = 2",
    ],
)
def test_an_altered_file_is_noticed(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "one.sqlite"
    with Instance.start(path, filled_world(1, 2)) as instance:
        for _ in range(3):
            instance.answer(GET)
    database = sqlite3.connect(path)
    with database:
        database.execute("DROP TRIGGER log_is_not_changed")
        database.execute("DROP TRIGGER log_is_not_shortened")
        database.execute(statement)
    database.close()
    with pytest.raises(BrokenChain, match=r"one\.sqlite"):
        Instance.reopen(path)


def test_another_world_under_the_same_log_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    with Instance.start(path, filled_world(1, 2)) as instance:
        instance.answer(GET)
    database = sqlite3.connect(path)
    with database:
        database.execute(
            "UPDATE about SET value = replace(CAST(value AS TEXT), 'msg-001', 'msg-009') "
            "WHERE name = 'world'"
        )
    database.close()
    with pytest.raises((BrokenChain, InputError)):
        Instance.reopen(path)


def test_a_read_that_never_was_so_is_noticed_where_it_counts(tmp_path: Path) -> None:
    """Whoever forges the hashes too has to forge what the services would have answered."""
    path = tmp_path / "one.sqlite"
    world = filled_world(1, 2)
    with Instance.start(path, world) as instance:
        instance.answer(GET)
    (entry,) = logged(path)
    body = {name: value for name, value in entry.items() if name not in ("previous", "hash")}
    forged = linked(digest(world_bytes(world)), {**body, "records": ["messages/msg-002"]})
    database = sqlite3.connect(path)
    with database:
        database.execute("DROP TRIGGER log_is_not_changed")
        database.execute("UPDATE log SET entry = ?", (canonical_json(forged),))
    database.close()
    with pytest.raises(BrokenChain, match="request 1 ended differently"):
        recorded(path)


def test_many_threads_leave_one_whole_chain(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    world = filled_world(3, 3)
    with Instance.start(path, world) as instance:

        def work(seed: int) -> None:
            for request in fitting_requests(seed, 100, world):
                instance.answer(request)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(logged(path)) == 800
    with Instance.reopen(path) as again:
        assert sum(again.world.calls.values()) == 800


_WRITER = """
import sys
from pathlib import Path
from construction.workflows.contracts import Request
from flows.services.instance import Instance
from tests.construction.workflows.worlds import empty_world

instance = Instance.start(Path(sys.argv[1]), empty_world("notes"))
while True:
    answer = instance.answer(Request("notes", "create_note", {"title": "a", "body": "b"}))
    print(answer.body["id"], flush=True)
"""


def test_what_a_killed_process_had_answered_is_there(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    child = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True, cwd=REPO
    )
    assert child.stdout is not None
    seen = [child.stdout.readline().strip() for _ in range(200)]
    os.kill(child.pid, signal.SIGKILL)
    seen += child.stdout.read().split()
    child.wait()
    with Instance.reopen(path) as again:
        assert again.was_killed
        notes = again.world.state["notes"]["notes"]
        assert set(seen) <= notes.keys()
        assert len(notes) - len(seen) <= 1  # written, and killed before it could say so
    with Instance.reopen(path) as closed:
        assert not closed.was_killed


def test_closed_and_broken_instances_are_gone(tmp_path: Path) -> None:
    instance = Instance.start(tmp_path / "one.sqlite", filled_world(1, 1))
    instance.close()
    with pytest.raises(InstanceGone, match="closed"):
        instance.answer(GET)
    broken = Instance.start(tmp_path / "two.sqlite", filled_world(1, 1))
    before = broken.world
    database = sqlite3.connect(tmp_path / "two.sqlite")
    database.execute("DROP TABLE log")
    database.commit()
    with pytest.raises(InstanceGone, match=r"two\.sqlite"):
        broken.answer(GET)
    assert broken.world is before
    broken.close()


def test_files_that_are_no_instance(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello, this is not a database at all")
    with pytest.raises(InputError, match="text"):
        Instance.reopen(tmp_path / "text")
    with pytest.raises(InputError, match="none"):
        Instance.reopen(tmp_path / "none")
    with pytest.raises(InputError, match="text"):
        Instance.start(tmp_path / "text", filled_world(1, 1))
    assert not (tmp_path / "none").exists()
