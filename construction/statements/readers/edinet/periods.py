"""Each value gets the days it covers, or the reason why they are not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from construction.statements.labels.lookup import fold
from construction.statements.readers.edinet.filings import TABLES, Filing
from construction.statements.readers.edinet.items import CASH_FLOW, INCOME, PER_SHARE, SUMMARY
from construction.statements.readers.edinet.reasons import Reason
from construction.statements.readers.edinet.spans import Kind, Span
from construction.statements.readers.edinet.values import clean_number

_IFRS = ("IFRS", "ＩＦＲＳ")
_TOLD, _SAID = "税引前利益(IFRS)", "税引前利益"
_QUARTER = 3  # months
_KEY = ["filing", "report", "concept"]


def income_of_quarter(filing: Filing, span: Span) -> bool:
    """Whether the income statement of a filing covers its last quarter alone.

    IFRS filers report the quarter beside the year to date, and the collection holds the quarter,
    in quarterly reports and in a few half-year ones. The profit before tax in their summary is of
    the year to date: where the income statement has the same, it is too. Where the two cannot be
    compared, a quarterly report is taken to hold the quarter, as all do that can be compared.
    """
    if span.kind is Kind.ANNUAL or span.months == _QUARTER:
        return False
    tables = dict(zip(TABLES, filing.tables, strict=True))
    income, summary = tables["pl"], tables["summary"]
    if not any(mark in label for label in (*income, *summary) for mark in _IFRS):
        return False
    told, said = _number(summary, _TOLD), _number(income, _SAID)
    if told is None or said is None:
        return span.kind is Kind.QUARTER
    return told != said


def _number(table: Mapping[str, Any], concept: str) -> str | None:
    told = next((table[label] for label in table if fold(label) == concept), None)
    return clean_number(str(told))[0]


def span_frame(filings: Sequence[Filing], spans: Sequence[Span]) -> pl.DataFrame:
    """The filings as columns: filing (position), company, document, filed, and their spans."""
    quarters = [income_of_quarter(f, s) for f, s in zip(filings, spans, strict=True)]
    return pl.DataFrame(
        {
            "filing": pl.Series(range(len(filings)), dtype=pl.Int64),
            "company_id": pl.Series([f.company for f in filings], dtype=pl.String),
            "document": pl.Series([f.document for f in filings], dtype=pl.String),
            "filed": pl.Series([f.filed for f in filings], dtype=pl.Date),
            "start": pl.Series([s.start for s in spans], dtype=pl.Date),
            "end": pl.Series([s.end for s in spans], dtype=pl.Date),
            "quarter_start": pl.Series([s.quarter_start for s in spans], dtype=pl.Date),
            "span_months": pl.Series([s.months for s in spans], dtype=pl.Int64),
            "adds_quarters": pl.Series([_adds_quarters(s) for s in spans], dtype=pl.Boolean),
            "income_of_quarter": pl.Series(quarters, dtype=pl.Boolean),
        }
    )


def _adds_quarters(span: Span) -> bool:
    return span.kind is Kind.QUARTER and span.months != _QUARTER


def dated(values: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """The values with company, document, period_start, period_end and months; `reason` filled in
    for summary items that a statement tells too, and for values whose period is not known."""
    known = _beside_their_twins(values).join(filings, on="filing", maintain_order="left")
    copied = pl.col("taken_over").is_not_null()
    same = (pl.col("value") == pl.col("income_value")).fill_null(False)
    of_quarter = pl.col("income_of_quarter") & ((pl.col("report") == INCOME) | (copied & same))
    quarter = of_quarter & ~pl.col("instant")
    months = pl.when("instant").then(0).when(quarter).then(_QUARTER).otherwise("span_months")
    start = pl.when("instant").then(None).when(quarter).then("quarter_start").otherwise("start")
    # Quarterly summaries give earnings per share for the quarter or for the year to date.
    per_share = (pl.col("report") == SUMMARY) & (pl.col("unit") == PER_SHARE) & ~pl.col("instant")
    adrift = copied & ~same & pl.col("income_of_quarter")
    either = pl.col("adds_quarters") | pl.col("income_of_quarter")
    unclear = (per_share & either) | adrift
    reason = (
        pl.when(pl.col("reason").is_not_null())
        .then("reason")
        .when(pl.col("twin").is_not_null())
        .then(_summary_reason())
        .when(unclear)
        .then(pl.lit(str(Reason.VALUE_PERIOD_UNCLEAR)))
        .when(months.is_null())
        .then(pl.lit(str(Reason.VALUE_PERIOD_IRREGULAR)))
    )
    return known.with_columns(
        months=months.cast(pl.Int64), period_start=start, period_end="end", reason=reason
    )


def _summary_reason() -> pl.Expr:
    return (
        pl.when(pl.col("twin_value").is_null())
        .then(pl.lit(str(Reason.VALUE_SUMMARY_ALONE)))
        .when(pl.col("twin_value") == pl.col("value"))
        .then(pl.lit(str(Reason.VALUE_SUMMARY_SAME)))
        .otherwise(pl.lit(str(Reason.VALUE_SUMMARY_DIFFERS)))
    )


def _beside_their_twins(values: pl.DataFrame) -> pl.DataFrame:
    """The values with `twin_value` (of the statement item that a summary item repeats) and
    `income_value` (of the income statement item that a cash flow item takes over)."""
    told = values.filter(pl.col("reason").is_null()).select(*_KEY, "value")
    twins = told.rename({"report": "twin_report", "concept": "twin", "value": "twin_value"})
    income = told.filter(pl.col("report") == INCOME).select(
        "filing",
        pl.lit(CASH_FLOW, pl.Int64).alias("report"),
        pl.col("concept").alias("taken_over"),
        pl.col("value").alias("income_value"),
    )
    beside = values.join(
        twins, on=["filing", "twin_report", "twin"], how="left", maintain_order="left"
    )
    return beside.join(
        income, on=["filing", "report", "taken_over"], how="left", maintain_order="left"
    )
