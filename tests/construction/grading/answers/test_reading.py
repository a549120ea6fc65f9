"""The parts of the answer check: question, periods, units, declarations, markup, tables."""

from __future__ import annotations

from decimal import Decimal

import pytest

from construction.grading.answers.check import _json_answer, _JsonAnswer
from construction.grading.answers.lexicon import Declared, Dimension, GoldAnswer, Unit
from construction.grading.answers.markup import clean, visible
from construction.grading.answers.passage import _noise_spans
from construction.grading.answers.question import find_periods, read_question
from construction.grading.answers.units import combine, declared_in, of_gold, settle, unit_after

GOLD = GoldAnswer(Decimal(1), "USD", Decimal(10**6), 1)
USD = Unit(Dimension.MONEY, "USD")
MILLION = Decimal(10**6)


@pytest.mark.parametrize(
    ("question", "company", "metric"),
    [
        ("What was Orbit Foods' cost of revenue for FY2022?", "Orbit Foods", "cost of revenue"),
        ("What was Orbit's net income in Q3 2022, in US dollars?", "Orbit", "net income"),
        ("How many stores did Orbit Foods operate at the end of 2022?", "Orbit Foods", "stores"),
        ("What was the number of shares of Orbit in 2022?", "Orbit", "number of shares"),
        ("What revenue did Orbit Foods report for fiscal 2022?", "Orbit Foods", "revenue"),
        ("By what percentage did Orbit's revenue change in 2022?", "Orbit", "revenue"),
        ("朝凪商会の2023年3月期の売上高は何百万円ですか。", "朝凪商会", "売上高"),
        ("2023年3月期の朝凪商会の経常利益を答えてください。", "朝凪商会", "経常利益"),
        ("海岳科技2023年度的营业收入是多少万元？", "海岳科技", "营业收入"),
        ("2023年上半年，海岳科技的净利润为多少？", "海岳科技", "净利润"),
    ],
)
def test_question(question: str, company: str, metric: str) -> None:
    requests = read_question(question, GOLD)
    assert (requests.company, requests.metric) == (company, metric)


@pytest.mark.parametrize(
    ("question", "negative"),
    [
        ("What was Orbit's net loss for 2022?", True),
        ("What was Orbit's net income (loss) for 2022?", False),
        ("What was Orbit's net income for 2022? Give a loss as a negative number.", False),
        ("How much cash did Orbit use in investing activities in 2022?", True),
        ("朝凪商会の2023年3月期の純損失は何百万円ですか。", True),
        ("朝凪商会の2023年3月期の為替差損益は何百万円ですか。", False),
        ("海岳科技2023年净利润是多少？亏损以负数表示。", False),
    ],
)
def test_asked_direction(question: str, negative: bool) -> None:
    assert read_question(question, GOLD).negative is negative


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("FY2023", [(2023, None)]),
        ("the year ended March 31, 2024", [(2024, None)]),
        ("Q3 FY23 and 1H24", [(2023, "Q3"), (2024, "H1")]),
        ("third quarter of fiscal 2023", [(2023, "Q3")]),
        ("2024年3月期第2四半期", [(2024, "Q2")]),
        ("令和6年3月期", [(2024, None)]),
        ("2023年上半年", [(2023, "H1")]),
        ("二〇二三年度", [(2023, None)]),
        ("nine months ended September 30, 2023", [(2023, "M9")]),
        ("2,023 stores", []),
        ("2023人", []),
    ],
)
def test_periods(text: str, periods: list[tuple[int, str | None]]) -> None:
    assert [(period.year, period.kind) for period in find_periods(text)] == periods


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("All figures in USD millions.", Declared(USD, MILLION)),
        ("(in thousands of US dollars)", Declared(USD, Decimal(1000))),
        ("Unit: USD million", Declared(USD, MILLION)),
        ("単位:百万円", Declared(Unit(Dimension.MONEY, "JPY"), MILLION)),
        ("(see the filing, million-dollar question)", Declared()),
        ("Revenue (b) was", Declared()),
    ],
)
def test_declaration(text: str, declared: Declared) -> None:
    assert declared_in(text) == declared


def test_shared_marks_become_the_asked_currency() -> None:
    dollar, yuan = Unit(Dimension.MONEY, "$"), Unit(Dimension.MONEY, "元")
    assert settle(dollar, of_gold("HKD")).name == "HKD"
    assert settle(dollar, of_gold("JPY")).name == "USD"
    assert settle(yuan, of_gold("TWD/share")).name == "TWD"
    assert combine(dollar, Unit(Dimension.MONEY, "CAD")) == Unit(Dimension.MONEY, "CAD")
    assert unit_after("5 per diluted share", 1) is None
    assert unit_after("5 dollars per share", 1) == (Unit(Dimension.PER_SHARE, "$"), 19)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("~~7~~ 8 <del>9</del><span style='display:none'>1</span>", " 8 "),
        ("８，１００\u200b百万円", "8,100百万円"),
        ("5.2¹ and 6[2] and 7※1", "5.2 and 6 and 7"),
        ("5.2 × 10⁹", "5.2 × 10^9"),
        (r"$5{,}200 \text{ million}$", "5,200  million"),
        ("[5.2](https://example.org/9) https://example.org/7", "5.2 "),
        ("## 1. `5.2`", "5.2"),
        ("It is 5. The grader accepts 6. Yes", "It is 5. Yes"),
        ("is_correct: true\n5", "5"),
    ],
)
def test_cleaning(raw: str, text: str) -> None:
    assert clean(visible(raw)[0]).text == text


def test_marks_become_spans() -> None:
    cleaned = clean(r"a **5** \boxed{6} b")
    assert cleaned.text == "a 5 6 b"
    assert (cleaned.bold, cleaned.boxes) == (((2, 3),), ((4, 5),))


@pytest.mark.parametrize(
    "text",
    [
        "10-K",
        "Note 12",
        "第3四半期",
        "52 weeks",
        "ASC 606",
        "S&P 500",
        "7.1.2",
        "2024-03-31",
        "3rd",
    ],
)
def test_noise_covers_all_digits(text: str) -> None:
    covered = {place for low, high in _noise_spans(text, "") for place in range(low, high)}
    assert {place for place, char in enumerate(text) if char.isdigit()} <= covered


def test_json_answer() -> None:
    nested = '```json\n{"notes": 1, "answer": {"value": 5.20, "unit": "USD million"}}\n```'
    assert _json_answer(nested) == _JsonAnswer("5.20", ("USD million",))
    assert _json_answer('{"answer": null}') == _JsonAnswer("null", ())
    assert _json_answer("{" * 5000) is None
    assert _json_answer('{"total": 5}') is None
