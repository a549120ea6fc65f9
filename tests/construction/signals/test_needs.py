"""What skills need that no closed workspace gives, by their names and summaries."""

from __future__ import annotations

import datetime as dt

import pytest

from construction.signals.assign import Assignment, PatternShare
from construction.signals.needs import Need, needs_by_pattern, needs_of
from data.contracts import Popularity, Signal, SignalProvenance


def signal(name: str, summary: str = "", slug: str = "s") -> Signal:
    popularity = {Popularity.DOWNLOADS: 1}
    return Signal(slug, name, summary, None, popularity, (), SignalProvenance("r", dt.date.min))


def assigned(slug: str, **shares: float) -> Assignment:
    parts = tuple(
        PatternShare(pattern, share, 1.0, 1.0, 1.0, False, ()) for pattern, share in shares.items()
    )
    return Assignment(slug, parts, None, parts[0].pattern, 1.0)


@pytest.mark.parametrize(
    ("name", "summary", "needs"),
    [
        ("Inbox", "Reads your mail with OAuth and sends replies.", {Need.ACCOUNT}),
        ("Search", "Finds pages. No API key required.", set()),
        ("Search", "Finds pages without an API key.", set()),
        ("Search", "Finds pages; set your API key first.", {Need.ACCOUNT}),
        ("Painter", "Text-to-image in ten styles.", {Need.NO_GRADER}),
        ("Speaker", "Sends TTS notes on WhatsApp.", {Need.ACCOUNT, Need.NO_GRADER}),
        ("发帖助手", "自动发布小红书图文。", {Need.ACCOUNT}),
        ("Linearise", "Makes a linearised PDF.", set()),
        ("Tables", "Cleans CSV files.", set()),
    ],
)
def test_needs_are_read_from_what_a_skill_says(name: str, summary: str, needs: set[Need]) -> None:
    assert needs_of(signal(name, summary)) == needs


def test_a_pattern_has_the_share_of_the_mass_whose_skills_have_a_need() -> None:
    signals = [
        signal("Post", "Posts to your account.", "post"),
        signal("Plan", "Plans posts in a file.", "plan"),
        signal("Draw", "AI image tool", "draw"),
    ]
    assignments = [
        assigned("post", social=1.0),
        assigned("plan", social=1.0),
        assigned("draw", social=0.5, pictures=0.5),
    ]
    masses = {"post": 60.0, "plan": 30.0, "draw": 20.0}
    assert needs_by_pattern(signals, assignments, masses) == {
        "pictures": {"account": 0.0, "no_grader": 1.0},
        "social": {"account": 0.6, "no_grader": 0.1},
    }
