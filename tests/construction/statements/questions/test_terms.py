"""How questions name periods: by the company's own names where they are known, else by days."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest

from construction.statements.questions.ambiguity import index_database
from construction.statements.questions.contracts import (
    LevelConfig,
    QuestionConfig,
    QuestionReason,
)
from construction.statements.questions.levels import leveled
from construction.statements.questions.make import make_questions
from construction.statements.tools.agent_tools import get_company_fundamentals
from construction.statements.tools.database import Fundamentals
from construction.statements.tools.database import index_database as index_tools
from tests.construction.statements.questions.small import Book, drawn

_JANUARY, _APRIL = date(2010, 1, 31), date(2010, 4, 30)
_YEAR = {"period_start": date(2009, 2, 1), "fiscal_year": 2010}
_QUARTER = {"period_start": date(2010, 2, 1), "fiscal_year": 2011, "fiscal_period": "Q1",
            "months": 3}  # fmt: skip


def question_text(
    end: date, convention: dict[str, Any], closed: date | None = None, **point: Any
) -> str:
    """The question about net sales, or for an instant about goodwill."""
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    book.conventions.append({"company_id": company} | convention)
    if closed is not None:
        book.closings.append({"company_id": company, "period_end": end, "closed": closed})
    name = "Income statement | Net sales" if point.get("months", 12) else "Balance sheet | Goodwill"
    made_of = book.value(book.line(company, name), "5000000", end, **point)
    config = QuestionConfig(levels=LevelConfig(medium=0, hard=0))
    (question,) = make_questions(drawn(made_of), book.close(), config, seed=7).questions
    return question.text


@pytest.mark.parametrize(
    ("convention", "point", "words"),
    [
        ({"days": "stated"}, _YEAR, "the fiscal year ended January 31, 2010"),
        (
            {"days": "stated", "term_offset": -1950},
            _YEAR,
            "the fiscal year ended January 31, 2010",
        ),
        (
            {"days": "stated", "named_by": "end"},
            _YEAR,
            "fiscal 2010 (the year ended January 31, 2010)",
        ),
        (
            {"days": "stated", "named_by": "start"},
            _YEAR | {"fiscal_year": 2009},
            "fiscal 2009 (the year ended January 31, 2010)",
        ),
    ],
)
def test_a_year_is_named_only_where_its_name_is_known(
    convention: dict[str, Any], point: dict[str, Any], words: str
) -> None:
    assert f"or {words}," in question_text(_JANUARY, convention, **point)


@pytest.mark.parametrize(
    ("convention", "closed", "words"),
    [
        (
            {"days": "stated"},
            None,
            "the three months ended April 30, 2010",
        ),
        (
            {"days": "rounded"},
            date(2010, 5, 1),
            "the quarter ended May 1, 2010",
        ),
        ({"named_by": "end"}, None, "the first quarter of fiscal 2011"),
        (
            {"days": "rounded", "named_by": "end"},
            date(2010, 5, 1),
            "the first quarter of fiscal 2011 (the quarter ended May 1, 2010)",
        ),
    ],
)
def test_a_quarter_has_its_true_last_day_or_its_name(
    convention: dict[str, Any], closed: date | None, words: str
) -> None:
    assert f"or {words}," in question_text(_APRIL, convention, closed, **_QUARTER)


@pytest.mark.parametrize(
    ("convention", "closed", "words"),
    [
        ({"days": "stated"}, None, "as of January 31, 2010"),
        ({"days": "rounded"}, date(2010, 1, 30), "as of January 30, 2010"),
        ({"days": "rounded", "named_by": "end"}, None, "at the end of fiscal 2010,"),
    ],
)
def test_a_balance_has_no_invented_day(
    convention: dict[str, Any], closed: date | None, words: str
) -> None:
    text = question_text(_JANUARY, convention, closed, months=0)
    assert words in text.replace("As of", "as of")


@pytest.mark.parametrize("convention", [{"days": "rounded"}, {"named_by": "start"}, {}])
@pytest.mark.parametrize("months", [0, 12])
def test_a_period_without_day_and_clear_name_is_not_asked(
    convention: dict[str, Any], months: int
) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    book.conventions.append({"company_id": company} | convention)
    line = book.line(company, "Income statement | Net sales")
    point = book.value(line, "5000000", _JANUARY, **_YEAR | {"months": months})
    (row,) = make_questions(drawn(point), book.close(), QuestionConfig(), seed=7).rejections
    assert row.reason == QuestionReason.PERIOD_UNNAMED


@pytest.mark.parametrize("part", ["FY", "Q2"])
def test_a_calendar_period_needs_no_day(part: str) -> None:
    months, start, end = (
        (12, date(2009, 1, 1), date(2009, 12, 31))
        if part == "FY"
        else (3, date(2009, 4, 1), date(2009, 6, 30))
    )
    point: dict[str, Any] = {
        "period_start": start,
        "fiscal_year": 2009,
        "fiscal_period": part,
        "months": months,
    }
    text = question_text(end, {"days": "rounded", "evidence": "calendar"}, **point)
    assert "fiscal year 2009," in text
    assert "ended" not in text


def _period_in(question: str) -> str:
    """The words for its period, which an agent may hand to a tool."""
    said = re.search(r"\b(?:for|as of|at the end of) .*?\b2022\b(?: \([^)]*\))?", question, re.I)
    assert said is not None
    return said[0]


@pytest.mark.parametrize(
    ("closed", "part", "start", "end", "words"),
    [
        # the year closed in March, and the next one in December
        (date(2022, 3, 31), "Q2", date(2022, 4, 1), date(2022, 6, 30), "April 1 to June 30, 2022"),
        (date(2022, 3, 31), "Q3", None, date(2022, 9, 30), "as of September 30, 2022"),
        (date(2022, 3, 31), "Q4", date(2022, 10, 1), date(2022, 12, 31),
         "October 1 to December 31, 2022"),
        (date(2021, 12, 31), "Q2", date(2022, 4, 1), date(2022, 6, 30), "the second quarter of"),
        (date(2022, 1, 2), "Q3", date(2022, 7, 1), date(2022, 9, 30), "the third quarter of"),
        (date(2022, 12, 31), "Q3", date(2022, 7, 1), date(2022, 9, 30), "the third quarter of"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("medium", [0, 1])
def test_parts_of_a_year_that_another_year_overlaps_are_named_by_days(
    closed: date, part: str, start: date | None, end: date, words: str, medium: int
) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    sales = book.line(company, "Income statement | Net sales")
    book.value(sales, "7000000", closed, document="doc-0")
    line = sales if start else book.line(company, "Balance sheet | Goodwill")
    point = book.value(line, "5000000", end, period_start=start, fiscal_period=part,
                       fiscal_year=2022, months=3 if start else 0)  # fmt: skip
    config = QuestionConfig(levels=LevelConfig(medium=medium, hard=0))
    statements = book.close()
    batch = make_questions(drawn(point), statements, config, 7)
    (question,) = leveled(batch.questions, index_database(statements, 0.6), config, (), 7)
    assert words in question.text
    assert ("quarter" in question.text) == ("quarter" in words)
    tables = (statements.companies, statements.series, statements.points, statements.history)
    answer = get_company_fundamentals(
        index_tools(*tables), company, series_id=line, period=_period_in(question.text)
    )
    assert isinstance(answer, Fundamentals)
    assert [value.period_end for value in answer.values] == [end.isoformat()]
