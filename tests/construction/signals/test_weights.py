"""What moved between two snapshots."""

from __future__ import annotations

import datetime as dt

import pytest

from construction.signals.config import Counting
from construction.signals.weights import (
    DatedMixture,
    FamilyWeight,
    Mixture,
    PatternMass,
    change,
    history,
)
from data.errors import ConfigError


def dated(day: int, weights: dict[str, float], counting: str = Counting.FRACTIONAL) -> DatedMixture:
    patterns = tuple(
        PatternMass(f"p_{name}", name, True, 100 * weight, 1, ())
        for name, weight in weights.items()
    )
    families = tuple(FamilyWeight(n, 100 * w, w, 1) for n, w in weights.items())
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
    days = [one.date.day for one in history([dated(3, {}), dated(1, {}), dated(2, {})])]
    assert days == [1, 2, 3]


def test_mixtures_counted_differently_are_not_compared() -> None:
    with pytest.raises(ConfigError, match=r"fractional.*full"):
        change(dated(1, {"a": 1.0}), dated(2, {"a": 1.0}, Counting.FULL))
