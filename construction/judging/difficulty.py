"""How hard a session's task looks before anybody tried it."""

from __future__ import annotations

from typing import Literal

from construction.judging.contracts import Case
from construction.judging.inputs import named_inputs
from construction.judging.rules.demands import demands_of
from data.contracts import Candidate

DIFFICULTY_RULE = (
    "points for: demands (3 to 6: 1, from 7: 2), input files that bear on the task (2 or 3: 1, "
    "from 4: 2), files to deliver (2 or 3: 1, from 4: 2); easy 0 or 1, medium 2 or 3, hard from 4"
)
_DEMANDS, _INPUTS, _OUTPUTS = (3, 7), (2, 4), (2, 4)


def with_difficulty(case: Case, candidate: Candidate) -> Candidate:
    """The candidate of a case with the points of `DIFFICULTY_RULE`, and the rule."""
    inputs = named_inputs(case.request, [fixture.path for fixture in candidate.fixtures])
    points = _points(len(demands_of(case)), _DEMANDS) + _points(len(inputs), _INPUTS)
    points += _points(sum(item.count for item in candidate.deliverables), _OUTPUTS)
    changes = {"difficulty": _level(points), "difficulty_rule": DIFFICULTY_RULE}
    return candidate.model_copy(update=changes)


def _points(number: int, steps: tuple[int, int]) -> int:
    return sum(number >= step for step in steps)


def _level(points: int) -> Literal["easy", "medium", "hard"]:
    if points < 2:
        return "easy"
    return "medium" if points < 4 else "hard"
