"""Pairs of agents, Holm's correction, rank ranges and tie groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from selection.evaluation.comparisons import (
    compare,
    holm,
    mcnemar,
    rank_ranges,
    tie_groups,
    two_proportions,
)
from selection.evaluation.raters import agreement, cohens_kappa


def test_a_pair_is_tested_task_by_task() -> None:
    draw = np.random.default_rng(4)
    first, second = draw.normal(size=(2, 40))
    (pair,) = compare({"a": first, "b": second}, list(range(40)))
    assert pair.p == pytest.approx(stats.ttest_rel(first, second).pvalue)


def test_tasks_that_one_agent_lacks_are_left_out() -> None:
    first, second = np.array([1.0, 0.0, np.nan, 1.0]), np.array([0.0, 0.0, 1.0, np.nan])
    (pair,) = compare({"a": first, "b": second}, [1, 2, 3, 4])
    assert (pair.estimate.n, pair.estimate.mean) == (2, 0.5)


@pytest.mark.parametrize(("n", "is_real"), [(5, False), (12, True)])
def test_an_agent_that_is_ahead_everywhere_is_told_apart_by_signs(n: int, is_real: bool) -> None:
    (pair,) = compare({"a": np.ones(n), "b": np.zeros(n)}, list(range(n)))
    assert pair.p == 2 * 0.5**n
    assert pair.is_real is is_real


def test_agents_that_agree_everywhere_are_equal() -> None:
    (pair,) = compare({"a": np.ones(9), "b": np.ones(9)}, list(range(9)))
    assert pair.p == 1.0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = [p or 0.0 for p in holm(p_values)]
    assert all(own >= p for own, p in zip(corrected, p_values, strict=True))
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    assert [corrected[at] for at in order] == sorted(corrected)


def test_ranks_are_ranges_and_ties_are_groups() -> None:
    draw = np.random.default_rng(5)
    tasks = draw.normal(size=300)
    agents = {"best": 2.0, "good": 1.0, "equal": 1.0, "last": 0.0}
    scores = {n: tasks + a + draw.normal(scale=0.5, size=300) for n, a in agents.items()}
    means = {name: float(own.mean()) for name, own in scores.items()}
    pairs = compare(scores, list(range(300)))
    assert rank_ranges(means, pairs) == {
        "best": (1, 1), "good": (2, 3), "equal": (2, 3), "last": (4, 4),
    }  # fmt: skip
    assert tie_groups(means, pairs) == {"best": 1, "good": 2, "equal": 2, "last": 3}


def test_mcnemar_is_the_sign_test_of_the_disagreements() -> None:
    first, second = [True] * 8 + [False] * 2, [True] * 3 + [False] * 7
    assert mcnemar(first, second) == pytest.approx(stats.binomtest(5, 5).pvalue)
    assert mcnemar([True], [True]) == 1.0


def test_the_published_z_of_fin_retrieval() -> None:
    z = two_proportions((454, 99), (500, 500))
    assert z == pytest.approx(22.5, abs=0.1)
    assert two_proportions((0, 0), (5, 0)) is None


def test_agreement_is_scipys_on_random_packets() -> None:
    draw = np.random.default_rng(6)
    for _ in range(1_000):
        first, second = draw.integers(0, 5, (2, 12)).astype(float)
        own = agreement(first.tolist(), second.tolist())
        if own.spearman is not None:
            assert own.spearman == pytest.approx(stats.spearmanr(first, second).statistic)
        assert own.mean_error == pytest.approx(np.abs(first - second).mean())


def test_kappa_by_hand() -> None:
    assert cohens_kappa("aabb", "abbb") == pytest.approx((0.75 - 0.5) / 0.5)
    assert cohens_kappa("aa", "aa") is None
    assert cohens_kappa("", "") is None
