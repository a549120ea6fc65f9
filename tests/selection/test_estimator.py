"""Pool means estimated from a subset: by items' responses, by ridge, and which is taken.

What a subset ships is plain JSON, the better of three, used by the leaderboard.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from selection import estimator
from selection.config import MatrixSelection
from selection.estimator import (
    SUBSET_MEAN,
    Method,
    PilotFits,
    ShippedEstimator,
    _fit_responses,
    _folds_of,
    _GapClass,
    calibrate,
    kendall_tau,
    mean_absolute_error,
    pool_means,
    reliability,
    shipped,
    spearman,
    subset_means,
)
from selection.evaluation.board import TaskFacts, board
from selection.evaluation.leaderboard_page import _leaderboard_html, markdown_table
from selection.output import ESTIMATOR, select_from_matrix
from selection.pool import pool_of_matrix
from selection.scores import Floats, ScoreMatrix
from tests.selection.evaluation.test_board import tables
from tests.selection.matrices import drawn


def responses(n_items: int, abilities: Floats, seed: int = 1) -> Floats:
    """Passes drawn from a two-parameter logistic model (items × models)."""
    generator = np.random.default_rng(seed)
    slopes = generator.uniform(0.5, 2.0, n_items)[:, None]
    levels = generator.normal(0, 1.5, n_items)[:, None]
    chance = 1 / (1 + np.exp(-(slopes * abilities[None, :] + levels)))
    return np.asarray((generator.random((n_items, len(abilities))) < chance).astype(np.float64))


def test_stronger_models_than_any_pilot_are_estimated_by_their_responses() -> None:
    scores = responses(600, np.array([*np.linspace(-2, 0, 12), 1.5, 2.0]))
    pilots, strong = scores[:, :12], scores[:, 12:]
    chosen = np.arange(600) % 10 == 0
    full = pool_means(strong)
    estimator = PilotFits(pilots).estimator(chosen)
    assert estimator.method is Method.RESPONSES
    error = mean_absolute_error(estimator.estimate(strong[chosen]), full)
    assert error < 0.05


def test_a_pattern_that_no_single_ability_explains_is_left_to_the_ridge() -> None:
    """Two kinds of items and two independent skills; many pilots show how to weigh them."""
    generator = np.random.default_rng(4)
    skills = generator.uniform(0, 1, (2, 150))
    first_kind = np.arange(400) < 200  # half of the pool, and five in six of the subset
    chance = np.where(first_kind[:, None], skills[0], skills[1])
    scores = (generator.random((400, 150)) < chance).astype(np.float64)
    chosen = np.arange(400) < 240
    estimator = PilotFits(scores).estimator(chosen)
    assert estimator.method is Method.RIDGE
    assert estimator.errors[Method.RIDGE] < estimator.errors[Method.RESPONSES]
    assert np.isfinite(estimator.estimate(scores[chosen][:, :3])).all()


def test_no_pilot_is_estimated_from_its_own_scores_beside_the_subset() -> None:
    scores = responses(200, np.linspace(-1, 1, 9))
    chosen = np.arange(200) % 4 == 0
    folds = _folds_of(scores)
    before = PilotFits(scores, folds).estimator(chosen)
    changed = scores.copy()
    changed[~chosen, 2] = 1 - changed[~chosen, 2]  # what the subset does not show of pilot 2
    after = PilotFits(changed, folds).estimator(chosen)
    if before.method is after.method:
        assert before.crossed[2] == after.crossed[2]
    assert before.crossed[3] != after.crossed[3]


def test_scores_that_are_missing_are_neither_passes_nor_failures() -> None:
    scores = responses(300, np.linspace(-1, 1, 10))
    model = _fit_responses(scores)
    chosen = np.arange(300) < 100
    seen = scores[chosen][:, [4]]
    holes = seen.copy()
    holes[::2] = np.nan
    assert model.estimate(holes, chosen) == pytest.approx(model.estimate(seen, chosen), abs=0.1)
    gaps = scores.copy()
    gaps[::3, 5] = np.nan
    assert np.isfinite(_fit_responses(gaps).slopes).all()


@pytest.mark.parametrize("scores", [np.ones((20, 4)), np.zeros((20, 4)), np.full((20, 4), np.nan)])
def test_pilots_that_are_all_alike_give_finite_estimates(scores: Floats) -> None:
    known = np.nan_to_num(scores)
    estimator = PilotFits(known).estimator(np.arange(20) < 5)
    assert np.isfinite(estimator.estimate(known[:5])).all()


def test_folds_are_of_pilots_of_all_levels_and_need_three() -> None:
    scores = responses(50, np.linspace(-2, 2, 25))
    folds = _folds_of(scores)
    assert len(folds) == 10
    assert np.array(folds).sum(axis=0).tolist() == [1] * 25
    means = pool_means(scores)
    assert max(abs(means[fold].mean() - means.mean()) for fold in folds) < 0.25
    with pytest.raises(ValueError, match="three pilots"):
        _folds_of(scores[:, :2])


def matrix(n_items: int, n_models: int, seed: int = 1) -> ScoreMatrix:
    scores = responses(n_items, np.linspace(-2, 2, n_models), seed)
    items = tuple(f"i{number:04d}" for number in range(n_items))
    models = tuple(f"m{number:02d}" for number in range(n_models))
    return ScoreMatrix(items, tuple("f" for _ in items), models, scores)


def of_hard_items(n_models: int = 14) -> tuple[ScoreMatrix, ShippedEstimator]:
    """A subset of hard items, whose mean says little about the pool."""
    whole = matrix(400, n_models)
    pilots = whole.of_models(whole.models[::2])
    pool = pool_of_matrix(pilots, MatrixSelection(size=40))
    hard = np.zeros(400, dtype=bool)
    hard[np.argsort(pilots.scores.mean(axis=1), kind="stable")[:120:3]] = True
    estimator = shipped(pool, hard)
    assert estimator is not None
    return whole, estimator


def test_it_is_json_and_comes_back_the_same() -> None:
    _, estimator = of_hard_items()
    again = ShippedEstimator.of_record(orjson.loads(orjson.dumps(estimator.record())))
    assert again == estimator


def test_models_that_were_no_pilots_are_estimated_better_than_by_the_mean() -> None:
    whole, estimator = of_hard_items()
    assert estimator.is_better
    assert estimator.error < estimator.errors[SUBSET_MEAN] / 2
    rows = {item: row for row, item in enumerate(whole.items)}
    for column in range(1, 14, 2):
        scores = {item: float(whole.scores[rows[item], column]) for item in estimator.items}
        full = float(pool_means(whole.scores)[column])
        raw = float(np.mean(list(scores.values())))
        estimate = estimator.estimate(scores)
        assert estimate is not None
        assert abs(estimate - full) < max(0.08, abs(raw - full))


def test_scores_that_are_missing_are_filled_in_and_none_gives_none() -> None:
    _, estimator = of_hard_items()
    few = dict.fromkeys(estimator.items[:10], 1.0)
    estimate = estimator.estimate(few)
    assert estimate is not None and 0.3 < estimate <= 1.0
    assert estimator.estimate({}) is None
    assert estimator.estimate({"another": 1.0}) is None


@pytest.mark.parametrize("method", [Method.RIDGE, SUBSET_MEAN])
def test_each_method_can_be_shipped(method: str) -> None:
    _, estimator = of_hard_items()
    parameters = {"weights": [0.01] * 40, "fallback": [0.5] * 40, "offset": 0.2}
    other = replace(estimator, method=str(method), parameters=parameters)
    expected = 1.0 if method == SUBSET_MEAN else pytest.approx(0.6)
    assert other.estimate(dict.fromkeys(other.items, 1.0)) == expected


def test_a_written_selection_ships_it_and_two_pilots_are_too_few(tmp_path: Path) -> None:
    select_from_matrix(matrix(60, 9), MatrixSelection(size=12), tmp_path / "a", quality=False)
    record = orjson.loads((tmp_path / "a" / ESTIMATOR).read_bytes())
    estimator = ShippedEstimator.of_record(record)
    chosen = orjson.loads((tmp_path / "a" / "selection.json").read_bytes())["chosen"]
    assert list(estimator.items) == chosen
    assert (estimator.pool, estimator.pilots) == (60, 9)
    assert set(estimator.errors) == {*map(str, Method), SUBSET_MEAN}
    select_from_matrix(matrix(60, 2), MatrixSelection(size=12), tmp_path / "b", quality=False)
    assert not (tmp_path / "b" / ESTIMATOR).exists()


def test_the_leaderboard_takes_it_where_it_is_more_exact() -> None:
    attempts, scores = tables()
    tasks = sorted(set(attempts["task_id"]))
    facts = [TaskFacts(task, cluster=task) for task in tasks]
    errors = {SUBSET_MEAN: 0.09, str(Method.RIDGE): 0.03, str(Method.RESPONSES): 0.04}
    parameters = {"weights": [0.5 / len(tasks)] * len(tasks), "fallback": [0.5] * len(tasks),
                  "offset": 0.25}  # fmt: skip
    ridge = ShippedEstimator("ridge", errors, tuple(tasks), 500, 12, parameters)
    plain = board(attempts, scores, facts)
    estimated = board(attempts, scores, facts, ridge)
    for before, after in zip(plain.rows, estimated.rows, strict=True):
        assert before.overall is not None
        assert after.overall == pytest.approx(0.25 + before.overall / 2, abs=0.02)
        assert (after.overall_raw, after.passed) == (before.overall, before.passed)
    sentence = "estimated for all 500 candidates in the pool with"
    assert sentence in markdown_table(estimated) and sentence in _leaderboard_html(
        estimated, "r", []
    )
    mean = replace(ridge, method=SUBSET_MEAN)
    assert board(attempts, scores, facts, mean).rows == plain.rows


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
        classes = [_GapClass(edges[i], edges[i + 1], 1, share) for i, share in enumerate(shares)]
        return estimator._smallest(tuple(classes))

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
