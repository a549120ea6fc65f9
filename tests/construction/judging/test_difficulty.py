"""Difficulty by the declared rule."""

from __future__ import annotations

import pytest

from construction.judging.difficulty import DIFFICULTY_RULE, with_difficulty
from data.contracts import Deliverable
from tests.construction.judging.rules.cases import case

FILES = [f"part-{number}.csv" for number in range(5)]
LIST = "\n".join(f"- Write section {number} of the report." for number in range(1, 9))


@pytest.mark.parametrize(
    ("request_text", "files", "outputs", "level"),
    [
        ("Sum the column.", ["part-0.csv"], 1, "easy"),
        ("Sum the column of each file.", FILES, 1, "medium"),
        ("Sum the column of each file.", FILES, 4, "hard"),
        (f"Do this:\n{LIST}", [], 1, "medium"),
        (f"Do this:\n{LIST}", FILES[:2], 2, "hard"),
    ],
)
def test_demands_inputs_and_outputs_make_it_hard(
    request_text: str, files: list[str], outputs: int, level: str
) -> None:
    item = case(request_text, files=files)
    delivered = (Deliverable(file_type="csv", count=outputs),)
    candidate = item.candidate.model_copy(update={"deliverables": delivered})
    rated = with_difficulty(item, candidate)
    assert (rated.difficulty, rated.difficulty_rule) == (level, DIFFICULTY_RULE)
