"""Density clusters: dense places, noise, and no influence of anything but the set."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.signals.assign import (
    NOISE,
    Assignment,
    Need,
    _needs_of,
    _PatternShare,
    cluster,
    needs_by_pattern,
)
from construction.signals.config import ClusterConfig
from construction.signals.matching import Vectors, _unit
from data.contracts import Popularity, Signal, SignalProvenance

# What skills need that no closed workspace gives, by their names and summaries.


def signal(name: str, summary: str = "", slug: str = "s") -> Signal:
    popularity = {Popularity.DOWNLOADS: 1}
    return Signal(slug, name, summary, None, popularity, (), SignalProvenance("r", dt.date.min))


def assigned(slug: str, **shares: float) -> Assignment:
    parts = tuple(
        _PatternShare(pattern, share, 1.0, 1.0, 1.0, False, ()) for pattern, share in shares.items()
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
    assert _needs_of(signal(name, summary)) == needs


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


CONFIG = ClusterConfig(radius=0.02, neighbours=3)


def circle(*degrees: float) -> Vectors:
    angles = np.radians(np.array(degrees))
    places: Vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return places


def test_two_dense_places_and_a_stray() -> None:
    # Cosine distance 0.02 is about 11.5 degrees.
    labels = cluster(circle(0, 5, 10, 90, 95, 100, 200), CONFIG)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, NOISE]


def test_a_border_row_joins_but_does_not_carry_on() -> None:
    # 15 has three neighbours with itself, so it is no core; 25 reaches nothing but 15.
    config = ClusterConfig(radius=0.02, neighbours=4)
    labels = cluster(circle(0, 1, 2, 5, 15, 25), config)
    assert labels.tolist() == [0, 0, 0, 0, 0, NOISE]


def test_a_border_row_joins_its_nearest_core() -> None:
    # 11 reaches the core at 0 (11 degrees) and that at 20 (9 degrees), and is none itself.
    config = ClusterConfig(radius=0.02, neighbours=6)
    labels = cluster(circle(-6, -5, -4, -3, -2, 0, 11, 20, 23, 24, 25, 26, 27), config)
    assert labels.tolist() == [0] * 6 + [1] * 7


def test_clusters_are_numbered_by_their_first_row() -> None:
    # The first row is a border of the second place; cores alone would number the places otherwise.
    config = ClusterConfig(radius=0.02, neighbours=4)
    labels = cluster(circle(110, 0, 1, 2, 3, 97, 98, 99, 100), config)
    assert labels.tolist() == [0, 1, 1, 1, 1, 0, 0, 0, 0]


def test_nothing_to_cluster() -> None:
    assert cluster(np.zeros((0, 4)), CONFIG).tolist() == []
    assert cluster(circle(10), CONFIG).tolist() == [NOISE]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 359), min_size=1, max_size=30))
def test_cores_are_joined_as_by_hand(degrees: list[int]) -> None:
    labels = cluster(_unit(circle(*degrees)), CONFIG).tolist()
    near = [[np.cos(np.radians(a - b)) >= 1 - CONFIG.radius for b in degrees] for a in degrees]
    cores = [row for row, others in enumerate(near) if sum(others) >= CONFIG.neighbours]
    reached: dict[int, set[int]] = {}
    for core in cores:  # flood fill over cores
        todo, seen = [core], {core}
        while todo:
            row = todo.pop()
            new = [other for other in cores if near[row][other] and other not in seen]
            seen.update(new)
            todo.extend(new)
        reached[core] = seen
    for core in cores:
        assert {other for other in cores if labels[other] == labels[core]} == reached[core]
    for row in set(range(len(degrees))) - set(cores):
        assert (labels[row] == NOISE) == (not any(near[row][core] for core in cores))
    seen_first = list(dict.fromkeys(label for label in labels if label != NOISE))
    assert seen_first == sorted(seen_first)  # numbered by first member
