"""Choosing a subset: the programme solved, or the reasons why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from selection.blockers import Blocker, explain
from selection.config import SelectionConfig
from selection.constraints import programme_of
from selection.model import SolverName, SolveStatus
from selection.pool import Pool
from selection.programme import Programme
from selection.solve import Solution, solve


@dataclass(frozen=True, slots=True)
class Selected:
    """The outcome: `chosen` ids sorted, or None with at least one blocker."""

    chosen: tuple[str, ...] | None
    blockers: tuple[Blocker, ...]
    programme: Programme
    solution: Solution


def select_subset(
    pool: Pool,
    config: SelectionConfig,
    family_weights: Mapping[str, float] | None = None,
    preferred: SolverName | None = None,
) -> Selected:
    """Choose `config.size` items of the pool, to proven optimality and with one answer."""
    programme = programme_of(pool, config, family_weights)
    solution = solve(programme, preferred)
    if solution.status is SolveStatus.OPTIMAL and solution.chosen is not None:
        chosen = tuple(
            item for item, taken in zip(programme.items, solution.chosen, strict=True) if taken
        )
        return Selected(chosen, (), programme, solution)
    return Selected(None, explain(pool, config, programme, preferred), programme, solution)
