"""Signs that the filing's own rows contradict, and those that only look odd."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import polars as pl
import pytest

from construction.statements.conventions import PeriodConfig
from construction.statements.database import _filter_points
from construction.statements.model import HISTORY, Statement, Statements
from construction.statements.periods import with_periods
from construction.statements.presentation import contradicted, sides
from construction.statements.questions.contracts import FilterConfig
from tests.construction.statements.frames import companies, points, rows, series
from tests.construction.statements.questions.small import Book

_CHANGE = "CashAndCashEquivalentsPeriodIncreaseDecrease"


def statements(
    concept: str,
    label: str,
    printed: str,
    value: str,
    *,
    negated: bool = False,
    balance: str | None = "credit",
    statement: str = "Cash flow statement",
    line: int = 3,
) -> Statements:
    """One value in a row of a statement whose change in cash stands in line 9."""
    about = {"statement": statement, "category": "cash_flow"}
    span = {"period_start": date(2010, 1, 1), "period_end": date(2010, 12, 31), "months": 12}
    made = points(
        {"point_id": "p", "series_id": "s", "value": value, "report": 1, "line": line} | span
    )
    return Statements(
        companies({"name": "Firm"}),
        series(
            {"series_id": "s", "concept": concept, "label": label, "balance": balance} | about,
            {"series_id": "change", "concept": _CHANGE, "label": "Change in cash"} | about,
        ),
        with_periods(made, companies({"name": "Firm"}), PeriodConfig()),
        pl.DataFrame(schema=HISTORY.schema),
        rows(
            {"line": line, "series_id": "s", "label": printed, "negated": negated,
             "statement": statement},
            {"line": 9, "series_id": "change", "label": "Change in cash", "statement": statement},
        ),
    )  # fmt: skip


_STOCKS = ("IncreaseDecreaseInInventories", "Increase (Decrease) in Inventories")
_OWED = ("IncreaseDecreaseInAccountsPayable", "Increase (Decrease) in Accounts Payable")
_WEAR = ("DepreciationAndAmortization", "Depreciation")
_LENT = ("PaymentsForProceedsFromLoans", "Payments for (Proceeds from) Loans")
_SALE = ("GainLossOnSaleOfBusiness", "Gain (Loss) on Sale of Business")


def test_figures_of_a_segment_have_the_sign_of_the_row_that_shows_them() -> None:
    made = statements(*_SALE, "Loss (gain) on sale", "5")
    of_segment = made.series.with_columns(
        dimensions=pl.when(pl.col("series_id") == "s").then(pl.lit("A=B"))
    )
    whole = made.rows.with_columns(series_id=pl.col("series_id").replace("s", "whole"))
    wrong = contradicted(replace(made, series=of_segment, rows=whole))
    assert wrong["point_id"].to_list() == ["p"]


@pytest.mark.parametrize(
    ("named", "printed", "value", "negated", "balance", "wrong"),
    [
        (_STOCKS, "Inventories", "5", False, "credit", True),  # printed as cash in: a decrease
        (_STOCKS, "Inventories", "5", True, "credit", False),
        (_STOCKS, "Inventories", "-5", False, "credit", True),
        (_STOCKS, "Increase in inventories", "5", True, "credit", False),
        (_STOCKS, "Inventories", "5", False, None, False),  # no balance known: nothing is said
        (_STOCKS, "Decrease (increase) in stocks", "5", True, None, False),
        (_STOCKS, "(Increase) decrease in stocks", "5", False, None, True),
        (_STOCKS, "Increase (decrease) in stocks", "5", False, None, False),
        (_OWED, "Accounts payable", "5", False, "debit", False),
        (_OWED, "Accounts payable", "-5", True, "debit", True),
        (_SALE, "Loss (gain) on sale", "5", False, "credit", True),
        (_SALE, "Loss (gain) on sale", "5", True, "credit", False),
        (_SALE, "Gain on sale", "5", True, "credit", False),
        (_WEAR, "Depreciation", "-5", True, "debit", True),
        (_WEAR, "Depreciation", "5", False, "debit", False),
        (("NetIncomeLoss", "Net Income (Loss)"), "Net income", "5", False, "credit", False),
        (("InterestPaid", "Interest Paid"), "Interest paid", "-59", True, "credit", True),
        (("InterestPaid", "Interest Paid"), "Interest paid", "59", True, "credit", False),
        (("InterestPaid", "Interest Paid"), "Interest paid", "-59", False, "credit", False),
        (_LENT, "Loans", "-5", True,
         "credit", False),
    ],
)  # fmt: skip
def test_what_the_row_says_of_the_sign(
    named: tuple[str, str],
    printed: str,
    value: str,
    negated: bool,
    balance: str | None,
    wrong: bool,
) -> None:
    made = statements(*named, printed, value, negated=negated, balance=balance)
    matches = contradicted(made)
    assert matches["point_id"].to_list() == (["p"] if wrong else [])
    reasons = _filter_points(made, FilterConfig()).ledger["reason"].to_list()
    assert reasons == (["value.sign_contradicted"] if wrong else [])


def test_below_the_change_in_cash_a_plain_label_says_nothing() -> None:
    made = statements(*_STOCKS, "Inventories", "5", line=12)
    assert contradicted(made).is_empty()


def test_labels_with_both_sides_decide_in_every_statement() -> None:
    tax = ("IncomeTaxExpenseBenefit", "Income Tax Expense (Benefit)")
    for negated, wrong in ((False, True), (True, False)):
        made = statements(
            *tax, "Benefit (expense) for taxes", "5", negated=negated, statement="Income statement"
        )
        assert contradicted(made).height == wrong


def test_sides_of_labels() -> None:
    assert sides("Increase (decrease) in cash") == (0, True, True)
    assert sides("(Gain) loss on disposal") == (1, False, True)
    assert sides("Loss on disposal") == (1, False, False)
    assert sides("Net income or loss") is None
    assert sides("Inventories") is None


def _added_up(*lines: tuple[str, str, str | None], statement: str = "Income statement") -> set[str]:
    """The labels that turn out to have the wrong sign; each line has concept, value, balance."""
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    points = {}
    for at, (concept, value, balance) in enumerate(lines, 1):
        line = book.line(company, f"{statement} | {concept}", balance=balance)
        book.row(at, concept, line, company_id=company, statement=statement)
        months = 0 if statement == "Balance sheet" else 12
        points[book.value(line, value, line=at, months=months)] = concept
    return {points[point] for point in contradicted(book.close())["point_id"]}


_BEFORE = ("IncomeLossBeforeTaxes", "2284", "credit")
_PROCEEDS, _PAYMENTS = (
    ("ProceedsFromMills", "80", "debit"),
    ("PaymentsToAcquireSilos", "50", "credit"),
)


@pytest.mark.parametrize(
    ("lines", "statement", "wrong"),
    [
        ([_BEFORE, ("TaxExpense", "-10", "debit"), ("ProfitLoss", "2274", "credit")],
         Statement.INCOME, {"TaxExpense"}),
        ([_BEFORE, ("TaxExpense", "10", "debit"), ("ProfitLoss", "2274", "credit")],
         Statement.INCOME, set()),
        ([_BEFORE, ("TaxExpense", "-10", "debit"), ("ProfitLoss", "2294", "credit")],
         Statement.INCOME, set()),  # a benefit
        ([("ProfitLoss", "90", "credit"), ("MinorityIncome", "-4", "debit"),
          ("NetIncomeLoss", "86", "credit")], Statement.INCOME, {"MinorityIncome"}),
        ([("OperatingIncomeLoss", "90", "credit"), ("InterestIncome", "7", "credit"),
          ("InterestOnLoans", "-20", "debit"), (_BEFORE[0], "77", "credit")],
         Statement.INCOME, {"InterestOnLoans"}),
        ([("OperatingIncomeLoss", "90", "credit"), ("InterestIncome", "7", None),
          ("InterestOnLoans", "-20", "debit"), (_BEFORE[0], "77", "credit")],
         Statement.INCOME, set()),  # not all parts are known
        ([("OperatingIncomeLoss", "90", "credit"), ("Rent", "5", "debit"), ("Fees", "5", "debit"),
          (_BEFORE[0], "90", "credit")], Statement.INCOME, set()),  # either may be wrong
        ([_BEFORE, ("CurrentTax", "6", "debit"), ("DeferredTax", "4", "debit"),
          ("TaxExpense", "10", "debit"), ("ProfitLoss", "2274", "credit")],
         Statement.INCOME, set()),  # a sum of the lines above
        ([_PROCEEDS, ("PaymentsToAcquireSilos", "-50", "credit"),
          ("NetCashProvidedByUsedInInvestingActivities", "30", "debit")],
         Statement.CASH_FLOW, {"PaymentsToAcquireSilos"}),
        ([_PROCEEDS, _PAYMENTS, ("NetCashProvidedByUsedInInvestingActivities", "30", "debit")],
         Statement.CASH_FLOW, set()),
        ([("CommonStock", "100", "credit"), ("TreasuryStock", "-30", "debit"),
          ("StockholdersEquity", "70", "credit")], Statement.BALANCE, {"TreasuryStock"}),
        ([("MillsGross", "100", "debit"), ("AccumulatedDepreciation", "-30", "credit"),
          ("Assets", "70", "debit")], Statement.BALANCE, {"AccumulatedDepreciation"}),
    ],
)  # fmt: skip
def test_the_parts_of_a_statement_add_up(
    lines: list[tuple[str, str, str | None]], statement: Statement, wrong: set[str]
) -> None:
    assert _added_up(*lines, statement=statement) == wrong


@pytest.mark.parametrize(
    ("label", "printed", "value", "negated", "is_wrong"),
    [
        ("Gain (Loss) on Silos", "Loss on silos", "5", False, True),
        ("Gain (Loss) on Silos", "Loss on silos", "-5", True, False),
        ("Gain (Loss) on Silos", "Loss on silos", "-5", False, False),
        ("Gain (Loss) on Silos", "Amortization of losses on silos", "5", False, False),
        ("Net Cash Provided by (Used in) Milling", "Net cash used in milling", "5", False, True),
    ],
)
def test_a_number_above_zero_for_the_other_side(
    label: str, printed: str, value: str, negated: bool, is_wrong: bool
) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(company, f"Income statement | {label}", concept="Item")
    point = book.value(line, value)
    book.row(1, printed, line, company_id=company, negated=negated)
    assert (point in contradicted(book.close())["point_id"].to_list()) == is_wrong
