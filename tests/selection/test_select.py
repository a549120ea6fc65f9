"""A solver that runs out of time proves nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import highspy
import numpy as np
import pulp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from selection import model, select
from selection.config import SelectionConfig
from selection.model import Programme, Row, RowKind, SolverName, SolveStatus, solve_model
from selection.pool import pool_of_matrix
from selection.select import Method, _UnfinishedError, dual_bound, select_subset, solve
from tests.selection.matrices import drawn
from tests.selection.test_blockers import ordered


def programme(
    gains: list[int], families: list[int], size: int, *, price: int | None = None, seed: int = 0
) -> Programme:
    n = len(gains)
    everything = np.arange(n, dtype=np.intp)
    rows = [Row("size", RowKind.SIZE, everything, size, size)]
    for family in sorted(set(families)):
        members = everything[np.array(families) == family]
        rows.append(Row(f"family {family}", RowKind.COVERAGE, members, low=1))
        if price is not None:
            rows.append(Row(f"quota {family}", RowKind.QUOTA, members, 2, 2, price=price))
    drawn = np.random.default_rng(seed).permutation(n).astype(np.int64)
    free = np.ones(n, dtype=bool)
    return Programme(
        tuple(f"i{i:03d}" for i in range(n)),
        np.array(gains, dtype=np.int64),
        tuple(rows),
        free,
        ~free,
        2**drawn,  # powers of two: no two subsets have the same tie-break
    )


def best_by_trying(problem: Programme, size: int) -> tuple[int, frozenset[int]] | None:
    """The optimum by enumeration: objective first, then the tie-break."""
    best: tuple[int, int, frozenset[int]] | None = None
    for subset in combinations(range(len(problem.items)), size):
        chosen = np.zeros(len(problem.items), dtype=bool)
        chosen[list(subset)] = True
        if problem.broken(chosen) or (chosen & ~problem.allowed).any():
            continue
        if (problem.forced & ~chosen).any():
            continue
        value = (problem.objective(chosen), int(problem.tie_breaks[chosen].sum()))
        if best is None or value > best[:2]:
            best = (*value, frozenset(subset))
    return None if best is None else (best[0], best[2])


def positions(chosen: NDArray[np.bool_] | None) -> frozenset[int]:
    assert chosen is not None
    return frozenset(np.flatnonzero(chosen).tolist())


instances = st.integers(4, 9).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-3, 4), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.integers(1, n),
        st.none() | st.integers(1, 3),
        st.integers(0, 99),
    )
)


@settings(max_examples=60)
@given(instances)
def test_the_relaxation_finds_the_optimum_that_trying_all_finds(
    drawn: tuple[list[int], list[int], int, int | None, int],
) -> None:
    gains, families, size, price, seed = drawn
    problem = programme(gains, families, size, price=price, seed=seed)
    expected = best_by_trying(problem, size)
    actual = solve(problem)
    if expected is None:
        assert actual.status is SolveStatus.INFEASIBLE
        return
    assert actual.method is Method.RELAXATION
    assert (actual.objective, actual.bound) == (expected[0], expected[0])
    assert positions(actual.chosen) == expected[1]


@settings(max_examples=25)
@given(instances, st.integers(0, 6))
def test_weighted_rows_are_branched_on(
    drawn: tuple[list[int], list[int], int, int | None, int], bound: int
) -> None:
    gains, families, size, _, seed = drawn
    light = programme(gains, families, size, seed=seed)
    costs = np.arange(len(gains), dtype=np.int64) % 3
    everything = np.arange(len(gains), dtype=np.intp)
    row = Row("budget", RowKind.BUDGET, everything, high=bound, coefficients=costs)
    problem = replace(light, rows=(*light.rows, row))
    expected = best_by_trying(problem, size)
    actual = solve(problem)
    if expected is None:
        assert actual.status is SolveStatus.INFEASIBLE
        return
    assert actual.objective == expected[0]
    assert actual.unique
    assert positions(actual.chosen) == expected[1]


@pytest.mark.parametrize("price", [None, 5])
def test_both_solvers_give_the_same_subset(price: int | None) -> None:
    rng = np.random.default_rng(5)
    gains, families = rng.integers(0, 11, 900), rng.integers(0, 12, 900)
    problem = programme(gains.tolist(), families.tolist(), 90, price=price)
    problem = replace(problem, tie_breaks=rng.integers(1, 1 << 24, 900))
    answers = [solve(problem, solver) for solver in SolverName]
    assert [answer.method for answer in answers] == [Method.RELAXATION] * 2
    first, second = (answer.chosen for answer in answers)
    assert first is not None
    assert second is not None
    assert np.array_equal(first, second)


def test_a_wrong_certificate_proves_nothing() -> None:
    problem = programme([3, 2, 1, 0], [0, 0, 1, 1], 2)
    right = np.array([2, 0, -1], dtype=np.int64)  # size, family 0, family 1
    assert dual_bound(problem, right) == 4
    wrong_sign = np.array([2, 1, -1], dtype=np.int64)  # family 0 has no upper bound
    assert dual_bound(problem, wrong_sign) is None
    loose = np.array([5, 0, 0], dtype=np.int64)
    assert dual_bound(problem, loose) == 10


def test_what_was_found_until_the_time_was_up_is_no_optimum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PuLP's status says optimal then, and only the status of the solution tells the truth."""
    assign = pulp.LpProblem.assignStatus

    def halted(problem: Any, status: int, _: int | None = None) -> Any:
        return assign(problem, status, pulp.LpSolutionIntegerFeasible)

    config = SelectionConfig(size=3)
    given = pool_of_matrix(drawn(30, 4), config)
    programme = select_subset(given, config).programme
    monkeypatch.setattr(pulp.LpProblem, "assignStatus", halted)
    late = highspy.HighsModelStatus.kTimeLimit
    monkeypatch.setattr(highspy.Highs, "getModelStatus", lambda _: late)
    for solver in SolverName:
        assert solve_model(programme, solver, whole=True).status is SolveStatus.UNFINISHED
    with pytest.raises(_UnfinishedError, match="select 3 of 30 items: HiGHS did not finish within"):
        select_subset(given, config)


def test_blockers_that_are_not_found_in_time_are_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    given, config = ordered([-0.1, -0.2, -0.3, -0.4], 0.0)
    monkeypatch.setattr(select, "explain", lambda *_: ())
    with pytest.raises(_UnfinishedError, match=f"within {model.LONGEST_SECONDS} s"):
        select_subset(given, config)
