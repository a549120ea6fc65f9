"""Old replies go, by the store's own times; those that a release was made of stay."""

from __future__ import annotations

import sqlite3
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from construction.judging.calls.contracts import Usage
from construction.judging.calls.replies import Reply
from construction.judging.calls.store import (
    REPLIES,
    Store,
    Stored,
    forget_replies,
    with_replies,
)
from data.releases.retention import REPLIES as FOLDER
from data.releases.retention import Kind, Plan, Removal

BEFORE = date(2026, 9, 1)
JULY = datetime(2026, 7, 2, tzinfo=UTC).timestamp()
AUGUST = datetime(2026, 8, 31, 23, 59, 59, tzinfo=UTC).timestamp()
SEPTEMBER = datetime(2026, 9, 1, tzinfo=UTC).timestamp()
TIMES = {("needed", 0): JULY, ("old", 0): JULY, ("old", 1): AUGUST, ("repaired", 0): JULY}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with old and new replies, one of them the input of a release."""
    store = Store(tmp_path / FOLDER)
    text = {"needed": "nnn", "old": "a secret answer", "repaired": "rr", "new": "n"}
    rows = [
        Stored(key, turn, Reply(text[key], "stop", False, "m", Usage(1, 1)))
        for key, turn in (*TIMES, ("repaired", 1), ("new", 0))
    ]
    store.keep(rows)
    store.note_use("release-1", ["needed", "new"])
    store.close()
    with sqlite3.connect(tmp_path / FOLDER / REPLIES) as link:
        link.execute("UPDATE replies SET at = ?", (SEPTEMBER,))
        for (key, turn), at in TIMES.items():
            link.execute("UPDATE replies SET at = ? WHERE key = ? AND turn = ?", (at, key, turn))
    link.close()
    return tmp_path / FOLDER


def remaining(folder: Path) -> list[str]:
    with sqlite3.connect(folder / REPLIES) as link:
        rows = link.execute("SELECT DISTINCT key FROM replies ORDER BY key").fetchall()
    link.close()
    return [row[0] for row in rows]


def plan(out: Path, *releases: str) -> Plan:
    return with_replies(out, Plan((), ()), BEFORE, frozenset(releases))


def test_what_is_old_and_needed_by_no_release_goes(folder: Path, tmp_path: Path) -> None:
    size = 2 * len("a secret answer")
    kept = ((FOLDER, "1 replies that releases were made from"),)
    gone = Removal(Kind.REPLIES, FOLDER, date(2026, 7, 2), 2, size)
    assert plan(tmp_path, "release-1") == Plan((gone,), kept)
    assert remaining(folder) == ["needed", "new", "old", "repaired"]
    forget_replies(folder, BEFORE, {"release-1"})
    assert remaining(folder) == ["needed", "new", "repaired"]
    assert all(b"a secret answer" not in file.read_bytes() for file in folder.iterdir())
    assert plan(tmp_path, "release-1") == Plan((), kept)


def test_without_releases_to_keep_the_needed_ones_go_too(folder: Path, tmp_path: Path) -> None:
    assert [one.files for one in plan(tmp_path).removals] == [3]
    forget_replies(folder, BEFORE, set())
    assert remaining(folder) == ["new", "repaired"]


def test_a_release_whose_replies_are_not_known_keeps_all(folder: Path, tmp_path: Path) -> None:
    purge = plan(tmp_path, "of-elsewhere")
    ((_, why),) = purge.kept
    assert not purge.removals
    assert "does not know of" in why


def test_no_store_has_nothing_to_forget(tmp_path: Path) -> None:
    assert plan(tmp_path, "release-1") == Plan((), ())
    assert not (tmp_path / FOLDER).exists()
