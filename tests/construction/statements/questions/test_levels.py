"""Levels: what makes questions harder, and that two values lead to the answer by the steps."""

from __future__ import annotations

from datetime import date

import pytest

from construction.grading.grade import grade
from construction.grading.oracle import oracle
from construction.grading.spec import spec_of
from construction.statements.labels import _default_table
from construction.statements.questions.ambiguity import index_database
from construction.statements.questions.contracts import (
    Level,
    LevelConfig,
    Means,
    Operation,
    Question,
    QuestionConfig,
)
from construction.statements.questions.levels import level_counts, leveled
from construction.statements.questions.make import make_questions
from construction.statements.questions.output import candidate_of
from construction.statements.questions.wording import SYNONYMS, phrase_of
from construction.statements.tools import database as tools
from tests.construction.statements.questions.small import Book, drawn

ALL_MEDIUM, ALL_HARD = LevelConfig(medium=1, hard=0), LevelConfig(medium=0, hard=1)
QUARTER = {"months": 3, "fiscal_period": "Q1", "period_type": "quarter", "calendar_period": None}


def made(book: Book, levels: LevelConfig, *points: str) -> list[Question]:
    statements, config = book.close(), QuestionConfig(levels=levels)
    easy = make_questions(drawn(*points), statements, config, 7).questions
    askable = statements.points["point_id"].to_list()
    index = index_database(statements, config.round_share)
    return leveled(easy, index, config, frozenset(askable), 7)


def oracle_passes(book: Book, question: Question) -> bool:
    statements = book.close()
    database = tools.index_database(statements.companies, statements.series, statements.points)
    spec = spec_of(candidate_of(question, "q-1").model_dump(mode="json"))
    return grade(spec, oracle(spec, database)).overall == 1


def quarters(book: Book, company: str, name: str, before: str, now: str) -> tuple[str, str]:
    """Two first quarters of fiscal years that end in March."""
    line = book.line(company, name)
    return (
        book.value(line, before, date(2009, 6, 30), period_start=date(2009, 4, 1),
                   **QUARTER | {"fiscal_year": 2010}),
        book.value(line, now, date(2010, 6, 30), period_start=date(2010, 4, 1),
                   **QUARTER | {"fiscal_year": 2011}),
    )  # fmt: skip


def test_a_synonym_replaces_the_label_and_the_period_loses_its_dates() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    _, now = quarters(book, company, "Income statement | Cost of sales", "4000000", "5000000")
    (question,) = made(book, ALL_MEDIUM, now)
    assert question.level is Level.MEDIUM
    assert question.means == (Means.SYNONYM, Means.UNDATED_PERIOD)
    assert "cost of goods sold" in question.text
    assert "cost of sales" not in question.text
    assert "for the first quarter of the fiscal year ending March 2011" in question.text.replace(
        "For the", "for the"
    )
    assert "2010" not in question.text
    assert candidate_of(question, "q-1").difficulty == "medium"
    assert oracle_passes(book, question)


def test_no_synonym_that_another_line_shares() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    sales = book.line(company, "Income statement | Cost of sales")
    other = book.line(company, "Income statement | Cost of goods sold")
    point = book.value(sales, "5000000")
    book.value(other, "6000000")
    (question,) = made(book, ALL_MEDIUM, point)
    assert question.level is Level.EASY


def test_the_label_of_the_filing_makes_a_question_harder() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(company, "Income statement | Raw material expense", balance="debit")
    point = book.value(line, "5000000")
    book.row(1, "Costs of grain bought", line, company_id=company)
    (question,) = made(book, ALL_MEDIUM, point)
    assert (question.level, question.means) == (Level.MEDIUM, (Means.FILER_WORDING,))
    assert "costs of grain bought" in question.text


