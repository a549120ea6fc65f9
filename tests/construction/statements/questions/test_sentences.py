"""Sentences: where filing, owner, place and asides stand."""

from __future__ import annotations

from datetime import date

import pytest

from construction.statements.questions.contracts import FilingKind, QuestionConfig, QuestionReason
from construction.statements.questions.make import make_questions
from construction.statements.questions.templates import Words, _polished, sentence
from construction.statements.questions.wording import is_bare_thing, is_broken_off, phrase_of
from tests.construction.statements.questions.small import Book, drawn

FILING = "according to its filing of May 4, 2010"


def variants(
    label: str,
    *,
    company: str = "Ardent Mills",
    period: str = "for fiscal year 2010",
    location: str = "",
    filing: str = "",
) -> set[str]:
    words = Words(
        company=company, identified="", metric=phrase_of(label), location=location, period=period,
        unit="in US dollars", filing=filing, sign="Give a loss as a negative number.",
    )  # fmt: skip
    return {sentence(words, choice) for choice in range(24)}


@pytest.mark.parametrize("label", ["Net sales", "Cost of sales", "Dividends paid", "Goodwill"])
def test_a_filing_is_named_at_the_beginning_or_the_end(label: str) -> None:
    texts = variants(label, filing=FILING)
    assert {text.startswith("According to its filing of May 4, 2010, ") for text in texts} == {
        True, False,
    }  # fmt: skip
    for text in texts:
        sentence = text.partition("?")[0]
        is_first = text.startswith(("According", "In its filing of May 4, 2010, "))
        assert sentence.endswith(f", {FILING}") != is_first
        assert ("report" in text) == text.startswith("In its filing")
        assert f"Mills, {FILING}" not in text
        assert not sentence.partition(", ")[2].startswith(("What", "How"))


def test_a_day_is_the_only_as_of_a_sentence() -> None:
    labels = ("Net sales", "Reserve for bonuses", "Cash in the bank", "Liability for grain")
    for company in ("Ardent Mills", "Ardent Mills, Inc."):
        for label in labels:
            for location in ("", " in the balance sheet"):
                for text in variants(label, company=company, period="as of May 4, 2010",
                                     location=location, filing=FILING):  # fmt: skip
                    assert text.lower().count("as of") == 1
                    assert " as its" not in text


def test_no_filing_is_said_with_as() -> None:
    assert not any(str(kind).startswith("as ") for kind in FilingKind)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("total equity including minority interests", "total equity, including minority interests"),
        ("net profit including non-controlling interests",
         "net profit, including non-controlling interests"),
        ("income taxes including refunds", "income taxes including refunds"),
        ("change in allowance for grain", "change in the allowance for grain"),
        ("change in reserve for bonuses", "change in the reserve for bonuses"),
        ("change in provisions", "change in provisions"),
        ("allowance for grain", "allowance for grain"),
    ],
)  # fmt: skip
def test_labels_get_the_commas_and_articles_of_a_sentence(metric: str, said: str) -> None:
    assert _polished(metric) == said


def test_an_aside_is_closed_by_a_comma() -> None:
    for company in ("Ardent Mills", "Ardent Mills, Inc."):
        for text in variants("Total equity including minority interests", company=company):
            assert "total equity, including minority interests," in text


def test_staff_on_average_worked_during_the_year() -> None:
    for period in ("the fiscal year ended May 4", "fiscal year 2018", "fiscal 2018"):
        for text in variants("Average number of employees", period=f"for {period}"):
            assert f"uring {period}" in text and f"or {period}" not in text


def test_an_owner_is_named_once() -> None:
    seen = set()
    for location in ("in the cash flow statement", "in its Printers segment"):
        for company in ("Ardent Mills", "Ardent Mills, Inc."):
            for text in variants("Cost of sales", company=company, location=f" {location}"):
                seen.add(" as the " in text)
                assert text.count(" its ") <= 1 and location.rpartition(" ")[0] in text.replace(
                    "in its cash", "in the cash"
                )
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("axis", "member", "said"),
    [
        ("Segments", "Printers", "in its Printers segment"),
        ("Segments", "Printers Segment", "in its Printers segment"),
        ("Geography", "Europe", "in Europe"),
        ("Geographic segments", "NL", "in the Netherlands"),
    ],
)
def test_members_of_axes(axis: str, member: str, said: str) -> None:
    book = Book()
    company = book.company("demo:1", "Ardent Mills Inc.")
    line = book.line(
        company, f"Segments | {axis} | {member} | Sales", dimensions=f"{axis}={member}"
    )
    batch = make_questions(drawn(book.value(line, "2000000")), book.close(), QuestionConfig(), 7)
    assert f"sales {said}" in batch.questions[0].text


