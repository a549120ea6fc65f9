"""The rows of a programme at their exact bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from selection.config import Band, Objective, SelectionConfig
from selection.constraints import _order_rows, programme_of
from selection.model import Row, RowKind
from selection.pool import Pool, PoolItem, pool_of_items, pool_of_matrix
from selection.scores import ScoreMatrix
from selection.select import select_subset
from tests.selection.matrices import drawn

PLAIN: dict[str, Any] = {"quota_price": None, "cover_families": False}


def rows_of(
    pool: Pool, config: SelectionConfig, weights: Mapping[str, float] | None = None
) -> dict[str, Row]:
    return {row.name: row for row in programme_of(pool, config, weights).rows}


def bounds(row: Row) -> tuple[int | None, int | None, int | None]:
    return row.low, row.high, row.price


def hundred(**known: object) -> Pool:
    """100 items of two families, lanes, difficulties and sources."""
    return pool_of_items(
        [
            PoolItem(
                f"i{n:03d}",
                "f" if n < 60 else "g",
                lane="sessions" if n < 50 else "questions",
                difficulty="easy" if n % 4 else "hard",
                in_last_release=n < 30,
                cost=n / 8,
                **known,  # type: ignore[arg-type]
            )
            for n in range(100)
        ]
    )


@pytest.mark.parametrize(
    ("size", "low", "high", "expected"),
    [
        (10, 0.25, 0.35, (3, 3)),  # at least 2.5 items, at most 3.5
        (10, 0.3, 0.7, (3, 7)),
        (100, 0.07, 0.29, (7, 29)),  # 0.07 · 100 is a little over 7, 0.29 · 100 a little under 29
        (100, 0.0, 1.0, (0, 100)),
        (3, 0.34, 0.66, (2, 1)),
    ],
)
@pytest.mark.parametrize("kind", ["lane", "difficulty"])
def test_shares_are_whole_numbers_at_their_exact_bounds(
    kind: str, size: int, low: float, high: float, expected: tuple[int, int]
) -> None:
    name = {"lane": "sessions", "difficulty": "hard"}[kind]
    shares = {f"{kind}_shares": {name: Band(low=low, high=high), "unknown": Band(low=0.1)}}
    config = SelectionConfig(size=size, **PLAIN, **shares)
    rows = rows_of(hundred(), config)
    row = rows[f"{kind} {name}"]
    assert (row.low, row.high) == expected
    assert row.kind == kind
    members = list(range(50)) if kind == "lane" else list(range(0, 100, 4))
    assert row.members.tolist() == members
    assert rows[f"{kind} unknown"].members.tolist() == []


def test_a_band_is_not_upside_down() -> None:
    assert Band(low=0.3, high=0.3).low == 0.3
    assert (Band().low, Band().high) == (0.0, 1.0)
    with pytest.raises(ValidationError, match=r"low 0\.4 is above high 0\.3"):
        Band(low=0.4, high=0.3)


@pytest.mark.parametrize(("share", "most"), [(0.29, 29), (0.299, 29), (0.0, 0), (1.0, 100)])
def test_changes_are_rounded_down_and_counted_over_new_items(share: float, most: int) -> None:
    config = SelectionConfig(size=100, objective=Objective.COVERAGE, max_changed=share, **PLAIN)
    row = rows_of(hundred(), config)["changed"]
    assert (row.low, row.high) == (None, most)
    assert row.members.tolist() == list(range(30, 100))


def test_costs_and_budget_are_in_units_of_the_scale() -> None:
    config = SelectionConfig(size=2, objective=Objective.COVERAGE, budget=12.34567, **PLAIN)
    row = rows_of(hundred(), config)["budget"]
    assert (row.low, row.high) == (None, 123_457)
    assert row.coefficients is not None
    assert row.coefficients.tolist() == [1250 * n for n in range(100)]


def test_no_row_stands_for_what_is_not_asked() -> None:
    config = SelectionConfig(size=5, objective=Objective.COVERAGE, **PLAIN)
    kinds = Counter(row.kind for row in rows_of(hundred(), config).values())
    assert kinds == {RowKind.SIZE: 1, RowKind.QUOTA: 2}  # the spread of two difficulties
    config = SelectionConfig(size=5, **PLAIN)
    assert [row.kind for row in rows_of(hundred(), config).values()] == [RowKind.SIZE]


def test_the_size_is_exact_over_all_items() -> None:
    row = rows_of(hundred(), SelectionConfig(size=7))["size"]
    assert (row.low, row.high, row.price, len(row.members)) == (7, 7, None, 100)


def test_of_near_duplicates_one_is_taken_and_a_lone_item_has_no_cluster() -> None:
    items = [
        PoolItem(n, "f", cluster=c) for n, c in zip("abcd", ["x", "y", "x", None], strict=True)
    ]
    rows = rows_of(pool_of_items(items), SelectionConfig(size=2))
    clusters = {name: row for name, row in rows.items() if row.kind is RowKind.CLUSTER}
    assert list(clusters) == ["near-duplicates x"]
    row = clusters["near-duplicates x"]
    assert (row.low, row.high, row.members.tolist()) == (None, 1, [0, 2])


def two_pilots(rows: list[list[float]], families: str) -> Pool:
    names = tuple(f"i{n}" for n in range(len(rows)))
    matrix = ScoreMatrix(names, tuple(families), ("a", "b"), np.array(rows))
    return pool_of_matrix(matrix, SelectionConfig(size=1, pilots=("a", "b")))


def test_margins_cover_families_that_have_an_eligible_item_pairs_cover_all() -> None:
    pool = two_pilots([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], "fgg")
    margins = rows_of(pool, SelectionConfig(size=1))
    pairs = rows_of(pool, SelectionConfig(size=1, objective=Objective.PAIRS))
    assert [n for n, row in margins.items() if row.kind is RowKind.COVERAGE] == ["family f"]
    assert [n for n, row in pairs.items() if row.kind is RowKind.COVERAGE] == [
        "family f",
        "family g",
    ]
    assert (pairs["family g"].low, pairs["family g"].high) == (1, None)
    assert not any(row.kind is RowKind.QUOTA for row in pairs.values())


def test_pilots_stay_ahead_by_the_margin_and_at_least_by_one_unit() -> None:
    pool = two_pilots([[0.9, 0.4], [0.2, 0.6]], "ff")
    for margin, low in ((0.0, 1), (0.25, 10_000), (0.00003, 1), (0.0001, 4)):
        (row,) = _order_rows(pool, margin, 4)
        assert (row.name, row.kind, row.low, row.high) == ("a ahead of b", RowKind.ORDER, low, None)
        assert row.coefficients is not None
        assert row.coefficients.tolist() == [5000, -4000]


def test_each_pilot_is_compared_with_the_next_one() -> None:
    config = SelectionConfig(size=3, pilots=("m02", "m00", "m01"), order_margin=0.1)
    pool = pool_of_matrix(drawn(12, 3), config)
    names = [n for n, row in rows_of(pool, config).items() if row.kind is RowKind.ORDER]
    assert names == ["m02 ahead of m00", "m00 ahead of m01"]


@pytest.mark.parametrize(
    ("weights", "cover", "targets"),
    [
        (None, True, {"f": 6, "g": 4}),  # 60 and 40 items
        ({"f": 1.0, "g": 3.0}, True, {"f": 3, "g": 7}),  # 2.5 and 7.5: equal remainders by name
        ({"g": 3.0}, True, {"f": 1, "g": 9}),  # no weight, but one item to cover the family
        ({"g": 3.0}, False, {"f": 0, "g": 10}),
        ({"g": 0.1}, False, {"f": 0, "g": 10}),
    ],
)
def test_quotas_are_apportioned_by_weight(
    weights: dict[str, float] | None, cover: bool, targets: dict[str, int]
) -> None:
    config = SelectionConfig(size=10, objective=Objective.COVERAGE, cover_families=cover)
    rows = rows_of(hundred(), config, weights)
    assert {name: bounds(rows[f"quota {name}"]) for name in targets} == {
        name: (target, target, 1) for name, target in targets.items()
    }


def test_quotas_stay_within_what_can_be_chosen_and_are_dropped_where_nothing_fits() -> None:
    able, unable = [1.0, 0.0], [1.0, 1.0]
    pool = two_pilots([able, able, able, unable, unable, unable], "ffgggg")
    quotas = rows_of(pool, SelectionConfig(size=3, stratum_picks=None))
    assert bounds(quotas["quota f"])[:2] == (2, 2)
    assert bounds(quotas["quota g"])[:2] == (1, 1)  # four items, but one that can be chosen
    for size, kept in ((1, False), (2, True), (3, True), (4, False)):
        names = rows_of(pool, SelectionConfig(size=size, stratum_picks=None))
        assert ("quota f" in names) is kept


@pytest.mark.parametrize(
    ("share", "price"), [(0.5, 5000), (0.0, 1), (0.00004, 1), (0.00016, 2), (1.0, 10_000)]
)
def test_a_quota_costs_a_share_of_the_largest_gain(share: float, price: int) -> None:
    pool = two_pilots([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], "fff")  # gains 0, 0 and -10,000
    config = SelectionConfig(
        size=2, quota_price=share, stratum_picks=None, objective=Objective.MARGINS
    )
    rows = rows_of(pool, config)
    assert rows["quota f"].price == price
    # With no gain to weigh it against, a quota weighs as much as an even spread.
    without_gains = rows_of(hundred(), SelectionConfig(size=2, quota_price=4 * share))
    assert without_gains["quota f"].price == 1


def test_strata_part_a_family_with_more_picks_than_a_stratum_takes() -> None:
    config = SelectionConfig(size=12, stratum_picks=2)
    pool = pool_of_matrix(drawn(60, 6, n_families=1), config)
    strata = [row for row in rows_of(pool, config).values() if row.kind is RowKind.STRATUM]
    assert [row.name for row in strata] == [f"stratum f0 {n}" for n in range(len(strata))]
    assert [row.low for row in strata] == [row.high for row in strata]
    assert sum(row.low or 0 for row in strata) == 12
    assert max(row.low or 0 for row in strata) == 2
    quota = rows_of(pool, config)["quota f0"]
    assert {row.price for row in strata} == {quota.price}
    members = [position for row in strata for position in row.members.tolist()]
    assert sorted(members) == np.flatnonzero(pool.eligible).tolist()
    assert all(row.members.tolist() == sorted(row.members.tolist()) for row in strata)
    for whole in (
        config.model_copy(update=u) for u in ({"stratum_picks": 12}, {"stratum_picks": None})
    ):
        assert not any(row.kind is RowKind.STRATUM for row in rows_of(pool, whole).values())


def test_a_family_with_one_stratum_does_not_hide_the_strata_of_the_next() -> None:
    matrix = drawn(60, 6, n_families=1)
    families = tuple("few" if n < 3 else "many" for n in range(60))
    config = SelectionConfig(size=12)
    pool = pool_of_matrix(replace(matrix, families=families), config)
    strata = [row for row in rows_of(pool, config).values() if row.kind is RowKind.STRATUM]
    assert len(strata) > 1
    assert {row.name.split()[1] for row in strata} == {"many"}


def test_values_without_enough_items_are_not_spread() -> None:
    items = [PoolItem(f"i{n}", "f", difficulty=None if n > 2 else "easy") for n in range(6)]
    for size, spread in ((3, True), (4, False)):
        config = SelectionConfig(size=size, objective=Objective.COVERAGE, **PLAIN)
        assert ("difficulty easy" in rows_of(pool_of_items(items), config)) is spread


def test_difficulties_and_sources_are_spread_evenly_as_far_as_they_go() -> None:
    items = [
        PoolItem(f"i{n}", "f", difficulty="easy" if n else "hard", source=f"s{n % 3}")
        for n in range(9)
    ]
    config = SelectionConfig(size=6, objective=Objective.COVERAGE, **PLAIN)
    rows = rows_of(pool_of_items(items), config)
    assert {name: bounds(row) for name, row in rows.items() if name != "size"} == {
        "difficulty easy": (5, 5, 1),
        "difficulty hard": (1, 1, 1),
        "source s0": (2, 2, 1),
        "source s1": (2, 2, 1),
        "source s2": (2, 2, 1),
    }


def test_named_items_are_taken_or_left_out_whatever_the_pilots_say() -> None:
    pool = two_pilots([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], "fff")
    config = SelectionConfig(size=1, must_include=("i1", "i2", "i9"), must_exclude=("i2",))
    programme = programme_of(pool, config)
    assert programme.allowed.tolist() == [True, True, False]
    assert programme.forced.tolist() == [False, True, False]
    loose = config.model_copy(update={"drop_zero_discrimination": False})
    assert programme_of(pool, loose).allowed.tolist() == [True, True, False]
    strict = SelectionConfig(size=1)
    assert programme_of(pool, strict).allowed.tolist() == [True, False, True]


def test_tie_breaks_belong_to_the_item_and_the_seed_alone() -> None:
    pool = hundred()
    first = programme_of(pool, SelectionConfig(size=1)).tie_breaks
    assert first.min() >= 1
    assert first.max() <= 2**24
    assert first.max() > 2**23
    assert first.tolist()[:3] == [1_131_865, 11_530_777, 5_186_907]
    part = programme_of(pool_of_items(pool.items[40:]), SelectionConfig(size=1)).tie_breaks
    assert part.tolist() == first.tolist()[40:]
    assert programme_of(pool, SelectionConfig(size=1, seed=1)).tie_breaks.tolist() != first.tolist()


def test_without_scores_difficulty_and_sources_are_spread() -> None:
    items = [
        PoolItem(
            f"i{number:02d}",
            "f" if number % 8 < 4 else "g",
            difficulty=["easy", "hard"][number % 2],
            source=f"s{number % 4}",
        )
        for number in range(16)
    ]
    config = SelectionConfig(size=8, objective=Objective.COVERAGE)
    result = select_subset(pool_of_items(items), config)
    assert result.chosen is not None
    taken = [item for item in items if item.item_id in result.chosen]
    assert Counter(item.family for item in taken) == {"f": 4, "g": 4}
    assert Counter(item.difficulty for item in taken) == {"easy": 4, "hard": 4}
    assert Counter(item.source for item in taken) == dict.fromkeys(["s0", "s1", "s2", "s3"], 2)
    assert result.solution.objective == 0
    again = select_subset(pool_of_items(items[::-1]), config)
    assert again.chosen == result.chosen
