"""Labels, names, amounts and signs as questions write them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.grading.answers.check import check_answer
from construction.statements.questions.amounts import amount_of
from construction.statements.questions.contracts import FlowSide
from construction.statements.questions.naming import core_name, natural_name
from construction.statements.questions.signs import MINUS, signed
from construction.statements.questions.wording import has_foreign_letters, phrase_of


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
        ("Earnings Per Share, Basic", "basic earnings per share", True),
        ("Treasury Stock, Value", "value of treasury stock", False),
        ("Operating Income Loss Percent", "operating income (loss) percent", False),
        ("Cash and Cash Equivalents at End of Period", "cash and cash equivalents", True),
        ("Accounts Payable (Deprecated 2009-01-31)", "accounts payable", True),
        ("LIFO Reserve in the United States", "LIFO reserve in the United States", False),
        ("Retained Earnings (Deficit)", "retained earnings (deficit)", True),
        ("Stockholders’ Equity", "stockholders' equity", False),
        ("Goodwill", "goodwill", False),
        ("Other, net (fixed assets)", "other fixed assets, net", True),
        ("Proceeds From Payments For Swaps", "proceeds from (payments for) swaps", True),
        ("Unrealized Gains Losses on Swaps", "unrealized gain (loss) on swaps", False),
        ("Net Cash Provided By Used In Mergers", "net cash provided by (used in) mergers", False),
        ("Due to Related Parties, Current", "current amounts due to related parties", True),
        ("Interest Expense", "interest expense", False),
        ("Cash and Cash Equivalents, Period Increase (Decrease)",
         "net change in cash and cash equivalents", False),
        ("Restricted Cash, Period Increase (Decrease)", "net change in restricted cash", False),
        ("Common Stock, Value, Issued", "value of common stock issued", False),
        ("Common Stock, Shares, Issued", "number of common shares issued", False),
        ("Stock Issued During Period, Value, Acquisitions",
         "value of stock issued for acquisitions", False),
        ("Excess Tax Benefit from Share-based Compensation, Financing Activities",
         "excess tax benefit from share-based compensation under financing activities", False),
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
        ("Other (investments and other assets)",
         "other items within investments and other assets", True),
        ("Excess of Cost", "excess of cost", False),
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
        ("GLAD CUBE Inc.", "GLAD CUBE Inc."),
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
        ("1E+6", "PLN", "Sales", 3, "in thousands of PLN", "1,000 thousand PLN"),
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
         "Give cash paid as a negative number."),
        ("treasury shares", True, "treasury shares", "Give a deduction as a negative number."),
        ("recoverable taxes", True, "recoverable taxes", MINUS),
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
    ],
)  # fmt: skip
def test_sign_conventions(phrase: str, negative: bool, result: str, clause: str) -> None:
    report = signed(phrase, negative=negative, balance=False)
    assert report is not None
    assert (report.phrase, report.clause) == (result, clause)


def test_a_negative_loss_without_signed_form_is_not_asked() -> None:
    assert signed("impairment losses", negative=True, balance=False) is None


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
        ("interest and dividend income", FlowSide.ADDED_BACK, False,
         "Give an amount subtracted in the cash flow statement as a negative number."),
        ("excess tax benefit", FlowSide.CASH, False, "Give a cash outflow as a negative number."),
        ("excess tax benefit", FlowSide.CASH, True, MINUS),
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
