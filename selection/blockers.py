"""Blockers: reasons why a selection is impossible, and those that counting shows by themselves.

Each finder yields the limits of its kind that cannot be met, whatever other rows say, each with the
smallest change that helps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from selection.config import SelectionConfig
from selection.pool import Pool, Positions
from selection.programme import SCALE, Programme, Row, RowKind
from selection.relaxations import Change, apply, change_of, changed, shown


class BlockerCode(StrEnum):
    TOO_FEW_ELIGIBLE = "size.too_few_eligible"
    FEWER_THAN_FAMILIES = "size.fewer_than_families"
    EMPTY_FAMILY = "family.no_eligible_item"
    SHARE = "share.cannot_be_met"
    FORCED = "must_include.not_possible"
    BUDGET = "budget.too_small"
    ORDER = "order.cannot_hold"
    TOGETHER = "constraints.conflict"


@dataclass(frozen=True, slots=True)
class Blocker:
    """One reason why no subset exists: what is needed, what is available, and the shortfall.

    `change` is the setting that removes it, None if no setting does; `relaxation` says it in words,
    with alternatives that exist.
    """

    code: BlockerCode
    subject: str
    needed: float
    available: float
    short: float
    text: str
    relaxation: str
    change: Change | None


@dataclass(frozen=True, slots=True)
class Case:
    """A selection with what was eased so far, and its programme."""

    pool: Pool
    config: SelectionConfig
    programme: Programme


def _too_few(case: Case) -> Iterator[Blocker]:
    pool, config, programme = case.pool, case.config, case.programme
    everything = np.arange(len(pool.items), dtype=np.intp)
    usable = _most(programme, everything, programme.allowed)
    if usable >= config.size:
        return
    total, able = len(pool.items), int(programme.allowed.sum())
    dropped = total - int(pool.eligible.sum())
    change = changed(config, "size", usable) if usable else None
    excluded = {*config.must_exclude}
    admitted = np.array([item.item_id not in excluded for item in pool.items], dtype=bool)
    ways = [shown(change)] if change else []
    if config.drop_zero_discrimination and _most(programme, everything, admitted) >= config.size:
        ways.append("drop_zero_discrimination = false")
    yield Blocker(
        BlockerCode.TOO_FEW_ELIGIBLE,
        "size",
        config.size,
        usable,
        config.size - usable,
        f"{able} of {total} items are eligible ({dropped} do not distinguish the pilots), at most "
        f"{usable} can be chosen together, and the size is {config.size}: "
        f"{config.size - usable} short",
        ", or ".join(ways) or "none: no item can be chosen",
        change,
    )


def _most(programme: Programme, members: Positions, allowed: NDArray[np.bool_]) -> int:
    """How many of `members` can be chosen at most: allowed, one per near-duplicate cluster, and as
    many of a generator as may be.
    """
    usable = np.zeros_like(allowed)
    usable[members] = allowed[members]
    for row in programme.rows:
        if row.kind in (RowKind.CLUSTER, RowKind.GENERATOR):
            inside = row.members[usable[row.members]]
            usable[inside[row.high :]] = False
    return int(usable.sum())


def _too_many_families(case: Case) -> Iterator[Blocker]:
    size = case.config.size
    to_cover = sum(row.kind is RowKind.COVERAGE for row in case.programme.rows)
    if to_cover <= size:
        return
    everything = np.arange(len(case.pool.items), dtype=np.intp)
    fits = _most(case.programme, everything, case.programme.allowed) >= to_cover
    change = changed(case.config, "cover_families", False)
    yield Blocker(
        BlockerCode.FEWER_THAN_FAMILIES,
        "size",
        to_cover,
        size,
        to_cover - size,
        f"{to_cover} families must be covered, and the size is only {size}",
        f"size = {to_cover}, or {shown(change)}" if fits else shown(change),
        change,
    )


def _empty_families(case: Case) -> Iterator[Blocker]:
    excluded = {*case.config.must_exclude}
    for row in case.programme.rows:
        if row.kind is not RowKind.COVERAGE or case.programme.allowed[row.members].any():
            continue
        family = row.name.removeprefix("family ")
        names = [case.programme.items[position] for position in row.members]
        able = next((name for name in names if name not in excluded), None)
        change = changed(case.config, "cover_families", False)
        yield Blocker(
            BlockerCode.EMPTY_FAMILY,
            family,
            1,
            0,
            1,
            f"family {family} must be covered, and none of its {len(row.members)} items is "
            "eligible",
            shown(change) + (f", or {able} in must_include" if able else ""),
            change,
        )


def _shares(case: Case) -> Iterator[Blocker]:
    config = case.config
    for row in case.programme.rows:
        if row.kind not in (RowKind.LANE, RowKind.DIFFICULTY) or row.low is None:
            continue
        most = _most(case.programme, row.members, case.programme.allowed)
        if most >= row.low:
            continue
        change = change_of(row, config, most, below=True)
        config = apply(config, change)
        yield Blocker(
            BlockerCode.SHARE,
            row.name,
            row.low,
            most,
            row.low - most,
            f"{row.name} needs at least {row.low} items, and only {most} can be chosen",
            shown(change),
            change,
        )


def _forced(case: Case) -> Iterator[Blocker]:
    """Rows that must_include alone takes above their bound."""
    config, forced = case.config, case.programme.forced.copy()
    for row in case.programme.rows:
        named = row.members[forced[row.members]]
        if row.high is None or row.coefficients is not None or row.price is not None:
            continue
        if len(named) <= row.high:
            continue
        removed = named[row.high :]
        forced[removed] = False
        names = {case.programme.items[position] for position in removed}
        kept = tuple(name for name in config.must_include if name not in names)
        change = changed(config, "must_include", kept)
        config = apply(config, change)
        yield Blocker(
            BlockerCode.FORCED,
            row.name,
            len(named),
            row.high,
            len(removed),
            f"must_include names {len(named)} items of {row.name}, which allows {row.high}",
            shown(change),
            change,
        )


def _budget(case: Case) -> Iterator[Blocker]:
    """The budget against the cheapest items, whatever other rows say."""
    config = case.config
    for row, weights in _weighted(case, RowKind.BUDGET):
        least = int(weights[: config.size].sum())
        if row.high is None or least <= row.high:
            continue
        change = change_of(row, config, least, below=False)
        needed, budget = least / SCALE, row.high / SCALE
        yield Blocker(
            BlockerCode.BUDGET,
            "budget",
            needed,
            budget,
            needed - budget,
            f"the {config.size} cheapest eligible items cost {number(needed)}, the budget is "
            f"{number(budget)}",
            shown(change),
            change,
        )


def _order(case: Case) -> Iterator[Blocker]:
    """The lead of each pilot against the largest of any items, whatever other rows say."""
    config = case.config
    for row, weights in _weighted(case, RowKind.ORDER):
        most = int(weights[-config.size :].sum())
        if row.low is None or most >= row.low:
            continue
        change = change_of(row, config, most, below=True)
        config = apply(config, change)
        needed, best = row.low / SCALE / config.size, most / SCALE / config.size
        yield Blocker(
            BlockerCode.ORDER,
            row.name,
            needed,
            best,
            needed - best,
            f"{row.name}: the largest mean lead of any {config.size} eligible items is {best:.4f}, "
            f"required is {needed:.4f}",
            f"{shown(change)}, or another order of pilots",
            change,
        )


def _weighted(case: Case, kind: RowKind) -> Iterator[tuple[Row, NDArray[np.int64]]]:
    """Rows of a kind, with the sorted coefficients of the items that may be chosen."""
    usable = case.programme.allowed
    for row in case.programme.rows:
        if row.kind is kind and row.coefficients is not None:
            yield row, np.sort(row.coefficients[usable[row.members]])


def number(value: float) -> str:
    """Exact in units of 1/SCALE, without trailing zeros."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


FINDERS: tuple[Callable[[Case], Iterator[Blocker]], ...] = (
    _too_few,
    _too_many_families,
    _empty_families,
    _shares,
    _forced,
    _budget,
    _order,
)
