"""Whole questions: sentences fit their nouns, lines stand once, odd periods have their days."""

from __future__ import annotations

import pytest

from construction.statements.questions.contracts import (
    Question,
    QuestionConfig,
    QuestionReason,
    Sharpening,
)
from construction.statements.questions.make import make_questions
from construction.statements.questions.naming import possessive
from construction.statements.questions.templates import Words, sentence
from construction.statements.questions.wording import phrase_of
from data.errors import InputError
from tests.construction.statements.questions.small import Book, drawn

CONFIG = QuestionConfig()


def ask(book: Book, point_id: str) -> Question:
    return make_questions(drawn(point_id), book.close(), CONFIG, 7).questions[0]


def one_company() -> tuple[Book, str]:
    book = Book()
    return book, book.company("demo:1", "Ardent Mills Inc.", ticker="ARDM")


def all_variants(label: str, *, identified: str = "", unit: str = "in US dollars") -> set[str]:
    words = Words(
        company="Ardent",
        identified=identified,
        metric=phrase_of(label),
        location="",
        line="",
        period="for fiscal year 2010",
        unit=unit,
        filing="",
        sign="",
    )
    return {sentence(words, choice) for choice in range(12)}


@pytest.mark.parametrize(
    ("label", "inside"),
    [
        ("Dividends paid", "ow much in dividends did Ardent pay"),
        ("Common Stock, Shares Authorized", "ow many common shares did Ardent have authorized"),
        ("Treasury Stock, Value", "hat was the value of Ardent's treasury stock"),
    ],
)
def test_kinds_that_have_their_own_sentence(label: str, inside: str) -> None:
    assert all(inside in text for text in all_variants(label))


def test_shares_are_counted_without_their_unit() -> None:
    label = "Common Stock, Shares Authorized"
    assert not any("in shares" in text for text in all_variants(label, unit="in shares"))
    scaled = all_variants(label, unit="in millions of shares")
    assert all("in millions of shares" in text for text in scaled)


def test_sentences_fit_the_number_of_the_noun() -> None:
    plural, singular = all_variants("Net sales"), all_variants("Effect of exchange rates")
    assert any("How much did Ardent report in net sales" in text for text in plural)
    assert not any(" was " in text for text in plural)
    assert not any(" were " in text or "How much" in text for text in singular)
    assert any("How much goodwill did Ardent report" in text for text in all_variants("Goodwill"))


def test_a_ticker_stands_behind_the_name_without_possessive() -> None:
    for label in ("Net sales", "Income tax expense (benefit)"):
        result = all_variants(label, identified="ticker ARD")
        assert all("Ardent (ticker ARD)" in text and "'s" not in text for text in result)


def test_a_comma_closes_what_a_comma_opened_but_no_list() -> None:
    opened = all_variants("Revenue, oil and gas services")
    listed = all_variants("Selling, general and administrative expenses")
    assert any("services, for fiscal" in text for text in opened)
    assert not any("services for fiscal" in text for text in opened)
    assert not any("expenses, for fiscal" in text for text in listed)


def test_a_line_told_from_its_sibling_is_quoted_once() -> None:
    book, company = one_company()
    line = book.line(company, "Income statement | Interest Expense", concept="own")
    point = book.value(line, "5000000")
    other = book.line(company, "Income statement | Interest expense, net", concept="other")
    book.value(other, "6000000")
    question = ask(book, point)
    assert question.sharpened == (Sharpening.LINE,)
    assert question.text.lower().count("interest expense") == 1
    assert "the line item “Interest Expense”" in question.text


def test_totals_that_go_on_with_and_are_other_totals() -> None:
    book, company = one_company()
    names = ("Total liabilities", "Total liabilities and net assets")
    lines = [book.line(company, f"Balance sheet | {name}") for name in names]
    points = [book.value(line, f"{at + 5}000000", months=0) for at, line in enumerate(lines)]
    assert ask(book, points[0]).sharpened == ()


