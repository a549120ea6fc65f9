"""Whole questions and their parts: labels, names, amounts and signs."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.grading.answers.check import check_answer
from construction.statements.questions.contracts import (
    FlowSide,
    Question,
    QuestionConfig,
    QuestionReason,
    Sharpening,
)
from construction.statements.questions.make import make_questions
from construction.statements.questions.templates import (
    Words,
    _possessive,
    core_name,
    is_garbled,
    natural_name,
    sentence,
)
from construction.statements.questions.terms import amount_of, signed
from construction.statements.questions.wording import has_foreign_letters, phrase_of
from data.errors import InputError
from tests.construction.statements.questions.small import Book, drawn


@pytest.mark.parametrize(
    ("label", "text", "plural"),
    [
        ("Assets", "total assets", True),
        ("Assets, Current", "total current assets", True),
        ("Other Assets, Noncurrent", "other noncurrent assets", True),
        ("Revenues, Total", "total revenues", True),
        ("Total Total Assets", "total assets", True),
        ("TOTAL REVENUES", "total revenues", True),
        ("CashAndCashEquivalents", "cash and cash equivalents", True),
        ("Cash, at Carrying Value", "cash, at carrying value", False),
        ("Net Income (Loss)", "net income (loss)", False),
        ("Earnings Per Share, Basic", "basic earnings per share", False),
        ("Treasury Stock, Value", "treasury stock", False),
        ("Exchange of mill for shares (Note 3.1.c)", "exchange of mill for shares", False),
        ("Prepaid flour and other assets, non-current",
         "non-current prepaid flour and other assets", True),
        ("Operating Income Loss Percent", "operating income (loss) percent", False),
        ("Cash and Cash Equivalents at End of Period", "cash and cash equivalents", True),
        ("Accounts Payable (Deprecated 2009-01-31)", "accounts payable", True),
        ("LIFO Reserve in the United States", "LIFO reserve in the United States", False),
        ("Retained Earnings (Deficit)", "retained earnings (deficit)", True),
        ("Stockholders’ Equity", "stockholders' equity", False),
        ("Goodwill", "goodwill", False),
        ("Proceeds From Payments For Swaps", "proceeds from (payments for) swaps", True),
        ("Unrealized Gains Losses on Swaps", "unrealized gain (loss) on swaps", False),
        ("Net Cash Provided By Used In Mergers", "net cash flow from mergers", False),
        ("Due to Related Parties, Current", "current amounts due to related parties", True),
        ("Interest Expense", "interest expense", False),
        ("Cash and Cash Equivalents, Period Increase (Decrease)",
         "net change in cash and cash equivalents", False),
        ("Restricted Cash, Period Increase (Decrease)", "net change in restricted cash", False),
        ("Common Stock, Value, Issued", "common stock",
         False),
        ("Common Stock, Shares, Issued", "number of common shares issued", False),
        ("Excess Tax Benefit from Share-based Compensation, Financing Activities",
         "excess tax benefit from share-based compensation", False),
        ("Payments of Dividends, Common Stock", "dividends paid on common stock", True),
        ("Other Comprehensive Income (Loss), Swaps, Net of Tax",
         "other comprehensive income (loss) from swaps, net of tax", False),
        ("Other Comprehensive Income (Loss), Net of Tax",
         "other comprehensive income (loss), net of tax", False),
        ("Profit", "net profit", False),
        ("Profit before income taxes", "profit before income taxes", False),
        ("Profit attributable to owners of parent",
         "net profit attributable to owners of the parent", False),
        ("Selling, general and administrative expenses",
         "selling, general and administrative expenses", True),
        ("Total net assets", "total net assets", True),
        ("Revenue, oil and gas services", "revenue, oil and gas services", False),
        ("Total revenues and other income", "total revenues and other income", True),
        ("Interest and dividend income", "interest and dividend income", False),
        ("Change in expenses and taxes", "change in expenses and taxes", False),
        ("Employee related obligations", "employee related obligations", True),
        ("Canadian securities of mills", "Canadian securities of mills", True),
        ("Dividends paid, financing activities", "dividends paid", True),
        ("Cash flows from (used in) milling", "net cash flow from milling", False),
        ("Purchase of mills", "purchases of mills", True),
        ("Excess of Cost", "excess of cost", False),
        ("Net income for the period", "net income", False),
        ("Income Taxes Paid, Net", "income taxes paid, net of refunds", True),
        ("Total Cash and cash equivalents.", "total cash and cash equivalents", True),
        ("Change in Accrued and deferred taxes", "change in accrued and deferred taxes", False),
        ("Shares of mills subject to redemption", "shares of mills subject to redemption", True),
        ("Increase (Decrease) in Prepaid grain share, and other assets",
         "increase (decrease) in prepaid grain share, and other assets", False),
    ],
)  # fmt: skip
def test_labels(label: str, text: str, plural: bool) -> None:
    phrase = phrase_of(label)
    assert phrase.text == text
    assert phrase.plural is plural


@pytest.mark.parametrize(
    ("name", "natural"),
    [
        ("FORD MOTOR CO", "Ford Motor Co."),
        ("CBS CORP", "CBS Corp."),
        ("EMC CORP", "EMC Corp."),
        ("AT&T INC.", "AT&T Inc."),
        ("BANK OF NEW YORK MELLON CORP", "Bank of New York Mellon Corp."),
        ("3M CO", "3M Co."),
        ("PROCTER & GAMBLE Co", "Procter & Gamble Co."),
        ("KYOKUYO CO.,LTD.", "Kyokuyo Co., Ltd."),
        ("DUPONT E I DE NEMOURS & CO", "E. I. du Pont de Nemours and Company"),
        ("NOBLE CORP / SWITZERLAND", "Noble Corp."),
        ("TEVA PHARMACEUTICAL INDUSTRIES LTD", "Teva Pharmaceutical Industries Ltd."),
        ("kuribayashi steamship co., ltd.", "Kuribayashi Steamship Co., Ltd."),
        ("FTGroup CO., LTD.", "FTGroup Co., Ltd."),
        ("MEDIASEEK, inc.", "MEDIASEEK, Inc."),
        ("Sherwin Williams Co", "Sherwin-Williams Co."),
        ("LILLY ELI & CO", "Eli Lilly and Company"),
        ("PRICE T ROWE GROUP INC", "T. Rowe Price Group, Inc."),
        ("Alcoa Inc.", "Alcoa Inc."),
        ("WELLS FARGO & CO/MN", "Wells Fargo & Co."),
        ("SUN LIFE II INC /DE/", "Sun Life II Inc."),
        ("Vector HOLDINGS Inc.", "Vector Holdings Inc."),
        ("GLAD CUBE Inc.", "Glad Cube Inc."),
        ("TOCALO Co.,Ltd.", "TOCALO Co., Ltd."),
        ("SD MILLS,Inc.", "SD Mills, Inc."),
        ("KDDI CORPORATION", "KDDI Corporation"),
        ("THE Mill Bank, Ltd.", "The Mill Bank, Ltd."),
        ("ARDENT MFG.CO.,LTD.", "Ardent Mfg. Co., Ltd."),
        ("ARDENT CO .,LTD.", "Ardent Co., Ltd."),
        ("Ardent, Co., Ltd.", "Ardent Co., Ltd."),
        ("Ardent corporation", "Ardent Corporation"),
        ("ERP OPERATING LTD PARTNERSHIP", "ERP Operating Limited Partnership"),
        ("OSAKA GAS CO., LTD.", "Osaka Gas Co., Ltd."),
        ("F.C.C.CO.,LTD.", "F.C.C. Co., Ltd."),
        ("Fulltech Co.Ltd.", "Fulltech Co., Ltd."),
        ("Segue Group Co.,.Ltd.", "Segue Group Co., Ltd."),
        ("Medical Net , Inc.", "Medical Net, Inc."),
        ("TIVO INC", "TiVo Inc."),
        ("MCDERMOTT INTERNATIONAL INC", "McDermott International Inc."),
        ("O REILLY'S O'SULLIVAN CORP", "O Reilly's O'Sullivan Corp."),
        ("WNS (HOLDINGS) LTD", "WNS (Holdings) Ltd."),
        ("AMAZON COM INC", "Amazon.com Inc."),
        ("FRESENIUS MEDICAL CARE AG & CO. KGAA", "Fresenius Medical Care AG & Co. KGaA"),
    ],
)
def test_names(name: str, natural: str) -> None:
    assert natural_name(name) == natural


@pytest.mark.parametrize(
    "name",
    ["mill holdings. Inc,", "robot mill Inc.", "ARDENT HOLDINGSINC.", "Ardent Eco. Mills Co.,Ltd.",
     "ARDENT.MILLS CO.,LTD.", "----", "Ardent, Mills Holdings", "ARDENT INTERNATIONALCO.,LTD.",
     "ArdentMillsCo.,Ltd.", "Ardent&Co.,Ltd.", "Ardent.Co.,Ltd.", "Ardent Works., Co., Ltd."],
)  # fmt: skip
def test_no_question_about_a_name_that_stays_garbled(name: str) -> None:
    book = Book()
    company = book.company("edinet:E1", name, source="edinet")
    point = book.value(book.line(company, "Income statement | Net sales"), "5000000")
    (row,) = make_questions(drawn(point), book.close(), CONFIG, 7).rejections
    assert row.reason == QuestionReason.NAME_GARBLED


@pytest.mark.parametrize(
    "name",
    ["EBAY INC", "iMill Inc.", "AMAZON COM INC", "People, Dreams & Mills Co., Ltd.",
     "TOCALO Co.,Ltd.",
     "LABORATORY CORP OF AMERICA HOLDINGS", "KAWATA MFG. CO., LTD.", "O.B.System Inc.", "3M CO",
     "ALLIED WORLD ASSURANCE CO HOLDINGS LTD", "MERCK & CO. INC.", "RISKMONSTER.COM",
     "J.S.B.Co.,Ltd."],
)  # fmt: skip
def test_names_as_companies_write_them_are_not_garbled(name: str) -> None:
    assert not is_garbled(natural_name(name))


def test_core_of_a_name_knows_no_legal_form() -> None:
    assert core_name("Ford Motor Co.") == core_name("The Ford Motor Company") == ("ford", "motor")
    assert core_name("Holdings Inc.") == ("holdings", "inc")  # nothing else to go by


@pytest.mark.parametrize(
    ("value", "unit", "label", "exponent", "text", "answer"),
    [
        ("812400000", "USD", "Sales", 3,
         "in thousands of US dollars", "812,400 thousand US dollars"),
        ("812400000", "USD", "Sales", 6,
         "in millions of US dollars, to one decimal place", "812.4 million US dollars"),
        ("812412345", "USD", "Sales", 6, "in US dollars", "812,412,345 US dollars"),
        ("-5114000000", "JPY", "Flow", 6, "in millions of Japanese yen",
         "-5,114 million Japanese yen"),
        ("2.3", "USD/share", "EPS", 6, "in US dollars per share", "2.30 US dollars per share"),
        ("17.135", "JPY/share", "EPS", 6, "in Japanese yen per share",
         "17.135 Japanese yen per share"),
        ("0.239", "ratio", "Equity ratio", 0, "as a percentage, to one decimal place",
         "23.9 percent"),
        ("15.1", "ratio", "Price-earnings ratio", 0, "as a multiple, to one decimal place",
         "15.1 times"),
        ("0.3375", "USD/share", "Distributions declared per unit outstanding", 6,
         "in US dollars per unit", "0.3375 US dollars per unit"),
        ("2249", "count", "Number of employees", 0, "", "2,249"),
        ("109282000", "shares", "Shares issued", 3, "in thousands of shares",
         "109,282 thousand shares"),
        ("1E+6", "PLN", "Sales", 3, "in thousands of Polish zlotys",
         "1,000 thousand Polish zlotys"),
        ("1E+6", "BWP", "Sales", 3, "in thousands of BWP", "1,000 thousand BWP"),
    ],
)  # fmt: skip
def test_amounts(value: str, unit: str, label: str, exponent: int, text: str, answer: str) -> None:
    amount = amount_of(value, unit, label, exponent, 3)
    assert amount is not None
    assert (amount.unit_phrase, amount.answer) == (text, answer)
    worth = Decimal(100 if amount.gold.unit == "percent" else 1) * Decimal(value)
    assert amount.gold.value * amount.gold.scale == worth


@pytest.mark.parametrize(
    ("value", "unit"),
    [("－", "JPY"), ("", "USD"), ("NaN", "USD"), ("1", "acre-feet"), ("1.23456", "USD/share"),
     ("0.1234567", "ratio"), ("9" * 61, "USD")],
)  # fmt: skip
def test_what_cannot_be_asked(value: str, unit: str) -> None:
    assert amount_of(value, unit, "Label", 3, 3) is None


_UNITS = st.sampled_from(
    [
        "USD",
        "JPY",
        "EUR",
        "BRL",
        "KRW",
        "CAD",
        "MXN",
        "ZAR",
        "PLN",
        "shares",
        "count",
        "USD/share",
        "JPY/share",
    ]
)


@given(
    value=st.integers(-(10**13), 10**13), zeros=st.integers(0, 6), places=st.integers(0, 2),
    unit=_UNITS, exponent=st.sampled_from([0, 3, 6]),
)  # fmt: skip
def test_the_checker_takes_every_plain_answer(
    value: int, zeros: int, places: int, unit: str, exponent: int
) -> None:
    number = Decimal(value * 10**zeros).scaleb(-places)
    amount = amount_of(f"{number:f}", unit, "Sales", exponent, 3)
    if amount is None:
        assert unit.endswith("/share") or number != number.to_integral_value()
        return
    question = f"What was Ardent Mills' sales for fiscal year 2022, {amount.unit_phrase}?"
    check = check_answer(amount.answer, amount.gold, question)
    assert check.is_correct, (amount, check)


@pytest.mark.parametrize(
    ("phrase", "negative", "result", "clause"),
    [
        ("net income (loss)", False, "net income (loss)", "Give a loss as a negative number."),
        ("net cash provided by (used in) operating activities", False,
         "net cash provided by (used in) operating activities",
         "Give cash used as a negative number."),
        ("increase (decrease) in inventories", True, "increase (decrease) in inventories",
         "Give a decrease as a negative number."),
        ("income tax expense (benefit)", False, "income tax expense (benefit)",
         "Give a benefit as a negative number."),
        ("net loss", True, "net income (loss)", "Give a loss as a negative number."),
        ("net loss", False, "net loss", "Give a loss as a positive number."),
        ("allowance for loan losses", False, "allowance for loan losses", ""),
        ("operating income", False, "operating income", "Give a loss as a negative number."),
        ("purchases of securities", False, "purchases of securities",
         "Give the amount paid as a positive number."),
        ("purchases of securities", True, "purchases of securities",
         "Give a cash outflow as a negative number."),
        ("treasury shares", True, "treasury shares", "Give a deduction as a negative number."),
        ("impairment losses", False, "impairment losses", ""),
        ("gain on gold distributed for the redemption of shares", False,
         "gain on gold distributed for the redemption of shares",
         "Give a loss as a negative number."),
        ("capital expenditures incurred but not yet paid", False,
         "capital expenditures incurred but not yet paid", ""),
        ("dividends paid", False, "dividends paid", "Give the amount paid as a positive number."),
        ("cash dividends paid per share", False, "cash dividends paid per share", ""),
        ("tax on other comprehensive income (loss) from hedges", False,
         "tax on other comprehensive income (loss) from hedges",
         "Give a tax benefit as a negative number."),
        ("proceeds from sale of shares resulting in change in scope", False,
         "proceeds from sale of shares resulting in change in scope", ""),
        ("goodwill", False, "goodwill", ""),
        ("acquisition and integration expenses", False,
         "acquisition and integration expenses", ""),
    ],
)  # fmt: skip
def test_sign_conventions(phrase: str, negative: bool, result: str, clause: str) -> None:
    report = signed(phrase, negative=negative, balance=False)
    assert report is not None
    assert (report.phrase, report.clause) == (result, clause)


@pytest.mark.parametrize("phrase", ["impairment losses", "recoverable taxes", "net sales"])
def test_what_no_word_says_the_sign_of_is_not_asked(phrase: str) -> None:
    assert signed(phrase, negative=True, balance=False) is None


def test_balances_declare_only_what_can_turn() -> None:
    for phrase, clause in (
        ("accrued income taxes", ""),
        ("additional paid-in capital", ""),
        ("total liabilities and net assets", ""),
        ("total net assets", "Give a deficit as a negative number."),
        ("deferred gains or losses on hedges", "Give a loss as a negative number."),
        ("retained earnings", "Give a deficit as a negative number."),
        ("retained earnings (accumulated deficit)", "Give a deficit as a negative number."),
    ):
        report = signed(phrase, negative=False, balance=True)
        assert report is not None and report.clause == clause


@pytest.mark.parametrize(
    ("phrase", "side", "negated", "clause"),
    [
        ("excess tax benefit", FlowSide.CASH, False, "Give a cash outflow as a negative number."),
        ("profit before income taxes", FlowSide.ADDED_BACK, False,
         "Give a loss as a negative number."),
        ("payments for swaps", None, True, "Give cash received as a negative number."),
        ("gain on sale", FlowSide.ADDED_BACK, True, "Give a loss as a negative number."),
    ],
)  # fmt: skip
def test_what_minus_means_in_a_cash_flow_statement(
    phrase: str, side: FlowSide | None, negated: bool, clause: str
) -> None:
    report = signed(phrase, negative=True, balance=False, side=side, negated=negated)
    assert report is not None and report.clause == clause


@pytest.mark.parametrize(
    ("text", "foreign"), [("売上高", True), ("Équité", False), ("＄ｓａｌｅｓ", False)]
)
def test_foreign_letters(text: str, foreign: bool) -> None:
    assert has_foreign_letters(text) is foreign


@given(st.text(max_size=400))
def test_any_label_gives_a_phrase(label: str) -> None:
    phrase = phrase_of(label)
    assert "  " not in phrase.text
    assert phrase_of(label) == phrase


def test_a_gain_beside_a_line_for_losses_needs_no_sign() -> None:
    phrase = "gain on sale of investment securities"
    for negative, apart, clause in (
        (False, True, ""),
        (False, False, "Give a loss as a negative number."),
        (True, True, "Give a loss as a negative number."),
    ):
        report = signed(phrase, negative=negative, balance=False, gains_apart=apart)
        assert report is not None and report.clause == clause


def test_costs_and_revenues_below_zero_are_not_asked() -> None:
    for phrase in ("interest expense", "cost of sales", "net revenue", "other operating expenses"):
        assert signed(phrase, negative=True, balance=False) is None
        assert signed(phrase, negative=False, balance=False) is not None


def test_what_a_cash_flow_statement_adds_back_is_no_loss() -> None:
    phrase = "other noncash items between net income and operating cash flow"
    report = signed(phrase, negative=False, balance=False, side=FlowSide.ADDED_BACK)
    assert report is not None
    assert report.clause == f"Give {FlowSide.ADDED_BACK} as a negative number."


CONFIG = QuestionConfig()


def ask(book: Book, point_id: str) -> Question:
    return make_questions(drawn(point_id), book.close(), CONFIG, 7).questions[0]


def one_company() -> tuple[Book, str]:
    book = Book()
    return book, book.company("demo:1", "Ardent Mills Inc.", ticker="ARDM")


def all_variants(
    label: str,
    *,
    company: str = "Ardent",
    identified: str = "",
    unit: str = "in US dollars",
    location: str = "",
) -> set[str]:
    words = Words(
        company=company,
        identified=identified,
        metric=phrase_of(label),
        location=location,
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
        (
            "Treasury Stock, Value",
            "How much did Ardent report in treasury stock",
        ),
        ("Number of employees", "ow many employees did Ardent have"),
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


@pytest.mark.parametrize(
    "company", ["Ardent Mills, Inc.", "Ardent Mills International Holdings Ltd."]
)
def test_long_names_and_those_with_a_comma_bear_no_possessive(company: str) -> None:
    for label in ("Net sales", "Cost of sales", "Treasury Stock, Value", "Reserve for bonuses"):
        result = all_variants(label, company=company)
        assert all(company in text and f"{company}'s" not in text for text in result)


def test_the_statement_is_named_without_an_aside() -> None:
    for label in ("Depreciation", "Gain on sale of mills"):
        result = all_variants(label, location=" in the cash flow statement")
        assert all(f"its {label.lower()} in the cash flow statement" in text for text in result)


def test_staff_on_average_are_people() -> None:
    assert all(
        "ow many temporary employees did Ardent have on average" in text
        for text in all_variants("Average number of temporary employees")
    )


def test_a_comma_closes_what_a_comma_opened_but_no_list() -> None:
    opened = all_variants("Revenue, oil and gas services")
    listed = all_variants("Selling, general and administrative expenses")
    assert any("services, for fiscal" in text for text in opened)
    assert not any("services for fiscal" in text for text in opened)
    assert not any("expenses, for fiscal" in text for text in listed)


def test_totals_that_go_on_with_and_are_other_totals() -> None:
    book, company = one_company()
    names = ("Total liabilities", "Total liabilities and net assets")
    lines = [book.line(company, f"Balance sheet | {name}") for name in names]
    points = [book.value(line, f"{at + 5}000000", months=0) for at, line in enumerate(lines)]
    assert ask(book, points[0]).sharpened == ()


def test_names_in_s_take_an_apostrophe() -> None:
    assert _possessive("Ardent Mills") == "Ardent Mills'"
    assert _possessive("Ardent Inc.") == "Ardent Inc.'s"


@pytest.mark.parametrize(("value", "digits"), [("1234000", 4), ("8100000", 2), ("5000000", 1)])
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


def test_a_bare_label_is_not_asked() -> None:
    book, company = one_company()
    line = book.line(company, "Balance sheet | Current assets | Other")
    point = book.value(line, "5000000", months=0)
    rows = make_questions(drawn(point), book.close(), CONFIG, 7).rejections
    assert [row.reason for row in rows] == [QuestionReason.BARE_LABEL]


def test_unknown_and_repeated_points_are_refused() -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Sales"), "5")
    for table in (drawn("elsewhere"), drawn(point, point), drawn(point).drop("pi_design")):
        with pytest.raises(InputError):
            make_questions(table, book.close(), CONFIG, 7)


@pytest.mark.parametrize(
    ("label", "value", "negated"),
    [
        ("Gain on bargain purchase", "-5000000", False),  # subtracted, and no loss
        ("Interest and dividend income", "-5000000", False),
        ("Deferred flour", "5000000", True),  # printed as -5
        ("Natural gas stored", "5000000", False),  # a change, and which one nothing says
    ],
)
def test_items_whose_sign_a_cash_flow_statement_does_not_explain_are_not_asked(
    label: str, value: str, negated: bool
) -> None:
    book, company = one_company()
    book.line(company, "Balance sheet | Assets | Natural gas stored, at cost")
    line = book.line(company, f"Cash flow statement | Operating activities | {label}")
    book.row(1, label, line, company_id=company, negated=negated)
    batch = make_questions(drawn(book.value(line, value)), book.close(), CONFIG, 7)
    assert [row.reason for row in batch.rejections] == [QuestionReason.SIGN_UNCLEAR]


def test_a_question_with_too_many_qualifiers_is_not_asked() -> None:
    book, company = one_company()
    point = book.value(book.line(company, "Income statement | Revenues"), "5000000")
    config = CONFIG.model_copy(update={"max_characters": 80})
    batch = make_questions(drawn(point), book.close(), config, 7)
    assert [row.reason for row in batch.rejections] == [QuestionReason.OVERLOADED]


def test_what_was_paid_needs_no_word_about_its_sign() -> None:
    words = Words(
        "Ardent", "", phrase_of("Dividends paid"), "", "for 2010", "in euros", "", "Give."
    )
    assert sentence(words, 0) == "How much in dividends did Ardent pay for 2010, in euros?"


def test_a_payment_shown_with_its_sign_turned_over_is_a_receipt_below_zero() -> None:
    book, company = one_company()
    line = book.line(company, "Cash flow statement | Payments to acquire land")
    point = book.value(line, "-5000000")
    assert ask(book, point).text.endswith("Give a cash outflow as a negative number.")
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
