"""The answer check on cases written without sight of it, under the rules of answers.md."""

from __future__ import annotations

from decimal import Decimal

import pytest

from construction.grading.answers.check import check_answer
from construction.grading.answers.lexicon import GoldAnswer
from tests.challenge.graded_answers import SETS, judged_cases
from tests.challenge.harness import Case, load

CASES = load("answers")
LANGUAGES = ("en", "ja", "zh", "mixed")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_answer(case: Case) -> None:
    gold = GoldAnswer(
        value=Decimal(case["gold"]["value"]),
        unit=case["gold"]["unit"],
        scale=Decimal(case["gold"]["scale"]),
        decimals=case["gold"]["decimals"],
    )
    check = check_answer(case["answer"], gold, case["question"])
    actual = {
        "is_correct": check.is_correct,
        "extracted": None if check.extracted is None else f"{check.extracted:f}",
        "could_extract": check.could_extract,
        "error_reason": check.error_reason,
    }
    assert actual == case["expect"], case["why"]


def test_cases_are_many_and_mixed() -> None:
    assert len(CASES) >= 200
    assert sum(case["hard"] for case in CASES) * 4 >= len(CASES)
    per_language = [sum(case["lang"] == language for case in CASES) for language in LANGUAGES]
    assert min(per_language) >= 20


# Per set: wrong answers rejected, rejected with a fitting reason, right answers accepted.
FIRST = {
    "graded_answers": (299, 282, 142),
    "graded_answers_2": (300, 287, 145),
    "graded_answers_3": (298, 293, 145),
}


@pytest.mark.parametrize("name", SETS)
def test_no_worse_than_at_the_first_reading(name: str) -> None:
    cases = list(judged_cases(name))
    wrong = [case for case in cases if not case.is_right]
    right = [case for case in cases if case.is_right]
    assert (len(wrong), len(right)) == (300, 150)
    read = (
        sum(case.agrees for case in wrong),
        sum(case.reason_fits for case in wrong),
        sum(case.agrees for case in right),
    )
    assert all(now >= first for now, first in zip(read, FIRST[name], strict=True)), read