@pytest.mark.parametrize(
    "name",
    [
        "Liabilities and Stockholders' Equity", "Total liabilities and net assets",
        "Liabilities and Equity", "Total liabilities and shareholders' deficit",
        "Equity and liabilities",
    ],
)  # fmt: skip
def test_the_total_that_balances_assets_is_not_asked(name: str) -> None:
    book = Book()
    company = book.company("demo:1", "Ardent Mills Inc.")
    point = book.value(book.line(company, f"Balance sheet | {name}"), "9000000", months=0)
    batch = make_questions(drawn(point), book.close(), QuestionConfig(), 7)
    assert [row.reason for row in batch.rejections] == [QuestionReason.BALANCING]


@pytest.mark.parametrize(
    ("total", "reasons"),
    [("9000000", []), ("9001000", []), ("9900000", [QuestionReason.UNBALANCED] * 2)],
)
def test_parts_that_do_not_add_up_to_their_total_are_not_asked(
    total: str, reasons: list[QuestionReason]
) -> None:
    book = Book()
    company = book.company("demo:1", "Ardent Mills Inc.")
    values = {"Total liabilities": "4000000", "Net assets": "5000000", "Goodwill": "1000000"}
    points = [
        book.value(book.line(company, f"Balance sheet | {name}"), value, months=0)
        for name, value in values.items()
    ]
    whole = book.line(company, "Balance sheet | Total liabilities and net assets")
    book.value(whole, total, months=0)
    book.value(whole, "1000000", date(2009, 3, 31), months=0, fiscal_year=2009)
    batch = make_questions(drawn(*points), book.close(), QuestionConfig(), 7)
    assert [row.reason for row in batch.rejections] == reasons


@pytest.mark.parametrize(
    ("label", "text", "plural"),
    [
        # nouns before what was done with them
        ("Securities Loaned", "securities loaned", True),
        ("Securities Purchased Under Agreements to Resell",
         "securities purchased under agreements to resell", True),
        ("Premiums unearned", "premiums unearned", True),
        ("Interest on loans and dividends unpaid", "interest on loans and dividends unpaid", False),
        ("Business disposed", "business disposed", False),
        ("Mill shed", "mill shed", False),
        ("Premiums written, net", "premiums written, net", True),
        # the question's period alone
        ("Interest paid during the period", "interest paid", False),
        ("Dividends declared in the year", "dividends declared", True),
        ("Cash paid during the year for interest", "cash paid for interest", False),
        ("Gains arising during the period, net", "gains arising during the period, net", True),
        # apostrophes that tags have lost
        ("Interest on stockholders equity", "interest on stockholders' equity", False),
        ("Total Shareowners Equity", "total shareowners' equity", False),
        ("Limited Partners Capital Account", "limited partners' capital account", False),
        ("Amounts due to partners", "amounts due to partners", True),
    ],
)  # fmt: skip
def test_labels_as_they_stand_in_a_sentence(label: str, text: str, plural: bool) -> None:
    phrase = phrase_of(label)
    assert (phrase.text, phrase.plural) == (text, plural)


@pytest.mark.parametrize(
    ("label", "balance", "is_named"),
    [
        ("Change in noncontrolling interest", "Noncontrolling interest in equity", True),
        ("Increase (Decrease) in Inventories", "Inventory, Net", True),
        ("Increase in accounts payable", "Trade accounts payable", True),
        ("Change in noncontrolling interest", "Common stock", False),
        ("Net change in cash", "Cash", False),
        ("Purchase of inventories", "Inventory, Net", False),
    ],
)
def test_a_change_in_a_line_of_the_balance_sheet_names_its_statement(
    label: str, balance: str, is_named: bool
) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills")
    point = book.value(book.line(company, f"Cash flow statement | {label}"), "5000000")
    book.value(book.line(company, f"Balance sheet | {balance}"), "7000000", months=0)
    (question,) = make_questions(drawn(point), book.close(), QuestionConfig(), 7).questions
    assert ("in the cash flow statement" in question.text) == is_named


