"""What the writer refuses: names that leave or clash, changed stores, open ledgers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from data.contracts import Candidate, Fixture, LedgerRow, Outcome
from data.errors import LedgerError, ReleaseError
from data.snapshot.writer import write_snapshot
from tests.data.snapshot.sample import SNAPSHOT, names, release, with_candidates


@pytest.mark.parametrize(
    "path",
    ["../x", "/etc/passwd", "a/../../x", "a\\b", "a//b", "a\nb", "", "./a", "x\u202egpj.exe"],
)
def test_fixture_paths_that_leave_or_deceive_are_refused(tmp_path: Path, path: str) -> None:
    def moved(task: Candidate) -> Candidate:
        fixture = task.fixtures[0].model_copy(update={"path": path})
        return task.model_copy(update={"fixtures": (fixture,)})

    given = with_candidates(release(tmp_path), moved)
    with pytest.raises(ReleaseError, match="unsafe path"):
        write_snapshot(given, tmp_path / "out")
    assert names(tmp_path) == ["store"]


@pytest.mark.parametrize(
    "task_id", ["../x", "audit", "ledger.parquet", "a/b", "", "con", ".x", "x."]
)
def test_task_ids_that_cannot_be_directories_are_refused(tmp_path: Path, task_id: str) -> None:
    given = with_candidates(
        release(tmp_path), lambda task: task.model_copy(update={"task_id": task_id})
    )
    with pytest.raises(ReleaseError, match="task id of"):
        write_snapshot(given, tmp_path / "out")


def test_a_task_id_twice_is_refused(tmp_path: Path) -> None:
    given = release(tmp_path)
    second = given.candidates[1].task_id.upper()
    clashing = with_candidates(given, lambda task: task.model_copy(update={"task_id": second}))
    with pytest.raises(ReleaseError, match="occurs twice"):
        write_snapshot(clashing, tmp_path / "out")


@pytest.mark.parametrize("other", ["ORDERS.csv", "orders.csv/x"])
def test_fixtures_that_cannot_lie_side_by_side_are_refused(tmp_path: Path, other: str) -> None:
    def doubled(task: Candidate) -> Candidate:
        entry = task.fixtures[0]
        return task.model_copy(
            update={"fixtures": (entry, entry.model_copy(update={"path": other}))}
        )

    with pytest.raises(ReleaseError, match=r"share the path|is a directory of"):
        write_snapshot(with_candidates(release(tmp_path), doubled), tmp_path / "out")


@pytest.mark.parametrize("damage", ["changed", "missing", "link"])
def test_a_store_that_changed_is_noticed(tmp_path: Path, damage: str) -> None:
    given = release(tmp_path)
    fixture: Fixture = given.candidates[0].fixtures[0]
    stored = given.fixture_file(fixture.sha256)
    stored.unlink()
    if damage == "changed":
        stored.write_bytes(b"x" * fixture.bytes)
    if damage == "link":
        stored.symlink_to("/etc/hostname")
    with pytest.raises(ReleaseError, match=fixture.sha256[:12]):
        write_snapshot(given, tmp_path / "out")
    assert names(tmp_path / "out") == [".lock"]


def test_opaque_ids_must_be_usable_and_distinct(tmp_path: Path) -> None:
    given = release(tmp_path)
    with pytest.raises(ReleaseError, match="same opaque ID"):
        write_snapshot(replace(given, opaque=lambda _: "same"), tmp_path / "out")
    with pytest.raises(ReleaseError, match="cannot be used as a page name"):
        write_snapshot(replace(given, opaque=lambda item: f"../{item}"), tmp_path / "out")


def test_a_ledger_that_does_not_close_is_refused(tmp_path: Path) -> None:
    given = release(tmp_path)
    extra = LedgerRow("gates", "instance", "one-too-many", Outcome.KEPT)
    unclosed = replace(
        given,
        ledger_tables=replace(given.ledger_tables, ledger=[*given.ledger_tables.ledger, extra]),
    )
    with pytest.raises(LedgerError, match="stage gates: the tally counts 18 instances kept, the"):
        write_snapshot(unclosed, tmp_path / "out")


def test_something_else_in_the_place_is_left_there(tmp_path: Path) -> None:
    (tmp_path / "out" / SNAPSHOT).mkdir(parents=True)
    (tmp_path / "out" / SNAPSHOT / "notes.txt").write_text("mine")
    with pytest.raises(ReleaseError, match="Move that directory away"):
        write_snapshot(release(tmp_path), tmp_path / "out")
    assert (tmp_path / "out" / SNAPSHOT / "notes.txt").read_text() == "mine"
