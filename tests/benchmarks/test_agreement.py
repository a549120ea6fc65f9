"""Agreement figures against worked values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.agreement import Interval, accuracy, agreement, weighted_kappa, wilson

# Two readers of 50 proposals: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no (a textbook table).
FIRST = ["yes"] * 25 + ["no"] * 25
SECOND = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15


def test_kappa_of_the_textbook_table() -> None:
    actual = agreement(FIRST, SECOND)
    assert (actual.n, actual.observed.value, actual.expected) == (50, 0.7, 0.5)
    assert actual.kappa is not None
    assert actual.kappa.value == pytest.approx(0.4)
    # se = 0.127 by the formula of Fleiss, Cohen and Everitt, worked by hand
    assert actual.kappa.low == pytest.approx(0.1511, abs=5e-4)
    assert actual.kappa.high == pytest.approx(0.6489, abs=5e-4)


def test_kappa_at_its_ends() -> None:
    perfect = agreement(["a", "b", "b"], ["a", "b", "b"])
    assert perfect.kappa == Interval(1.0, 1.0, 1.0)
    opposed = agreement(["a", "b"] * 10, ["b", "a"] * 10)
    assert opposed.kappa is not None
    assert opposed.kappa.value == -1.0
    assert agreement(["a", "a"], ["a", "a"]).kappa is None


def test_weighted_kappa_of_a_worked_table() -> None:
    # 0-0, 0-1, 2-2: squared differences 1 of 3, by chance 15 of 9
    assert weighted_kappa([(0, 0), (0, 1), (2, 2)]) == pytest.approx(1 - (1 / 3) / (15 / 9))
    assert weighted_kappa([(1, 1), (3, 3)]) == 1.0
    assert weighted_kappa([(2, 2), (2, 2)]) is None
    with pytest.raises(ValueError, match="at least one"):
        weighted_kappa([])


def test_wilson_of_worked_values() -> None:
    actual = wilson(8, 10)
    assert actual.low == pytest.approx(0.4902, abs=1e-4)
    assert actual.high == pytest.approx(0.9433, abs=1e-4)
    assert wilson(0, 0) == Interval(0.0, 0.0, 1.0)
    assert wilson(10, 10).high == 1.0
    assert wilson(10, 10).low == pytest.approx(0.7225, abs=1e-4)


@given(st.integers(1, 400), st.data())
def test_wilson_holds_the_share_and_narrows(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    actual, wider = wilson(successes, n), wilson(successes, n, 0.99)
    assert wider.low <= actual.low <= actual.value <= actual.high <= wider.high


def test_accuracy_beside_the_majority_class() -> None:
    true = ["a"] * 30 + ["b"] * 20 + ["c"] * 10
    given_labels = ["a"] * 29 + ["b"] * 21 + ["c"] * 10
    actual = accuracy(true, given_labels)
    assert (actual.right, actual.majority, actual.baseline.value) == (59, "a", 0.5)
    assert actual.beats_baseline
    assert actual.confusion == (("a", "a", 29), ("a", "b", 1), ("b", "b", 20), ("c", "c", 10))


def test_a_small_lead_is_no_lead() -> None:
    actual = accuracy(["a"] * 6 + ["b"] * 4, ["a"] * 6 + ["b", "a", "a", "a"])
    assert actual.accuracy.value > actual.baseline.value
    assert not actual.beats_baseline


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_order_and_side_make_no_difference(pairs: list[tuple[str, str]]) -> None:
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    actual = agreement(first, second)
    assert actual == agreement(first[::-1], second[::-1])
    assert actual.kappa == agreement(second, first).kappa
    assert sum(count for *_, count in accuracy(first, second).confusion) == len(pairs)


@pytest.mark.parametrize(("first", "second"), [([], []), (["a"], [])])
def test_unequal_or_empty_labels_are_refused(first: list[str], second: list[str]) -> None:
    with pytest.raises(ValueError, match="equally many"):
        agreement(first, second)


def test_an_impossible_share_is_refused() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)
