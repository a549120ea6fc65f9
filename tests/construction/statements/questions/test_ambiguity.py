"""Which data points fit the words of a question, and what is added until one is left."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.statements.model import Statements
from construction.statements.questions.ambiguity import Slots, index_database, rivals
from construction.statements.questions.contracts import (
    Cause,
    Question,
    QuestionConfig,
    QuestionReason,
    Rival,
    Sharpening,
)
from construction.statements.questions.make import make_questions
from data.contracts import Outcome
from tests.construction.statements.questions.small import YEAR_END, Book, drawn

CONFIG = QuestionConfig()


def slots_of(statements: Statements, point_id: str, *taken: Sharpening) -> Slots:
    database = index_database(statements, CONFIG.round_share)
    point = database.points.get(point_id)
    assert point is not None
    series = database.series[point.series_id]
    return Slots(database.companies[series.company_id], series, point, taken)


def rivals_of(book: Book, point_id: str, *taken: Sharpening) -> list[Rival]:
    statements = book.close()
    database = index_database(statements, CONFIG.round_share)
    return rivals(slots_of(statements, point_id, *taken), database)


def ask(book: Book, point_id: str) -> Question:
    requests = make_questions(drawn(point_id), book.close(), CONFIG, 7)
    assert [row.outcome for row in requests.ledger] == [Outcome.KEPT], requests.ledger
    return requests.questions[0]


def one_company() -> tuple[Book, str]:
    book = Book()
    return book, book.company("demo:1", "Ardent Mills Inc.", ticker="ARDM")


def test_alone_there_is_no_rival() -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Sales"), "5000000")
    book.value(book.line(company, "Income statement | Goodwill impairment"), "5000000")
    assert rivals_of(book, point) == []
    assert ask(book, point).sharpened == ()


def test_company_with_the_same_first_words_needs_the_ticker() -> None:
    book, company = one_company()
    other = book.company("demo:2", "Ardent Mills Finance LLC")
    point = book.value(book.line(company, "Income statement | Sales"), "5000000")
    rival = book.value(book.line(other, "Income statement | Sales"), "6000000")
    assert rivals_of(book, point) == [Rival(rival, Cause.COMPANY)]
    assert rivals_of(book, rival) == []  # the longer name is not begun by the shorter one's
    question = ask(book, point)
    assert question.sharpened == (Sharpening.TICKER,)
    assert "ticker ARDM" in question.text


def test_company_of_the_same_name_without_ticker_is_told_by_its_register() -> None:
    book = Book()
    points = []
    for number in (1, 2):
        company = book.company(f"sec:{number}00", "Ardent Mills Inc.", source="sec")
        points.append(book.value(book.line(company, "Income statement | Sales"), "5000000"))
    question = ask(book, points[0])
    assert question.sharpened == (Sharpening.REGISTER,)
    assert "SEC CIK 100" in question.text


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("Statement of equity | Inventory", (Sharpening.STATEMENT,)),
    ],
)
def test_other_lines_that_fit_are_told_apart(name: str, taken: tuple[Sharpening, ...]) -> None:
    book, company = one_company()
    line = book.line(company, "Balance sheet | Current assets | Inventory", concept="own")
    point = book.value(line, "5000000", months=0)
    rival = book.value(book.line(company, name, concept="other"), "6000000", months=0)
    assert rivals_of(book, point) == [Rival(rival, Cause.SERIES)]
    assert ask(book, point).sharpened == taken


def test_two_lines_of_one_label_and_place_are_rejected_with_the_rival_named() -> None:
    book, company = one_company()
    lines = [
        book.line(company, "Balance sheet | Assets | Deposits", concept=concept)
        for concept in ("first", "second")
    ]
    point, rival = (book.value(line, "5000000", months=0) for line in lines)
    requests = make_questions(drawn(point), book.close(), CONFIG, 7)
    (row,) = requests.rejections
    assert row.reason == QuestionReason.AMBIGUOUS
    assert row.evidence == {"rival": rival, "cause": "series"}  # though the values are equal


def test_one_fact_in_two_statements_is_no_rival() -> None:
    book, company = one_company()
    names = ("Income statement | Profit", "Cash flow statement | Profit")
    lines = [book.line(company, name, concept="ProfitLoss") for name in names]
    point = book.value(lines[0], "5000000")
    book.value(lines[1], "5000000.0")
    assert rivals_of(book, point) == []


def test_the_same_concept_with_another_value_is_a_rival() -> None:
    book, company = one_company()
    names = ("Income statement | Profit", "Cash flow statement | Profit")
    lines = [book.line(company, name, concept="ProfitLoss") for name in names]
    point = book.value(lines[0], "5000000")
    rival = book.value(lines[1], "4000000")
    assert rivals_of(book, point) == [Rival(rival, Cause.SERIES)]


def test_another_unit_does_not_fit() -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Sales"), "5000000")
    book.value(book.line(company, "Income statement | Sales", unit="JPY"), "700000000")
    assert rivals_of(book, point) == []


def test_year_names_of_both_conventions_need_the_days() -> None:
    book, company = one_company()
    line = book.line(company, "Income statement | Sales")
    result = {"fiscal_year": 2009, "period_start": date(2009, 4, 1)}
    point = book.value(line, "5000000", YEAR_END, **result)
    before = {"fiscal_year": 2008, "period_start": date(2008, 4, 1)}
    rival = book.value(line, "4000000", date(2009, 3, 31), **before)
    assert rivals_of(book, point) == [Rival(rival, Cause.PERIOD)]
    question = ask(book, point)
    assert question.sharpened == (Sharpening.DATES,)
    assert "for the fiscal year ended March 31, 2010" in question.text


def test_a_quarter_belongs_to_a_fiscal_year_of_two_names() -> None:
    book, company = one_company()
    line = book.line(company, "Income statement | Sales")
    result = {"months": 3, "fiscal_period": "Q1"}
    days = (date(2010, 4, 1), date(2009, 4, 1))
    ends = (date(2010, 6, 30), date(2009, 6, 30))
    point, rival = (
        book.value(line, "5", end, period_start=start, fiscal_year=start.year, **result)
        for start, end in zip(days, ends, strict=True)
    )
    assert rivals_of(book, point) == [Rival(rival, Cause.PERIOD)]
    assert ask(book, point).sharpened == (Sharpening.DATES,)


def test_a_quarter_and_the_year_to_date_do_not_fit_each_other() -> None:
    book, company = one_company()
    line = book.line(company, "Income statement | Sales")
    end = date(2010, 6, 30)
    point = book.value(line, "5000000", end, months=3, fiscal_period="Q2")
    book.value(line, "9000000", end, months=6, fiscal_period="H1")
    book.value(line, "9900000", end, months=0)
    assert rivals_of(book, point) == []


def test_a_restated_value_needs_the_filing() -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Sales"), "5000000")
    book.restated(point, "4900000", filed=date(2009, 6, 25))
    assert rivals_of(book, point) == [Rival(f"{point}-old", Cause.FILING)]
    assert " filing of June 25, 20" in ask(book, point).text


def test_a_dimension_names_its_path_and_leaves_the_total_alone() -> None:
    book, company = one_company()
    total = book.value(book.line(company, "Income statement | Sales"), "5000000")
    name = "Segments | Geography | Europe | Sales"
    line = book.line(company, name, dimensions="Geography=Europe", statement="Income statement")
    part = book.value(line, "2000000")
    assert rivals_of(book, total) == []
    question = ask(book, part)
    assert "sales in Europe in the income statement for" in question.text


def test_words_that_add_nothing_are_not_used() -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Profit"), "5000000")
    for name in ("Income statement | Profit attributable to owners of parent", "Segments | Profit"):
        book.value(book.line(company, name, concept=name), "6000000")
    assert ask(book, point).sharpened == (Sharpening.WHOLE, Sharpening.STATEMENT)


@pytest.mark.parametrize(
    ("other", "value", "whole"),
    [
        ("Profit attributable to owners of parent", "4000000", True),
        ("Profit attributable to owners of parent", "5000000", False),
        ("Profit before income taxes", "6000000", False),
    ],
)
def test_profit_is_said_to_be_whole_where_a_part_of_it_is_the_owners(
    other: str, value: str, whole: bool
) -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Profit"), "5000000")
    book.value(book.line(company, f"Income statement | {other}"), value)
    text = ask(book, point).text
    assert ("net profit, including non-controlling interests," in text) == whole
    assert "net profit" in text


def test_a_line_that_begins_like_another_is_not_asked_about() -> None:
    book, company = one_company()
    line = book.line(company, "Balance sheet | Current assets | Inventory", concept="own")
    point = book.value(line, "5000000", months=0)
    book.value(
        book.line(company, "Balance sheet | Current assets | Inventory, net"), "6000000", months=0
    )
    (row,) = make_questions(drawn(point), book.close(), CONFIG, 7).rejections
    assert row.reason == QuestionReason.AMBIGUOUS


def test_a_total_is_not_the_beginning_of_another_line() -> None:
    book, company = one_company()
    names = ("Liabilities, Current", "Liabilities of discontinued operations, current")
    lines = [book.line(company, f"Balance sheet | {name}") for name in names]
    point, _ = (book.value(line, f"{at + 5}000000", months=0) for at, line in enumerate(lines))
    assert ask(book, point).sharpened == ()


@pytest.mark.parametrize(
    ("more", "value", "reason"),
    [
        ({"label_method": "untranslated"}, "5", QuestionReason.UNTRANSLATED),
        ({"label": "売上高"}, "5", QuestionReason.UNTRANSLATED),
        ({"unit": "acre-feet"}, "5", QuestionReason.UNKNOWN_UNIT),
        ({"unit": "USD/share"}, "0.123456", QuestionReason.TOO_PRECISE),
        ({}, "－", QuestionReason.NO_VALUE),
        ({}, "0.00", QuestionReason.ZERO_VALUE),
        ({"label": "Impairment losses"}, "-5", QuestionReason.SIGN_UNCLEAR),
        ({"label": "Stock of 1,234,500 bags"}, "1234500", QuestionReason.VALUE_IN_WORDS),
        ({"label": "x " * 30}, "5", QuestionReason.LABEL_TOO_LONG),
    ],
)
def test_points_that_are_not_asked(
    more: dict[str, str], value: str, reason: QuestionReason
) -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Sales", **more), value)
    requests = make_questions(drawn(point), book.close(), CONFIG, 7)
    assert [row.reason for row in requests.rejections] == [reason]
    assert requests.tally.counts[Outcome.REJECTED] == 1


_LABELS = st.sampled_from(
    ["Sales", "Sales, net", "Other", "Assets", "Deposits", "Net loss", "Net Income (Loss)"]
)
_NAMES = st.sampled_from(["Ardent Mills Inc.", "Ardent Mills Corp.", "Borel AG", "BOREL"])
_LINES = st.tuples(
    st.integers(0, 3), st.sampled_from(["Balance sheet", "Income statement"]),
    st.sampled_from(["", "Current", "Long-term"]), _LABELS, st.integers(-(10**9), 10**9),
)  # fmt: skip


def _book(names: list[str], lines: list[tuple[int, str, str, str, int]]) -> tuple[Book, list[str]]:
    book = Book()
    points: dict[str, None] = {}  # a line met twice gives one point
    companies = [book.company(f"demo:{at}", name) for at, name in enumerate(names)]
    for at, (who, statement, section, label, value) in enumerate(lines):
        name = " | ".join(part for part in (statement, section, label) if part)
        line = book.line(companies[who % len(companies)], name, concept=f"c{at}")
        months = 0 if statement == "Balance sheet" else 12
        points[book.value(line, str(value), months=months)] = None
    return book, list(points)


@settings(max_examples=40)
@given(names=st.lists(_NAMES, min_size=1, max_size=4), lines=st.lists(_LINES, max_size=12))
def test_no_question_has_a_rival_and_order_does_not_matter(
    names: list[str], lines: list[tuple[int, str, str, str, int]]
) -> None:
    book, points = _book(names, lines)
    statements = book.close()
    requests = make_questions(drawn(*points), statements, CONFIG, 7)
    assert len(requests.questions) + len(requests.rejections) == len(points)
    database = index_database(statements, CONFIG.round_share)
    for question in requests.questions:
        slots = Slots(question.company, question.series, question.point, question.sharpened)
        assert rivals(slots, database) == []
    texts = [question.text for question in requests.questions]
    assert len(set(texts)) == len(texts)
    turned = Statements(
        *(
            getattr(statements, name).reverse()
            for name in ("companies", "series", "points", "history", "rows")
        )
    )
    again = make_questions(drawn(*points).reverse(), turned, CONFIG, 7)
    assert again.questions == requests.questions
    assert again.ledger == requests.ledger


def test_the_index_may_be_shared() -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Sales"), "5")
    statements = book.close()
    database = index_database(statements, CONFIG.round_share)
    empty = pl.DataFrame()
    bare = Statements(empty, empty, empty, empty, empty)
    alone = make_questions(drawn(point), statements, CONFIG, 7)
    assert make_questions(drawn(point), bare, CONFIG, 7, database) == alone
