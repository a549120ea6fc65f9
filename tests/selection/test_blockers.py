"""Why there is no subset: the ways out must lead out.

In selections drawn at random, the blockers are complete and each is needed. Whether a subset exists
is decided by trying all of them, from the configuration alone.
"""

from __future__ import annotations

import math
import random
import re
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from selection.blockers import Blocker, _apply, _BlockerCode, explain
from selection.config import Band, Objective, SelectionConfig
from selection.model import RowKind
from selection.pool import Pool, PoolItem, eligible, pool_of_items, pool_of_matrix
from selection.scores import ScoreMatrix
from selection.select import select_subset
from tests.selection.matrices import drawn

SPREAD: dict[str, Any] = {"objective": Objective.COVERAGE, "cover_families": False}
FREE: dict[str, Any] = {"cover_families": False, "quota_price": None}
PLAIN: dict[str, Any] = FREE | {"objective": Objective.COVERAGE}


def pool(*items: PoolItem) -> Pool:
    return pool_of_items(items)


def blockers(pool: Pool, config: SelectionConfig) -> tuple[Blocker, ...]:
    result = select_subset(pool, config)
    assert result.chosen is None
    return result.blockers


def test_the_budget_proposed_is_enough() -> None:
    costs = (4115.2137, 4115.2137, 4115.2136, 9000.0)
    given = pool(*(PoolItem(f"i{n}", "f", cost=cost) for n, cost in enumerate(costs)))
    config = SelectionConfig(size=3, budget=12_345.6, **SPREAD)
    (result,) = blockers(given, config)
    assert (result.code, result.relaxation) == (_BlockerCode.BUDGET, "budget = 12345.641")
    wider = config.model_copy(update={"budget": float(result.relaxation.split()[-1])})
    assert select_subset(given, wider).chosen == ("i0", "i1", "i2")
    assert result.text == "the 3 cheapest eligible items cost 12345.641, but the budget is 12345.6"


def ordered(leads: list[float], margin: float) -> tuple[Pool, SelectionConfig]:
    """Two pilots whose scores on the items differ by `leads`."""
    cells = np.array([[0.5 + lead / 2, 0.5 - lead / 2] for lead in leads])
    names = tuple(f"i{n}" for n in range(len(leads)))
    matrix = ScoreMatrix(names, ("f",) * len(names), ("first", "second"), cells)
    config = SelectionConfig(size=3, pilots=("first", "second"), order_margin=margin)
    return pool_of_matrix(matrix, config), config


def test_the_order_margin_proposed_holds() -> None:
    given, config = ordered([0.1, 0.1, 0.0996, -0.4, -0.3], 0.2)  # 2,996 / 3 = 998.67
    (result,) = blockers(given, config)
    proposed = re.match(r"order_margin = (\S+), or a different pilot order", result.relaxation)
    assert proposed is not None
    assert proposed[1] == "0.0998"
    eased = config.model_copy(update={"order_margin": float(proposed[1])})
    assert select_subset(given, eased).chosen is not None


def test_no_margin_is_proposed_where_the_order_is_the_other_way_round() -> None:
    given, config = ordered([-0.1, -0.2, -0.3, -0.4], 0.0)
    (result,) = blockers(given, config)
    assert result.code is _BlockerCode.ORDER
    assert result.relaxation == "no order_margin, or a different pilot order"


def test_a_missing_score_is_no_failure_in_the_order() -> None:
    """An item that the second pilot did not run on gives the first no lead of its whole score."""
    cells = np.array([[0.9, 0.8], [0.5, 0.6], [0.9, np.nan], [0.5, 0.6]])
    matrix = ScoreMatrix(("a", "b", "c", "d"), ("f",) * 4, ("first", "second"), cells)
    config = SelectionConfig(size=3, pilots=("first", "second"), order_margin=0.1)
    given = pool_of_matrix(matrix, config)
    programme = select_subset(given, config.model_copy(update={"order_margin": None})).programme
    assert programme.rows[0].kind is RowKind.SIZE
    result = select_subset(given, config.model_copy(update={"drop_zero_discrimination": False}))
    assert result.chosen is None
    (row,) = (row for row in result.programme.rows if row.kind is RowKind.ORDER)
    assert row.coefficients is not None
    assert row.coefficients.tolist()[:2] == [1000, -1000]
    assert abs(int(row.coefficients[2])) < 1000  # 0.9 - (0.9 + 0.6667 - 0.6857)


