"""Values whose sign the filing's own presentation contradicts: `value.sign_contradicted`.

What a filing prints is the value, or its opposite where the row is negated. Three things tell what
the printed sign means, and so which sign the value must have:

- The printed label, where it names both sides ("Decrease (increase) in inventories"), against the
  side that the concept counts as positive.
- In the body of a cash flow statement, above the change in cash, a plain label: plus is cash in.
  There the balance of the concept decides: what is a credit (an increase in an asset, a gain) has
  to be printed negated, what is a debit (depreciation, an increase in a liability) has not.
- Amounts paid are positive. A negated row that prints one below zero as a positive number was
  filed with the wrong sign.

A filer who forgot to negate a row has filed the printed number: a question would ask for the other
side of it.
"""

from __future__ import annotations

import re
from functools import lru_cache

import polars as pl

from construction.statements.model import Statement, Statements

SIGN_CONTRADICTED = "value.sign_contradicted"
_AXES = (
    (re.compile(r"\bincreas\w*", re.I), re.compile(r"\bdecreas\w*", re.I)),
    (
        re.compile(r"\b(?:gains?|income(?! tax)|profits?|earnings)\b", re.I),
        re.compile(r"\bloss(?:es)?\b", re.I),
    ),
    (re.compile(r"\bbenefits?\b", re.I), re.compile(r"\b(?:expenses?|provisions?)\b", re.I)),
    (re.compile(r"\bprovided\b", re.I), re.compile(r"\bused\b", re.I)),
)
_BRACKETED = re.compile(r"\([^()]*\)")
# Concepts that a cash flow statement shows by their effect on cash, if their label is plain.
_BY_EFFECT = r"^(?:IncreaseDecreaseIn|(?:\w*?)Gains?Loss|IncomeLossFromEquityMethod)"
_ADDED_BACK = r"^(?:Depreciation|Amortization|ShareBasedCompensation|IncreaseDecreaseIn)"
_PAID = (
    r"^(?:Payments?(?:To|For|Of)|Repayments?|InterestPaid|IncomeTaxesPaid|DividendsPaid|Purchase)"
)
_CASH_CHANGE = (
    r"^Cash\w*PeriodIncreaseDecrease|^IncreaseDecreaseInCashAndCashEquivalents"
    r"|^NetCash\w*Increase"
)
_KEY = ("document", "report")


@lru_cache(maxsize=100_000)
def sides(label: str) -> tuple[int, bool, bool] | None:
    """The axis of a label (increase or gain …), whether its first side counts as positive, and
    whether it names both; None for a label without sides."""
    outside = _BRACKETED.sub(" ", label)
    for axis, (first, second) in enumerate(_AXES):
        in_first, in_second = first.search(outside), second.search(outside)
        if bool(in_first) != bool(in_second):
            other = second if in_first else first
            return axis, bool(in_first), other.search(label) is not None
    return None


def contradicted(statements: Statements) -> pl.DataFrame:
    """The points with such a sign: point_id, sign_reason."""
    shown = _shown(statements)
    two_sided = [
        _by_label(label, printed, negated)
        for label, printed, negated in shown.select("label", "printed", "negated").iter_rows()
    ]
    judged = shown.with_columns(by_label=pl.Series(two_sided, dtype=pl.Boolean))
    credit, flow = pl.col("balance") == "credit", pl.col("is_body")
    by_effect = flow & pl.col("concept").str.contains(_BY_EFFECT) & (credit != pl.col("negated"))
    added_back = flow & ~credit & pl.col("negated") & pl.col("concept").str.contains(_ADDED_BACK)
    below = pl.col("value").str.starts_with("-")
    paid = pl.col("concept").str.contains(_PAID) & ~pl.col("concept").str.contains("Proceeds")
    wrong = pl.coalesce("by_label", by_effect | added_back).fill_null(value=False)
    wrong |= paid & below & pl.col("negated")
    return judged.filter(wrong).select("point_id", sign_reason=pl.lit(SIGN_CONTRADICTED))


def _by_label(label: str, printed: str, negated: bool) -> bool | None:
    """Whether a printed label that names both sides contradicts; None if it does not tell."""
    own, row = sides(label), sides(printed)
    if own is None or row is None or own[0] != row[0] or not row[2]:
        return None
    return negated == (own[1] == row[1])


def _shown(statements: Statements) -> pl.DataFrame:
    """The points of periods that stand in a row of a statement, with row and series."""
    series = statements.series.select("series_id", "concept", "label", "balance")
    rows = statements.rows.filter(~pl.col("parenthetical"), pl.col("series_id").is_not_null())
    change = (
        rows.join(series, on="series_id")
        .filter(pl.col("concept").str.contains(_CASH_CHANGE))
        .group_by(_KEY)
        .agg(pl.col("line").max().alias("change"))
    )
    printed = rows.join(change, on=_KEY, how="left").select(
        *_KEY, "line", "series_id", "statement", "negated", "change", printed="label"
    )
    is_flow = pl.col("statement") == Statement.CASH_FLOW
    return (
        statements.points.filter(pl.col("months") > 0, ~pl.col("computed"))
        .select("point_id", "series_id", "value", *_KEY, "line")
        .join(printed, on=[*_KEY, "line", "series_id"])
        .join(series, on="series_id")
        .with_columns(is_body=(is_flow & (pl.col("line") <= pl.col("change"))).fill_null(False))
        .with_columns(pl.col("label", "printed").fill_null(""))
    )
