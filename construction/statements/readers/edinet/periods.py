"""The period that a filing's figures really cover, and the days that each value covers.

The dates stated in a filing often name another period. An annual report states its fiscal year. A
half-year report mostly states the whole fiscal year, while its figures are of the first half. A
quarterly report states one quarter, while its figures run from the start of the fiscal year, except
those in the income statements of IFRS filers, which are of the quarter alone (as in some half-year
reports). The description says which kind of report it is.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any

import polars as pl

from construction.statements.readers.edinet.contracts import Reason
from construction.statements.readers.edinet.filings import TABLES, Filing
from construction.statements.readers.edinet.values import (
    CASH_FLOW,
    INCOME,
    PER_SHARE,
    SUMMARY,
    clean_number,
)
from data.text.folding import fold_width, without_spaces

_TERM = re.compile(r"第([0-9]{1,4})期")
_QUARTER_NUMBER = re.compile(r"第([1-4])四半期")
_AMENDED = "訂正"
_DAYS_A_MONTH = 30.4375
_LEEWAY = 8  # days: fiscal years of 52 or 53 weeks, short Februaries
_SAME_START = 10  # days
_FOURTH = 4
REGULAR = (3, 6, 9, 12)
_IFRS = ("IFRS", "ＩＦＲＳ")
_SUMMARY_PROFIT, _INCOME_PROFIT = "税引前利益(IFRS)", "税引前利益"
_QUARTER_MONTHS = 3  # months
_KEY = ["filing", "report", "concept"]


class Kind(StrEnum):
    """Reports with statements, by the word their description begins with."""

    ANNUAL = "有価証券報告書"
    QUARTER = "四半期報告書"
    HALF = "半期報告書"


@dataclass(frozen=True, slots=True)
class Report:
    """What the description of a filing says: its kind, and fiscal term and quarter if stated."""

    kind: Kind
    term: int | None
    quarter: int | None


@dataclass(frozen=True, slots=True)
class Span:
    """The days that the figures of a report cover: from `start` to `end`.

    `months` from `start`: 3, 6, 9 or 12; None for other lengths, where only the figures of the last
    day can be used. `quarter_start`: first day of the last quarter.
    """

    kind: Kind
    start: date
    end: date
    months: int | None
    quarter_start: date


@lru_cache(maxsize=1 << 16)
def report_of(description: str) -> Report | None:
    """Kind, term and quarter of a description; None for another kind of document."""
    text = fold_width(description).strip().removeprefix(_AMENDED)
    kind = next((kind for kind in Kind if text.startswith(kind)), None)
    if kind is None:
        return None
    term, quarter = _TERM.search(text), _QUARTER_NUMBER.search(text)
    return Report(kind, int(term[1]) if term else None, int(quarter[1]) if quarter else None)


def term_starts(filings: Sequence[Filing]) -> dict[tuple[str, int], date]:
    """First day of each fiscal term (company, term), from the newest of its annual reports."""
    starts: dict[tuple[str, int], date] = {}
    for filing in sorted(filings, key=lambda filing: (filing.filed, filing.document)):
        report = report_of(filing.description)
        if report is not None and report.kind is Kind.ANNUAL and report.term is not None:
            starts[filing.company, report.term] = filing.start
    return starts


def span_of(filing: Filing, report: Report, terms: Mapping[tuple[str, int], date]) -> Span:
    """The span of a filing's figures."""
    start, end = filing.start, filing.end
    if report.kind is Kind.HALF and months_between(start, end) != 6:
        end = shifted(start, 6) - timedelta(days=1)
    quarter_start = shifted(end + timedelta(days=1), -3)
    months = months_between(start, end)
    if report.kind is Kind.QUARTER:
        term = terms.get((filing.company, report.term)) if report.term is not None else None
        start, months = _year_to_date(end, report.quarter, term)
    return Span(report.kind, start, end, months, quarter_start)


def _year_to_date(end: date, quarter: int | None, term: date | None) -> tuple[date, int | None]:
    """First day and months of a quarterly report's figures: from the start of the fiscal year.

    The start follows from the quarter's number, or from the annual report of the term if they
    differ. The stated first day is not used: it is the quarter's in most reports, the year's in
    some, and thirty years off in a few. A fourth quarter occurs only in years of more than twelve
    months; its length is unknown.
    """
    after = end + timedelta(days=1)
    start = shifted(after, -3 * (quarter or 1))
    if term is not None and (quarter is None or abs((term - start).days) > _SAME_START):
        start = term
    known = (quarter is not None or term is not None) and quarter != _FOURTH
    return start, months_between(start, end) if known else None


def months_between(start: date, end: date) -> int | None:
    """Length of a period in months, both days included: 3, 6, 9 or 12, else None."""
    days = (end - start).days + 1
    months = round(days / _DAYS_A_MONTH)
    close = abs(days - months * _DAYS_A_MONTH) <= _LEEWAY
    return months if close and months in REGULAR else None


def shifted(day: date, months: int) -> date:
    """The same day some months later, or the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def income_of_quarter(filing: Filing, span: Span) -> bool:
    """Whether the income statement of a filing covers only its last quarter.

    IFRS filers report the quarter beside the year to date, and the collection holds the quarter, in
    quarterly reports and in a few half-year ones. The profit before tax in their summary is year to
    date: if the income statement has the same value, so is the statement. If the two cannot be
    compared, a quarterly report is taken to hold the quarter, as all comparable ones do.
    """
    if span.kind is Kind.ANNUAL or span.months == _QUARTER_MONTHS:
        return False
    tables = dict(zip(TABLES, filing.tables, strict=True))
    income, summary = tables["pl"], tables["summary"]
    if not any(mark in label for label in (*income, *summary) for mark in _IFRS):
        return False
    summary_profit, income_profit = (
        _number(summary, _SUMMARY_PROFIT),
        _number(income, _INCOME_PROFIT),
    )
    if summary_profit is None or income_profit is None:
        return span.kind is Kind.QUARTER
    return summary_profit != income_profit


def _number(table: Mapping[str, Any], concept: str) -> str | None:
    value = next((table[label] for label in table if without_spaces(label) == concept), None)
    return clean_number(str(value))[0]


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
    return span.kind is Kind.QUARTER and span.months != _QUARTER_MONTHS


def dated(values: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """The values with company, document, period_start, period_end and months; `reason` is set for
    summary items that a statement has too, and for values whose period is unknown."""
    known = _beside_their_twins(values).join(filings, on="filing", maintain_order="left")
    copied = pl.col("taken_over").is_not_null()
    same = (pl.col("value") == pl.col("income_value")).fill_null(False)
    of_quarter = pl.col("income_of_quarter") & ((pl.col("report") == INCOME) | (copied & same))
    quarter = of_quarter & ~pl.col("instant")
    months = pl.when("instant").then(0).when(quarter).then(_QUARTER_MONTHS).otherwise("span_months")
    start = pl.when("instant").then(None).when(quarter).then("quarter_start").otherwise("start")
    # Quarterly summaries give earnings per share of the quarter or of the year to date.
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
    usable = values.filter(pl.col("reason").is_null()).select(*_KEY, "value")
    twins = usable.rename({"report": "twin_report", "concept": "twin", "value": "twin_value"})
    income = usable.filter(pl.col("report") == INCOME).select(
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
