"""The order of the tests: none is lost, slow ones stand first, files stay whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.dealing import dealt

NAMES = [f"{file}::{at}" for file in "abcd" for at in range(3)]


def test_two_workers_begin_with_the_slow_files() -> None:
    slow = {"b::0": 50.0, "c::0": 9.0, "c::1": 9.0, "d::2": 30.0}
    order = dealt(NAMES, slow, 2)
    first, second = order[:6], order[6:]
    assert first == ["b::0", "a::0", "a::1", "a::2", "b::1", "b::2"]
    assert second == ["d::2", "c::0", "c::1", "c::2", "d::0", "d::1"]


@given(
    st.lists(st.sampled_from(NAMES), unique=True),
    st.dictionaries(st.sampled_from(NAMES), st.floats(0, 500)),
    st.integers(1, 5),
)
def test_no_test_is_lost(names: list[str], slow: dict[str, float], workers: int) -> None:
    assert sorted(dealt(names, slow, workers)) == sorted(names)


def test_one_worker_runs_the_longest_file_first() -> None:
    assert dealt(["a::0", "b::0", "b::1"], {"b::0": 1.0, "b::1": 2.0}, 1) == [
        "b::0",
        "b::1",
        "a::0",
    ]
