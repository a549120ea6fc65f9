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
    OldReplies,
    Store,
    Stored,
    forget_replies,
    old_replies,
)

BEFORE = date(2026, 9, 1)
JULY = datetime(2026, 7, 2, tzinfo=UTC).timestamp()
AUGUST = datetime(2026, 8, 31, 23, 59, 59, tzinfo=UTC).timestamp()
SEPTEMBER = datetime(2026, 9, 1, tzinfo=UTC).timestamp()
TIMES = {("needed", 0): JULY, ("old", 0): JULY, ("old", 1): AUGUST, ("repaired", 0): JULY}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with old and new replies, one of them the input of a release."""
    store = Store(tmp_path / "llm")
    text = {"needed": "nnn", "old": "a secret answer", "repaired": "rr", "new": "n"}
    rows = [
        Stored(key, turn, Reply(text[key], "stop", False, "m", Usage(1, 1)))
        for key, turn in (*TIMES, ("repaired", 1), ("new", 0))
    ]
    store.keep(rows)
    store.note_use("release-1", ["needed", "new"])
    store.close()
    with sqlite3.connect(tmp_path / "llm" / REPLIES) as link:
        link.execute("UPDATE replies SET at = ?", (SEPTEMBER,))
        for (key, turn), at in TIMES.items():
            link.execute("UPDATE replies SET at = ? WHERE key = ? AND turn = ?", (at, key, turn))
    link.close()
    return tmp_path / "llm"


def remaining(folder: Path) -> list[str]:
    with sqlite3.connect(folder / REPLIES) as link:
        rows = link.execute("SELECT DISTINCT key FROM replies ORDER BY key").fetchall()
    link.close()
    return [row[0] for row in rows]


def test_what_is_old_and_needed_by_no_release_goes(folder: Path) -> None:
    actual = old_replies(folder, BEFORE, {"release-1"})
    assert actual == OldReplies(2, 2 * len("a secret answer"), date(2026, 7, 2), needed=1)
    assert remaining(folder) == ["needed", "new", "old", "repaired"]
    forget_replies(folder, BEFORE, {"release-1"})
    assert remaining(folder) == ["needed", "new", "repaired"]
    assert all(b"a secret answer" not in file.read_bytes() for file in folder.iterdir())
    assert old_replies(folder, BEFORE, {"release-1"}) == OldReplies(needed=1)


def test_without_releases_to_keep_the_needed_ones_go_too(folder: Path) -> None:
    assert old_replies(folder, BEFORE, set()).replies == 3
    forget_replies(folder, BEFORE, set())
    assert remaining(folder) == ["new", "repaired"]


def test_a_release_whose_replies_are_not_known_keeps_all(folder: Path) -> None:
    assert old_replies(folder, BEFORE, {"of-elsewhere"}) == OldReplies(needed=3, unknown=True)


def test_no_store_has_nothing_to_forget(tmp_path: Path) -> None:
    assert old_replies(tmp_path / "llm", BEFORE, {"release-1"}) == OldReplies()
    assert not (tmp_path / "llm").exists()
