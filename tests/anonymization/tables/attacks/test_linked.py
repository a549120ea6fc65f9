"""Rates, their intervals and the chance level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymization.tables.attacks.linked import Knowledge, Risk, guessing, interval, result


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (0, 10, 0.0, 0.30850),
        (5, 10, 0.18709, 0.81291),
        (10, 10, 0.69150, 1.0),
        (2, 100, 0.00243, 0.07038),
    ],
)
def test_clopper_pearson_as_tabled(hits: int, n: int, low: float, high: float) -> None:
    assert interval(hits, n) == pytest.approx((low, high), abs=1e-5)


@given(st.integers(1, 500), st.data())
def test_interval_holds_the_rate(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.floats(0, n))
    low, high = interval(hits, n)
    assert 0 <= low <= hits / n + 1e-9
    assert hits / n - 1e-9 <= high <= 1


def test_chance_is_the_mean_over_targets() -> None:
    # two labels: one row (certain), three rows (1/3 each): (1 + 3 · 1/3) / 4
    assert guessing(np.array([7, 2, 2, 2])) == 0.5


def test_no_target_is_no_division() -> None:
    actual = result(
        Risk.LARGEST, "x", ("a",), "year", Knowledge.ONE_TARGET, np.zeros(0), chance=0.0
    )
    assert (actual.n, actual.rate, actual.ci_low, actual.ci_high) == (0, 0.0, 0.0, 1.0)
