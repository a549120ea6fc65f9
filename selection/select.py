"""Choosing a subset: the programme solved, or the reasons why there is none."""

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
    """A solver that ran out of its time: whether there is a subset, and which, stays open."""

    def __init__(self, size: int, items: int, solver: SolverName) -> None:
        super().__init__(
            f"select {size} of {items} items: {solver} did not finish within {LONGEST_SECONDS} s. "
            "Widen or drop a limit with weights (budget, order_margin), or give it fewer items."
        )
        self.size, self.items, self.solver = size, items, solver

    def __reduce__(self) -> tuple[type[UnfinishedError], tuple[int, int, SolverName]]:
        """From one process to another: the message is made anew."""
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
    """Choose `config.size` items of the pool, to proven optimality and with one answer.

    Raises UnfinishedError if the solver did not come to its end, or found no blocker until then.
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
