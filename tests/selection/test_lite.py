from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
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


def test_a_published_subset_is_drawn_again_to_the_letter() -> None:
    """The draw of a seed is part of a release: a change here changes what people audit."""
    seven = [
        "t0000",
        "t0014",
        "t0016",
        "t0019",
        "t0023",
        "t0034",
        "t0039",
        "t0044",
        "t0045",
        "t0048",
        "t0049",
        "t0059",
    ]
    zero = [
        "t0014",
        "t0017",
        "t0018",
        "t0022",
        "t0029",
        "t0037",
        "t0040",
        "t0042",
        "t0044",
        "t0045",
        "t0049",
        "t0057",
    ]
    assert list(choose_lite(pool(60), 12, seed=7).chosen) == seven
    assert list(choose_lite(pool(60), 12).chosen) == zero
    assert list(choose_lite(pool(60), 12, seed=0).chosen) == zero


def test_seats_go_to_families_first_and_then_along_the_sorted_strata() -> None:
    """Of six items in three families each gets its share; inside, no stratum more than one off."""
    held = [LiteItem(f"t{n}", f"f{n % 3}", f"r{n % 2}", "pdf") for n in range(24)]
    for seed in range(20):
        lite = choose_lite(held, 6, seed)
        margins = {margin.name: margin for margin in lite.margins}
        assert dict(margins["family"].subset) == {"f0": 2, "f1": 2, "f2": 2}
        assert set(margins["crossed"].subset.values()) <= {0, 1, 2}
        assert dict(margins["role"].subset) == {"r0": 3, "r1": 3}


def test_margins_count_what_the_subset_lacks_as_none() -> None:
    held = [LiteItem("a", "f", "r"), LiteItem("b", "f", "r"), LiteItem("c", "g", "r")]
    family, role, kind, crossed = choose_lite(held, 1, seed=1).margins
    assert dict(family.pool) == {"f": 2, "g": 1}
    assert dict(family.subset) == {"f": 1, "g": 0}
    assert family.distance == 0.333333333  # rounded to 1e-9
    assert (dict(role.subset), role.distance) == ({"r": 1}, 0)
    assert dict(kind.subset) == {MISSING: 1}
    assert dict(crossed.subset) == {f"f / r / {MISSING}": 1, f"g / r / {MISSING}": 0}


def test_another_seed_draws_other_items() -> None:
    held = pool(200)
    assert choose_lite(held, 30, seed=1).chosen != choose_lite(held, 30, seed=2).chosen


def test_impossible_sizes_and_repeated_ids_are_refused() -> None:
    with pytest.raises(ConfigError, match="size 5 from a pool of 3"):
        choose_lite(pool(3), 5)
    with pytest.raises(ConfigError, match="size 0"):
        choose_lite(pool(3), 0)
    with pytest.raises(ConfigError, match="1 items are listed twice, first t0000"):
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