def test_a_change_in_a_line_that_the_balance_sheet_prints_names_its_statement() -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills")
    change = book.line(company, "Cash flow statement | Change in flour")
    line = book.line(company, "Balance sheet | Milled Goods")
    point = book.value(change, "5000000")
    book.value(line, "7000000", months=0)
    book.row(1, "Change in flour", change, company_id=company, statement="Cash flow statement")
    book.row(2, "Flour", line, company_id=company)
    (question,) = make_questions(drawn(point), book.close(), QuestionConfig(), 7).questions
    assert "in the cash flow statement" in question.text


@pytest.mark.parametrize(
    ("text", "is_flow", "broken"),
    [
        ("proceeds from (repayments of) debt", True, True),
        ("other income (expense)", True, False),
        ("effect of exchange rate changes on cash", True, True),
        ("tax effects of mills", True, True),
        ("value of stock repurchased", True, True),
        ("payroll and related expenses", False, True),
        ("accrued payroll and related expenses", False, False),
        ("payroll and related expenses", True, False),
        ("accrued and prepaid advertising", True, True),
        ("employee benefits", False, True),
        ("taxes on earnings", False, True),
        ("interest checking", False, True),
        ("deferred income taxes", False, False),
        ("interest-bearing deposits", False, False),
        ("retained earnings", False, False),
        ("noncontrolling interests", False, False),
    ],
)
def test_names_that_their_sentence_would_break(text: str, *, is_flow: bool, broken: bool) -> None:
    assert is_broken_off(text, is_flow=is_flow) == broken


def balance_text(label: str, value: str = "5000000", statement: str = "Balance sheet") -> str:
    """The question about a line of a filer that prints no rows; why there is none otherwise."""
    book = Book()
    company = book.company("demo:1", "Ardent Mills Inc.")
    months = 0 if statement == "Balance sheet" else 12
    point = book.value(book.line(company, f"{statement} | {label}"), value, months=months)
    batch = make_questions(drawn(point), book.close(), QuestionConfig(), 7)
    return batch.questions[0].text if batch.questions else str(batch.rejections[0].reason)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Commercial paper", "ow much commercial paper did Ardent Mills Inc. have outstanding"),
        ("Land", "How much did Ardent Mills Inc. report in land "),
        ("Machinery and equipment", "report in machinery and equipment "),
        ("Treasury stock", "report in treasury stock "),
        ("Goodwill", "goodwill"),
        ("Deferred revenue", "deferred revenue"),
        ("Asset retirement obligation", "asset retirement obligation"),
        ("Line of credit", str(QuestionReason.BARE_LABEL)),
        ("Transition bond", str(QuestionReason.BARE_LABEL)),
        ("Common stock warrant", str(QuestionReason.BARE_LABEL)),
    ],
)
def test_a_balance_is_asked_by_the_name_of_an_amount(label: str, said: str) -> None:
    assert said in balance_text(label)


@pytest.mark.parametrize("label", ["Shares issued for land", "Payments for land", "Net land"])
def test_a_thing_is_named_alone(label: str) -> None:
    assert is_bare_thing(phrase_of(label).text) == (label == "Net land")


@pytest.mark.parametrize(
    ("label", "value", "said"),
    [
        ("Cash paid for interest", "5", "how much cash did Ardent Mills Inc. pay for interest"),
        ("Interest paid", "5", "how much in interest did Ardent Mills Inc. pay"),
        ("Interest paid", "-5", "Give a cash outflow as a negative number."),
        ("Loss (gain) on sale of mills", "5", "its loss on sale of mills"),
        ("Realized investment gains (losses)", "-5", "realized investment gains or losses"),
        ("Gain (loss) on sale of mills", "-5", "gain or loss on sale of mills"),
    ],
)
def test_words_agree_with_the_sign(label: str, value: str, said: str) -> None:
    text = balance_text(label, f"{value}000000", "Cash flow statement")
    assert said.lower() in text.lower()
    assert "pay" not in text or "negative" not in text.partition("cash outflow")[0]


def test_a_total_is_no_mass() -> None:
    assert {text.startswith("How much") for text in variants("Total income")} == {False}
    assert {text.startswith("How much") for text in variants("Income")} == {True, False}
