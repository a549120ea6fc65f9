"""Choosing a subset: the solved programme, or the reasons why there is none.

Also alternative subsets: near-optimal ones, and the cost of keeping items of the last release.

Settings that cannot mean anything together, or not for this pool, are errors before anything is
solved. Limits that are sensible and still cannot be met are `blockers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from data.errors import BenchmintError, InputError
from data.randomness import keyed_order
from selection.blockers import Blocker, explain
from selection.config import Objective, SelectionConfig
from selection.constraints import programme_of
from selection.model import LONGEST_SECONDS, SolverName, SolveStatus
from selection.pool import Pool
from selection.programme import Programme
from selection.solve import Solution, solve

_MOST_NAMES = 5  # named in a message


def _require_consistent(pool: Pool, config: SelectionConfig) -> None:
    """Raise InputError for the first contradiction."""
    for setting, actual, expected, todo in _contradictions(pool, config):
        raise InputError(f"[selection] {setting}", actual, expected, todo)


_Contradiction = tuple[str, str, str, str]  # setting, found, expected, what to do


def _contradictions(pool: Pool, config: SelectionConfig) -> Iterator[_Contradiction]:
    yield from _of_names(pool, config)
    yield from _of_objective(pool, config)
    yield from _without_data(pool, config)


def _of_names(pool: Pool, config: SelectionConfig) -> Iterator[_Contradiction]:
    known = {item.item_id for item in pool.items}
    for setting in ("must_include", "must_exclude"):
        if strangers := sorted({*getattr(config, setting)} - known):
            yield (
                setting,
                f"{len(strangers)} IDs that are not in the pool: {_listed(strangers)}",
                "ids of the pool",
                "Correct or remove them.",
            )
    if both := sorted({*config.must_include} & {*config.must_exclude}):
        yield (
            "must_include",
            f"{len(both)} IDs that are also in must_exclude: {_listed(both)}",
            "each ID in only one of the two",
            "Remove them from one of the two.",
        )
    if (wanted := len({*config.must_include})) > config.size:
        yield (
            "must_include",
            f"{wanted} ids",
            f"at most the size, {config.size}",
            "Remove some, or raise the size.",
        )


def _of_objective(pool: Pool, config: SelectionConfig) -> Iterator[_Contradiction]:
    objective = config.objective
    if objective is Objective.COVERAGE and pool.pilots:
        yield (
            "objective",
            f"coverage, and scores from {len(pool.pilots)} models",
            "margins, balanced or pairs if there are scores, since coverage uses none",
            "Choose one of these, or leave out the scores.",
        )
    if objective is not Objective.COVERAGE and not pool.pilots:
        yield (
            "objective",
            f"{objective}, and no pilot scores",
            "coverage if there are no scores",
            "Provide pilot scores, or choose coverage.",
        )
    if objective is not Objective.PAIRS:
        return
    for setting in ("quota_price", "stratum_picks"):
        if setting in config.model_fields_set and getattr(config, setting) is not None:
            yield (
                setting,
                f"{getattr(config, setting)}, and objective = pairs",
                "no quotas, which pairs does not support",
                "Remove the setting, or choose margins or balanced.",
            )


def _without_data(pool: Pool, config: SelectionConfig) -> Iterator[_Contradiction]:
    if config.budget is not None and not any(item.cost for item in pool.items):
        yield (
            "budget",
            f"{config.budget:g}, and no items with a cost",
            "costs of the items",
            "Add the column `cost` to the scores, or remove the budget.",
        )
    if config.order_margin is not None and len(pool.pilots) < 2:
        yield (
            "order_margin",
            f"{config.order_margin:g}, and {len(pool.pilots)} pilots",
            "at least two pilots to put in order",
            "Add pilots, or remove the margin.",
        )
    if config.selection_threshold is not None and not pool.pilots:
        yield (
            "selection_threshold",
            f"{config.selection_threshold:g}, and no pilot scores",
            "scores to compare it with",
            "Provide pilot scores, or remove the threshold.",
        )
    if config.max_changed is not None and not any(item.in_last_release for item in pool.items):
        yield (
            "max_changed",
            f"{config.max_changed:g}, and no items from a last release",
            "items that were in the last release",
            "Pass the last release, or remove the bound.",
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


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
    """The outcome: `chosen` ids sorted, or None with at least one blocker; `pilots`: how many."""

    chosen: tuple[str, ...] | None
    blockers: tuple[Blocker, ...]
    programme: Programme
    solution: Solution
    pilots: int = 0


def select_subset(
    pool: Pool,
    config: SelectionConfig,
    family_weights: Mapping[str, float] | None = None,
    preferred: SolverName | None = None,
) -> Selected:
    """Choose `config.size` items of the pool: a proven optimum, made unique by keyed tie-breaks.

    Raises InputError for settings that contradict each other or the pool, UnfinishedError if the
    solver hit its time limit, or found no blocker before it.
    """
    _require_consistent(pool, config)
    programme = programme_of(pool, config, family_weights)
    solution = solve(programme, preferred)
    if solution.status is SolveStatus.OPTIMAL and solution.chosen is not None:
        chosen = tuple(
            item for item, taken in zip(programme.items, solution.chosen, strict=True) if taken
        )
        return Selected(chosen, (), programme, solution, len(pool.pilots))
    ended = solution.status is SolveStatus.INFEASIBLE
    blockers = explain(pool, config, family_weights, preferred) if ended else ()
    if not blockers:
        raise UnfinishedError(config.size, len(pool.items), solution.solver)
    return Selected(None, blockers, programme, solution)


NEAR_OPTIMAL = 20
_WITHHELD = 10  # each draw withholds one in ten of the chosen items
_TRIES = 3 * NEAR_OPTIMAL  # some draws withhold what a row needs, or repeat a subset
CHANGES = (0.0, *(float(Fraction(n, 6)) for n in range(1, 6)), 1.0)


@dataclass(frozen=True, slots=True)
class Alternative:
    """A subset that satisfies every row; `objective` in the programme's units."""

    chosen: NDArray[np.bool_]
    objective: int


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The best subset if at most this share may change; None if there is none."""

    max_changed: float
    best: Alternative | None


def near_optimal(
    programme: Programme, chosen: NDArray[np.bool_], key: int
) -> Iterator[Alternative]:
    """Up to `NEAR_OPTIMAL` distinct subsets, each the optimum when a keyed tenth of the chosen
    items is withheld.

    There are fewer if withholding leaves no feasible subset, that is if size and rows need nearly
    every allowed item.
    """
    taken = np.flatnonzero(chosen & ~programme.forced)
    spare = int(programme.allowed.sum() - chosen.sum())
    number = min(max(1, len(taken) // _WITHHELD), spare)
    seen: set[bytes] = set()
    if not number or not len(taken):
        return
    ids = [programme.items[position] for position in taken]
    for draw in range(_TRIES):
        order = keyed_order(key, f"near-optimal-{draw}", ids)
        allowed = programme.allowed.copy()
        allowed[taken[order[:number]]] = False
        solution = solve(replace(programme, allowed=allowed))
        if (
            solution.chosen is None
            or solution.objective is None
            or solution.chosen.tobytes() in seen
        ):
            continue
        seen.add(solution.chosen.tobytes())
        yield Alternative(solution.chosen, solution.objective)
        if len(seen) == NEAR_OPTIMAL:
            return


def churn_frontier(pool: Pool, config: SelectionConfig) -> tuple[FrontierPoint, ...]:
    """The best subset at each bound on the share of changed items, from none to all.

    Empty if no item of the pool was in the last release.
    """
    if not any(item.in_last_release for item in pool.items):
        return ()
    points = []
    for share in CHANGES:
        bounded = config.model_copy(update={"max_changed": share})
        solution = solve(programme_of(pool, bounded))
        best = None
        if solution.chosen is not None and solution.objective is not None:
            best = Alternative(solution.chosen, solution.objective)
        points.append(FrontierPoint(share, best))
    return tuple(points)
