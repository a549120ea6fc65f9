"""Signs that the filing's own rows contradict, and those that only look odd."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from construction.statements.config import FilterConfig
from construction.statements.filters import filter_points
from construction.statements.model import HISTORY, Statements
from construction.statements.periods.conventions import PeriodConfig
from construction.statements.periods.fill import with_periods
from construction.statements.presentation import contradicted, sides
from tests.construction.statements.frames import companies, points, rows, series

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
    reasons = filter_points(made, FilterConfig()).ledger["reason"].to_list()
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