@pytest.mark.parametrize(
    ("other", "taken"),
    [
        ("Profit before income taxes", ()),
        ("Profit attributable to owners of parent", (Sharpening.LINE,)),
    ],
)
def test_net_profit_is_not_profit_before_taxes(other: str, taken: tuple[Sharpening, ...]) -> None:
    book, company = one_company()
    point, _ = (
        book.value(book.line(company, f"Income statement | {name}"), f"{at + 5}000000")
        for at, name in enumerate(("Profit", other))
    )
    assert ask(book, point).sharpened == taken


def test_plain_words_hide_no_rival_of_the_filed_words() -> None:
    book, company = one_company()
    names = ("Inventory", "Inventory, net")
    lines = [book.line(company, f"Balance sheet | Assets | {name}") for name in names]
    points = [book.value(line, f"{at + 5}000000", months=0) for at, line in enumerate(lines)]
    assert ask(book, points[0]).sharpened == (Sharpening.LINE,)
    assert "net inventory" in ask(book, points[1]).text


def test_names_in_s_take_an_apostrophe() -> None:
    assert possessive("Ardent Mills") == "Ardent Mills'"
    assert possessive("Ardent Inc.") == "Ardent Inc.'s"


@pytest.mark.parametrize(("value", "digits"), [("1234500", 5), ("8100000", 2), ("5000000", 1)])
def test_no_digit_of_a_value_is_rounded_away(value: str, digits: int) -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Sales"), value)
    for at in range(3):  # the statement is in millions
        book.value(book.line(company, f"Income statement | Item {at}"), "77000000")
    gold = ask(book, point).gold
    assert gold.value * gold.scale == int(value)
    shown = f"{gold.value:f}"
    bare = shown.rstrip("0") if "." in shown else shown
    assert len(bare.replace(".", "").rstrip("0")) == digits


def test_a_bare_label_is_asked_with_its_section_or_not_at_all() -> None:
    book, company = one_company()
    line = book.line(company, "Balance sheet | Current assets | Other")
    point = book.value(line, "5000000", months=0)
    result = "report as the line item “Other” under current assets in its balance sheet"
    assert result in ask(book, point).text
    alone = book.value(book.line(company, "Income statement | Other, net"), "5000000")
    rows = make_questions(drawn(alone), book.close(), CONFIG, 7).rejections
    assert [row.reason for row in rows] == [QuestionReason.BARE_LABEL]


def test_unknown_and_repeated_points_are_refused() -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Sales"), "5")
    for table in (drawn("elsewhere"), drawn(point, point), drawn(point).drop("pi_design")):
        with pytest.raises(InputError):
            make_questions(table, book.close(), CONFIG, 7)


def test_a_gain_that_a_cash_flow_statement_subtracts_is_no_loss() -> None:
    book, company = one_company()
    line = book.line(
        company, "Cash flow statement | Operating activities | Gain on bargain purchase"
    )
    text = ask(book, book.value(line, "-5000000")).text
    assert text.endswith(
        "Give an amount subtracted in the cash flow statement as a negative number."
    )


def test_a_payment_shown_with_its_sign_turned_over_is_a_receipt_below_zero() -> None:
    book, company = one_company()
    line = book.line(company, "Cash flow statement | Payments to acquire land")
    point = book.value(line, "-5000000")
    assert ask(book, point).text.endswith("Give cash paid as a negative number.")
    book.row(1, "Payments to acquire land", line, negated=True)
    assert ask(book, point).text.endswith("Give cash received as a negative number.")


def test_what_a_cash_flow_statement_adds_back_is_asked_with_its_name() -> None:
    book, company = one_company()
    names = ("Depreciation", "Payments of dividends")
    points = [
        book.value(book.line(company, f"Cash flow statement | {name}"), "5") for name in names
    ]
    requests = make_questions(drawn(*points), book.close(), CONFIG, 7).questions
    result = {question.series.label: question.sharpened for question in requests}
    assert result == {"Depreciation": (Sharpening.STATEMENT,), "Payments of dividends": ()}
