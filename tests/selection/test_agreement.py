from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from selection import agreement
from selection.agreement import (
    GapClass,
    calibrate,
    kendall_tau,
    mean_absolute_error,
    pool_means,
    reliability,
    spearman,
    subset_means,
)
from tests.selection.matrices import drawn

means = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2, max_size=9)


@given(means)
def test_rank_correlations_are_those_of_scipy(values: list[float]) -> None:
    first = np.array(values)
    second = np.roll(first, 1)
    expected = np.nan_to_num(kendalltau(first, second).statistic)
    assert kendall_tau(first[None, :], second)[0] == pytest.approx(expected)
    if len(set(values)) > 1:
        assert spearman(first, second) == pytest.approx(spearmanr(first, second).statistic)
    else:
        assert spearman(first, second) == 0


def test_means_pass_over_missing_cells() -> None:
    scores = np.array([[1.0, np.nan], [0.0, 1.0], [0.5, np.nan]])
    both = subset_means(scores, np.array([[True, True, False], [True, False, True]]))
    assert both[0].tolist() == [0.5, 1.0]
    assert both[1, 0] == 0.75
    assert np.isnan(both[1, 1])
    assert pool_means(scores).tolist() == [0.5, 1.0]


def test_a_calibration_undoes_a_shift_and_keeps_the_mean_otherwise() -> None:
    # The pool's mean is 0.2 above the subset's for each pilot, whatever its level.
    levels = np.array([0.1, 0.3, 0.4, 0.6])
    scores = np.vstack([levels, levels, levels + 0.4, levels + 0.4])
    chosen = np.array([True, True, False, False])
    result = calibrate(scores, chosen).estimate(np.array([[0.5], [0.5]]))
    assert result[0] == pytest.approx(0.7, abs=1e-6)


def test_a_model_beyond_the_pilots_is_not_drawn_back_to_their_level() -> None:
    generator = np.random.default_rng(0)
    pilots = (generator.random((100, 4)) < 0.5).astype(np.float64)  # all alike, nothing to learn
    chosen = np.arange(100) < 20
    strong = np.ones((20, 1))
    around_mean = calibrate(pilots, chosen).estimate(strong)[0]
    textbook = calibrate(pilots, chosen, around_mean=False).estimate(strong)[0]
    assert around_mean == pytest.approx(1.0, abs=0.1)
    assert textbook < 0.7


def test_missing_cells_are_estimated_from_the_pilots() -> None:
    matrix = drawn(40, 6).scores
    chosen = np.arange(40) < 10
    calibration = calibrate(matrix, chosen)
    item = matrix[chosen][:, [0]].copy()
    item[0, 0] = np.nan
    filled = matrix[chosen][:, [0]].copy()
    filled[0, 0] = matrix[0].mean()
    assert calibration.estimate(item)[0] == pytest.approx(calibration.estimate(filled)[0])


def test_a_rank_correlation_over_ties_on_both_sides() -> None:
    full = np.array([0.9, 0.8, 0.8, 0.1])
    subsets = np.array([[0.9, 0.8, 0.7, 0.1], [0.1, 0.8, 0.8, 0.9], [0.5, 0.5, 0.5, 0.5]])
    # 5 of 6 pairs are untied in the pool: 5/sqrt(6·5); all reversed, one tied on both sides; none.
    result = kendall_tau(subsets, full)
    assert result.tolist() == pytest.approx([5 / np.sqrt(30), -1.0, 0.0])


def test_means_closer_than_a_billionth_are_tied() -> None:
    full = np.array([0.5, 0.5 + 1e-11, 0.7])
    assert kendall_tau(np.array([[0.2, 0.1, 0.3]]), full)[0] == pytest.approx(2 / np.sqrt(6))
    assert spearman(np.array([0.1, 0.1 + 1e-11]), np.array([0.1, 0.2])) == 0.0
    assert spearman(np.array([0.1, 0.2]), np.array([0.3, 0.3])) == 0.0


def test_the_error_is_the_mean_distance_over_models_with_both_values() -> None:
    estimates = np.array([0.2, np.nan, 0.7])
    assert mean_absolute_error(estimates, np.array([0.1, 0.9, 0.9])) == pytest.approx(0.15)


def test_gaps_fall_into_classes_that_hold_their_upper_edge() -> None:
    # Pool means 0.50, 0.49, 0.45, 0.45: gaps 0.01 (in the first class), 0.04, 0.05; one tie.
    units = np.zeros((100, 4))
    for model, passed in enumerate((50, 49, 45, 45)):
        units[:passed, model] = 1.0
    report = reliability(("d", "c", "b", "a"), units, units, 0)
    assert [(part.above, part.up_to, part.pairs) for part in report.by_gap] == [
        (0.0, 0.01, 1),
        (0.03, 0.04, 2),
        (0.04, 0.05, 2),
    ]
    assert [(row.better, row.worse, row.gap) for row in report.adjacent] == [
        ("d", "c", 0.01),
        ("c", "a", 0.04),
        ("a", "b", 0.0),
    ]
    assert [row.subset_gap for row in report.adjacent] == [0.01, 0.04, 0.0]
    assert report.adjacent[2].probability == 0.5
    # A lead of one item out of 100 is drawn in 1 - (99/100)^100 of the resamples, else it ties.
    assert report.adjacent[0].probability == pytest.approx(0.5 + 0.5 * (1 - 0.99**100), abs=0.03)


def test_the_smallest_reliable_gap_is_the_lowest_edge_above_which_all_classes_are_reliable() -> (
    None
):
    def smallest(*shares: float) -> float | None:
        edges = (0.0, 0.01, 0.02, 0.03)
        classes = [GapClass(edges[i], edges[i + 1], 1, share) for i, share in enumerate(shares)]
        return agreement._smallest(tuple(classes))

    assert smallest(0.99, 0.95, 1.0) == 0.0
    assert smallest(0.99, 0.949, 1.0) == 0.02
    assert smallest(1.0, 1.0, 0.9) is None
    assert smallest() is None


def test_the_penalty_is_the_one_with_the_least_leave_one_out_error() -> None:
    matrix = drawn(60, 8, seed=4).scores
    chosen = np.arange(60) % 4 == 0
    calibration = calibrate(matrix, chosen)
    inputs, target = matrix[chosen].T, pool_means(matrix)
    shift = target - inputs.mean(axis=1)
    centred = inputs - inputs.mean(axis=0)
    unit = np.linalg.eigvalsh(centred @ centred.T).mean()

    def ridge(rows: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
        part = inputs[rows] - inputs[rows].mean(axis=0)
        level = shift[rows].mean()
        gram = part @ part.T + penalty * np.eye(len(part))
        weights = part.T @ np.linalg.solve(gram, shift[rows] - level)
        return weights, float(level - inputs[rows].mean(axis=0) @ weights)

    weights, offset = ridge(np.arange(8), calibration.penalty)
    assert calibration.weights == pytest.approx(weights + 1 / inputs.shape[1], abs=1e-9)
    assert calibration.offset == pytest.approx(offset, abs=1e-9)
    assert calibration.fallback == pytest.approx(inputs.mean(axis=0))
    steps = np.log10(calibration.penalty / unit)
    assert steps == pytest.approx(round(steps * 2) / 2)
    assert -3 <= steps <= 4
