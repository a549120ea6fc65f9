"""Pilot runs say how hard a task is; a lane's rule holds where there are none."""

from __future__ import annotations

import numpy as np

from selection.pilot_difficulty import PILOT_RULE, with_pilot_difficulty
from selection.scores import ScoreMatrix
from tests.selection.test_release import candidate

RULE = {"difficulty": "medium", "difficulty_rule": "of the lane"}


def test_the_mean_score_of_two_pilots_or_more_replaces_the_rule() -> None:
    tasks = [candidate(number).model_copy(update=RULE) for number in range(5)]
    cells = np.array([[1, 1, 0.5], [0.5, 0.5, np.nan], [0, 0.5, 0], [np.nan, 1, np.nan]])
    names = tuple(task.task_id for task in tasks[:4])
    pilots = ScoreMatrix(names, ("f",) * 4, ("a", "b", "c"), cells)
    rated = with_pilot_difficulty(tasks, pilots)
    assert [task.difficulty for task in rated] == ["easy", "medium", "hard", "medium", "medium"]
    rules = [PILOT_RULE.format(n=3), PILOT_RULE.format(n=2), PILOT_RULE.format(n=3)]
    assert [task.difficulty_rule for task in rated] == [*rules, "of the lane", "of the lane"]
    assert with_pilot_difficulty(tasks, None) == tasks
