"""A solver that runs out of time proves nothing."""

from __future__ import annotations

from typing import Any

import highspy
import pulp
import pytest

from selection import model, select
from selection.config import SelectionConfig
from selection.model import SolverName, SolveStatus, solve_model
from selection.pool import pool_of_matrix
from selection.select import UnfinishedError, select_subset
from tests.selection.matrices import drawn
from tests.selection.test_blockers import ordered


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
    with pytest.raises(UnfinishedError, match="select 3 of 30 items: HiGHS did not finish within"):
        select_subset(given, config)


def test_blockers_that_are_not_found_in_time_are_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    given, config = ordered([-0.1, -0.2, -0.3, -0.4], 0.0)
    monkeypatch.setattr(select, "explain", lambda *_: ())
    with pytest.raises(UnfinishedError, match=f"within {model.LONGEST_SECONDS} s"):
        select_subset(given, config)
