"""Values whose sign the filing's own presentation contradicts: `value.sign_contradicted`.

What a filing prints is the value, or its opposite where the row is negated. Four things tell what
the printed sign means, and so which sign the value must have:

- The printed label, where it names both sides ("Decrease (increase) in inventories") or prints a
  positive number for the other side alone ("Loss on sales"), against the side that the concept
  counts as positive.
- In the body of a cash flow statement, above the change in cash, a plain label: plus is cash in.
  There the balance of the concept decides: what is a credit (an increase in an asset, a gain) has
  to be printed negated, what is a debit (depreciation, an increase in a liability) has not.
- Amounts paid are positive. A negated row that prints one below zero as a positive number was
  filed with the wrong sign.

- Between two subtotals, costs reduce and income adds; in a cash flow statement debits are cash in
  and credits cash out, in a section of a balance sheet its contra items reduce it. Where that does
  not add up, and does with one item's sign turned, that item was filed with the wrong sign.

A filer who forgot to negate a row has filed the printed number: a question would ask for the other
side of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any

import polars as pl

from construction.statements.model import Statement, Statements

SIGN_CONTRADICTED = "value.sign_contradicted"
# The words of the two sides of an axis. "Income tax" is no income.
_AXES = (
    (
        frozenset(["increase", "increased", "increases", "increasing"]),
        frozenset(["decrease", "decreased", "decreases", "decreasing"]),
    ),
    (
        frozenset(["gain", "gains", "income", "profit", "profits", "earnings"]),
        frozenset(("loss", "losses")),
    ),
    (
        frozenset(("benefit", "benefits")),
        frozenset(["expense", "expenses", "provision", "provisions"]),
    ),
    (frozenset(("provided",)), frozenset(("used",))),
)
_WORD = re.compile(r"income tax|\w+")
_LED = re.compile(
    r"(?:(?:net|total|other|equity in|share of) )*"
    r"(?:loss|gain|decrease|increase|cash used|income tax benefit)",
    re.I,
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
_COLUMN = (*_KEY, "period_end", "months", "unit")
# Rows that close a part of a statement.
_CLOSING = (
    r"^(?:GrossProfit|OperatingIncomeLoss|ProfitLoss"
    r"|NetIncomeLoss(?:AvailableToCommonStockholdersBasic)?|IncomeLossFromContinuingOperations(?:Before\w*|IncludingPortion\w*)?|IncomeLossBefore\w*"
    r"|NetCashProvidedByUsedIn(?:Operating|Investing|Financing)Activities(?:ContinuingOperations)?"
    r"|Assets(?:Current)?|LiabilitiesAndStockholdersEquity|Capitalization\w*|Liabilities(?:Current)?|StockholdersEquity(?:IncludingPortion\w*)?)$"
)
_CLOSING_LABEL = (
    r"(?i)^(?:net )?(?:income|earnings|profit|loss)\b.{0,20}\bbefore\b|^gross (?:profit|margin)|"
    r"^operating (?:income|profit|loss)|^net (?:income|earnings|loss)(?: \(\w+\))?$"
)
_CLOSED_DEBIT = r"^(?:Assets|NetCash)"  # the balance of what adds to a closing row
_CODE = 3  # letters of a currency


@lru_cache(maxsize=100_000)
def sides(label: str) -> tuple[int, bool, bool] | None:
    """The axis of a label (increase or gain …), whether its first side counts as positive, and
    whether it names both; None for a label without sides."""
    words = {*_WORD.findall(label.lower())}
    outside = {*_WORD.findall(_BRACKETED.sub(" ", label).lower())}
    for axis, (first, second) in enumerate(_AXES):
        in_first, in_second = bool(first & outside), bool(second & outside)
        if in_first != in_second:
            return axis, in_first, bool((second if in_first else first) & words)
    return None


def contradicted(statements: Statements) -> pl.DataFrame:
    """The points with such a sign: point_id, sign_reason."""
    shown = _shown(statements)
    columns = ("label", "printed", "negated", "value")
    two_sided = [_by_label(*row) for row in shown.select(columns).iter_rows()]
    judged = shown.with_columns(by_label=pl.Series(two_sided, dtype=pl.Boolean))
    credit, flow = pl.col("balance") == "credit", pl.col("is_body")
    by_effect = flow & pl.col("concept").str.contains(_BY_EFFECT) & (credit != pl.col("negated"))
    added_back = flow & ~credit & pl.col("negated") & pl.col("concept").str.contains(_ADDED_BACK)
    below = pl.col("value").str.starts_with("-")
    paid = pl.col("concept").str.contains(_PAID) & ~pl.col("concept").str.contains("Proceeds")
    wrong = pl.coalesce("by_label", by_effect | added_back).fill_null(value=False)
    wrong |= paid & below & pl.col("negated")
    turned = [*judged.filter(wrong)["point_id"], *_turned(statements)]
    points = pl.Series("point_id", turned, pl.String).unique().sort()
    return points.to_frame().with_columns(sign_reason=pl.lit(SIGN_CONTRADICTED))


def _by_label(label: str, printed: str, negated: bool, value: str) -> bool | None:
    """Whether a printed label contradicts that names both sides, or the other one only for a number
    that is printed above zero; None if it does not tell."""
    own, row = sides(label), sides(printed)
    if own is None or row is None or own[0] != row[0]:
        return None
    if not row[2]:
        is_other = own[2] and own[1] != row[1] and _LED.match(printed) is not None
        return True if is_other and not negated and not value.startswith("-") else None
    return negated == (own[1] == row[1])


def _turned(statements: Statements) -> list[str]:
    """The points that make the parts of their statement add up only with the other sign."""
    about = ("series_id", "concept", "label", "balance", "unit", "dimensions")
    known = statements.series.filter(pl.col("balance").is_not_null())
    series = statements.series.join(known, on="company_id", how="semi").filter(
        pl.col("dimensions").is_null(), pl.col("unit").str.len_chars() == _CODE
    )
    rows = statements.rows.filter(~pl.col("parenthetical")).select(*_KEY, "line", "series_id")
    closes = pl.col("concept").str.contains(_CLOSING) | pl.col("label").str.contains(_CLOSING_LABEL)
    cells = (
        statements.points.filter(~pl.col("computed"), pl.col("value").str.contains("[1-9]"))
        .select("point_id", "series_id", "value", *_KEY, "line", "period_end", "months")
        .join(series.select(about), on="series_id")
        .join(rows, on=[*_KEY, "line", "series_id"])
        .sort(*_COLUMN, "line", "point_id")
        .select(
            pl.struct(_COLUMN).rle_id(),
            "point_id",
            "balance",
            pl.col("value").cast(pl.Float64, strict=False),
            closes,
            pl.col("concept").str.contains(_CLOSED_DEBIT).alias("debit"),
        )
    )
    columns = groupby(cells.iter_rows(), key=itemgetter(0))
    return [own for _, column in columns for own in _turned_in(column)]


def _turned_in(column: Iterable[tuple[Any, ...]]) -> list[str]:
    """Those of one column of a statement, from closing row to closing row."""
    turned: list[str] = []
    start, parts = 0.0, list[tuple[str, str | None, float]]()
    for _, point_id, balance, amount, closes, is_debit in column:
        if not closes:
            parts.append((point_id, balance, amount))
            continue
        if parts and all(part[1] for part in parts):
            adds = "debit" if is_debit else "credit"
            signed = [(own, value if kind == adds else -value) for own, kind, value in parts]
            turned += _one_turned(_without_subtotals(signed), [amount - start, amount])
        start, parts = amount, []
    return turned


def _without_subtotals(parts: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The parts without those that sum up the parts just above them."""
    kept: list[tuple[str, float]] = []
    for own, value in parts:
        above = list(accumulate(amount for _, amount in reversed(kept)))
        if value not in above and -value not in above:
            kept.append((own, value))
    return kept


