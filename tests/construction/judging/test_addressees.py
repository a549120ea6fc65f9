"""Whom a message calls by name."""

from __future__ import annotations

import pytest

from construction.judging.addressees import Called, called, lines_of_speakers, signature


@pytest.mark.parametrize(
    "text",
    [
        "Nora, the crates have arrived.",
        "Dr. Okafor, I want to tell you about the delivery.",
        "Nora -- the driver called again.",
        "Thanks Nora, that helps.",
        "Hey Tom, did you see the invoice?",
        "Team -- the stall opens at nine.",
        "Morning everyone! The scales are broken again.",
        "Hi all,\nthe plan for Friday is below.",
        "Sehr geehrte Frau Lindqvist, anbei das Angebot.",
        "Hallo Jonas, kannst du am Freitag?",
        "Hallo zusammen, der Stand öffnet um neun.",
        "韩梅，箱子到了。",
        "梅姐，箱子到了。",
        "小梅，箱子到了吗？",
        "韩经理您好，我是送货的。",
        "各位，周五九点开门。",
        "From: Nora Lindqvist\nTo: Tom Okafor\n\nThe crates are here.",
    ],
)
def test_people_are_called(text: str) -> None:
    assert called(text) is Called.PEOPLE


@pytest.mark.parametrize(
    "text",
    [
        "Agent, count the crates.",
        "Hi Agent, the crates are in the yard.",
        "One more thing - Agent, can you count the crates?",
        "Yes please Agent, that would help.",
        "Could you count them, Claude?",
        "@stall-bot count the crates",
        "Thanks Nora. Agent, please count the crates.",
        "Hallo Assistent, zähle bitte die Kisten.",
        "助手，请清点箱子。",
        "From: Nora Lindqvist\nTo: assistant@stall.example\n\nCount the crates.",
    ],
)
def test_the_agent_is_called(text: str) -> None:
    assert called(text) is Called.AGENT


@pytest.mark.parametrize(
    "text",
    [
        "hey could you count the crates",
        "Please count the crates.",
        "However, the crates are empty.",
        "Nah, leave the crates.",
        "Apples, pears and plums have to be counted apart.",
        "I agree with Agent's count.",
        "The agent of the landlord called.",
        "Team update: all crates are full.",
        "TODO: count the crates",
        "Kannst du bitte die Kisten zählen?",
        "首先，请清点箱子。",
        "请帮我清点箱子。",
    ],
)
def test_nobody_is_called(text: str) -> None:
    assert called(text) is Called.NOBODY


def test_a_mention_before_the_words_calls() -> None:
    assert called("count the crates", "nora") is Called.PEOPLE
    assert called("count the crates", "stall-bot") is Called.AGENT


def test_a_signature_names_the_writer() -> None:
    assert signature("The crates are in by noon. - Nora") == "Nora"
    assert signature("The crates are in by noon.") is None


def test_lines_of_speakers_are_a_talk_only_without_words_around_it() -> None:
    talk = "Nora: The crates are in.\nTom: All of them?\nNora: All but two."
    assert [name for name, _ in lines_of_speakers(talk)] == ["Nora", "Tom", "Nora"]
    assert lines_of_speakers(f"Summarise this talk:\n{talk}") == ()
    assert lines_of_speakers("Title: Crates\nDate: Friday\nPlace: Yard") == ()
