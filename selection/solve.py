"""Solving a programme to proven optimality, with the same answer from every solver.

The seed's constraints are laminar (families within lanes within the total), hence totally
unimodular: the linear relaxation has an integral optimum and integral duals. So the relaxation is
solved, its optimality is proven in integer arithmetic from the duals, and the unique subset is
found by maximising keyed weights on the optimal face, which the duals describe. Branching is used
only where that fails (budgets, order margins, overlapping clusters).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from selection.model import ModelAnswer, SolverName, SolveStatus, available, solve_model
from selection.programme import WEIGHTED, Ints, Programme, Row

_NEAR = 1e-6  # the solvers' feasibility tolerance; rounded values are checked exactly afterwards


class Method(StrEnum):
    RELAXATION = "linear relaxation, certified integral"
    BRANCHING = "branch and bound"


@dataclass(frozen=True, slots=True)
class Proof:
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
    proof: Proof | None = None


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
) -> tuple[NDArray[np.bool_], Proof] | None:
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
    return chosen, Proof(duals, tie_duals)


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