def test_soft_rows_do_not_hide_the_hard_one() -> None:
    """Only hard rows are moved: the quota's price must not make the blocker dearer."""
    items = [PoolItem(f"i{n}", f"f{n % 2}", lane="l" if n < 2 else "m") for n in range(6)]
    shares = {"l": Band(high=0.2), "m": Band(high=0.6)}
    config = SelectionConfig(
        size=5, objective=Objective.COVERAGE, lane_shares=shares, quota_price=1.0
    )
    (result,) = blockers(pool(*items), config)
    assert (result.code, result.short) == (_BlockerCode.TOGETHER, 1)
    assert result.relaxation in ("lane_shares.l.high = 0.4", "lane_shares.m.high = 0.8")


def test_a_near_duplicate_outside_the_lane_does_not_count_against_it() -> None:
    items = [
        PoolItem("a", "f", lane="sessions", cluster="twins"),
        PoolItem("b", "f", lane="questions", cluster="twins"),
        *(PoolItem(f"c{n}", "f", lane="sessions") for n in range(3)),
    ]
    shares = {"questions": Band(low=0.25), "sessions": Band(low=1.0)}
    config = SelectionConfig(size=4, lane_shares=shares, **SPREAD)
    result = blockers(pool(*items), config)
    assert {one.code for one in result} == {_BlockerCode.TOGETHER}, "one question can be chosen"
    none = config.model_copy(update={"lane_shares": {"questions": Band(low=0.5)}})
    (short,) = blockers(pool(*items), none)
    assert (short.code, short.needed, short.available) == (_BlockerCode.SHARE, 2, 1)


def coded(result: tuple[Blocker, ...]) -> list[tuple[str, str, float, float, float]]:
    return [(one.code, one.subject, one.needed, one.available, one.short) for one in result]


def test_as_many_eligible_items_as_asked_for_are_enough_one_fewer_is_short() -> None:
    items = [PoolItem(f"i{n}", "f", cluster="twins" if n < 2 else None) for n in range(4)]
    given = pool(*items)
    enough = SelectionConfig(size=3, **SPREAD)
    assert select_subset(given, enough).chosen is not None
    result = blockers(given, enough.model_copy(update={"size": 4}))
    assert coded(result) == [(_BlockerCode.TOO_FEW_ELIGIBLE, "size", 4, 3, 1)]
    assert result[0].text == (
        "4 of 4 items are eligible (0 do not distinguish the pilots) and at most 3 can be chosen "
        "together, 1 short of the size 4"
    )
    assert result[0].relaxation == "size = 3", "all items are eligible: no other way helps"


def test_items_that_do_not_distinguish_pilots_are_counted_apart() -> None:
    cells = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    matrix = ScoreMatrix(("a", "b", "c", "d"), ("f",) * 4, ("x", "y"), cells)
    config = SelectionConfig(size=3, must_exclude=("c",), **FREE)
    result = blockers(pool_of_matrix(matrix, config), config)
    assert coded(result) == [(_BlockerCode.TOO_FEW_ELIGIBLE, "size", 3, 1, 2)]
    assert result[0].text.startswith("1 of 4 items are eligible (2 do not distinguish the pilots)")


def test_as_many_families_as_items_are_covered() -> None:
    matrix = drawn(60, 6, n_families=6)
    fits = SelectionConfig(size=6)
    assert select_subset(pool_of_matrix(matrix, fits), fits).chosen is not None
    short = SelectionConfig(size=5)
    result = blockers(pool_of_matrix(matrix, short), short)
    assert coded(result) == [(_BlockerCode.FEWER_THAN_FAMILIES, "size", 6, 5, 1)]
    assert result[0].text == "6 families must be covered, but the size is only 5"


