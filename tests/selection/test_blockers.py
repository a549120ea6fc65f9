"""Why there is no subset: the ways out must lead out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pulp
import pytest

from data.errors import InputError
from selection import model, select
from selection.blockers import Blocker, BlockerCode, explain
from selection.config import Band, Objective, SelectionConfig
from selection.model import SolverName, SolveStatus, solve_model
from selection.pool import Pool, PoolItem, pool_of_items, pool_of_matrix
from selection.programme import Programme, Row, RowKind
from selection.scores import ScoreMatrix
from selection.select import UnfinishedError, select_subset
from tests.selection.matrices import drawn

SPREAD = {"objective": Objective.COVERAGE, "cover_families": False}


def pool(*items: PoolItem) -> Pool:
    return pool_of_items(items)


def blockers(pool: Pool, config: SelectionConfig) -> tuple[Blocker, ...]:
    told = select_subset(pool, config)
    assert told.chosen is None
    return told.blockers


def test_the_budget_proposed_is_enough() -> None:
    costs = (4115.2137, 4115.2137, 4115.2136, 9000.0)
    given = pool(*(PoolItem(f"i{n}", "f", cost=cost) for n, cost in enumerate(costs)))
    config = SelectionConfig(size=3, budget=12_345.6, **SPREAD)
    (told,) = blockers(given, config)
    assert (told.code, told.relaxation) == (BlockerCode.BUDGET, "budget = 12345.641")
    wider = config.model_copy(update={"budget": float(told.relaxation.split()[-1])})
    assert select_subset(given, wider).chosen == ("i0", "i1", "i2")
    assert told.text == "the 3 cheapest eligible items cost 12345.641, the budget is 12345.6"


def ordered(leads: list[float], margin: float) -> tuple[Pool, SelectionConfig]:
    """Two pilots whose scores on the items differ by `leads`."""
    cells = np.array([[0.5 + lead / 2, 0.5 - lead / 2] for lead in leads])
    names = tuple(f"i{n}" for n in range(len(leads)))
    matrix = ScoreMatrix(names, ("f",) * len(names), ("first", "second"), cells)
    config = SelectionConfig(size=3, pilots=("first", "second"), order_margin=margin)
    return pool_of_matrix(matrix, config), config


def test_the_order_margin_proposed_holds() -> None:
    given, config = ordered([0.1, 0.1, 0.0996, -0.4, -0.3], 0.2)  # 2,996 / 3 = 998.67
    (told,) = blockers(given, config)
    proposed = re.match(r"order_margin = (\S+), or another order of pilots", told.relaxation)
    assert proposed is not None
    assert proposed[1] == "0.0998"
    eased = config.model_copy(update={"order_margin": float(proposed[1])})
    assert select_subset(given, eased).chosen is not None


def test_no_margin_is_proposed_where_the_order_is_the_other_way_round() -> None:
    given, config = ordered([-0.1, -0.2, -0.3, -0.4], 0.0)
    (told,) = blockers(given, config)
    assert (told.code, told.relaxation) == (BlockerCode.ORDER, "another order of pilots")


def test_a_missing_score_is_no_failure_in_the_order() -> None:
    """An item that the second pilot did not run on gives the first no lead of its whole score."""
    cells = np.array([[0.9, 0.8], [0.5, 0.6], [0.9, np.nan], [0.5, 0.6]])
    matrix = ScoreMatrix(("a", "b", "c", "d"), ("f",) * 4, ("first", "second"), cells)
    config = SelectionConfig(size=3, pilots=("first", "second"), order_margin=0.1)
    given = pool_of_matrix(matrix, config)
    programme = select_subset(given, config.model_copy(update={"order_margin": None})).programme
    assert programme.rows[0].kind is RowKind.SIZE
    told = select_subset(given, config.model_copy(update={"drop_zero_discrimination": False}))
    assert told.chosen is None
    (row,) = (row for row in told.programme.rows if row.kind is RowKind.ORDER)
    assert row.coefficients is not None
    assert row.coefficients.tolist()[:2] == [1000, -1000]
    assert abs(int(row.coefficients[2])) < 1000  # 0.9 - (0.9 + 0.6667 - 0.6857)


def test_soft_rows_do_not_hide_the_hard_one() -> None:
    """Only hard rows are moved: the quota's price must not make the blocker dearer."""
    items = np.arange(6, dtype=np.intp)
    rows = (
        Row("size", RowKind.SIZE, items, 5, 5),
        Row("lane l1", RowKind.LANE, items[:2], high=0),
        Row("quota f", RowKind.QUOTA, items, 6, 6, price=4500),
    )
    free = np.ones(6, dtype=bool)
    ids = tuple(f"i{n}" for n in items)
    ones = np.ones(6, dtype=np.int64)
    programme = Programme(ids, ones, rows, free, ~free, ones)
    given = pool(*(PoolItem(name, "f") for name in ids))
    (told,) = explain(given, SelectionConfig(size=5), programme)
    assert (told.code, told.short) == (BlockerCode.TOGETHER, 1)
    assert told.relaxation == f"move the bound of {told.subject} by 1"


def test_a_near_duplicate_outside_the_lane_does_not_count_against_it() -> None:
    items = [
        PoolItem("a", "f", lane="sessions", cluster="twins"),
        PoolItem("b", "f", lane="questions", cluster="twins"),
        *(PoolItem(f"c{n}", "f", lane="sessions") for n in range(3)),
    ]
    shares = {"questions": Band(low=0.25), "sessions": Band(low=1.0)}
    config = SelectionConfig(size=4, lane_shares=shares, **SPREAD)
    told = blockers(pool(*items), config)
    assert {one.code for one in told} == {BlockerCode.TOGETHER}, "one question can be chosen"
    none = config.model_copy(update={"lane_shares": {"questions": Band(low=0.5)}})
    (short,) = blockers(pool(*items), none)
    assert (short.code, short.needed, short.available) == (BlockerCode.SHARE, 2, 1)


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
    for solver in SolverName:
        assert solve_model(programme, solver, whole=True).status is SolveStatus.UNFINISHED
    with pytest.raises(UnfinishedError, match="select 3 of 30 items: HiGHS did not finish within"):
        select_subset(given, config)


def test_blockers_that_are_not_found_in_time_are_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    given, config = ordered([-0.1, -0.2, -0.3, -0.4], 0.0)
    monkeypatch.setattr(select, "explain", lambda *_: ())
    with pytest.raises(UnfinishedError, match=f"within {model.LONGEST_SECONDS} s"):
        select_subset(given, config)


def test_pilots_without_scores_or_named_twice_are_refused() -> None:
    matrix = drawn(20, 3)
    with pytest.raises(InputError, match="m01 named more than once"):
        pool_of_matrix(matrix, SelectionConfig(size=3, pilots=("m01", "m00", "m01")))
    silent = matrix.scores.copy()
    silent[:, 1] = np.nan
    matrix = replace(matrix, scores=silent)
    for pilots in ((), ("m00", "m01")):
        with pytest.raises(InputError, match="no score of m01 on the 20 items"):
            pool_of_matrix(matrix, SelectionConfig(size=3, pilots=pilots))
    assert pool_of_matrix(matrix, SelectionConfig(size=3, pilots=("m00", "m02"))).pilots
