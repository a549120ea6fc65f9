"""What moved between two snapshots."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.signals.assign import Assignment, _PatternShare
from construction.signals.codebook import default_codebook, default_crosswalk
from construction.signals.config import Counting, GapConfig, SignalsConfig
from construction.signals.weights import (
    Action,
    DatedMixture,
    Mixture,
    SeedIdea,
    _action,
    _FamilyWeight,
    _gradings,
    _history,
    _PatternMass,
    change,
    coverage_gap,
    mixture,
    seed_ideas,
)
from data.errors import ConfigError


def dated(day: int, weights: dict[str, float], counting: str = Counting.FRACTIONAL) -> DatedMixture:
    patterns = tuple(
        _PatternMass(f"p_{name}", name, True, 100 * weight, 1, ())
        for name, weight in weights.items()
    )
    families = tuple(_FamilyWeight(n, 100 * w, w, 1) for n, w in weights.items())
    mixture = Mixture("downloads", counting, 100.0, patterns, families, 0.0, 0.0, ())
    return DatedMixture("made", dt.date(2026, 3, day), "0" * 64, mixture)


def test_points_by_size_then_name() -> None:
    difference = change(
        dated(1, {"a": 0.5, "b": 0.3, "c": 0.2}), dated(2, {"a": 0.4, "b": 0.4, "d": 0.2})
    )
    assert [(row.name, row.points) for row in difference.families] == [
        ("c", -20.0),
        ("d", 20.0),
        ("a", -10.0),
        ("b", 10.0),
    ]
    assert [row.name for row in difference.patterns] == ["p_c", "p_d", "p_a", "p_b"]
    assert difference.distance == pytest.approx(0.3)
    assert (difference.before.day, difference.after.day) == (1, 2)


def test_snapshots_come_in_order_of_their_dates() -> None:
    days = [one.date.day for one in _history([dated(3, {}), dated(1, {}), dated(2, {})])]
    assert days == [1, 2, 3]


def test_mixtures_counted_differently_are_not_compared() -> None:
    with pytest.raises(ConfigError, match=r"fractional.*full"):
        change(dated(1, {"a": 1.0}), dated(2, {"a": 1.0}, Counting.FULL))


# The coverage gap and what it advises.

CONFIG = GapConfig()


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (5.0, Action.PRIORITY),
        (4.999999999, Action.ADD),
        (2.0, Action.ADD),
        (1.999999999, Action.OK),
        (0.0, Action.OK),
        (-1.999999999, Action.OK),
        (-2.0, Action.TRIM),
        (-4.999999999, Action.TRIM),
        (-5.0, Action.REDUCE),
    ],
)
def test_the_limits_belong_to_the_action(points: float, expected: Action) -> None:
    assert _action(points, CONFIG) is expected


def test_gap_in_points_largest_lack_first() -> None:
    gap = coverage_gap({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 2, "b": 3, "c": 5}, 20, CONFIG)
    rows = [(r.family, r.share, r.gap, r.suggested, r.action) for r in gap.rows]
    assert rows == [
        ("a", 0.2, 30.0, 10, Action.PRIORITY),
        ("b", 0.3, 0.0, 6, Action.OK),
        ("c", 0.5, -30.0, 4, Action.REDUCE),
    ]
    assert (gap.tasks, gap.distance, gap.suggested_distance) == (10, 0.3, 0.0)


def test_a_family_nobody_asks_for_is_reduced_to_nothing() -> None:
    gap = coverage_gap({"a": 1.0}, {"a": 3, "odd": 1}, 8, CONFIG)
    odd = next(row for row in gap.rows if row.family == "odd")
    assert (odd.weight, odd.share, odd.suggested, odd.action) == (0.0, 0.25, 0, Action.REDUCE)


def test_bounds_are_kept_and_impossible_ones_named() -> None:
    gap = coverage_gap({"a": 0.9, "b": 0.1}, {}, 10, CONFIG, least={"b": 3}, most={"a": 7})
    assert {row.family: row.suggested for row in gap.rows} == {"a": 7, "b": 3}
    assert gap.suggested_distance == pytest.approx(0.2)
    with pytest.raises(ConfigError, match="10 does not lie between"):
        coverage_gap({"a": 1.0}, {}, 10, CONFIG, most={"a": 9})


def test_a_family_without_weight_never_fills_up_a_release() -> None:
    with pytest.raises(ConfigError, match="10 does not lie between"):
        coverage_gap({"a": 1.0, "b": 0.0}, {}, 10, CONFIG, most={"a": 7})


def test_an_empty_pool_lacks_everything() -> None:
    gap = coverage_gap({"a": 0.6, "b": 0.4}, {}, 5, CONFIG)
    assert (gap.distance, [row.gap for row in gap.rows]) == (1.0, [60.0, 40.0])


weights = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 1), min_size=1)
pools = st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 40))


@given(weights, pools, st.integers(0, 60))
def test_suggestions_fill_the_release(
    given_weights: dict[str, float], pool: dict[str, int], size: int
) -> None:
    whole = sum(given_weights.values())
    gap = coverage_gap({n: w / whole for n, w in given_weights.items()}, pool, size, CONFIG)
    assert sum(row.suggested for row in gap.rows) == size
    assert {row.family for row in gap.rows} == given_weights.keys() | pool.keys()
    if gap.tasks:
        assert sum(row.gap for row in gap.rows) == pytest.approx(0.0, abs=1e-6)


BOOK, CROSSWALK = default_codebook(), default_crosswalk()


def mixed(masses: dict[str, float]) -> Mixture:
    shares = [
        Assignment(name, (_PatternShare(name, 1.0, 0.9, 0.9, 0.5, False, ()),), None, name, 0.5)
        for name in sorted(masses)
    ]
    return mixture(shares, masses, BOOK, SignalsConfig())


def ideas(masses: dict[str, float], **settings: Any) -> tuple[SeedIdea, ...]:
    return seed_ideas(mixed(masses), BOOK, CROSSWALK, SignalsConfig(**settings))


def test_every_benchmarkable_pattern_can_be_graded() -> None:
    assert _gradings().keys() == BOOK.benchmarkable
    for pattern, grading in _gradings().items():
        assert any(grading.evidence.model_dump().values()), pattern
        assert grading.expected and grading.graded and grading.ungraded, pattern


def test_heavier_patterns_get_more_and_meta_none() -> None:
    seeds = ideas({"email": 70, "pdf_work": 20, "slides": 10, "agent_memory": 500}, ideas=10)
    assert [(seed.pattern, seed.ideas) for seed in seeds] == [
        ("email", 7),
        ("pdf_work", 2),
        ("slides", 1),
    ]
    email = seeds[0]
    assert (email.weight, email.family, email.task_family) == (
        0.7,
        "communication",
        "correspondence",
    )
    assert (email.display_group, email.execution_surface) == ("coordinate", "api")
    assert email.signals == ("email",)
    assert email.user_goal == BOOK.patterns["email"].goal


def test_bounds_per_pattern() -> None:
    seeds = ideas({"email": 99, "slides": 1}, ideas=10, max_ideas=6)
    assert {seed.pattern: seed.ideas for seed in seeds} == {"email": 6, "slides": 4}
    seeds = ideas({"email": 99, "slides": 1}, ideas=100, max_ideas=6)
    assert sum(seed.ideas for seed in seeds) == 12  # no more than the patterns can take
    assert ideas({}, ideas=10) == ()


names = st.sampled_from(sorted(BOOK.benchmarkable))


@settings(max_examples=50)
@given(
    st.dictionaries(names, st.integers(1, 10_000), min_size=1),
    st.integers(0, 200),
    st.integers(1, 9),
)
def test_ideas_are_apportioned(masses: dict[str, int], total: int, most: int) -> None:
    seeds = ideas({name: float(mass) for name, mass in masses.items()}, ideas=total, max_ideas=most)
    assert sum(seed.ideas for seed in seeds) == min(total, most * len(masses))
    numbers = [seed.ideas for seed in seeds]
    assert all(number <= most for number in numbers)
    if total >= len(masses):
        assert min(numbers) >= 1
    assert all(a >= b - 1 for a, b in pairwise(numbers))


def test_the_reason_for_an_unknown_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("construction.signals.weights._gradings", dict)
    with pytest.raises(ConfigError, match="no grading for email"):
        ideas({"email": 1.0})
