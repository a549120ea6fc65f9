"""Sums, base units, per mille and number words in answers."""

from __future__ import annotations

import pytest

from construction.grading.answers.lexicon import AnswerReason
from construction.grading.spec import AnswerSpec
from tests.construction.grading.answers.test_parts import ASSETS, MARGIN, reasons


@pytest.mark.parametrize(("answer", "reason"), (
    ("It is made of $1,633 million and $2,000 million; the total is $3,633 million.", None),
    ("$3,633 million, the sum of $1,633 million and $2,000 million.", None),
    ("Summing $1,633 million and $2,000 million gives $3,633 million.", None),
    ("$1,633 million, $2,000 million, $3,633 million", AnswerReason.AMBIGUOUS),
    ("Total assets are $1,633 million; with $2,000 million the sum is $3,633 million.",
     AnswerReason.AMBIGUOUS),
    ("In words: three billion six hundred thirty-three million US dollars.", None),
    ("3633000000", AnswerReason.WRONG_SCALE),  # a bare number is in millions, as asked for
    ("$3,633,000,000", None),
    ("3,633 million BRL", AnswerReason.WRONG_CURRENCY),
    ("SEK 3,633 million", AnswerReason.WRONG_CURRENCY),
))  # fmt: skip
def test_sums_words_and_base_units(answer: str, reason: AnswerReason | None) -> None:
    assert reasons(answer, ASSETS) == [reason]


@pytest.mark.parametrize(("answer", "reason"), (
    ("355‰", None),
    ("355 per mille", None),
    ("35.5‰", AnswerReason.WRONG_SCALE),
))  # fmt: skip
def test_per_mille(answer: str, reason: AnswerReason | None) -> None:
    assert reasons(answer, MARGIN) == [reason]


def test_four_digits_with_a_currency_are_no_year() -> None:
    assert reasons("2000米ドル", AnswerSpec("value", "number", "2000", "USD", 1, 0)) == [None]
    assert reasons("2000", AnswerSpec("value", "number", "2000", "USD", 1, 0)) == [None]
    assert reasons("In 2009 dollars it was $3,633 million.", ASSETS) == [None]