def test_a_family_without_an_eligible_item_is_named() -> None:
    cells = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    matrix = ScoreMatrix(("a", "b", "c", "d"), ("f", "f", "g", "g"), ("x", "y"), cells)
    config = SelectionConfig(size=2, objective=Objective.PAIRS)
    result = blockers(pool_of_matrix(matrix, config), config)
    assert coded(result) == [(_BlockerCode.EMPTY_FAMILY, "g", 1, 0, 1)]
    assert result[0].text == "family g must be covered, but none of its 2 items is eligible"
    with_one = config.model_copy(update={"must_include": ("d",)})
    assert select_subset(pool_of_matrix(matrix, with_one), with_one).chosen is not None


@pytest.mark.parametrize("kind", ["lane", "difficulty"])
def test_a_share_is_short_by_the_items_that_are_missing(kind: str) -> None:
    items = [
        PoolItem(f"i{n}", "f", lane="l" if n < 3 else "m", difficulty="l" if n < 3 else "m")
        for n in range(10)
    ]
    shares = {f"{kind}_shares": {"l": Band(low=0.3)}}
    fits = SelectionConfig(size=10, **PLAIN, **shares)
    assert select_subset(pool(*items), fits).chosen is not None
    short = fits.model_copy(update={"must_exclude": ("i0",), "size": 9})
    result = blockers(pool(*items), short)
    assert coded(result) == [(_BlockerCode.SHARE, f"{kind} l", 3, 2, 1)]
    assert result[0].relaxation == f"{kind}_shares.l.low = 0.222222"


def test_must_include_takes_no_more_than_a_row_allows() -> None:
    items = [PoolItem(f"i{n}", "f", lane="l" if n < 3 else "m") for n in range(6)]
    shares = {"l": Band(high=0.34)}
    config = SelectionConfig(size=3, must_include=("i0", "i2"), lane_shares=shares, **PLAIN)
    result = blockers(pool(*items), config)
    assert coded(result) == [(_BlockerCode.FORCED, "lane l", 2, 1, 1)]
    assert result[0].text == "must_include names 2 items of lane l, which allows 1"
    assert result[0].relaxation == "remove i2 from must_include"
    wide = config.model_copy(update={"lane_shares": {"l": Band(high=0.67)}})
    chosen = select_subset(pool(*items), wide).chosen
    assert chosen is not None
    assert {"i0", "i2"} < set(chosen) < {"i0", "i2", "i3", "i4", "i5"}


def test_a_soft_or_weighted_row_is_no_limit_of_must_include() -> None:
    items = [PoolItem(f"i{n}", "f", cost=1.0) for n in range(4)]
    config = SelectionConfig(
        size=2, must_include=("i0", "i1"), budget=2.0, objective=Objective.COVERAGE
    )
    result = select_subset(pool(*items), config)
    assert result.chosen == ("i0", "i1")
    assert explain(pool(*items), config) == ()


@pytest.mark.parametrize(("budget", "short"), [(3.0, None), (2.9999, 0.0001), (2.5, 0.5)])
def test_a_budget_of_exactly_the_cheapest_items_is_enough(
    budget: float, short: float | None
) -> None:
    items = [PoolItem(f"i{n}", "f", cost=float(n)) for n in range(5)]
    config = SelectionConfig(size=3, budget=budget, **SPREAD)  # the cheapest cost 0, 1 and 2
    if short is None:
        assert select_subset(pool(*items), config).chosen == ("i0", "i1", "i2")
        return
    (result,) = blockers(pool(*items), config)
    assert (result.code, result.needed, result.available) == (_BlockerCode.BUDGET, 3.0, budget)
    assert result.short == pytest.approx(short)
    assert result.relaxation == "budget = 3"
    (same,) = blockers(pool(*items[:3]), config)  # all items there are
    assert (same.code, same.relaxation) == (_BlockerCode.BUDGET, "budget = 3")


@pytest.mark.parametrize(("margin", "holds"), [(0.1, True), (0.1001, False)])
def test_an_order_margin_of_exactly_the_best_mean_lead_holds(margin: float, holds: bool) -> None:
    given, config = ordered([0.1, 0.1, 0.1, -0.5, -0.6], margin)
    result = select_subset(given, config)
    assert (result.chosen is not None) is holds
    if not holds:
        (only,) = result.blockers
        assert (only.code, only.subject) == (_BlockerCode.ORDER, "first ahead of second")
        assert only.needed == pytest.approx(0.1001)
        assert only.available == pytest.approx(0.1)
        assert only.short == pytest.approx(0.0001)
        assert only.text == (
            "first ahead of second: the largest mean lead of any 3 eligible items is 0.1000, "
            "but 0.1001 is required"
        )
        assert only.relaxation == "order_margin = 0.1, or a different pilot order"


