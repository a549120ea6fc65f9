"""Which filing a question names, and what the answer check makes of the value of another one."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from construction.grading.answers.check import check_answer
from construction.grading.answers.lexicon import ErrorReason
from construction.grading.grade import grade
from construction.grading.oracle import oracle
from construction.grading.spec import spec_of
from construction.statements.questions.contracts import (
    Level,
    Means,
    Question,
    QuestionConfig,
    QuestionReason,
)
from construction.statements.questions.make import make_questions
from construction.statements.questions.output import candidate_of
from construction.statements.tools import database as tools
from data.contracts.attempt import Submission
from tests.construction.statements.questions.small import Book, drawn

NEW, OLD = date(2010, 6, 25), date(2009, 6, 25)


def restated(number: int, value: str = "5000000", old: str = "4900000") -> tuple[Book, str]:
    book = Book()
    company = book.company("sec:1", f"Ardent Mills{number} Inc.", source="sec")
    line = book.line(company, "Income statement | Operating income", concept=f"Income{number}")
    point = book.value(line, value, filed=NEW)
    book.restated(point, old, filed=OLD)
    return book, point


def question_of(book: Book, point: str) -> Question:
    (question,) = make_questions(drawn(point), book.close(), QuestionConfig(), 7).questions
    return question


def versions() -> dict[bool, tuple[Book, Question]]:
    """A question about the first value (True) and about the restated one (False)."""
    made: dict[bool, tuple[Book, Question]] = {}
    for number in range(40):
        book, point = restated(number)
        question = question_of(book, point)
        made.setdefault(question.point.replaced_by is not None, (book, question))
    return made


def test_both_versions_are_asked_for_with_their_own_words_and_values() -> None:
    made = versions()
    first, last = made[True][1], made[False][1]
    assert "ccording to its original filing of June 25, 2009" in first.text
    assert (first.answer, first.gold.elsewhere) == ("4.9 million US dollars", (Decimal(5000000),))
    assert "ccording to the restated figures in its filing of June 25, 2010" in last.text
    assert (last.answer, last.gold.elsewhere) == ("5 million US dollars", (Decimal(4900000),))
    assert first.point_id == first.point.replaced_by


def test_the_value_of_the_other_filing_is_rejected_by_name() -> None:
    for _, question in versions().values():
        (other,) = question.gold.elsewhere
        for answer in (f"{other:,} US dollars", f"Operating income was ${other / 10**6} million."):
            check = check_answer(answer, question.gold, question.text)
            assert check.error_reason is ErrorReason.OTHER_FILING
        spec = spec_of(candidate_of(question, "q-1").model_dump(mode="json"))
        assert grade(spec, Submission(answer=f"{other} US dollars")).overall == 0


@pytest.mark.parametrize(
    "answer",
    [
        "It was originally reported as $4.9 million and later restated to $5 million.",
        "The restated figure is $5 million; as originally reported it was $4.9 million.",
        "$4.9 million as originally filed, $5.0 million as restated in 2010.",
        "Before the restatement it was 4,900,000 dollars, after it 5,000,000 dollars.",
        "当初の開示では4,900,000ドル、修正再表示後は5,000,000ドル。",
    ],
)
def test_an_answer_with_both_values_is_read_for_the_one_asked_for(answer: str) -> None:
    for _, question in versions().values():
        check = check_answer(answer, question.gold, question.text)
        assert check.is_correct, (question.text, check)


def test_the_reference_steps_reach_either_version() -> None:
    for book, question in versions().values():
        frames = book.close()
        database = tools.index_database(
            frames.companies, frames.series, frames.points, frames.history
        )
        spec = spec_of(candidate_of(question, "q-1").model_dump(mode="json"))
        assert grade(spec, oracle(spec, database)).overall == 1


def test_a_comparative_names_its_filing_and_the_period_of_the_filing_does_not() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(company, "Income statement | Operating income")
    before = book.value(
        line,
        "4000000",
        date(2009, 3, 31),
        filed=NEW,
        fiscal_year=2009,
        period_start=date(2008, 4, 1),
    )
    now = book.value(line, "5000000", date(2010, 3, 31), filed=NEW)
    assert "ccording to its filing of June 25, 2010" in question_of(book, before).text
    assert "filing" not in question_of(book, now).text


@pytest.mark.parametrize(
    ("end", "is_named"), [(date(2009, 3, 31), False), (date(2008, 3, 31), True)]
)
def test_only_a_balance_from_before_the_last_year_names_its_filing(
    end: date, *, is_named: bool
) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(company, "Balance sheet | Goodwill")
    point = book.value(line, "4000000", end, months=0, filed=NEW, fiscal_year=end.year)
    book.value(line, "5000000", date(2010, 3, 31), months=0, filed=NEW)
    assert ("filing" in question_of(book, point).text) == is_named


def test_a_forecast_does_not_make_its_filing_one_about_a_later_period() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(company, "Income statement | Operating income")
    ahead = book.line(company, "Guidance | Operating income", concept="forecast")
    now = book.value(line, "5000000", date(2010, 3, 31), filed=NEW)
    book.value(ahead, "6000000", date(2011, 3, 31), filed=NEW)
    assert "filing" not in question_of(book, now).text


def test_an_original_that_is_zero_or_of_the_same_day_is_not_asked_for() -> None:
    for number in range(20):
        book, point = restated(number, old="0")
        assert "restated figures" in question_of(book, point).text


def cash_flow(order: tuple[str, ...]) -> str:
    """The question about the change in cash of a statement with these rows."""
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    points = {}
    for at, label in enumerate(order, 1):
        line = book.line(company, f"Cash flow statement | {label}")
        points[label] = book.value(line, f"{at}000000", line=at, filed=NEW)
        book.row(at, label, line, company_id=company)
    return question_of(book, points["Cash, Period Increase (Decrease)"]).text


def test_a_change_in_cash_above_the_exchange_effect_says_that_it_lacks_it() -> None:
    change, effect = "Cash, Period Increase (Decrease)", "Effect of Exchange Rate on Cash"
    words = "before the effect of exchange rate changes"
    assert words in cash_flow((change, effect, "Cash at End of Period"))
    assert words not in cash_flow((effect, change, "Cash at End of Period"))
    assert words not in cash_flow((change, "Cash at End of Period"))


def test_a_forecast_names_the_day_on_which_it_was_announced_and_its_period() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(company, "Guidance | Operating income")
    point = book.value(line, "6000000", date(2011, 3, 31), filed=NEW)
    text = question_of(book, point).text
    assert "n its filing of June 25, 2010" in text
    assert "fiscal year 2011" in text


@pytest.mark.parametrize("old", ["5000", "5", "-5000000"])
def test_a_slip_of_scale_or_sign_is_no_restatement(old: str) -> None:
    for number in range(6):
        book, point = restated(number, old=old)
        assert "filing" not in question_of(book, point).text


def test_levels_record_the_restatement() -> None:
    assert Means.RESTATED not in versions()[True][1].means
    assert versions()[True][1].level is Level.EASY


@pytest.mark.parametrize(
    ("value", "others", "unit", "is_asked"),
    [
        ("1907930725", ("57823000", "49573000", "37050000"), "USD", False),
        ("1907930000", ("57823000", "49573000", "37050000"), "USD", True),
        ("-1907930725", ("57000000", "49000000", "-37000000"), "USD", False),
        ("1907930000", ("57000000", "49000000", "37000000"), "USD", True),
        ("1907930725", ("57823001", "49573002", "37050003"), "USD", True),
        ("1907930725", ("57823000", "49573000", "37050000"), "shares", True),
    ],
)
def test_an_amount_finer_than_its_statement_is_not_asked(
    value: str, others: tuple[str, ...], unit: str, is_asked: bool
) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    lines = [book.line(company, f"Balance sheet | Mill assets {at}", unit=unit) for at in range(4)]
    point, *_ = [
        book.value(line, amount, months=0)
        for line, amount in zip(lines, (value, *others), strict=True)
    ]
    batch = make_questions(drawn(point), book.close(), QuestionConfig(), 7)
    reasons = [row.reason for row in batch.rejections]
    assert reasons == ([] if is_asked else [QuestionReason.TOO_PRECISE])
