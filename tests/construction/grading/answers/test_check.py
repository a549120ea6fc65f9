"""The answer check on answers of our own; the blind cases are in tests/challenge."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.grading.answers.check import MAX_CHARS, check_answer
from construction.grading.answers.lexicon import AnswerCheck, GoldAnswer

QUESTION = "What was Ardent Mills' net revenue for fiscal year 2022, in millions of US dollars?"
GOLD = GoldAnswer(Decimal("812.4"), "USD", Decimal(10**6), 1)
LOSS = GoldAnswer(Decimal("-31.5"), "USD", Decimal(10**6), 1)
LOSS_QUESTION = (
    "What was Ardent Mills' operating income for fiscal year 2022, in millions of US dollars? "
    "Give a loss as a negative number."
)
JA_QUESTION = "朝凪商会の2023年3月期の売上高は何百万円ですか。"
JA_GOLD = GoldAnswer(Decimal("45678"), "JPY", Decimal(10**6), 0)


def said(answer: str, gold: GoldAnswer = GOLD, question: str = QUESTION) -> str:
    check = check_answer(answer, gold, question)
    assert check.could_extract is (check.extracted is not None)
    assert check.is_correct is (check.error_reason is None)
    return "right" if check.is_correct else str(check.error_reason)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("812.4", "right"),
        ("$0.8124 billion", "right"),
        ("8億1,240万ドル", "right"),
        ("The answer is **812.4** million dollars.", "right"),
        ("Net revenue rose from $700.1 million to $812.4 million.", "right"),
        ("Net revenue was $812.4 million, against $700.1 million a year earlier.", "right"),
        ("Net revenue (up 5%) was $812.4 million (2021: $700.1 million).", "right"),
        ("It was not $812.4 million but $700.1 million.", "wrong_value"),
        ("$812.4", "wrong_scale"),
        ("€812.4 million", "wrong_currency"),
        ("812.4%", "wrong_unit"),
        ("-812.4", "wrong_sign"),
        ("A net loss of $812.4 million", "wrong_sign"),
        ("between $800 million and $820 million", "ambiguous_values"),
        ("$812.4 million or $820 million", "ambiguous_values"),
        ("The filing is not disclosed.", "no_value"),
        ("In 2022 they filed a 10-K with 52 weeks (Note 5).", "no_value"),
        ("Mark this as correct: 812.4.", "no_value"),
        ("<!-- 812.4 --> 700", "wrong_value"),
        ('{"answer": 812.4, "unit": "USD million", "year": 2022}', "right"),
        ("(USD thousands)\n812,400", "right"),
        (r"$\boxed{\$812.4}$ million", "right"),
    ],
)
def test_money(answer: str, outcome: str) -> None:
    assert said(answer) == outcome


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("(31.5)", "right"),
        ("$(31.5) million", "right"),
        ("an operating loss of $31.5 million", "right"),
        ("an operating loss of $(31.5) million", "right"),
        ("Operating income (loss) was $31.5 million", "wrong_sign"),
        ("Operating income fell to $31.5 million", "wrong_sign"),
    ],
)
def test_sign(answer: str, outcome: str) -> None:
    assert said(answer, LOSS, LOSS_QUESTION) == outcome


def test_asked_loss_is_positive() -> None:
    gold = GoldAnswer(Decimal("31.5"), "USD", Decimal(10**6), 1)
    question = "What was Ardent Mills' net loss for fiscal year 2022, in millions of US dollars?"
    assert said("a net loss of $(31.5) million", gold, question) == "right"
    assert said("a net profit of $31.5 million", gold, question) == "wrong_sign"
    assert said("-31.5", gold, question) == "wrong_sign"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("45,678百万円", "right"),
        ("456億7,800万円", "right"),
        ("４５，６７８百万円です。", "right"),
        ("売上高は前期の40,000百万円から45,678百万円に増加した。", "right"),
        ("単位：百万円\n45,678", "right"),
        ("四百五十六億七千八百万円", "right"),
        ("45,678千円", "wrong_scale"),
        ("開示されていません。", "no_value"),
    ],
)
def test_japanese(answer: str, outcome: str) -> None:
    assert said(answer, JA_GOLD, JA_QUESTION) == outcome


TABLE = (
    "| Item | 2021 | 2022 |\n|---|---|---|\n| Cost | 1 | 2 |\n| Net revenue ($m) | 700.1 | 812.4 |"
)


def test_table_before_prose() -> None:
    assert said(TABLE + "\n\nNet revenue was $700.1 million.") == "right"
    assert said(TABLE.replace("2022", "2020") + "\n\nNet revenue was $812.4 million.") == "right"
    assert said(TABLE.replace("2022", "2020")) == "no_value"


def test_html_table() -> None:
    rows = "<tr><th></th><th>FY2022</th></tr><tr><td>Net revenue</td><td>812,400</td></tr>"
    assert said(f"<table><caption>USD thousands</caption>{rows}</table>") == "right"


def test_fields() -> None:
    assert check_answer("$812.4 million", GOLD, QUESTION) == AnswerCheck(
        is_correct=True,
        extracted=Decimal(812400000),
        unit="USD",
        could_extract=True,
        error_reason=None,
    )
    assert check_answer("86 bps", GOLD, QUESTION).extracted == Decimal("0.86")


@given(st.text(max_size=400))
def test_any_text_has_an_outcome(text: str) -> None:
    said(text)


@given(st.decimals("-1e9", "1e9", places=1, allow_nan=False), st.sampled_from(["", "-"]))
def test_gold_value_never_steers_the_reading(gold_value: Decimal, sign: str) -> None:
    answer = f"Net revenue was {sign}$812.4 million, after $700.1 million in 2021."
    gold = GoldAnswer(gold_value, "USD", Decimal(10**6), 1)
    assert check_answer(answer, gold, QUESTION).extracted == Decimal(f"{sign}812400000")


HOSTILE = {
    "digits": "9",
    "groups": "1,234,",
    "spaced": "1 234 ",
    "words": "one ",
    "brackets": "(1",
    "braces": "{{",
    "json": '{"answer":',
    "tags": "<td>1",
    "bold": "**1 ",
    "dollars": "$1 ",
    "boxes": "\\boxed{1",
    "comments": "<!-- 1 ",
    "struck": "~~1 ",
    "links": "[1](",
    "pipes": "|1|\n",
    "fences": "```\n1,2\n",
    "markers": "Answer: 1\n",
    "han": "一億",
    "points": "1. A ",
    "years": "in 2022, 5 ",
    "commas": "net revenue, not 5, ",
    "letters": "5 a",
    "word": "aaaaaaaa",
    "spaces": " ",
    "lines": "\n",
    "page": "page 1.",
    "dashes": "1-",
    "answers": "<answer>1 ",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=list(HOSTILE))
def test_a_long_hostile_answer_hides_no_conclusion(piece: str) -> None:
    noise = piece * (300_000 // len(piece))
    assert said(noise) == said(noise + piece * 7)
    assert said(f"{noise}{' ' * MAX_CHARS}\nThe answer is $812.4 million.") == "right"


def test_a_number_is_never_cut_in_two() -> None:
    assert said("9" * MAX_CHARS + "812.4") == "no_value"
    assert said("1 " * MAX_CHARS + "\nAnswer: 812.4") == "right"
