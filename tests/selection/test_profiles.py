from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from selection.profiles import filled, item_rest_correlation, profile_strata
from tests.selection.matrices import drawn

scores = arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(2, 6)),
    elements=st.sampled_from([0.0, 0.5, 1.0]),
)


def test_the_correlation_is_that_of_item_and_rest() -> None:
    matrix = drawn(30, 8).scores
    told = item_rest_correlation(matrix)
    for item in range(30):
        rest = matrix.sum(axis=0) - matrix[item]
        varies = matrix[item].std() > 0
        expected = np.corrcoef(matrix[item], rest)[0, 1] if varies else 0.0
        assert told[item] == pytest.approx(expected, abs=1e-8)


def test_items_without_spread_and_lone_pilots_gain_nothing() -> None:
    assert item_rest_correlation(np.ones((3, 4))).tolist() == [0, 0, 0]
    assert item_rest_correlation(np.array([[0.2], [0.9]])).tolist() == [0, 0]
    assert item_rest_correlation(np.zeros((2, 0))).tolist() == [0, 0]


def test_an_item_that_contradicts_the_others_has_a_negative_gain() -> None:
    told = item_rest_correlation(np.array([[1, 0.5, 0], [1, 0.5, 0], [0, 0.5, 1.0]]))
    assert told[2] == -1


@settings(deadline=None)
@given(scores)
def test_the_order_of_models_does_not_matter(matrix: np.ndarray) -> None:
    turned = matrix[:, ::-1]
    assert np.allclose(item_rest_correlation(matrix), item_rest_correlation(turned))
    assert (np.abs(item_rest_correlation(matrix)) <= 1).all()


def test_missing_cells_are_filled_from_item_and_model() -> None:
    gap = np.nan
    told = filled(np.array([[1.0, 0.5], [0.5, gap]]))
    # item mean 0.5 + model mean 0.5 - mean of the known cells 2/3
    assert told[1, 1] == pytest.approx(1 / 3)
    # 1 + 1 - 0.6 would be above the scale
    assert filled(np.array([[1.0, 1.0, gap], [0.0, 0.0, 1.0]]))[0, 2] == 1.0
    assert not np.isnan(filled(np.full((2, 2), gap))).any()


@settings(deadline=None)
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
