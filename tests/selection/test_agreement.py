from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from selection.agreement import (
    calibrate,
    kendall_tau,
    leave_one_out,
    pool_means,
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
    told = calibrate(scores, chosen).estimate(np.array([[0.5], [0.5]]))
    assert told[0] == pytest.approx(0.7, abs=1e-6)


def test_a_model_beyond_the_pilots_is_not_drawn_back_to_their_level() -> None:
    generator = np.random.default_rng(0)
    pilots = (generator.random((100, 4)) < 0.5).astype(np.float64)  # all alike, nothing to learn
    chosen = np.arange(100) < 20
    strong = np.ones((20, 1))
    around_mean = calibrate(pilots, chosen).estimate(strong)[0]
    textbook = calibrate(pilots, chosen, around_mean=False).estimate(strong)[0]
    assert around_mean == pytest.approx(1.0, abs=0.1)
    assert textbook < 0.7


def test_leaving_one_out_never_sees_the_pilot_it_estimates() -> None:
    matrix = drawn(60, 6, seed=2).scores
    chosen = np.arange(60) % 3 == 0
    told = leave_one_out(matrix, chosen)
    changed = matrix.copy()
    changed[~chosen, 2] = 1 - changed[~chosen, 2]  # what the subset does not show of model 2
    assert leave_one_out(changed, chosen)[2] == told[2]
    assert leave_one_out(changed, chosen)[3] != told[3]


def test_missing_cells_are_estimated_from_the_pilots() -> None:
    matrix = drawn(40, 6).scores
    chosen = np.arange(40) < 10
    calibration = calibrate(matrix, chosen)
    one = matrix[chosen][:, [0]].copy()
    one[0, 0] = np.nan
    filled = matrix[chosen][:, [0]].copy()
    filled[0, 0] = matrix[0].mean()
    assert calibration.estimate(one)[0] == pytest.approx(calibration.estimate(filled)[0])