def test_two_values_make_a_growth_or_a_difference() -> None:
    seen = set()
    for name in ("Net sales", "Cost of sales", "Interest expense", "Gross profit", "Net profit"):
        book = Book()
        company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
        before, now = quarters(book, company, f"Income statement | {name}", "4000000", "5000000")
        (question,) = made(book, ALL_HARD, now)
        if question.level is Level.EASY:
            continue
        assert question.combined is not None
        assert (question.point_id, question.combined.point.point_id) == (now, before)
        assert Means.TWO_POINTS in question.means
        assert "the same period a year later" in question.text
        expected = {"growth": "25.0 percent", "difference": "1 million US dollars"}
        assert question.answer == expected[question.combined.operation]
        assert oracle_passes(book, question)
        candidate = candidate_of(question, "q-1")
        assert candidate.difficulty == "hard"
        values = [stone.value for stone in candidate.milestones if stone.type == "number"]
        assert values == ["5000000", "4000000"]
        seen.add(question.combined.operation)
    assert seen == {Operation.GROWTH, Operation.DIFFERENCE}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Cash and cash equivalents", "cash and cash equivalents"),
    ],
)
def test_a_line_is_set_in_relation_to_the_whole(name: str, words: str) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    cash = book.line(company, f"Balance sheet | {name}")
    total = book.line(company, "Balance sheet | Total assets")
    point = book.value(cash, "1000000", months=0)
    whole = book.value(total, "8000000", months=0)
    (question,) = made(book, ALL_HARD, point)
    assert question.combined is not None
    assert (question.combined.operation, question.combined.point.point_id) == ("ratio", whole)
    assert question.answer == "12.5 percent"
    assert f"Ardent Mills Inc.'s {words} as a percentage of its total assets" in question.text
    assert oracle_passes(book, question)


@pytest.mark.parametrize(
    ("name", "is_asked"),
    [
        ("Common Stock, Value, Issued", False),
        ("Treasury Stock, Value", False),
        ("Capital stock", False),
        ("Foreign currency translation adjustment", False),
        ("Goodwill", True),
        ("Retained earnings", True),
    ],
)
def test_what_says_nothing_about_a_whole_is_not_set_in_relation_to_it(
    name: str, *, is_asked: bool
) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    point = book.value(book.line(company, f"Balance sheet | {name}"), "1000000", months=0)
    book.value(book.line(company, "Balance sheet | Total assets"), "8000000", months=0)
    (question,) = made(book, ALL_HARD, point)
    assert (question.combined is not None) == is_asked


@pytest.mark.parametrize(
    ("company", "line", "inside"),
    [
        (
            "Ardent Mills Inc.",
            "Cost of products sold",
            "was Ardent Mills Inc.'s cost of products sold as",
        ),
        (
            "Ardent Mills Co., Ltd.",
            "Cost of products sold",
            "",
        ),
        (
            "Ardent Mills Co., Ltd.",
            "Operating costs and expenses",
            "were the operating costs and expenses of Ardent Mills Co., Ltd. as",
        ),
    ],
)
def test_a_ratio_has_the_owner_at_the_right_noun_and_the_printed_whole(
    company: str, line: str, inside: str
) -> None:
    book = Book()
    own = book.company("sec:1", company, source="sec")
    cost = book.line(own, f"Income statement | {line}", balance="debit")
    sales = book.line(own, "Income statement | Revenue, Net", balance="credit")
    point = book.value(cost, "1000000")
    book.value(sales, "8000000", line=2)
    printed = "Cost of products sold" if "sold" in line else "Operating costs and expenses"
    book.row(1, printed, cost, company_id=own, statement="Income statement")
    book.row(2, "Net sales", sales, company_id=own, statement="Income statement")
    (question,) = made(book, ALL_HARD, point)
    assert inside in question.text
    assert (question.combined is None) == (inside == "")  # no owner goes ahead of its question
    assert not inside or "net sales" in question.text
    assert "revenue" not in question.text


def test_values_that_two_filings_scale_otherwise_make_no_difference() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(company, "Income statement | Net sales")
    exact = QUARTER | {"document": "doc-0", "filed": date(2009, 8, 1), "fiscal_year": 2010}
    book.value(line, "4000123", date(2009, 6, 30), period_start=date(2009, 4, 1), **exact)
    now = book.value(line, "5000000", date(2010, 6, 30), period_start=date(2010, 4, 1),
                     **QUARTER | {"fiscal_year": 2011})  # fmt: skip
    (question,) = made(book, ALL_HARD, now)
    assert question.combined is not None
    assert question.combined.operation is Operation.GROWTH


