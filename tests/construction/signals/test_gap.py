"""The coverage gap and what it advises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.signals.config import GapConfig
from construction.signals.gap import Action, action, coverage_gap
from data.errors import ConfigError

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
    assert action(points, CONFIG) is expected


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