def test_no_lead_at_all_proposes_no_margin() -> None:
    given, config = ordered([0.1, -0.1, 0.0, -0.5], 0.2)
    config = config.model_copy(update={"drop_zero_discrimination": False, **FREE})
    result = blockers(given, config)
    assert [one.relaxation for one in result] == ["no order_margin, or a different pilot order"]
    assert result[0].available == 0


def test_of_rows_that_conflict_the_least_costly_ones_are_moved() -> None:
    """A budget gives way before a count: its unit is a ten-thousandth."""
    items = [PoolItem(f"i{n}", "f", lane="l" if n < 2 else "m", cost=n / 10) for n in range(4)]
    shares = {"m": Band(low=1.0)}
    config = SelectionConfig(size=2, budget=0.45, lane_shares=shares, **PLAIN)
    result = blockers(pool(*items), config)
    assert [(one.code, one.subject) for one in result] == [(_BlockerCode.TOGETHER, "budget")]
    assert (result[0].needed, result[0].available) == (0.45, 0.5)
    assert result[0].short == pytest.approx(0.05)
    assert result[0].text == (
        "budget conflicts with the other constraints: 0.5 is the nearest to 0.45"
    )
    assert result[0].relaxation == "budget = 0.5"


def test_a_lower_bound_that_gives_way_is_stated_as_such() -> None:
    items = [PoolItem(f"i{n}", "f", lane="lm"[n % 2], difficulty="de"[n % 2]) for n in range(8)]
    config = SelectionConfig(
        size=4,
        lane_shares={"l": Band(low=0.5)},
        difficulty_shares={"d": Band(high=0.25)},
        **PLAIN,
    )
    result = blockers(pool(*items), config)
    assert {one.code for one in result} == {_BlockerCode.TOGETHER}
    assert sum(one.short for one in result) == 1
    (only,) = result
    assert (only.subject, only.needed, only.available, only.relaxation) in (
        ("lane l", 2, 1, "lane_shares.l.low = 0.25"),
        ("difficulty d", 1, 2, "difficulty_shares.d.high = 0.5"),
    )


_EDGE = 1e-6  # shares are proposed with six decimals


def drawn_case(seed: int) -> tuple[Pool, SelectionConfig]:
    """A pool of nine items and a configuration that is often impossible."""
    draw = random.Random(seed)
    items = [
        PoolItem(
            f"i{n}",
            draw.choice("fgh"),
            lane=draw.choice("lm"),
            difficulty=draw.choice(["easy", "hard", None]),
            cluster=draw.choice(["c1", "c2", None, None]),
            cost=float(draw.randrange(1, 9)),
            in_last_release=draw.random() < 0.5,
        )
        for n in range(9)
    ]
    settings: dict[str, Any] = {"size": draw.randrange(2, 9)}
    settings["cover_families"] = draw.random() < 0.5
    settings["quota_price"] = draw.choice([None, 0.5])
    settings["lane_shares"] = {"l": _band(draw), "m": _band(draw)}
    settings["difficulty_shares"] = {"hard": _band(draw)}
    names = [item.item_id for item in draw.sample(items, 4)]
    settings["must_include"] = tuple(names[: draw.randrange(min(3, settings["size"] + 1))])
    settings["must_exclude"] = tuple(names[3:]) if draw.random() < 0.5 else ()
    settings["budget"] = draw.choice([None, float(draw.randrange(2, 30))])
    if any(item.in_last_release for item in items):
        settings["max_changed"] = draw.choice([None, 0.2, 0.5])
    if draw.random() < 0.5:
        return pool_of_items(items), SelectionConfig(objective=Objective.COVERAGE, **settings)
    settings |= {"order_margin": draw.choice([None, 0.05, 0.4]), "pilots": ("p", "q", "r")}
    scores = np.array([[draw.randrange(5) / 4 for _ in range(3)] for _ in items])
    config = SelectionConfig(**settings)
    plain = pool_of_items(items)
    return Pool(plain.items, ("p", "q", "r"), scores, eligible(scores, config)), config


