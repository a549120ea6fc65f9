"""Recorded replies: one file of them, replayed elsewhere, and the baseline where there is none."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from construction.judging.calls.contracts import Usage
from construction.judging.calls.replies import Reply
from construction.judging.calls.store import (
    Store,
    Stored,
    _read_recorded,
    _write_recorded,
    add_recorded,
)
from data.demo.generate import REPLIES as DEMO_REPLIES
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
    assert _write_recorded(store_of(tmp_path / "a", REPLIES[::-1]), file) == 3
    assert list(_read_recorded(file)) == REPLIES
    again = tmp_path / "again.gz"
    _write_recorded(store_of(tmp_path / "b", REPLIES), again)
    assert again.read_bytes() == file.read_bytes()


def test_what_a_store_has_already_stays(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl.gz"
    _write_recorded(store_of(tmp_path / "a", REPLIES), file)
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
        ('{"key": "a"}', 9, "replies.gz:1"),
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
        list(_read_recorded(file))
    assert f"{where}: found" in str(raised.value)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("turn",), "0"),
        (("turn",), 2),
        (("turn",), 2**70),
        (("key",), ["a"]),
        (("reply", "text"), None),
        (("reply", "left_out"), [1]),
        (("reply", "usage", "prompt_tokens"), 2**64),
        (("reply", "usage", "prompt_tokens"), -1),
    ],
)
def test_values_that_no_store_holds_are_refused(
    tmp_path: Path, where: tuple[str, ...], value: object
) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    reply = {"text": "{}", "finish": "", "refused": False, "model": "m", "usage": usage}
    line: dict[str, Any] = {"key": "a", "turn": 0, "reply": reply | {"left_out": []}}
    held = line
    for name in where[:-1]:
        held = held[name]
    held[where[-1]] = value
    file = tmp_path / "replies.gz"
    file.write_bytes(gzip.compress(json.dumps(line).encode()))
    with pytest.raises(InputError, match=r"replies.gz:1: found text"):
        add_recorded(tmp_path / "store", file)
    assert not (tmp_path / "store").exists()


def test_an_empty_file_a_bomb_and_two_replies_to_one_question_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "replies.gz"
    _write_recorded(store_of(tmp_path / "a", REPLIES), file)
    twice = gzip.decompress(file.read_bytes()) * 2
    for content, message in {
        b"": "an empty file",
        file.read_bytes()[:-9]: "EOFError",
        gzip.compress(bytes(20_000_000), 1): "more than 16,777,216 bytes",
        gzip.compress(twice): "a second reply",
    }.items():
        file.write_bytes(content)
        with pytest.raises(InputError, match=f"found {message}"):
            list(_read_recorded(file))


def test_the_replies_of_the_demo_are_read() -> None:
    assert len(list(_read_recorded(DEMO_REPLIES))) > 200
