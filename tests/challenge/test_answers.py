"""The answer check on cases written without sight of it, under the rules of answers.md."""

from __future__ import annotations

from decimal import Decimal

import pytest

from construction.statements.answers.check import check_answer
from construction.statements.answers.contracts import GoldAnswer
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
