"""Turns and joined calls as all readers build them."""

from __future__ import annotations

from typing import Any

import pytest

from construction.sessions.readers.talk import (
    ToolResults,
    Uids,
    block_text,
    decoded_arguments,
    tool_call,
    user_turn,
)
from data.contracts import Attachment, Origin, Role, ToolCall


def test_results_of_one_id_are_taken_in_order() -> None:
    results = ToolResults()
    results.add("c", "first")
    results.add("c", "second", is_error=True)
    calls = [tool_call(results, "c", "count", {"n": n}, 4 + n) for n in range(3)]
    assert calls == [
        ToolCall("c", "count", {"n": 0}, "first", False, 4),
        ToolCall("c", "count", {"n": 1}, "second", True, 5),
        ToolCall("c", "count", {"n": 2}, None, False, 6),
    ]


def test_results_without_a_call_are_counted() -> None:
    results = ToolResults()
    results.add("a", "x")
    results.add("b", "y")
    tool_call(results, "a", "count", None, 1)
    assert results.unclaimed() == 1


@pytest.mark.parametrize(
    ("written", "decoded"),
    [
        ({"n": 1}, {"n": 1}),
        ('{"n": 1}', {"n": 1}),
        ('  {"n": 1}', {"n": 1}),
        ('{"n": ', {"input": '{"n": '}),
        ("ls -l", {"input": "ls -l"}),
        ("[1]", {"input": "[1]"}),
        ([1], {"input": [1]}),
        ("", {}),
        (None, {}),
    ],
)
def test_arguments_are_always_an_object(written: object, decoded: dict[str, Any]) -> None:
    assert decoded_arguments(written) == decoded


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "one"}], "one"),
        ([{"type": "text", "text": "one"}, {"type": "image"}, "two"], "one\ntwo"),
        ([{"type": "text", "text": 7}], ""),
        ([{"text": ["x"]}, {"text": "y"}], "y"),
        (None, ""),
        ({"text": "x"}, ""),
    ],
)
def test_text_of_a_message(content: object, text: str) -> None:
    assert block_text(content) == text


def test_what_the_record_says_goes_before_its_wrapper() -> None:
    text = "[Slack Ines Mon Mar 02 09:30:11 UTC 2026] see\n[media attached: /b.png]"
    image = Attachment(None, "image/png", "AAAA")
    turn = user_turn(3, text, 9, at=5.0, sender="Ben", attachments=(image,))
    assert (turn.index, turn.line, turn.role, turn.origin) == (3, 9, Role.USER, Origin.HUMAN)
    assert (turn.text, turn.said) == (text, "see")
    assert (turn.at, turn.sender, turn.channel) == (5.0, "Ben", "Slack")
    assert turn.attachments == (image, Attachment("/b.png"))


def test_the_wrappers_time_and_sender_stand_in() -> None:
    turn = user_turn(0, "[Slack Ines Thu Jan 01 00:01:00 UTC 1970] see", 1)
    assert (turn.at, turn.sender) == (60.0, "Ines")


def test_uids_of_one_file_never_clash() -> None:
    uids = Uids("a/log.jsonl")
    given = [uids.give(name) for name in ("run 1", "run/1", "run-1", "x" * 90, "x" * 95)]
    assert len(set(given)) == 5
    assert given[0] == Uids("a/log.jsonl").give("run 1")
    assert given[0] != Uids("b/log.jsonl").give("run 1")
