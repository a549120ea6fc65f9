"""Why a selection is impossible: every blocker with its numbers, and the smallest change that
helps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from selection.config import SelectionConfig
from selection.model import SolverName, SolveStatus, available, solve_model
from selection.pool import Pool
from selection.programme import SCALE, Programme, Row, RowKind


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
    """One reason why no subset exists: what is needed, what is available, and the shortfall."""

    code: BlockerCode
    subject: str
    needed: float
    available: float
    short: float
    text: str
    relaxation: str


def explain(
    pool: Pool, config: SelectionConfig, programme: Programme, preferred: SolverName | None = None
) -> tuple[Blocker, ...]:
    """All blockers. First those that counting finds; if there are none, the rows that conflict with
    each other, with the least total change that makes them compatible."""
    counted = (
        *_too_few(pool, config, programme),
        *_too_many_families(config, programme),
        *_empty_families(programme),
        *_shares(programme),
        *_forced(pool, config, programme),
        *_weighted(programme, config),
    )
    return counted or tuple(_together(programme, available(preferred)))


def _too_few(pool: Pool, config: SelectionConfig, programme: Programme) -> Iterator[Blocker]:
    usable = _most(programme, np.arange(len(pool.items), dtype=np.intp))
    if usable >= config.size:
        return
    total, able = len(pool.items), int(programme.allowed.sum())
    dropped = total - int(pool.eligible.sum())
    yield Blocker(
        BlockerCode.TOO_FEW_ELIGIBLE,
        "size",
        config.size,
        usable,
        config.size - usable,
        f"{able} of {total} items are eligible ({dropped} do not distinguish the pilots), at most "
        f"{usable} can be chosen together, and the size is {config.size}: "
        f"{config.size - usable} short",
        f"size = {usable}, or a selection_threshold that leaves more items eligible",
    )


def _most(programme: Programme, members: np.ndarray[tuple[int], np.dtype[np.intp]]) -> int:
    """How many of `members` can be chosen at most: allowed, and one per near-duplicate cluster."""
    usable = np.zeros_like(programme.allowed)
    usable[members] = programme.allowed[members]
    for row in programme.rows:
        if row.kind is RowKind.CLUSTER:
            inside = row.members[usable[row.members]]
            usable[inside[1:]] = False
    return int(usable.sum())


def _too_many_families(config: SelectionConfig, programme: Programme) -> Iterator[Blocker]:
    to_cover = sum(row.kind is RowKind.COVERAGE for row in programme.rows)
    if to_cover > config.size:
        yield Blocker(
            BlockerCode.FEWER_THAN_FAMILIES,
            "size",
            to_cover,
            config.size,
            to_cover - config.size,
            f"{to_cover} families must be covered, and the size is only {config.size}",
            f"size = {to_cover}, or cover_families = false",
        )


def _empty_families(programme: Programme) -> Iterator[Blocker]:
    for row in programme.rows:
        if row.kind is RowKind.COVERAGE and not programme.allowed[row.members].any():
            family = row.name.removeprefix("family ")
            yield Blocker(
                BlockerCode.EMPTY_FAMILY,
                family,
                1,
                0,
                1,
                f"family {family} must be covered, and none of its {len(row.members)} items is "
                "eligible",
                f"drop family {family}, or must_include one of its items",
            )


def _shares(programme: Programme) -> Iterator[Blocker]:
    for row in programme.rows:
        if row.kind not in (RowKind.LANE, RowKind.DIFFICULTY):
            continue
        most = _most(programme, row.members)
        if row.low is not None and most < row.low:
            yield Blocker(
                BlockerCode.SHARE,
                row.name,
                row.low,
                most,
                row.low - most,
                f"{row.name} needs at least {row.low} items, and only {most} can be chosen",
                f"a low share of {row.name} for at most {most} items",
            )


def _forced(pool: Pool, config: SelectionConfig, programme: Programme) -> Iterator[Blocker]:
    known = {item.item_id for item in pool.items}
    excluded = set(config.must_exclude)
    for name in sorted(set(config.must_include)):
        if name in known and name not in excluded:
            continue
        why = "is excluded too" if name in known else "is not in the pool"
        yield Blocker(
            BlockerCode.FORCED,
            name,
            1,
            0,
            1,
            f"must_include {name} {why}",
            f"remove {name} from must_include",
        )
    for row in programme.rows:
        taken = int(programme.forced[row.members].sum())
        if row.high is not None and row.coefficients is None and not row.price and taken > row.high:
            yield Blocker(
                BlockerCode.FORCED,
                row.name,
                taken,
                row.high,
                taken - row.high,
                f"must_include names {taken} items of {row.name}, which allows {row.high}",
                f"remove {taken - row.high} of them from must_include",
            )


def _weighted(programme: Programme, config: SelectionConfig) -> Iterator[Blocker]:
    """Budget and order rows against the best that any subset of the size reaches, ignoring other
    rows."""
    usable = np.flatnonzero(programme.allowed)
    if len(usable) < config.size:
        return
    for row in programme.rows:
        if row.coefficients is None:
            continue
        weights = np.sort(row.coefficients[usable])
        if row.kind is RowKind.BUDGET and row.high is not None:
            least = int(weights[: config.size].sum())
            if least > row.high:
                yield _budget_blocker(config, least, row.high)
        if row.kind is RowKind.ORDER and row.low is not None:
            most = int(weights[-config.size :].sum())
            if most < row.low:
                yield _order_blocker(row, config, most)


def _budget_blocker(config: SelectionConfig, least: int, high: int) -> Blocker:
    needed, there = least / SCALE, high / SCALE
    return Blocker(
        BlockerCode.BUDGET,
        "budget",
        needed,
        there,
        needed - there,
        f"the {config.size} cheapest eligible items cost {_number(needed)}, the budget is "
        f"{_number(there)}",
        f"budget = {_number(needed)}",
    )


def _order_blocker(row: Row, config: SelectionConfig, most: int) -> Blocker:
    needed = (row.low or 0) / SCALE / config.size
    best = most / SCALE / config.size
    # Rounded down: the proposed margin must be reachable.
    margin = f"order_margin = {_number(most // config.size / SCALE)}, or " if most > 0 else ""
    return Blocker(
        BlockerCode.ORDER,
        row.name,
        needed,
        best,
        needed - best,
        f"{row.name}: the largest mean lead of any {config.size} eligible items is {best:.4f}, "
        f"required is {needed:.4f}",
        f"{margin}another order of pilots",
    )


def _together(programme: Programme, solver: SolverName) -> Iterator[Blocker]:
    """The elastic relaxation: hard rows may be broken at a price, soft rows do not count."""
    rows = tuple(_elastic(row) for row in programme.rows if row.price is None)
    relaxed = replace(programme, gains=np.zeros_like(programme.gains), rows=rows)
    answer = solve_model(relaxed, solver, whole=True)
    if answer.status is not SolveStatus.OPTIMAL:
        return
    chosen = answer.values > 0.5
    for row in programme.broken(chosen):
        unit = SCALE if row.coefficients is not None else 1
        value, short = row.value(chosen) / unit, row.excess(chosen) / unit
        bound = row.low if row.low is not None and row.value(chosen) < row.low else row.high
        yield Blocker(
            BlockerCode.TOGETHER,
            row.name,
            (bound or 0) / unit,
            value,
            short,
            f"{row.name} conflicts with the other constraints: {_number(value)} is the nearest to "
            f"{_number((bound or 0) / unit)}",
            f"move the bound of {row.name} by {_number(short)}",
        )


def _number(value: float) -> str:
    """Exact in units of 1/SCALE, without trailing zeros."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _elastic(row: Row) -> Row:
    price = 1_000 if row.coefficients is None else 1
    return replace(row, price=price)
