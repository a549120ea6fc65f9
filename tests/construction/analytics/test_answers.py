"""Gold of parts that papers may leave undecided, and what graders make of answers to them."""

from __future__ import annotations

import json

import pytest

from construction.analytics.answers import gold_answers, written_parts
from construction.analytics.contracts import Part
from construction.grading.answers.parts import grade_answers
from construction.grading.spec import AnswerSpec, TaskSpec
from tests.construction.analytics.world import declaration

PARTS = (
    Part(part="there", step=1, kind="money", decimals=2, undecided=2),
    Part(part="n", step=3, kind="count", decimals=0),
)


@pytest.mark.parametrize(
    ("n_open", "answer", "is_right"),
    [
        (1, "undecided", True),
        (1, "Undecided", True),
        (1, "未定", True),
        (1, 12.5, False),
        (1, 0, False),
        (1, "undecided, but 12.50 without it", False),
        (1, "no data", False),
        (1, None, False),
        (0, 12.5, True),
        (0, "12.50", True),
        (0, 12.4, False),
        (0, "undecided", False),
        (0, "未定", False),
    ],
)
def test_undecided_is_an_answer_where_it_is_gold_and_nowhere_else(
    n_open: int, answer: str | float | None, is_right: bool
) -> None:
    own = declaration()
    gold = gold_answers(own, PARTS, written_parts(PARTS, [12.5, n_open, 3]))
    assert gold[0].value == ("undecided" if n_open else "12.50")
    fields = ("part", "type", "value", "unit", "scale", "decimals", "tolerance", "aliases")
    specs = tuple(AnswerSpec(**{name: getattr(each, name) for name in fields}) for each in gold)
    task = TaskSpec("t-1", "What do those there owe, and how many are they?", answers=specs)
    there, n = grade_answers(task, json.dumps({"there": answer, "n": 3}))
    assert ((there.value or 0) == 1, (n.value or 0) == 1) == (is_right, True)
