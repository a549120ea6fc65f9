from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import ConfigError
from selection.lite import MISSING, LiteItem, choose_lite


def pool(n_items: int) -> list[LiteItem]:
    return [
        LiteItem(
            f"t{n:04d}",
            family=f"f{n % 6}",
            role=None if n % 5 == 0 else f"r{n % 7 % 3}",
            deliverable_type=("docx", "xlsx", "html")[n % 11 % 3],
        )
        for n in range(n_items)
    ]


def test_the_size_of_the_paper_looks_like_the_whole() -> None:
    lite = choose_lite(pool(852), 120, seed=7)
    assert len(set(lite.chosen)) == 120
    distances = {margin.name: margin.distance for margin in lite.margins}
    assert distances["family"] == 0  # 142 each of six families, 20 each
    assert distances["role"] < 0.03
    assert distances["deliverable_type"] < 0.03
    role = next(margin for margin in lite.margins if margin.name == "role")
    assert role.pool[MISSING] == 171
    assert sum(role.subset.values()) == 120


items = st.lists(
    st.builds(
        LiteItem,
        st.uuids().map(str),
        st.none() | st.sampled_from("ab"),
        st.none() | st.sampled_from("xyz"),
        st.none() | st.sampled_from(["pdf", "csv"]),
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda item: item.item_id,
)


@settings(deadline=None)
@given(items, st.data())
def test_any_pool_any_order(held: list[LiteItem], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(held)))
    lite = choose_lite(held, size, seed=3)
    assert len(lite.chosen) == size
    assert set(lite.chosen) <= {item.item_id for item in held}
    assert choose_lite(data.draw(st.permutations(held)), size, seed=3) == lite
    crossed = Counter(item.stratum for item in held)
    for stratum, count in crossed.items():
        taken = sum(i.item_id in lite.chosen for i in held if i.stratum == stratum)
        assert taken <= count
    # Each family within one seat of its proportional share.
    for family, count in lite.margins[0].pool.items():
        assert abs(lite.margins[0].subset[family] - size * count / len(held)) < 1 + 1e-9


def test_another_seed_draws_other_items() -> None:
    held = pool(200)
    assert choose_lite(held, 30, seed=1).chosen != choose_lite(held, 30, seed=2).chosen


def test_impossible_sizes_and_repeated_ids_are_refused() -> None:
    with pytest.raises(ConfigError, match="size 5 of a pool of 3"):
        choose_lite(pool(3), 5)
    with pytest.raises(ConfigError, match="size 0"):
        choose_lite(pool(3), 0)
    with pytest.raises(ConfigError, match="1 items are named twice, first t0000"):
        choose_lite([*pool(3), LiteItem("t0000")], 2)


def test_the_margins_are_reported() -> None:
    lite = choose_lite(pool(60), 12)
    assert len(lite.chosen) == lite.size == 12
    assert [margin.name for margin in lite.margins] == [
        "family",
        "role",
        "deliverable_type",
        "crossed",
    ]
