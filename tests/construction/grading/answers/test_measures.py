"""Units of measure, directions and calculations in answers that ask for one number."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from construction.grading.answers.check import check_answer
from construction.grading.answers.lexicon import AnswerReason, ErrorReason, GoldAnswer
from construction.grading.answers.parts import grade_answers
from construction.grading.spec import spec_of

AREA = ("How many square kilometres does the Orsino licence cover?", "1140", "km2", 0)
MASS = ("How many tonnes of concentrate did Bexhill Mining produce?", "48200", "tonnes", 0)
ORE = ("鹏程矿业2023年的铁矿石产量是多少吨？", "230000", "吨", 0)
ENERGY = ("大和電力の2022年度の発電量は何GWhでしたか。", "1530", "GWh", 0)
LEASE = ("What is the remaining lease term of Harrow Hall, in years?", "12", "years", 0)
STAFF = ("How many employees did Solvane SE have at year-end?", "8412", "employees", 0)
CHANGE = (
    "By how much did Orlin's like-for-like sales change? A decrease is negative.",
    "-4.8",
    "percent",
    1,
)
QUICK = ("Compute the quick ratio of Marl Foods.", "1.24", None, 2)
MARGIN = ("What was Orlin Bank's net interest margin in 2022?", "3.4", "percent", 1)
LOSS = ("What was Vantor plc's net loss in 2021?", "412", "GBP", 0)
OUTFLOW = (
    "What was Vantor's net cash used in operating activities? Show outflows as negative numbers.",
    "-412",
    "GBP",
    0,
)
Task = tuple[str, str, str | None, int]


def reason(task: Task, answer: str) -> AnswerReason | None:
    question, value, unit, decimals = task
    part = {"part": "answer", "type": "number", "value": value, "unit": unit}
    answers: list[dict[str, Any]] = [{**part, "scale": 1, "decimals": decimals, "aliases": []}]
    spec = spec_of({"task_id": "t", "prompt": question, "answers": answers})
    return grade_answers(spec, answer)[0].reason  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        *((AREA, text) for text in ("1,140 km²", "1140 sq km", "1,140 square kilometers", "1140")),
        (AREA, "The licence covers 1,140 square kilometres."),
        (AREA, "1,140 km² (114,000 hectares)"),
        (MASS, "48,200 t"),
        (MASS, json.dumps({"answer": 48200, "unit": "t"})),
        (ORE, "鹏程矿业2023年的铁矿石产量为23万吨。"),
        (ENERGY, "発電量は1,530GWhでした。"),
        (LEASE, "The remaining lease term is 12 years."),
        (STAFF, "8,412 people"),
        (QUICK, "1.24x"),
        (QUICK, "1.24倍"),
        (MARGIN, "The margin closed at 3.4%"),
        (LOSS, "The net loss amounted to £412."),
        (CHANGE, "Like-for-like sales fell by 4.8 percent."),
        (CHANGE, "-4.8%"),
    ],
)
def test_the_unit_asked_for_in_any_spelling(task: Task, answer: str) -> None:
    assert reason(task, answer) is None


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        *((AREA, f"1,140 {unit}") for unit in ("hectares", "acres", "square miles", "m²", "wells")),
        (AREA, "In acres, 1,140"),
        (AREA, json.dumps({"answer": 1140, "unit": "hectares"})),
        (MASS, "48,200 short tons"),
        (MASS, "48,200 flurbs"),
        (ORE, "23万桶"),
        (ENERGY, "1,530MWh"),
        (LEASE, "12 months"),
        (STAFF, "8,412 stores"),
        (QUICK, "1.24 years"),
        (MARGIN, "3.4 basis points"),
        (MARGIN, "3.4 percentage points"),
    ],
)
def test_another_unit(task: Task, answer: str) -> None:
    assert reason(task, answer) == AnswerReason.WRONG_UNIT


@pytest.mark.parametrize(
    ("task", "answer", "expected"),
    [
        (LEASE, "12 years and 6 months", AnswerReason.WRONG_VALUE),
        (AREA, "1,140 licences in 3 km2", AnswerReason.AMBIGUOUS),
        (CHANGE, "Like-for-like sales rose by 4.8 percent.", AnswerReason.WRONG_SIGN),
        (OUTFLOW, "Cash used was (412) or (421).", AnswerReason.AMBIGUOUS),
        (QUICK, "The quick ratio is 62.4 / 50.3.", AnswerReason.AMBIGUOUS),
        (QUICK, "1.24 / 1.25", AnswerReason.AMBIGUOUS),
        (LOSS, "Vantor made a net profit of £412 in 2021.", AnswerReason.WRONG_SIGN),
        (OUTFLOW, "Vantor's operating activities provided £412 in 2021.", AnswerReason.WRONG_SIGN),
        (ENERGY, "1,530GWhとありますが、回答は控えます。", AnswerReason.REFUSED),
    ],
)
def test_what_else_is_wrong(task: Task, answer: str, expected: AnswerReason) -> None:
    assert reason(task, answer) == expected


_COAL = "What was the coal production of Pellwick plc for fiscal year 2023, in tonnes?"
_MINED = GoldAnswer(Decimal(20470), "tonne", Decimal(1), 0)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("20,470 tonnes", None),
        ("20470 t", None),
        ("It produced 20,470 metric tons of coal in fiscal 2023.", None),
        ("20470", None),
        ("20,470 kg", ErrorReason.WRONG_UNIT),
        ("20,470 MWh", ErrorReason.WRONG_UNIT),
        ("20,740 tonnes", ErrorReason.WRONG_VALUE),
        ("2,047 tonnes", ErrorReason.WRONG_SCALE),
    ],
)
def test_the_unit_of_measure_has_to_be_the_one_asked_for(
    answer: str, reason: ErrorReason | None
) -> None:
    assert check_answer(answer, _MINED, _COAL).error_reason == reason


@pytest.mark.parametrize(
    "answer",
    ["£'000: (269)", "£000: -269", "-269 £000", "-£269k", "a loss of £269,000", "£’000 -269"],
)
def test_a_sign_with_three_noughts_means_thousands(answer: str) -> None:
    loss = GoldAnswer(Decimal(-269), "GBP", Decimal(1000), 0)
    question = (
        "What was the profit of Pellwick plc for fiscal year 2023, in thousands of pounds "
        "sterling? Give a loss as a negative number."
    )
    assert check_answer(answer, loss, question).is_correct
