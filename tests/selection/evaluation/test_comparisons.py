"""Pairs of agents, Holm's correction, rank ranges and tie groups."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from data.errors import InputError
from selection.evaluation.comparisons import (
    Linked,
    _changed_signs,
    _fit,
    compare,
    holm,
    link,
    rank_ranges,
    tie_groups,
)
from selection.evaluation.intervals import _cohens_kappa, agreement


def test_of_many_normal_differences_the_exact_test_says_what_students_does() -> None:
    draw = np.random.default_rng(4)
    first, second = draw.normal(size=(2, 200))
    (pair,) = compare({"a": first, "b": second}, list(range(200)))
    student = stats.ttest_rel(first, second)
    assert pair.p == pytest.approx(student.pvalue, abs=0.005)
    low, high = student.confidence_interval()
    assert (pair.estimate.low, pair.estimate.high) == pytest.approx((low, high), abs=0.02)


def test_nine_questions_of_one_family_do_not_tell_nine_right_from_five() -> None:
    scores = {"oracle": np.ones(9), "skill-55": np.repeat([1.0, 0.0], [5, 4])}
    (pair,) = compare(scores, ["questions"] * 9)
    assert pair.p == 0.125  # Student's t says 0.035
    assert not pair.is_real
    assert pair.is_of_few_clusters
    assert (pair.estimate.low, pair.estimate.high) == (0.0, 1.0)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_of_single_tasks_that_pass_or_fail_the_test_is_mcnemars(
    results: list[tuple[bool, bool]],
) -> None:
    first, second = np.array(results, dtype=np.float64).T
    (pair,) = compare({"a": first, "b": second}, list(range(len(results))))
    differing = int((first != second).sum())
    only_first = int((first > second).sum())
    exact = stats.binomtest(only_first, differing).pvalue if differing else 1.0
    assert pair.p == pytest.approx(exact)


@given(st.lists(st.integers(-12, 12), min_size=1, max_size=9), st.sampled_from([1, 3, 7, 10]))
def test_signs_change_in_all_ways(sums: list[int], epochs: int) -> None:
    totals = [abs(np.dot(signs, sums)) for signs in product((1, -1), repeat=len(sums))]
    exact = np.mean(np.array(totals) >= abs(sum(sums)))
    assert _changed_signs(np.array(sums) / epochs) == pytest.approx(exact)


@given(st.lists(st.integers(-1, 1), min_size=1, max_size=12))
def test_the_interval_holds_no_difference_where_the_test_rejects_it(signs: list[int]) -> None:
    values = np.array(signs, dtype=np.float64)
    (pair,) = compare({"a": values, "b": np.zeros(len(values))}, list(range(len(values))))
    low, high = pair.estimate.low, pair.estimate.high
    assert pair.p is not None
    if low is None or high is None:
        assert len(values) < 6
        assert pair.p > 0.05
    else:
        assert (low <= 0 <= high) == (pair.p > 0.05)


def test_tasks_of_a_cluster_change_their_signs_together() -> None:
    ahead = {"a": np.ones(30), "b": np.zeros(30)}
    (clustered,) = compare(ahead, [n // 3 for n in range(30)])
    assert (clustered.p, clustered.estimate.clusters) == (2 * 0.5**10, 10)
    assert not clustered.is_of_few_clusters
    (singly,) = compare(ahead, [n // 4 for n in range(30)])
    assert (singly.p, singly.estimate.clusters) == (2 * 0.5**30, 30)
    assert singly.is_of_few_clusters


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


def test_agreement_is_scipys_on_random_packets() -> None:
    draw = np.random.default_rng(6)
    for _ in range(1_000):
        first, second = draw.integers(0, 5, (2, 12)).astype(float)
        own = agreement(first.tolist(), second.tolist())
        if own.spearman is not None:
            assert own.spearman == pytest.approx(stats.spearmanr(first, second).statistic)
        assert own.mean_error == pytest.approx(np.abs(first - second).mean())


def test_kappa_by_hand() -> None:
    assert _cohens_kappa("aabb", "abbb") == pytest.approx((0.75 - 0.5) / 0.5)
    assert _cohens_kappa("aa", "aa") is None
    assert _cohens_kappa("", "") is None


OLD, NEW = (-1.0, -0.4, 0.2, 0.8), (-0.7, 0.0, 0.5, 1.1)
HARDER = 0.8  # logits by which the new tasks are harder


def simulated(seed: int) -> tuple[tuple[Linked, ...], dict[str, float]]:
    """Two snapshots of 150 tasks that share 60; linked scores, and the truth of each agent."""
    draw = np.random.default_rng(seed)
    difficulty = {f"anchor-{at:02d}": draw.normal() for at in range(60)}
    old = dict(difficulty) | {f"old-{at:02d}": draw.normal() for at in range(90)}
    new = dict(difficulty) | {f"new-{at:02d}": draw.normal() + HARDER for at in range(90)}

    def runs(
        prefix: str, abilities: tuple[float, ...], tasks: dict[str, float]
    ) -> dict[str, dict[str, float]]:
        return {
            f"{prefix}{at}": {
                task: float(draw.random() < 1 / (1 + np.exp(d - ability)))
                for task, d in tasks.items()
            }
            for at, ability in enumerate(abilities)
        }

    scores = link(runs("o", OLD, old), runs("n", NEW, new), sorted(difficulty), seed, draws=60)
    levels = np.array([*old.values()])
    truth = {
        f"{prefix}{at}": float((1 / (1 + np.exp(levels - ability))).mean())
        for prefix, abilities in (("o", OLD), ("n", NEW))
        for at, ability in enumerate(abilities)
    }
    return scores, truth


@pytest.mark.slow(seconds=15)
def test_new_agents_are_put_on_the_old_scale_with_an_interval_that_covers() -> None:
    covered, linked_errors, raw_errors = [], [], []
    for seed in range(12):
        scores, truth = simulated(seed)
        for row in scores:
            covered.append(row.low <= truth[row.configuration] <= row.high)
            if not row.on_reference:
                linked_errors.append(row.score - truth[row.configuration])
                raw_errors.append(row.raw - truth[row.configuration])
    assert np.mean(covered) >= 0.85
    assert np.mean(np.abs(linked_errors)) < np.mean(np.abs(raw_errors))
    assert abs(np.mean(linked_errors)) < 0.02
    assert np.mean(raw_errors) < -0.05  # the new snapshot is harder: raw scores are too low


def test_the_same_input_gives_the_same_scores() -> None:
    assert simulated(3) == simulated(3)


def test_without_enough_anchors_nothing_is_linked() -> None:
    rows = {"a": {f"t{at}": 1.0 for at in range(30)}}
    with pytest.raises(InputError, match="found 9 tasks that were run on both"):
        link(rows, rows, [f"t{at}" for at in range(9)])


def test_agents_that_pass_or_fail_all_stay_finite_and_in_order() -> None:
    passes = np.array([[1.0] * 20, [0.0] * 20, [1.0] * 10 + [0.0] * 10])
    abilities, _ = _fit(passes, [np.arange(20)])
    assert np.isfinite(abilities).all()
    assert abilities[0] > abilities[2] > abilities[1]