def _one_turned(parts: Sequence[tuple[str, float]], totals: Sequence[float]) -> list[str]:
    """The part without which nothing adds up to any of the totals, if it is one alone."""
    gaps = [total - sum(value for _, value in parts) for total in totals]
    if any(gap == 0 for gap in gaps):
        return []
    wrong = {own for own, value in parts for gap in gaps if gap == -2 * value}
    return list(wrong) if len(wrong) == 1 else []


def _shown(statements: Statements) -> pl.DataFrame:
    """The points of periods that stand in a row of a statement, with row and series."""
    series = statements.series.select("series_id", "concept", "label", "balance")
    # A row shows the figures of segments too, and names the series of the whole company alone, or
    # none.
    rows = statements.rows.filter(~pl.col("parenthetical"))
    change = (
        rows.join(series, on="series_id")
        .filter(pl.col("concept").str.contains(_CASH_CHANGE))
        .group_by(_KEY)
        .agg(pl.col("line").max().alias("change"))
    )
    printed = rows.join(change, on=_KEY, how="left").select(
        *_KEY, "line", "statement", "negated", "change", printed="label"
    )
    is_flow = pl.col("statement") == Statement.CASH_FLOW
    return (
        statements.points.filter(pl.col("months") > 0, ~pl.col("computed"))
        .select("point_id", "series_id", "value", *_KEY, "line")
        .join(printed, on=[*_KEY, "line"])
        .join(series, on="series_id")
        .with_columns(is_body=(is_flow & (pl.col("line") <= pl.col("change"))).fill_null(False))
        .with_columns(pl.col("label", "printed").fill_null(""))
    )
