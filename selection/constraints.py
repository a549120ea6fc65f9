"""Builds the rows of a programme from a pool and a configuration."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from data.apportion import apportion
from data.randomness import keyed_hash
from selection.config import Band, Objective, SelectionConfig
from selection.model import SHARED, Ints, Programme, Row, RowKind, scaled
from selection.pool import Pool, Positions, filled, gains, profile_strata, resolved_picks

_STAGE = "select-subset"
_TIE_BITS = 24  # a tie survives with probability items / 2**24 (isolation lemma)


def programme_of(
    pool: Pool, config: SelectionConfig, family_weights: Mapping[str, float] | None = None
) -> Programme:
    """The programme of a selection.

    Quotas are apportioned to families by `family_weights` if given, else by their numbers of items.
    """
    allowed = _allowed(pool, config)
    item_gains = gains(pool, config.objective)
    return Programme(
        items=tuple(item.item_id for item in pool.items),
        gains=item_gains,
        rows=tuple(_rows(pool, config, allowed, item_gains, family_weights)),
        allowed=allowed,
        forced=_named(pool, config.must_include) & allowed,
        tie_breaks=_tie_breaks(pool, config.seed),
    )


def _allowed(pool: Pool, config: SelectionConfig) -> NDArray[np.bool_]:
    able = pool.eligible | _named(pool, config.must_include)
    if not config.drop_zero_discrimination:
        able = np.ones_like(able)
    return able & ~_named(pool, config.must_exclude)


def _named(pool: Pool, names: Sequence[str]) -> NDArray[np.bool_]:
    wanted = set(names)
    return np.array([item.item_id in wanted for item in pool.items], dtype=bool)


def _tie_breaks(pool: Pool, seed: int) -> Ints:
    keyed = [keyed_hash(seed, _STAGE, item.item_id)[:4] for item in pool.items]
    drawn = [int.from_bytes(raw, "big") >> (32 - _TIE_BITS) for raw in keyed]
    return np.array(drawn, dtype=np.int64) + 1


def _rows(
    pool: Pool,
    config: SelectionConfig,
    allowed: NDArray[np.bool_],
    item_gains: Ints,
    family_weights: Mapping[str, float] | None,
) -> Iterator[Row]:
    everything = np.arange(len(pool.items), dtype=np.intp)
    yield Row("size", RowKind.SIZE, everything, config.size, config.size)
    families = pool.positions("family")
    for family, members in families.items():
        # The paper covers every family of the pool, `margins` only those with an eligible item.
        wanted = config.objective is Objective.PAIRS or bool(allowed[members].any())
        if config.cover_families and wanted:
            yield Row(f"family {family}", RowKind.COVERAGE, members, low=1)
    if config.quota_price is not None and config.objective is not Objective.PAIRS:
        yield from _quotas(pool, config, allowed, item_gains, family_weights)
    yield from _shares(pool, config)
    if config.objective is Objective.COVERAGE:
        yield from _spread(pool, "difficulty", config.size)
        yield from _spread(pool, "source", config.size)
    for cluster, members in pool.positions("cluster").items():
        if len(members) > 1:
            yield Row(f"near-duplicates {cluster}", RowKind.CLUSTER, members, high=1)
    if config.max_per_generator is not None:
        for generator, members in pool.positions("generator").items():
            most = config.max_per_generator
            yield Row(f"generator {generator}", RowKind.GENERATOR, members, high=most)
    if config.max_changed is not None:
        new = [n for n, item in enumerate(pool.items) if not item.in_last_release]
        most = math.floor(config.max_changed * config.size + 1e-9)
        yield Row("changed", RowKind.CHURN, np.array(new, dtype=np.intp), high=most)
    if config.budget is not None:
        costs = scaled(np.array([item.cost for item in pool.items]))
        most = int(scaled(np.array([config.budget]))[0])
        yield Row("budget", RowKind.BUDGET, everything, high=most, coefficients=costs)
    if config.order_margin is not None:
        yield from _order_rows(pool, config.order_margin, config.size)


def _quotas(
    pool: Pool,
    config: SelectionConfig,
    allowed: NDArray[np.bool_],
    item_gains: Ints,
    family_weights: Mapping[str, float] | None,
) -> Iterator[Row]:
    families = pool.positions("family")
    room = {
        family: _room(pool, config, members[allowed[members]])
        for family, members in families.items()
    }
    weights = family_weights or {family: float(len(m)) for family, m in families.items()}
    shares = {family: weights.get(family, 0.0) for family in families}
    least = {family: min(int(config.cover_families), most) for family, most in room.items()}
    if not sum(least.values()) <= config.size <= sum(room.values()):
        return  # no apportionment exists; `blockers` reports why
    targets = apportion(shares, config.size, least=least, most=room)
    price = max(1, round((config.quota_price or 0.0) * int(np.abs(item_gains).max(initial=0))))
    for family, members in families.items():
        target = targets[family]
        yield Row(f"quota {family}", RowKind.QUOTA, members, target, target, price=price)
    picks = resolved_picks(config.stratum_picks, len(pool.pilots))
    if picks is not None and pool.pilots:
        scores, ties = filled(pool.scores), _tie_breaks(pool, config.seed)
        for family, members in families.items():
            usable = members[allowed[members]]
            strata = profile_strata(scores, usable, targets[family], picks, ties)
            yield from _strata(family, list(strata), price)


def _room(pool: Pool, config: SelectionConfig, members: Positions) -> int:
    """How many of these can be chosen: one of a cluster, and no more of a generator than may be."""
    distinct = {pool.items[n].cluster or pool.items[n].item_id: n for n in members}
    made = Counter(pool.items[n].generator for n in distinct.values())
    most = config.max_per_generator
    return sum(
        n if most is None or generator is None else min(n, most) for generator, n in made.items()
    )


def _spread(pool: Pool, attribute: str, size: int) -> Iterator[Row]:
    """An even share for each value as far as the items allow; each item more or less costs one
    unit."""
    groups = pool.positions(attribute)
    room = {name: len(members) for name, members in groups.items()}
    if not groups or sum(room.values()) < size:
        return
    for name, target in apportion(dict.fromkeys(groups, 1.0), size, most=room).items():
        yield Row(f"{attribute} {name}", RowKind.QUOTA, groups[name], target, target, price=1)


def _strata(family: str, strata: Sequence[tuple[Positions, int]], price: int) -> Iterator[Row]:
    """A row per stratum; none for a single one, which equals the family's own quota."""
    for number, (group, target) in enumerate(strata if len(strata) > 1 else ()):
        name = f"stratum {family} {number}"
        yield Row(name, RowKind.STRATUM, np.sort(group), target, target, price=price)


