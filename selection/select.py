"""Choosing a subset: the solved programme, or the reasons why there is none.

Also alternative subsets: near-optimal ones, and the cost of keeping items of the last release.

Settings that cannot mean anything together, or not for this pool, are errors before anything is
solved. Limits that are sensible and still cannot be met are `blockers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from data.errors import BenchmintError, InputError
from data.randomness import keyed_order
from selection.blockers import Blocker, explain
from selection.config import Objective, SelectionConfig
from selection.constraints import programme_of
from selection.model import (
    LONGEST_SECONDS,
    WEIGHTED,
    Ints,
    ModelAnswer,
    Programme,
    Row,
    SolverName,
    SolveStatus,
    available,
    solve_model,
)
from selection.pool import Pool

# Solving a programme to proven optimality, with the same answer from every solver.
#
# The seed's constraints are laminar (families within lanes within the total), hence totally
# unimodular: the linear relaxation has an integral optimum and integral duals. So the relaxation is
# solved, its optimality is proven in integer arithmetic from the duals, and the unique subset is
# found by maximising keyed weights on the optimal face, which the duals describe. Branching is used
# only where that fails (budgets, order margins, overlapping clusters).

_NEAR = 1e-6  # the solvers' feasibility tolerance; rounded values are checked exactly afterwards


class Method(StrEnum):
    RELAXATION = "linear relaxation, certified integral"
    BRANCHING = "branch and bound"


@dataclass(frozen=True, slots=True)
class _Proof:
    """Integral duals, one per row of the programme, that prove an optimum without a solver.

    `duals` prove the objective (`dual_bound`), `tie_duals` prove on the optimal face
    (`optimal_face`) that no other optimum has more of the keyed tie-breaks.
    """

    duals: Ints
    tie_duals: Ints


@dataclass(frozen=True, slots=True)
class Solution:
    """A solved programme. `chosen` is None unless the status is optimal.

    `bound` is the proven upper bound on the objective (both integers of the programme's scale);
    `unique` says that the tie-break singled out one subset. `proof` is None after branching.
    """

    status: SolveStatus
    chosen: NDArray[np.bool_] | None
    objective: int | None
    bound: int | None
    unique: bool
    method: Method
    solver: SolverName
    build_seconds: float
    solve_seconds: float
    proof: _Proof | None = None


def solve(programme: Programme, preferred: SolverName | None = None) -> Solution:
    """Solve to gap 0. Weighted rows (budget, order) are added only if the optimum without breaks
    them."""
    solver = available(preferred)
    light = without_weighted(programme)
    clock = _Clock()
    proven = _by_relaxation(light, solver, clock)
    if proven is None or programme.broken(proven[0]):
        return _by_branching(programme, solver, clock)
    chosen, proof = proven
    best = programme.objective(chosen)
    return Solution(
        SolveStatus.OPTIMAL,
        chosen,
        best,
        best,
        True,
        Method.RELAXATION,
        solver,
        clock.build,
        clock.solve,
        proof,
    )


def without_weighted(programme: Programme) -> Programme:
    """The programme without budget and order: an optimum of it that meets these is theirs too."""
    rows = tuple(row for row in programme.rows if row.kind not in WEIGHTED)
    return replace(programme, rows=rows)


@dataclass(slots=True)
class _Clock:
    build: float = 0.0
    solve: float = 0.0

    def add(self, answer: ModelAnswer) -> ModelAnswer:
        self.build += answer.build_seconds
        self.solve += answer.solve_seconds
        return answer


def _by_relaxation(
    programme: Programme, solver: SolverName, clock: _Clock
) -> tuple[NDArray[np.bool_], _Proof] | None:
    """The unique optimum from two relaxations, or None if it cannot be proven that way."""
    answer = clock.add(solve_model(programme, solver, whole=False))
    first = _proven(programme, answer)
    if first is None:
        return None
    best, duals = first
    face = optimal_face(programme, duals)
    second = _proven(face, clock.add(solve_model(face, solver, whole=False)))
    if second is None:
        return None
    chosen, tie_duals = second
    if programme.objective(chosen) != programme.objective(best):
        return None
    return chosen, _Proof(duals, tie_duals)


def _proven(programme: Programme, answer: ModelAnswer) -> tuple[NDArray[np.bool_], Ints] | None:
    """The integral solution of a relaxation and its rounded duals, if they prove it optimal."""
    if answer.status is not SolveStatus.OPTIMAL or answer.row_duals is None:
        return None
    chosen = answer.values > 0.5
    if np.abs(answer.values - chosen).max(initial=0.0) > _NEAR or programme.broken(chosen):
        return None
    duals = np.rint(answer.row_duals).astype(np.int64)
    if dual_bound(programme, duals) != programme.objective(chosen):
        return None
    return chosen, duals


def dual_bound(programme: Programme, duals: Ints) -> int | None:
    """The upper bound on the objective that integral row duals prove (weak duality), exactly.

    None if a dual has a sign or size that its row does not admit.
    """
    rest = programme.gains.copy()
    bound = 0
    for row, dual in zip(programme.rows, duals.tolist(), strict=True):
        if dual == 0:
            continue
        side = row.high if dual > 0 else row.low
        if side is None or (row.price is not None and abs(dual) > row.price):
            return None
        bound += dual * side
        rest[row.members] -= dual if row.coefficients is None else dual * row.coefficients
    free = programme.allowed & ~programme.forced
    return bound + int(rest[programme.forced].sum()) + int(rest[free & (rest > 0)].sum())


def optimal_face(programme: Programme, duals: Ints) -> Programme:
    """The programme whose feasible subsets are exactly the optima, by complementary slackness.

    Its rows stand in the order of the programme's; what is maximised are the tie-breaks.
    """
    rest = programme.gains.copy()
    rows: list[Row] = []
    for row, dual in zip(programme.rows, duals.tolist(), strict=True):
        weights = 1 if row.coefficients is None else row.coefficients
        rest[row.members] -= dual * weights
        rows.append(_face_of(row, dual))
    forced = programme.forced | (programme.allowed & (rest > 0))
    allowed = programme.allowed & ((rest >= 0) | programme.forced)
    return replace(
        programme, gains=programme.tie_breaks, rows=tuple(rows), allowed=allowed, forced=forced
    )


def _face_of(row: Row, dual: int) -> Row:
    """What complementary slackness implies for one row: tight if its dual is not zero."""
    if row.price is None:
        if dual == 0:
            return row
        side = row.high if dual > 0 else row.low
        return replace(row, low=side, high=side)
    if abs(dual) < row.price:  # no excess on either side; tight on the side with the dual's sign
        low = row.high if dual > 0 else row.low
        high = row.low if dual < 0 else row.high
        return replace(row, low=low, high=high, price=None)
    # At the full price the row may be exceeded on one side, and is not slack on the other.
    if dual > 0:
        return replace(row, low=row.high, high=None, price=None)
    return replace(row, low=None, high=row.low, price=None)


def _by_branching(programme: Programme, solver: SolverName, clock: _Clock) -> Solution:
    """Integer programmes: maximise the objective, then the keyed weights at that objective."""
    answer = clock.add(solve_model(programme, solver, whole=True))
    chosen = answer.values > 0.5
    if answer.status is SolveStatus.OPTIMAL and programme.broken(chosen):
        answer = replace(answer, status=SolveStatus.UNFINISHED)
    if answer.status is not SolveStatus.OPTIMAL:
        return Solution(
            answer.status,
            None,
            None,
            None,
            False,
            Method.BRANCHING,
            solver,
            clock.build,
            clock.solve,
        )
    best = programme.objective(chosen)
    second = clock.add(solve_model(programme, solver, whole=True, at_least=best))
    again = second.values > 0.5
    unique = (
        second.status is SolveStatus.OPTIMAL
        and not programme.broken(again)
        and programme.objective(again) == best
    )
    return Solution(
        SolveStatus.OPTIMAL,
        again if unique else chosen,
        best,
        best,
        unique,
        Method.BRANCHING,
        solver,
        clock.build,
        clock.solve,
    )


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


class _UnfinishedError(BenchmintError):
    """The solver ran out of time: whether a subset exists, and which one, remains unknown."""

    def __init__(self, size: int, items: int, solver: SolverName) -> None:
        super().__init__(
            f"select {size} of {items} items: {solver} did not finish within {LONGEST_SECONDS} s. "
            "Widen or drop budget or order_margin, or use a smaller pool."
        )
        self.size, self.items, self.solver = size, items, solver

    def __reduce__(self) -> tuple[type[_UnfinishedError], tuple[int, int, SolverName]]:
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
        raise _UnfinishedError(config.size, len(pool.items), solution.solver)
    return Selected(None, blockers, programme, solution)


NEAR_OPTIMAL = 20
_WITHHELD = 10  # each draw withholds one in ten of the chosen items
_TRIES = 3 * NEAR_OPTIMAL  # some draws withhold what a row needs, or repeat a subset
_CHANGES = (0.0, *(float(Fraction(n, 6)) for n in range(1, 6)), 1.0)


@dataclass(frozen=True, slots=True)
class _Alternative:
    """A subset that satisfies every row; `objective` in the programme's units."""

    chosen: NDArray[np.bool_]
    objective: int


@dataclass(frozen=True, slots=True)
class _FrontierPoint:
    """The best subset if at most this share may change; None if there is none."""

    max_changed: float
    best: _Alternative | None


def near_optimal(
    programme: Programme, chosen: NDArray[np.bool_], key: int
) -> Iterator[_Alternative]:
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
        yield _Alternative(solution.chosen, solution.objective)
        if len(seen) == NEAR_OPTIMAL:
            return


def churn_frontier(pool: Pool, config: SelectionConfig) -> tuple[_FrontierPoint, ...]:
    """The best subset at each bound on the share of changed items, from none to all.

    Empty if no item of the pool was in the last release.
    """
    if not any(item.in_last_release for item in pool.items):
        return ()
    points = []
    for share in _CHANGES:
        bounded = config.model_copy(update={"max_changed": share})
        solution = solve(programme_of(pool, bounded))
        best = None
        if solution.chosen is not None and solution.objective is not None:
            best = _Alternative(solution.chosen, solution.objective)
        points.append(_FrontierPoint(share, best))
    return tuple(points)
