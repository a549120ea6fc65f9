from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.apportion import apportion, total_variation
from data.errors import ConfigError

shares = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.floats(0, 1), min_size=1)


def test_largest_remainder() -> None:
    # Quotas 5.5, 3.3, 1.2: the seat that is left goes to the largest remainder.
    assert apportion({"a": 0.55, "b": 0.33, "c": 0.12}, 10) == {"a": 6, "b": 3, "c": 1}


def test_bounds_are_kept_and_the_rest_is_shared_again() -> None:
    result = apportion({"a": 0.8, "b": 0.15, "c": 0.05}, 10, least={"c": 2}, most={"a": 5})
    assert result == {"a": 5, "b": 3, "c": 2}


def test_impossible_bounds_are_named() -> None:
    with pytest.raises(ConfigError, match="sum of the minima, 12"):
        apportion({"a": 1.0}, 10, least={"a": 12})


@given(shares, st.integers(0, 50), st.data())
def test_sums_and_bounds_always_hold(
    given_shares: dict[str, float], total: int, data: st.DataObject
) -> None:
    low = {name: data.draw(st.integers(0, 3)) for name in given_shares}
    high = {name: low[name] + data.draw(st.integers(0, 20)) for name in given_shares}
    if not sum(low.values()) <= total <= sum(high.values()):
        return
    result = apportion(given_shares, total, least=low, most=high)
    assert sum(result.values()) == total
    assert all(low[name] <= n <= high[name] for name, n in result.items())
    turned = dict(reversed(list(given_shares.items())))
    assert apportion(turned, total, least=low, most=high) == result


def test_total_variation() -> None:
    assert total_variation({"a": 1}, {"b": 5}) == 1
    assert total_variation({"a": 2, "b": 2}, {"a": 1, "b": 1}) == 0
    assert total_variation({"a": 0.5, "b": 0.5}, {"a": 0.8, "b": 0.2}) == pytest.approx(0.3)
