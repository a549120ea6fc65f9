"""Why a selection is impossible: every blocker with its numbers, and the least change that helps.

The changes of all blockers together make the selection possible; each is needed. First come the
limits that counting shows to be impossible by themselves: each finder yields the limits of its kind
that cannot be met, whatever other rows say, each eased as little as possible. Then come the rows
that still conflict with each other, by the least total change (`explain`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selection.config import Band, SelectionConfig
from selection.constraints import programme_of
from selection.model import (
    SCALE,
    SHARED,
    Programme,
    Row,
    RowKind,
    SolverName,
    SolveStatus,
    available,
    solve_model,
)
from selection.pool import Pool, Positions

_DECIMALS = 1_000_000  # of a share that is proposed


@dataclass(frozen=True, slots=True)
class _Change:
    """A setting of `[selection]`, with dots between the names of tables, and its new value.

    For `must_include`, `removed` are the ids that are no longer named.
    """

    setting: str
    value: Any
    removed: tuple[str, ...] = ()


def _changed(config: SelectionConfig, setting: str, value: Any) -> _Change:
    """The change of a setting to a value."""
    removed: tuple[str, ...] = ()
    if setting == "must_include":
        removed = tuple(name for name in config.must_include if name not in {*value})
    return _Change(setting, value, removed)


def _change_of(row: Row, config: SelectionConfig, value: int, *, below: bool) -> _Change:
    """The setting of a row, moved so far that `value` is within its bound."""
    if row.kind in SHARED:
        name = row.name.removeprefix(f"{row.kind} ")
        setting = f"{row.kind}_shares.{name}.{'low' if below else 'high'}"
        return _changed(config, setting, _share(value, config.size, below=below))
    if row.kind is RowKind.GENERATOR:
        return _changed(config, "max_per_generator", value)
    if row.kind is RowKind.CHURN:
        return _changed(config, "max_changed", _share(value, config.size, below=False))
    if row.kind is RowKind.BUDGET:
        return _changed(config, "budget", value / SCALE)
    if row.kind is RowKind.ORDER:
        # Rounded down: the proposed margin must be reachable.
        if value <= 0 or config.order_margin is None:
            return _changed(config, "order_margin", None)
        return _changed(
            config, "order_margin", min(config.order_margin, value // config.size / SCALE)
        )
    if row.kind is RowKind.FORCED:
        gone = row.name.removeprefix("must_include ")
        kept = tuple(name for name in config.must_include if name != gone)
        return _changed(config, "must_include", kept)
    return _changed(config, "cover_families", False)


def _share(items: int, size: int, *, below: bool) -> float:
    """A share of the size that admits `items`: rounded down as a lower bound, else up."""
    units = items * _DECIMALS
    return (units // size if below else -(-units // size)) / _DECIMALS


def _apply(config: SelectionConfig, change: _Change) -> SelectionConfig:
    """The configuration with a change."""
    name, *path = change.setting.split(".")
    if not path:
        return config.model_copy(update={name: change.value})
    group, side = ".".join(path[:-1]), path[-1]
    bands: dict[str, Band] = dict(getattr(config, name))
    bands[group] = bands[group].model_copy(update={side: change.value})
    return config.model_copy(update={name: bands})


def _shown(change: _Change) -> str:
    """As a line of the configuration, or in words where there is none."""
    if change.setting == "must_include":
        return f"remove {', '.join(change.removed)} from must_include"
    if change.value is None:
        return f"no {change.setting}"
    if isinstance(change.value, bool):
        return f"{change.setting} = {str(change.value).lower()}"
    if isinstance(change.value, float):
        return f"{change.setting} = {change.value:.6f}".rstrip("0").rstrip(".")
    return f"{change.setting} = {change.value}"


class _BlockerCode(StrEnum):
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

    code: _BlockerCode
    subject: str
    needed: float
    available: float
    short: float
    text: str
    relaxation: str
    change: _Change | None


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
    change = _changed(config, "size", usable) if usable else None
    excluded = {*config.must_exclude}
    admitted = np.array([item.item_id not in excluded for item in pool.items], dtype=bool)
    ways = [_shown(change)] if change else []
    if config.drop_zero_discrimination and _most(programme, everything, admitted) >= config.size:
        ways.append("drop_zero_discrimination = false")
    yield Blocker(
        _BlockerCode.TOO_FEW_ELIGIBLE,
        "size",
        config.size,
        usable,
        config.size - usable,
        f"{able} of {total} items are eligible ({dropped} do not distinguish the pilots) and at "
        f"most {usable} can be chosen together, {config.size - usable} short of the size "
        f"{config.size}",
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
    change = _changed(case.config, "cover_families", False)
    yield Blocker(
        _BlockerCode.FEWER_THAN_FAMILIES,
        "size",
        to_cover,
        size,
        to_cover - size,
        f"{to_cover} families must be covered, but the size is only {size}",
        f"size = {to_cover}, or {_shown(change)}" if fits else _shown(change),
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
        change = _changed(case.config, "cover_families", False)
        yield Blocker(
            _BlockerCode.EMPTY_FAMILY,
            family,
            1,
            0,
            1,
            f"family {family} must be covered, but none of its {len(row.members)} items is "
            "eligible",
            _shown(change) + (f", or {able} in must_include" if able else ""),
            change,
        )


def _shares(case: Case) -> Iterator[Blocker]:
    config = case.config
    for row in case.programme.rows:
        if row.kind not in SHARED or row.low is None:
            continue
        most = _most(case.programme, row.members, case.programme.allowed)
        if most >= row.low:
            continue
        change = _change_of(row, config, most, below=True)
        config = _apply(config, change)
        yield Blocker(
            _BlockerCode.SHARE,
            row.name,
            row.low,
            most,
            row.low - most,
            f"{row.name} needs at least {row.low} items, but only {most} can be chosen",
            _shown(change),
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
        change = _changed(config, "must_include", kept)
        config = _apply(config, change)
        yield Blocker(
            _BlockerCode.FORCED,
            row.name,
            len(named),
            row.high,
            len(removed),
            f"must_include names {len(named)} items of {row.name}, which allows {row.high}",
            _shown(change),
            change,
        )


def _budget(case: Case) -> Iterator[Blocker]:
    """The budget against the cheapest items, whatever other rows say."""
    config = case.config
    for row, weights in _weighted(case, RowKind.BUDGET):
        least = int(weights[: config.size].sum())
        if row.high is None or least <= row.high:
            continue
        change = _change_of(row, config, least, below=False)
        needed, budget = least / SCALE, row.high / SCALE
        yield Blocker(
            _BlockerCode.BUDGET,
            "budget",
            needed,
            budget,
            needed - budget,
            f"the {config.size} cheapest eligible items cost {_number(needed)}, but the budget "
            f"is {_number(budget)}",
            _shown(change),
            change,
        )


def _order(case: Case) -> Iterator[Blocker]:
    """The lead of each pilot against the largest of any items, whatever other rows say."""
    config = case.config
    for row, weights in _weighted(case, RowKind.ORDER):
        most = int(weights[-config.size :].sum())
        if row.low is None or most >= row.low:
            continue
        change = _change_of(row, config, most, below=True)
        config = _apply(config, change)
        needed, best = row.low / SCALE / config.size, most / SCALE / config.size
        yield Blocker(
            _BlockerCode.ORDER,
            row.name,
            needed,
            best,
            needed - best,
            f"{row.name}: the largest mean lead of any {config.size} eligible items is {best:.4f}, "
            f"but {needed:.4f} is required",
            f"{_shown(change)}, or a different pilot order",
            change,
        )


def _weighted(case: Case, kind: RowKind) -> Iterator[tuple[Row, NDArray[np.int64]]]:
    """Rows of a kind, with the sorted coefficients of the items that may be chosen."""
    usable = case.programme.allowed
    for row in case.programme.rows:
        if row.kind is kind and row.coefficients is not None:
            yield row, np.sort(row.coefficients[usable[row.members]])


def _number(value: float) -> str:
    """Exact in units of 1/SCALE, without trailing zeros."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


