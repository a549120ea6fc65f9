"""Recorded replies: one file of them, replayed elsewhere, and the baseline where there is none."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path

import pytest

from construction.judging.calls.contracts import Usage
from construction.judging.calls.recorded import add_recorded, read_recorded, write_recorded
from construction.judging.calls.replies import Reply
from construction.judging.calls.store import Store, Stored
from data.errors import InputError

REPLIES = [
    Stored("a" * 64, 0, Reply('{"town": "Łódź"}', "stop", False, "m", Usage(9, 4))),
    Stored("b" * 64, 0, Reply("no JSON", "stop", False, "m", Usage(8, 2), ("seed",))),
    Stored("b" * 64, 1, Reply("{}", "", True, "m", Usage(10, 1))),
]


def store_of(folder: Path, replies: list[Stored]) -> Path:
    with closing(Store(folder)) as store:
        store.keep(replies)
    return folder


def test_the_replies_of_a_file_are_those_of_the_store(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl.gz"
    assert write_recorded(store_of(tmp_path / "a", REPLIES[::-1]), file) == 3
    assert list(read_recorded(file)) == REPLIES
    again = tmp_path / "again.gz"
    write_recorded(store_of(tmp_path / "b", REPLIES), again)
    assert again.read_bytes() == file.read_bytes()


def test_what_a_store_has_already_stays(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl.gz"
    write_recorded(store_of(tmp_path / "a", REPLIES), file)
    own = Stored("a" * 64, 0, Reply("{}", "stop", False, "own", Usage(1, 1)))
    folder = store_of(tmp_path / "b", [own])
    for _ in range(2):
        add_recorded(folder, file)
    with closing(Store(folder)) as store:
        assert store.replies("a" * 64) == [own.reply]
        assert store.replies("b" * 64) == [REPLIES[1].reply, REPLIES[2].reply]


@pytest.mark.parametrize(
    ("lines", "cut", "where"),
    [
        (None, 0, "replies.gz"),
        ('{"key": "a"}', 9, "replies.gz"),
        ('{"key": "a", "turn": 0, "reply": "text"}', 0, "replies.gz:1"),
        ("[]", 0, "replies.gz:1"),
    ],
    ids=["plain", "cut", "no_reply", "list"],
)
def test_another_file_is_refused_with_its_line(
    tmp_path: Path, lines: str | None, cut: int, where: str
) -> None:
    packed = b"plain text" if lines is None else gzip.compress(f"{lines}\n".encode())
    file = tmp_path / "replies.gz"
    file.write_bytes(packed[: len(packed) - cut])
    with pytest.raises(InputError, match="expected recorded replies") as raised:
        list(read_recorded(file))
    assert f"{where}: found" in str(raised.value)
