"""Which lines get no sentence about their sign, and which cannot be asked about."""

from __future__ import annotations

from construction.statements.questions.contracts import FlowSide
from construction.statements.questions.signs import signed


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