_FINDERS: tuple[Callable[[Case], Iterator[Blocker]], ...] = (
    _too_few,
    _too_many_families,
    _empty_families,
    _shares,
    _forced,
    _budget,
    _order,
)


def explain(
    pool: Pool,
    config: SelectionConfig,
    family_weights: Mapping[str, float] | None = None,
    preferred: SolverName | None = None,
) -> tuple[Blocker, ...]:
    """All blockers; empty if a subset exists, or if the solver did not finish.

    Applying the changes in their order (`selection.blockers.apply`) gives a selection that is
    possible, unless a blocker has no change.
    """
    blockers: list[Blocker] = []
    for finder in _FINDERS:
        case = Case(pool, config, programme_of(pool, config, family_weights))
        for blocker in finder(case):
            blockers.append(blocker)
            if blocker.change is None:
                return tuple(blockers)
            config = _apply(config, blocker.change)
    case = Case(pool, config, programme_of(pool, config, family_weights))
    return (*blockers, *_needed(case, tuple(_together(case, available(preferred))), preferred))


def _needed(
    case: Case, blockers: tuple[Blocker, ...], preferred: SolverName | None
) -> tuple[Blocker, ...]:
    """Without those whose change the others make superfluous: one setting may move several rows."""
    for blocker in blockers:
        others = tuple(other for other in blockers if other is not blocker)
        config = case.config
        for other in others:
            config = _apply(config, other.change) if other.change else config
        if others and _is_possible(programme_of(case.pool, config), available(preferred)):
            return _needed(case, others, preferred)
    return blockers