def _band(draw: random.Random) -> Band:
    low, high = sorted((draw.choice([0.0, 0.0, 0.3, 0.7]), draw.choice([0.4, 1.0, 1.0])))
    return Band(low=low, high=high)


def is_possible(pool: Pool, config: SelectionConfig) -> bool:
    """Is there any subset of the size that meets all that the configuration demands?"""
    return any(
        _meets(pool, config, subset) for subset in combinations(range(len(pool.items)), config.size)
    )


def _meets(pool: Pool, config: SelectionConfig, subset: tuple[int, ...]) -> bool:
    items = [pool.items[n] for n in subset]
    names = {item.item_id for item in items}
    if not {*config.must_include} <= names or names & {*config.must_exclude}:
        return False
    if config.drop_zero_discrimination and any(
        not pool.eligible[n] and pool.items[n].item_id not in config.must_include for n in subset
    ):
        return False
    clusters = [item.cluster for item in items if item.cluster]
    if len(clusters) != len({*clusters}):
        return False
    return _meets_limits(pool, config, subset, items)


def _meets_limits(
    pool: Pool, config: SelectionConfig, subset: tuple[int, ...], items: list[PoolItem]
) -> bool:
    able = {
        item.family
        for item, is_able in zip(pool.items, pool.eligible, strict=True)
        if (is_able or item.item_id in config.must_include)
        and item.item_id not in config.must_exclude
    }
    if config.cover_families and not able <= {item.family for item in items}:
        return False
    for attribute, bands in (
        ("lane", config.lane_shares),
        ("difficulty", config.difficulty_shares),
        ("pass_rate", config.pass_rate_shares),
        ("split", config.split_shares),
    ):
        for name, band in bands.items():
            share = sum(getattr(item, attribute) == name for item in items) / config.size
            if not band.low - _EDGE <= share <= band.high + _EDGE:
                return False
    if config.budget is not None and sum(item.cost for item in items) > config.budget + _EDGE:
        return False
    new = sum(not item.in_last_release for item in items)
    if config.max_changed is not None and new / config.size > config.max_changed + _EDGE:
        return False
    if config.order_margin is None:
        return True
    means = pool.scores[list(subset)].mean(axis=0)
    least = max(config.order_margin, 1e-9)
    return all(math.fsum((a, -b)) >= least - 1e-9 for a, b in pairwise(means))


@pytest.mark.parametrize("block", range(10))
def test_the_changes_of_all_blockers_together_lead_out_and_each_is_needed(block: int) -> None:
    impossible = 0
    for seed in range(block * 30, block * 30 + 30):
        pool, config = drawn_case(seed)
        blockers = explain(pool, config)
        assert bool(blockers) is not is_possible(pool, config), seed
        if not blockers or blockers[-1].change is None:
            continue
        impossible += 1
        eased = config
        for blocker in blockers:
            assert blocker.change is not None
            eased = _apply(eased, blocker.change)
        assert is_possible(pool, eased), (seed, blockers)
        _assert_each_is_needed(pool, config, blockers, seed)
    assert impossible > 3, "too few of the drawn cases are impossible to say anything"


def _assert_each_is_needed(pool: Pool, config: SelectionConfig, blockers: Any, seed: int) -> None:
    """Without the changes of one setting that counting did not ease, it stays impossible."""
    joint = [one for one in blockers if one.code is _BlockerCode.TOGETHER]
    for setting in {one.change.setting for one in joint} - {"must_include"}:
        eased = config
        for blocker in blockers:
            if blocker.change.setting != setting or blocker.code is not _BlockerCode.TOGETHER:
                eased = _apply(eased, blocker.change)
        assert not is_possible(pool, eased), (seed, setting)


def test_a_pool_of_which_nothing_can_be_chosen_has_no_way_out() -> None:
    pool = pool_of_items([PoolItem("a", "f"), PoolItem("b", "f")])
    config = SelectionConfig(size=1, must_exclude=("a", "b"), objective=Objective.COVERAGE)
    (only,) = explain(pool, config)
    assert (only.code, only.change) == (_BlockerCode.TOO_FEW_ELIGIBLE, None)
    assert only.relaxation == "none: no item can be chosen"
