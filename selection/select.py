"""Choosing a subset: the solved programme, or the reasons why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from data.errors import BenchmintError
from selection.blockers import Blocker, explain
from selection.config import SelectionConfig
from selection.constraints import programme_of
from selection.model import LONGEST_SECONDS, SolverName, SolveStatus
from selection.pool import Pool
from selection.programme import Programme
from selection.solve import Solution, solve


class UnfinishedError(BenchmintError):
    """The solver ran out of time: whether a subset exists, and which one, remains unknown."""

    def __init__(self, size: int, items: int, solver: SolverName) -> None:
        super().__init__(
            f"select {size} of {items} items: {solver} did not finish within {LONGEST_SECONDS} s. "
            "Widen or drop budget or order_margin, or use a smaller pool."
        )
        self.size, self.items, self.solver = size, items, solver

    def __reduce__(self) -> tuple[type[UnfinishedError], tuple[int, int, SolverName]]:
        """Pickles as its fields; the message is rebuilt in the other process."""
        return type(self), (self.size, self.items, self.solver)


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
    """Choose `config.size` items of the pool: a proven optimum, made unique by keyed tie-breaks.

    Raises UnfinishedError if the solver hit its time limit, or found no blocker before it.
    """
    programme = programme_of(pool, config, family_weights)
    solution = solve(programme, preferred)
    if solution.status is SolveStatus.OPTIMAL and solution.chosen is not None:
        chosen = tuple(
            item for item, taken in zip(programme.items, solution.chosen, strict=True) if taken
        )
        return Selected(chosen, (), programme, solution)
    ended = solution.status is SolveStatus.INFEASIBLE
    blockers = explain(pool, config, programme, preferred) if ended else ()
    if not blockers:
        raise UnfinishedError(config.size, len(pool.items), solution.solver)
    return Selected(None, blockers, programme, solution)
