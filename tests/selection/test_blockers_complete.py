"""In selections drawn at random, the blockers are complete and each is needed.

Whether a subset exists is decided by trying all of them, from the configuration alone.
"""

from __future__ import annotations

import math
import random
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from selection.blockers import BlockerCode
from selection.config import Band, Objective, SelectionConfig
from selection.infeasible import explain
from selection.pool import Pool, PoolItem, eligible, pool_of_items
from selection.relaxations import apply

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
            eased = apply(eased, blocker.change)
        assert is_possible(pool, eased), (seed, blockers)
        _assert_each_is_needed(pool, config, blockers, seed)
    assert impossible > 3, "too few of the drawn cases are impossible to say anything"


def _assert_each_is_needed(pool: Pool, config: SelectionConfig, blockers: Any, seed: int) -> None:
    """Without the changes of one setting that counting did not ease, it stays impossible."""
    joint = [one for one in blockers if one.code is BlockerCode.TOGETHER]
    for setting in {one.change.setting for one in joint} - {"must_include"}:
        eased = config
        for blocker in blockers:
            if blocker.change.setting != setting or blocker.code is not BlockerCode.TOGETHER:
                eased = apply(eased, blocker.change)
        assert not is_possible(pool, eased), (seed, setting)


def test_a_pool_of_which_nothing_can_be_chosen_has_no_way_out() -> None:
    pool = pool_of_items([PoolItem("a", "f"), PoolItem("b", "f")])
    config = SelectionConfig(size=1, must_exclude=("a", "b"), objective=Objective.COVERAGE)
    (only,) = explain(pool, config)
    assert (only.code, only.change) == (BlockerCode.TOO_FEW_ELIGIBLE, None)
    assert only.relaxation == "none: no item can be chosen"
