"""Why a selection is impossible: every blocker with its numbers, and the smallest change that
helps.

The changes of all blockers together make the selection possible; each is needed. First come the
limits that counting shows to be impossible by themselves (`selection.blockers`), each eased as
little as possible; then the rows that still conflict with each other, by the least total change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from selection.blockers import FINDERS, Blocker, BlockerCode, Case, number
from selection.config import SelectionConfig
from selection.constraints import programme_of
from selection.model import SolverName, SolveStatus, available, solve_model
from selection.pool import Pool
from selection.programme import SCALE, Programme, Row, RowKind
from selection.relaxations import apply, change_of, shown


def explain(
    pool: Pool,
    config: SelectionConfig,
    family_weights: Mapping[str, float] | None = None,
    preferred: SolverName | None = None,
) -> tuple[Blocker, ...]:
    """All blockers; empty if a subset exists, or if the solver did not finish.

    Applying the changes in their order (`selection.relaxations.apply`) gives a selection that is
    possible, unless a blocker has no change.
    """
    blockers: list[Blocker] = []
    for finder in FINDERS:
        case = Case(pool, config, programme_of(pool, config, family_weights))
        for blocker in finder(case):
            blockers.append(blocker)
            if blocker.change is None:
                return tuple(blockers)
            config = apply(config, blocker.change)
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
            config = apply(config, other.change) if other.change else config
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
        change = change_of(row, config, value, below=below)
        config = apply(config, change)
        unit = SCALE if row.coefficients is not None else 1
        yield Blocker(
            BlockerCode.TOGETHER,
            row.name,
            (bound or 0) / unit,
            value / unit,
            row.excess(chosen) / unit,
            f"{row.name} conflicts with the other constraints: {number(value / unit)} is the "
            f"nearest to {number((bound or 0) / unit)}",
            shown(change),
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
