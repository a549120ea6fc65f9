"""Merging turns: what stays, what goes and why, and what of the past comes along."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.prompts.prompt import LeftOut, Part, background, merge_turns
from data.contracts import CutReason
from tests.construction.sessions.instances import said

REQUEST = "Draft an offer for the Lindgren kitchen."


def left_out(*texts: str) -> dict[int, LeftOut]:
    return dict(merge_turns(said(*texts).user_turns).left_out)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Thanks, that's great!", LeftOut.CHATTER),
        ("continue", LeftOut.CHATTER),
        ("好的，辛苦了", LeftOut.CHATTER),
        ("Here are the files.", LeftOut.ANNOUNCES_FILES),
        ("先发第一个文件", LeftOut.ANNOUNCES_FILES),
        ("How's the draft coming along?", LeftOut.ASKS_STATUS),
        ("写完了吗？", LeftOut.ASKS_STATUS),
        ("Great, the second paragraph reads very well to me.", LeftOut.REACTS),
        ("I'll send it to Mr Lindgren tonight.", LeftOut.REACTS),
        (REQUEST, LeftOut.REPEATED),
    ],
)
def test_turns_without_use_for_a_newcomer(text: str, reason: LeftOut) -> None:
    assert left_out(REQUEST, text) == {2: reason}


@pytest.mark.parametrize(
    "text",
    [
        "Great. Now translate it into Swedish.",
        "No, the worktop must be oak.",
        "Perfect, but the price should be in kronor.",
        "The kitchen is four metres long and the window faces north.",
        "不对，交货期要求改成六周。",
        "I measured again: 412 centimetres from wall to wall.",
    ],
)
def test_corrections_and_facts_stay(text: str) -> None:
    merged = merge_turns(said(REQUEST, text).user_turns)
    assert merged.left_out == {}
    assert len(merged.parts) == 2


def test_plans_before_the_request_are_background_and_after_it_a_farewell() -> None:
    plan = "I'm going to visit the Lindgrens on Monday."
    assert left_out(plan, REQUEST) == {}
    assert left_out(REQUEST, plan) == {2: LeftOut.REACTS}


def test_thanks_before_a_request_are_cut_off() -> None:
    merged = merge_turns(said("Perfect! Thanks a lot. Now add a delivery date.").user_turns)
    assert merged.text == "Now add a delivery date."


def test_the_end_of_another_task_is_cut_off() -> None:
    merged = merge_turns(
        said("Great, we are done with that. New task: list the hinges.").user_turns
    )
    assert merged.text == "New task: list the hinges."


def test_if_all_is_chatter_all_of_it_stays() -> None:
    merged = merge_turns(said("hi", "thanks!").user_turns)
    assert merged.parts == (Part(None, "hi"), Part(None, "thanks!"))
    assert merged.left_out == {}


def test_writers_are_known_by_sender_or_signature() -> None:
    turns = list(said("The hinges are in.", "We need 14 of them by noon. - Raj").user_turns)
    turns[0] = replace(turns[0], sender="Mia")
    merged = merge_turns(turns)
    assert merged.people == ("Mia", "Raj")


def test_background_is_what_was_said_about_the_same_things() -> None:
    instance = replace(
        said("What does the Lindgren worktop cost in oak?"),
        started_by=CutReason.TOPIC_SHIFT,
        said_before=(
            "The price list for Lindgren has oak at 240 per metre.",
            "Book the van.",
            "Thanks!",
        ),
    )
    request = merge_turns(instance.user_turns).text
    assert background(instance, request) == (
        "The price list for Lindgren has oak at 240 per metre.",
    )


@pytest.mark.parametrize(
    "started_by",
    [CutReason.SESSION_START, CutReason.EXPLICIT_RESET, CutReason.MARKED_AS_NEW],
)
def test_no_background_where_something_new_begins(started_by: CutReason) -> None:
    instance = replace(
        said("Price for Lindgren?"),
        started_by=started_by,
        said_before=("The price for Lindgren is 240.",),
    )
    assert background(instance, "Price for Lindgren?") == ()


@pytest.mark.parametrize(
    "earlier",
    [
        "The Lindgren price is at https://example.com/list today.",
        "The Lindgren price is in prices.xlsx today.",
        "The Lindgren price is [REDACTED] today.",
    ],
)
def test_what_no_gate_has_looked_at_does_not_come_along(earlier: str) -> None:
    instance = replace(
        said("The price for Lindgren?"), started_by=CutReason.TOPIC_SHIFT, said_before=(earlier,)
    )
    assert background(instance, "The price for Lindgren?") == ()


@given(st.lists(st.text(max_size=60), min_size=1, max_size=6))
def test_every_turn_is_in_the_text_or_left_out(texts: list[str]) -> None:
    merged = merge_turns(said(*texts).user_turns)
    assert len(merged.parts) + len(merged.left_out) == len(texts)
    assert merged.parts