def _shares(pool: Pool, config: SelectionConfig) -> Iterator[Row]:
    """Shares as whole numbers: at least ⌈low·size⌉ and at most ⌊high·size⌋ items."""
    for kind in SHARED:
        bands: Mapping[str, Band] = getattr(config, f"{kind}_shares")
        groups = pool.positions(kind)
        for name in sorted(bands):
            members = groups.get(name, np.array([], dtype=np.intp))
            low = math.ceil(bands[name].low * config.size - 1e-9)
            high = math.floor(bands[name].high * config.size + 1e-9)
            yield Row(f"{kind} {name}", kind, members, low, high)


def _order_rows(pool: Pool, margin: float, size: int) -> Iterator[Row]:
    """Each pilot stays ahead of the next by at least `margin` in the subset's mean.

    Missing cells are filled as for the gains (`profiles.filled`); they do not count as failures.
    """
    everything = np.arange(len(pool.items), dtype=np.intp)
    scores = scaled(filled(pool.scores))
    least = int(scaled(np.array([margin * size]))[0])
    for better, worse in zip(range(len(pool.pilots)), range(1, len(pool.pilots)), strict=False):
        lead = scores[:, better] - scores[:, worse]
        name = f"{pool.pilots[better]} ahead of {pool.pilots[worse]}"
        yield Row(name, RowKind.ORDER, everything, low=max(1, least), coefficients=lead)