def _is_possible(programme: Programme, solver: SolverName) -> bool:
    hard = tuple(row for row in programme.rows if row.price is None)
    plain = replace(programme, gains=np.zeros_like(programme.gains), rows=hard)
    return solve_model(plain, solver, whole=True).status is SolveStatus.OPTIMAL


def _together(case: Case, solver: SolverName) -> Iterator[Blocker]:
    """The elastic relaxation: hard rows and forced items may be broken at a price.

    Size and near-duplicates are never broken: what is counted above leaves enough items.
    """
    programme, config = case.programme, case.config
    rows = tuple(_elastic(row) for row in (*programme.rows, *_forced_rows(programme)))
    relaxed = replace(
        programme,
        gains=np.zeros_like(programme.gains),
        forced=np.zeros_like(programme.forced),
        rows=tuple(row for row in rows if row is not None),
    )
    answer = solve_model(relaxed, solver, whole=True)
    if answer.status is not SolveStatus.OPTIMAL:
        return
    chosen = answer.values > 0.5
    for row in relaxed.rows:
        if not row.excess(chosen):
            continue
        value, below = row.value(chosen), row.low is not None and row.value(chosen) < row.low
        bound = row.low if below else row.high
        change = _change_of(row, config, value, below=below)
        config = _apply(config, change)
        unit = SCALE if row.coefficients is not None else 1
        yield Blocker(
            _BlockerCode.TOGETHER,
            row.name,
            (bound or 0) / unit,
            value / unit,
            row.excess(chosen) / unit,
            f"{row.name} conflicts with the other constraints: {_number(value / unit)} is the "
            f"nearest to {_number((bound or 0) / unit)}",
            _shown(change),
            change,
        )


def _forced_rows(programme: Programme) -> Iterator[Row]:
    for position in np.flatnonzero(programme.forced):
        name = f"must_include {programme.items[position]}"
        yield Row(name, RowKind.FORCED, np.array([position], dtype=np.intp), low=1)


def _elastic(row: Row) -> Row | None:
    """A hard row at a price; rows with a price of their own do not count."""
    if row.kind in (RowKind.SIZE, RowKind.CLUSTER):
        return row
    if row.price is not None:
        return None
    return replace(row, price=1_000 if row.coefficients is None else 1)
