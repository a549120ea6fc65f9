"""A programme as arrays is the same programme: HiGHS by arrays agrees with CBC by PuLP."""

from __future__ import annotations

import numpy as np
import pytest

from selection.model import (
    Programme,
    Row,
    RowKind,
    SolverName,
    SolveStatus,
    _arrays_of,
    solve_model,
)


def drawn_programme(seed: int) -> Programme:
    """Twelve items, some forced or barred, with hard and priced rows, also such as cross."""
    generator = np.random.default_rng(seed)
    items = np.arange(12, dtype=np.intp)
    allowed = generator.random(12) > 0.2
    forced = allowed & (generator.random(12) < 0.15)
    size = int(generator.integers(3, 7))
    rows = [Row("size", RowKind.SIZE, items, size, size)]
    for number in range(4):
        members = np.flatnonzero(generator.random(12) < 0.5).astype(np.intp)
        low, high = (int(bound) for bound in generator.integers(0, 5, 2))
        price = int(generator.integers(1, 9)) if number % 2 else None
        weights = generator.integers(0, 4, len(members)).astype(np.int64) if number > 2 else None
        if price is None:  # a hard row with both bounds is seldom possible
            rows.append(Row(f"r{number}", RowKind.QUOTA, members, min(low, 1), None, weights))
        else:
            rows.append(Row(f"r{number}", RowKind.QUOTA, members, low, high, weights, price))
    gains = generator.integers(-3, 9, 12).astype(np.int64)
    ties = generator.integers(1, 1 << 20, 12).astype(np.int64)
    names = tuple(f"i{number}" for number in items)
    return Programme(names, gains, tuple(rows), allowed, forced, ties)


@pytest.mark.parametrize("block", range(4))
def test_both_solvers_find_the_same_optimum(block: int) -> None:
    solved = 0
    for seed in range(25 * block, 25 * block + 25):
        programme = drawn_programme(seed)
        answers = [solve_model(programme, solver, whole=True) for solver in SolverName]
        assert answers[0].status is answers[1].status, seed
        if answers[0].status is not SolveStatus.OPTIMAL:
            continue
        solved += 1
        first, second = (programme.objective(answer.values > 0.5) for answer in answers)
        assert first == second, seed
        held = [solve_model(programme, s, whole=True, at_least=first) for s in SolverName]
        ties = [int(programme.tie_breaks[answer.values > 0.5].sum()) for answer in held]
        assert ties[0] == ties[1], seed
    assert solved > 12


def test_a_priced_row_that_asks_for_more_than_it_admits_is_no_contradiction() -> None:
    items = np.arange(3, dtype=np.intp)
    rows = (
        Row("size", RowKind.SIZE, items, 2, 2),
        Row("crossed", RowKind.QUOTA, items[:2], 2, 0, price=5),
    )
    free = np.ones(3, dtype=bool)
    gains = np.array([1, 2, 4], dtype=np.int64)
    programme = Programme(("a", "b", "c"), gains, rows, free, ~free, gains)
    assert _arrays_of(programme).origins.tolist() == [0, 1, 1]
    answer = solve_model(programme, SolverName.HIGHS, whole=True)
    assert (answer.values > 0.5).tolist() == [False, True, True]
