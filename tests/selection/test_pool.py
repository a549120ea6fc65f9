"""What is known of the items before anything is chosen: eligibility, gains, response profiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from data.errors import InputError
from selection.config import Objective, SelectionConfig
from selection.pool import (
    Pool,
    PoolItem,
    _item_rest_correlation,
    eligible,
    filled,
    gains,
    pool_of_items,
    pool_of_matrix,
    profile_strata,
)
from selection.scores import ScoreMatrix
from tests.selection.matrices import drawn

NAN = float("nan")
CONFIG = SelectionConfig(size=1)


def matrix(rows: list[list[float]], models: str = "ab") -> ScoreMatrix:
    names = tuple(f"i{number}" for number in range(len(rows)))
    return ScoreMatrix(names, ("f",) * len(rows), tuple(models), np.array(rows))


@pytest.mark.parametrize(
    ("scores", "able"),
    [
        ([0.5, 0.0], True),  # exactly at the threshold: a pass
        ([0.5 - 1e-9, 0.0], True),  # as far below as rounding may be: still a pass
        ([0.5 - 2e-9, 0.0], False),  # just below: nobody passes
        ([1.0, 0.5], False),  # all pass, one of them exactly
        ([1.0, 0.5 - 2e-9], True),
        ([1.0, 0.5 - 1e-9], False),
        ([0.0, 0.4], False),  # all fail, whatever their scores
        ([1.0, NAN], False),  # a gap is no failure
        ([0.0, NAN], False),  # and no pass
        ([NAN, NAN], False),
    ],
)
def test_under_a_threshold_some_pass_and_some_fail(scores: list[float], able: bool) -> None:
    config = SelectionConfig(size=1, selection_threshold=0.5)
    assert eligible(np.array([scores]), config).tolist() == [able]
    assert eligible(np.array([scores[::-1]]), config).tolist() == [able]


@pytest.mark.parametrize(
    ("scores", "able"),
    [
        ([0.3, 0.3, 0.3], False),
        ([0.0, 0.0, 1e-9], False),  # scores within 1e-9 are the same
        ([0.0, 0.0, 2e-9], True),
        ([0.3, NAN, 0.4], True),
        ([0.3, NAN, 0.3], False),
        ([0.3, NAN, NAN], False),
        ([NAN, NAN, NAN], False),
    ],
)
def test_without_a_threshold_scores_differ(scores: list[float], able: bool) -> None:
    assert eligible(np.array([scores]), CONFIG).tolist() == [able]


def test_a_threshold_of_zero_is_passed_by_all() -> None:
    config = SelectionConfig(size=1, selection_threshold=0.0)
    assert eligible(np.array([[0.0, 1.0]]), config).tolist() == [False]


def test_pairs_count_the_designated_pairs_that_an_item_shows() -> None:
    rows = [
        [0.9, 0.5, 0.1],  # all three pairs
        [0.1, 0.5, 0.9],  # none
        [1e-9, 0.0, 0.0],  # a lead of 1e-9 is none
        [2e-9, 0.0, 0.0],  # ahead of both others
        [0.9, NAN, 0.1],  # only the pair with both scores
        [NAN, NAN, 1.0],
    ]
    config = SelectionConfig(size=1, pilots=("a", "b", "c"))
    pool = pool_of_matrix(matrix(rows, "abc"), config)
    assert gains(pool, Objective.PAIRS).tolist() == [3, 0, 0, 2, 1, 0]


def test_margins_are_item_rest_correlations_in_units_of_the_scale() -> None:
    pool = pool_of_matrix(matrix([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), CONFIG)
    assert gains(pool, Objective.MARGINS).tolist() == [0, 0, -10_000]
    assert gains(pool, Objective.COVERAGE).tolist() == [0, 0, -10_000]


def test_unnamed_pilots_are_ordered_by_their_means_then_by_name() -> None:
    rows = [[0.2, 0.5, 0.5 + 4e-10, NAN], [0.4, 0.5, 0.5, 0.9]]
    pool = pool_of_matrix(matrix(rows, "abcd"), CONFIG)
    assert pool.pilots == ("d", "b", "c", "a")  # b and c are equal within 1e-9
    assert pool.scores[1].tolist() == [0.9, 0.5, 0.5, 0.4]
    assert pool.scores[0].tolist()[1:3] == [0.5, 0.5 + 4e-10]
    rows = [[0.2, 0.5, 0.5 + 4e-9, NAN], [0.4, 0.5, 0.5, 0.9]]
    assert pool_of_matrix(matrix(rows, "abcd"), CONFIG).pilots == ("d", "c", "b", "a")


def test_named_pilots_keep_their_order_and_decide_eligibility_alone() -> None:
    rows = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    config = SelectionConfig(size=1, pilots=("c", "b"))
    pool = pool_of_matrix(matrix(rows, "abc"), config)
    assert pool.pilots == ("c", "b")
    assert pool.eligible.tolist() == [False, True]


def test_models_without_a_score_are_named() -> None:
    with pytest.raises(InputError) as caught:
        pool_of_matrix(matrix([[NAN, 1.0, NAN]], "zyx"), CONFIG)
    assert caught.value.actual == "no scores from x, z on the 1 items"


def test_items_cost_what_the_matrix_says_unless_they_are_known() -> None:
    rows = [[1.0, 0.0], [1.0, 0.0]]
    assert [item.cost for item in pool_of_matrix(matrix(rows), CONFIG).items] == [0.0, 0.0]
    priced = replace(matrix(rows), costs=np.array([2.5, 3.5]))
    known = {"i1": PoolItem("i1", "g", lane="questions", cost=9.0)}
    first, second = pool_of_matrix(priced, CONFIG, known).items
    assert (first.family, first.lane, first.cost, first.in_last_release) == (
        "f",
        "sessions",
        2.5,
        False,
    )
    assert second is known["i1"]


def test_a_pool_without_scores_is_sorted_and_wholly_eligible() -> None:
    pool = pool_of_items([PoolItem("b", "f"), PoolItem("a", "g")])
    assert [item.item_id for item in pool.items] == ["a", "b"]
    assert pool.scores.shape == (2, 0)
    assert pool.eligible.tolist() == [True, True]
    assert PoolItem("a", "f") == PoolItem("a", "f", "sessions", cost=0.0, in_last_release=False)


def test_positions_are_grouped_by_sorted_value_without_those_that_have_none() -> None:
    items = [PoolItem("a", "g"), PoolItem("b", "f", cluster="x"), PoolItem("c", "g", cluster="x")]
    pool: Pool = pool_of_items(items)
    groups = {name: members.tolist() for name, members in pool.positions("family").items()}
    assert list(groups.items()) == [("f", [1]), ("g", [0, 2])]
    assert {n: m.tolist() for n, m in pool.positions("cluster").items()} == {"x": [1, 2]}


def test_pilots_without_scores_or_named_twice_are_refused() -> None:
    matrix = drawn(20, 3)
    with pytest.raises(InputError, match="m01 listed more than once"):
        pool_of_matrix(matrix, SelectionConfig(size=3, pilots=("m01", "m00", "m01")))
    silent = matrix.scores.copy()
    silent[:, 1] = np.nan
    matrix = replace(matrix, scores=silent)
    for pilots in ((), ("m00", "m01")):
        with pytest.raises(InputError, match="no scores from m01 on the 20 items"):
            pool_of_matrix(matrix, SelectionConfig(size=3, pilots=pilots))
    assert pool_of_matrix(matrix, SelectionConfig(size=3, pilots=("m00", "m02"))).pilots


scores = arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(2, 6)),
    elements=st.sampled_from([0.0, 0.5, 1.0]),
)


def test_the_correlation_is_that_of_item_and_rest() -> None:
    matrix = drawn(30, 8).scores
    result = _item_rest_correlation(matrix)
    for item in range(30):
        rest = matrix.sum(axis=0) - matrix[item]
        varies = matrix[item].std() > 0
        expected = np.corrcoef(matrix[item], rest)[0, 1] if varies else 0.0
        assert result[item] == pytest.approx(expected, abs=1e-8)


def test_items_without_spread_and_lone_pilots_gain_nothing() -> None:
    assert _item_rest_correlation(np.ones((3, 4))).tolist() == [0, 0, 0]
    assert _item_rest_correlation(np.array([[0.2], [0.9]])).tolist() == [0, 0]
    assert _item_rest_correlation(np.zeros((2, 0))).tolist() == [0, 0]


def test_an_item_that_contradicts_the_others_has_a_negative_gain() -> None:
    result = _item_rest_correlation(np.array([[1, 0.5, 0], [1, 0.5, 0], [0, 0.5, 1.0]]))
    assert result[2] == -1


@given(scores)
def test_the_order_of_models_does_not_matter(matrix: np.ndarray) -> None:
    turned = matrix[:, ::-1]
    assert np.allclose(_item_rest_correlation(matrix), _item_rest_correlation(turned))
    assert (np.abs(_item_rest_correlation(matrix)) <= 1).all()


def test_missing_cells_are_filled_from_item_and_model() -> None:
    gap = np.nan
    result = filled(np.array([[1.0, 0.5], [0.5, gap]]))
    # item mean 0.5 + model mean 0.5 - mean of the known cells 2/3
    assert result[1, 1] == pytest.approx(1 / 3)
    # 1 + 1 - 0.6 would be above the scale
    assert filled(np.array([[1.0, 1.0, gap], [0.0, 0.0, 1.0]]))[0, 2] == 1.0
    assert not np.isnan(filled(np.full((2, 2), gap))).any()


@given(scores, st.data())
def test_strata_part_the_members_and_the_picks(matrix: np.ndarray, data: st.DataObject) -> None:
    members = np.arange(len(matrix), dtype=np.intp)
    picks = data.draw(st.integers(0, len(matrix)))
    size = data.draw(st.integers(1, 3))
    ties = np.arange(len(matrix), dtype=np.int64)
    strata = list(profile_strata(matrix, members, picks, size, ties))
    assert sorted(i for group, _ in strata for i in group.tolist()) == members.tolist()
    assert sum(share for _, share in strata) == picks
    assert all(0 <= share <= len(group) for group, share in strata)


def test_unlike_profiles_fall_into_different_strata() -> None:
    easy, hard = [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]
    matrix = np.array([easy, hard] * 4)
    everything = np.arange(8, dtype=np.intp)
    strata = list(profile_strata(matrix, everything, 2, 1, np.arange(8, dtype=np.int64)))
    assert sorted(sorted(group.tolist()) for group, _ in strata) == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert [share for _, share in strata] == [1, 1]


def test_more_picks_than_a_stratum_takes_and_all_alike() -> None:
    alike = np.ones((6, 3))
    strata = list(profile_strata(alike, np.arange(6, dtype=np.intp), 4, 1, np.arange(6)))
    assert [(len(group), share) for group, share in strata] == [(6, 4)]
