"""Answers in the words of the question's own sign convention."""

from __future__ import annotations

from decimal import Decimal

import pytest

from construction.grading.answers.check import check_answer
from construction.grading.answers.lexicon import ErrorReason, GoldAnswer
from construction.grading.answers.question import side_asked, sides
from construction.statements.questions.contracts import FlowSide
from construction.statements.questions.wording import WORDS

TAX, CASH = "income tax expense", "net cash from operating activities"
RECEIVABLES = "decrease (increase) in receivables"
# Label, side asked for as negative, an answer on that side, and one on the other.
CASES = (
    (TAX, "a tax benefit", "a tax benefit of $456 million", "an expense of $456 million"),
    (CASH, "cash used", "used $456 million of cash", "provided $456 million of cash"),
    ("other income", "an expense", "$456 million of other expense", "$456 million of other income"),
    (RECEIVABLES, "an increase", "increased by $456 million", "decreased by $456 million"),
    ("loss (gain) on sale", "a gain", "a gain of $456 million", "a loss of $456 million"),
)


def reason(label: str, side: str, value: int, answer: str) -> ErrorReason | None:
    question = (
        f"What was the {label} of Acme Corp. in fiscal 2020 (in millions of USD)? "
        f"Give {side} as a negative number."
    )
    gold = GoldAnswer(Decimal(value), "USD", Decimal(1_000_000), 0)
    return check_answer(answer, gold, question).error_reason


@pytest.mark.parametrize(("label", "side", "below", "above"), CASES)
def test_words_of_the_convention_carry_the_sign(
    label: str, side: str, below: str, above: str
) -> None:
    assert reason(label, side, -456, below) is None
    assert reason(label, side, 456, above) is None
    assert reason(label, side, 456, below) is ErrorReason.WRONG_SIGN
    assert reason(label, side, -456, above) is ErrorReason.WRONG_SIGN


@pytest.mark.parametrize(("label", "side", "answer"), (
    (TAX, "a tax benefit", "Income taxes, including a benefit from options, were $456 million"),
    (CASH, "cash used", "I used the cash flow data: $456 million"),
    (CASH, "cash used", "The tool that was used returned $456 million"),
    ("other expense (income)", "income", "By the income statement it was $456 million"),
    ("other expense (income)", "income", "Per the statements of income it was $456 million"),
    ("payments for leases", "cash received", "From what I received: $456 million"),
))  # fmt: skip
def test_words_about_something_else_decide_nothing(label: str, side: str, answer: str) -> None:
    assert reason(label, side, 456, answer) is None
    assert reason(label, side, -456, answer) is ErrorReason.WRONG_SIGN


def test_each_convention_that_questions_use_has_its_words() -> None:
    rules = WORDS["sign"]
    used = {rule["negative"] for kind in ("bracket", "either") for rule in rules[kind]}
    used |= {str(side) for side in FlowSide} | {"cash received", "a deduction"}
    assert used <= sides().keys()
    assert all(side_asked(f"Give {side} as a negative number.") is sides()[side] for side in used)


JAPANESE = (
    ("operating profit", "a loss", "{}の赤字です。", "{}の黒字です。"),
    ("operating profit", "a loss", "△{}", "{}の利益です。"),
    ("operating profit", "a loss", "▲{}でした。", "盈利{}。"),
    (CASH, "cash used", "{}の支出です。", "{}の収入です。"),
    (CASH, "cash used", "净流出{}。", "净流入{}。"),
    (RECEIVABLES, "an increase", "{}の増加です。", "{}の減少です。"),
)


@pytest.mark.parametrize(("label", "side", "below", "above"), JAPANESE)
def test_japanese_and_chinese_words_carry_the_sign_too(
    label: str, side: str, below: str, above: str
) -> None:
    amount = "4億5600万米ドル"
    assert reason(label, side, -456, below.format(amount)) is None
    assert reason(label, side, 456, below.format(amount)) is ErrorReason.WRONG_SIGN
    assert reason(label, side, 456, above.format(amount)) is None
    assert reason(label, side, -456, above.format(amount)) is ErrorReason.WRONG_SIGN


@pytest.mark.parametrize(("answer", "expected"), (
    ("The decrease amounted to $456 million.", -456),
    ("It shrank by $456 million.", -456),
    ("It decreased to $456 million.", 456),
    ("It expanded by $456 million.", 456),
))  # fmt: skip
def test_an_amount_of_a_decrease_is_no_level(answer: str, expected: int) -> None:
    label = "increase (decrease) in restricted cash"
    assert reason(label, "a decrease", expected, answer) is None
    assert reason(label, "a decrease", -expected, answer) is ErrorReason.WRONG_SIGN