def test_a_value_that_is_not_askable_is_no_second_one() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    before, now = quarters(book, company, "Income statement | Net sales", "4000000", "5000000")
    statements, config = book.close(), QuestionConfig(levels=ALL_HARD)
    easy = make_questions(drawn(now), statements, config, 7).questions
    index = index_database(statements, config.round_share)
    (question,) = leveled(easy, index, config, frozenset([now]), 7)
    assert question.level is Level.EASY
    assert before not in str(question)


def test_shares_are_counted_and_their_order_is_keyed() -> None:
    book = Book()
    points = []
    for number in range(10):
        company = book.company(f"sec:{number}", f"Mill{number:02} Works Inc.", source="sec")
        points += [quarters(book, company, "Income statement | Net sales", "4000000", "5000000")[1]]
    levels = LevelConfig(medium=0.3, hard=0.2)
    questions = made(book, levels, *points)
    counts = level_counts(questions, QuestionConfig(levels=levels))
    assert counts["questions"] == {"easy": 5, "medium": 3, "hard": 2}
    assert counts["means"]["two_points"] == 2
    assert made(book, levels, *reversed(points)) == questions


def test_shares_of_more_than_all_are_refused() -> None:
    with pytest.raises(ValueError, match="add up to at most 1"):
        LevelConfig(medium=0.7, hard=0.4)


def test_synonyms_are_finished_phrases_of_known_lines_and_differ_from_them() -> None:
    for phrase, synonym in SYNONYMS.items():
        assert phrase_of(phrase).text == phrase
        assert phrase_of(synonym).text == synonym
        assert phrase_of(synonym).bag != phrase_of(phrase).bag


def test_no_synonym_is_the_name_of_another_known_line() -> None:
    """Whatever the label table knows: a line that has a synonym's words is the same figure."""
    known = {phrase_of(english) for rows in _default_table().values() for english in rows.values()}
    known |= {phrase_of(phrase) for phrase in SYNONYMS}
    for phrase, synonym in SYNONYMS.items():
        named = {line.text for line in known if line.bag == phrase_of(synonym).bag}
        others = {text for text in named if SYNONYMS.get(text) != synonym}
        same = {"minority interests", "equity attributable to owners of the parent"}
        assert others <= same, (phrase, others)


@pytest.mark.parametrize(
    ("now", "more", "said"),
    [
        (date(2022, 12, 31), {}, "from the year ended December 31, 2021 to the year ended "
         "December 31, 2022"),
        (date(2022, 12, 31), {"months": 0}, "from December 31, 2021 to December 31, 2022"),
    ],
)  # fmt: skip
def test_a_change_names_each_period_once(now: date, more: dict[str, int], said: str) -> None:
    book = Book()
    company = book.company("demo:1", "Ardent Mills Inc.")
    statement = "Balance sheet" if more else "Income statement"
    line = book.line(company, f"{statement} | Inventories" if more else f"{statement} | Net sales")
    points = [
        book.value(line, value, now.replace(year=year), document=str(year), **more,
                   period_start=None if more else date(year, 1, 1))
        for year, value in ((2021, "4000000"), (2022, "5000000"))
    ]  # fmt: skip
    (question,) = made(book, ALL_HARD, points[1])
    assert question.level is Level.HARD
    assert said in question.text and "(" not in question.text
    assert "fiscal year" not in question.text


@pytest.mark.parametrize("is_balance", [True, False])
def test_a_change_between_a_day_and_a_name_is_not_asked(is_balance: bool) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    book.conventions.append({"company_id": company, "days": "rounded", "named_by": "end"})
    now = date(2010, 12, 31)
    book.closings.append({"company_id": company, "period_end": now, "closed": date(2010, 12, 28)})
    path = "Balance sheet | Total assets" if is_balance else "Income statement | Net sales"
    line, more = book.line(company, path), {"months": 0, "period_type": "instant"}
    points = [
        book.value(line, value, now.replace(year=year), document=str(year),
                   **(more if is_balance else {"period_start": date(year, 1, 1)}))
        for year, value in ((2009, "4000000"), (2010, "5000000"))
    ]  # fmt: skip
    (question,) = made(book, ALL_HARD, points[1])
    assert question.combined is None
