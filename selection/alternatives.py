"""Alternative subsets: near-optimal ones, and the cost of keeping items of the last release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from data.randomness import keyed_order
from selection.config import SelectionConfig
from selection.constraints import programme_of
from selection.model import SolverName
from selection.pool import Pool
from selection.programme import Programme
from selection.solve import solve

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
    programme: Programme, chosen: NDArray[np.bool_], key: int, preferred: SolverName | None = None
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
        solution = solve(replace(programme, allowed=allowed), preferred)
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


def churn_frontier(
    pool: Pool,
    config: SelectionConfig,
    family_weights: Mapping[str, float] | None = None,
    preferred: SolverName | None = None,
) -> tuple[FrontierPoint, ...]:
    """The best subset at each bound on the share of changed items, from none to all.

    Empty if no item of the pool was in the last release.
    """
    if not any(item.in_last_release for item in pool.items):
        return ()
    points = []
    for share in CHANGES:
        bounded = config.model_copy(update={"max_changed": share})
        solution = solve(programme_of(pool, bounded, family_weights), preferred)
        best = None
        if solution.chosen is not None and solution.objective is not None:
            best = Alternative(solution.chosen, solution.objective)
        points.append(FrontierPoint(share, best))
    return tuple(points)
