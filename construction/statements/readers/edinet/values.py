"""The values of filings: item and number of each label, and the days that each value covers.

The dates stated in a filing often name another period. An annual report states its fiscal year. A
half-year report mostly states the whole fiscal year, while its figures are of the first half. A
quarterly report states one quarter, while its figures run from the start of the fiscal year, except
those in the income statements of IFRS filers, which are of the quarter alone (as in some half-year
reports). The description says which kind of report it is.
"""

from __future__ import annotations

import re
import tomllib
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from construction.statements.model import Statement
from construction.statements.readers.edinet.source import TABLES, Filing, Reason, Repeated
from data.text.folding import fold_width, without_spaces

_YEN = "JPY"
_PER_SHARE = f"{_YEN}/share"
_EACH_SHARE = "1株当たり"
_LONGEST = 200  # characters of a name
# Statements, and their names in the filing's language, in the order of TABLES.
STATEMENTS = (Statement.BALANCE, Statement.INCOME, Statement.CASH_FLOW, Statement.KPI)
LOCAL_NAMES = ("貸借対照表", "損益計算書", "キャッシュ・フロー計算書", "主要な経営指標等の推移")
SUMMARY = TABLES.index("summary") + 1  # report number of the summary
_INCOME = TABLES.index("pl") + 1
_CASH_FLOW = TABLES.index("cf") + 1
_BALANCE = TABLES.index("bs") + 1
# Stand-ins for values that are not text; no number looks like them.
_NOT_TEXT, _REPEATED = "(no text)", "(repeated)"
_LONGEST_VALUE = 40  # characters
_PLAIN = r"^-?[0-9]{1,30}(\.[0-9]{1,15})?$"
_NUMBER = re.compile(_PLAIN)
_GROUPED = re.compile(r"-?[0-9]{1,3}(,[0-9]{3}){1,9}(\.[0-9]{1,15})?")
_BRACKETED = re.compile(r"\(([0-9.,]+)\)")
_MISSING = frozenset(("", "-", "―", "—", "–", "ー", "‐"))
_MINUS = ("△", "▲", "−")


@dataclass(frozen=True, slots=True)
class _Item:
    """An item: `twin` = report number and folded name of the statement item that a summary item
    repeats; `taken_over` = the income statement's item that a cash flow item repeats."""

    concept: str
    unit: str
    instant: bool
    twin: tuple[int, str] | None = None
    taken_over: str | None = None

    @property
    def currency(self) -> str | None:
        return _YEN if self.unit in (_YEN, _PER_SHARE) else None


@cache
def item_words() -> dict[str, Any]:
    with Path(__file__).with_name("items.toml").open("rb") as handle:
        return tomllib.load(handle)


def _item_of(report: int, label: str) -> _Item:
    """The item with this label in the statement with the number `report`."""
    words, concept = item_words(), without_spaces(label)
    instant = report == _BALANCE or concept in words["instants"]
    twin = words["counterparts"].get(concept) if report == SUMMARY else None
    taken = words["taken_over"].get(concept) if report == _CASH_FLOW else None
    known = (TABLES.index(twin[0]) + 1, twin[1]) if twin else None
    return _Item(concept, _unit_of(concept), instant, known, taken)


def _unit_of(concept: str) -> str:
    """JPY, JPY/share, shares, ratio or count, by the name before any section (`、`)."""
    words, head = item_words(), concept.partition("、")[0]
    head = head.partition("(")[0] or head
    if _EACH_SHARE in head:
        return _PER_SHARE
    for unit, key in (("ratio", "ratios"), ("shares", "shares"), ("count", "counts")):
        if head.endswith(tuple(words[key])):
            return unit
    return _YEN


def _item_frame(pairs: pl.DataFrame) -> pl.DataFrame:
    """(report, label) pairs with the columns of their items, for joining to values."""
    items = [_item_of(report, label) for report, label in pairs.iter_rows()]
    return pairs.with_columns(
        pl.Series("concept", [item.concept for item in items], pl.String),
        pl.Series("statement", [str(STATEMENTS[r - 1]) for r in pairs["report"]], pl.String),
        pl.Series("unit", [item.unit for item in items], pl.String),
        pl.Series("currency", [item.currency for item in items], pl.String),
        pl.Series("instant", [item.instant for item in items], pl.Boolean),
        pl.Series("twin_report", [i.twin[0] if i.twin else None for i in items], pl.Int64),
        pl.Series("twin", [i.twin[1] if i.twin else None for i in items], pl.String),
        pl.Series("taken_over", [item.taken_over for item in items], pl.String),
    )


def value_frame(filings: Sequence[Filing]) -> pl.DataFrame:
    """One row per value: filing (position), report, line, label, the item's columns of
    `_item_frame`, value (decimal as text, else null) and reason (null if there is a value)."""
    frame = _flat(filings)
    numbers = _numbers(frame["raw"].unique())
    items = _item_frame(frame.select("report", "label").unique())
    frame = frame.join(numbers, on="raw", how="left", maintain_order="left").drop("raw")
    frame = frame.join(items, on=["report", "label"], how="left", maintain_order="left")
    again = pl.struct("filing", "report", "concept").is_first_distinct().not_()
    odd = (pl.col("label").str.len_chars() > _LONGEST) | (pl.col("concept") == "")
    reason = (
        pl.when(odd)
        .then(pl.lit(str(Reason.VALUE_LABEL)))
        .when(again)
        .then(pl.lit(str(Reason.VALUE_REPEATED_LABEL)))
        .otherwise(pl.col("reason"))
    )
    return frame.with_columns(reason=reason)


def _flat(filings: Sequence[Filing]) -> pl.DataFrame:
    """The tables of the filings, item by item, in filing order."""
    labels: list[str] = []
    values: list[Any] = []
    sizes: list[int] = []
    for filing in filings:
        for table in filing.tables:
            labels.extend(table.keys())
            values.extend(table.values())
            sizes.append(len(table))
    if not set(map(type, values)) <= {str}:
        values = [_as_text(value) for value in values]
    counts = np.asarray(sizes, dtype=np.int64)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    tables = np.repeat(np.arange(len(sizes), dtype=np.int64), counts)
    return pl.DataFrame(
        {
            "filing": tables // 4,
            "report": tables % 4 + 1,
            "line": np.arange(len(labels), dtype=np.int64) - starts,
            "label": pl.Series(labels, dtype=pl.String),
            "raw": pl.Series(values, dtype=pl.String),
        }
    )


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_VALUE else _NOT_TEXT
    if value is None:
        return ""
    if isinstance(value, Repeated):
        return _REPEATED
    # A JSON number with a fraction has been through a float: no longer as reported.
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else _NOT_TEXT


def _numbers(raw: pl.Series) -> pl.DataFrame:
    """raw -> value, reason."""
    plain = raw.str.contains(_PLAIN)
    odd = [_clean_number(text) for text in raw.filter(~plain)]
    cleaned = pl.DataFrame(
        {
            "raw": raw.filter(~plain),
            "value": pl.Series([value for value, _ in odd], dtype=pl.String),
            "reason": pl.Series([reason for _, reason in odd], dtype=pl.String),
        }
    )
    kept = raw.filter(plain)
    whole = pl.DataFrame({"raw": kept, "value": kept}).with_columns(reason=pl.lit(None, pl.String))
    return pl.concat([whole, cleaned])


def _clean_number(text: str) -> tuple[str | None, str | None]:
    """The decimal that `text` writes, or the reason why there is none.

    Full-width digits, spaces, grouping commas, and △, ▲ or brackets for minus are resolved.
    """
    if text == _REPEATED:
        return None, str(Reason.VALUE_REPEATED_LABEL)
    if len(text) > _LONGEST_VALUE:
        return None, str(Reason.VALUE_NOT_A_NUMBER)
    plain = without_spaces(text)
    if plain in _MISSING:
        return None, str(Reason.VALUE_MISSING)
    bracketed = _BRACKETED.fullmatch(plain)
    if bracketed or plain.startswith(_MINUS):
        plain = f"-{bracketed[1] if bracketed else plain[1:]}"
    if _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    if _NUMBER.fullmatch(plain):
        return plain, None
    return None, str(Reason.VALUE_NOT_A_NUMBER)


_TERM = re.compile(r"第([0-9]{1,4})期")
_QUARTER_NUMBER = re.compile(r"第([1-4])四半期")
_AMENDED = "訂正"
_DAYS_A_MONTH = 30.4375
_LEEWAY = 8  # days: fiscal years of 52 or 53 weeks, short Februaries
_SAME_START = 10  # days
_FOURTH = 4
_REGULAR = (3, 6, 9, 12)
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
class _Report:
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
def report_of(description: str) -> _Report | None:
    """Kind, term and quarter of a description; None for another kind of document."""
    text = fold_width(description).strip().removeprefix(_AMENDED)
    kind = next((kind for kind in Kind if text.startswith(kind)), None)
    if kind is None:
        return None
    term, quarter = _TERM.search(text), _QUARTER_NUMBER.search(text)
    return _Report(kind, int(term[1]) if term else None, int(quarter[1]) if quarter else None)


def span_of(filing: Filing, report: _Report, terms: Mapping[tuple[str, int], date]) -> Span:
    """The span of a filing's figures."""
    start, end = filing.start, filing.end
    if report.kind is Kind.HALF and _months_between(start, end) != 6:
        end = _shifted(start, 6) - timedelta(days=1)
    quarter_start = _shifted(end + timedelta(days=1), -3)
    months = _months_between(start, end)
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
    start = _shifted(after, -3 * (quarter or 1))
    if term is not None and (quarter is None or abs((term - start).days) > _SAME_START):
        start = term
    known = (quarter is not None or term is not None) and quarter != _FOURTH
    return start, _months_between(start, end) if known else None


def _months_between(start: date, end: date) -> int | None:
    """Length of a period in months, both days included: 3, 6, 9 or 12, else None."""
    days = (end - start).days + 1
    months = round(days / _DAYS_A_MONTH)
    close = abs(days - months * _DAYS_A_MONTH) <= _LEEWAY
    return months if close and months in _REGULAR else None


def _shifted(day: date, months: int) -> date:
    """The same day some months later, or the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _income_of_quarter(filing: Filing, span: Span) -> bool:
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
    return _clean_number(str(value))[0]


def span_frame(filings: Sequence[Filing], spans: Sequence[Span]) -> pl.DataFrame:
    """The filings as columns: filing (position), company, document, filed, and their spans."""
    quarters = [_income_of_quarter(f, s) for f, s in zip(filings, spans, strict=True)]
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
    of_quarter = pl.col("income_of_quarter") & ((pl.col("report") == _INCOME) | (copied & same))
    quarter = of_quarter & ~pl.col("instant")
    months = pl.when("instant").then(0).when(quarter).then(_QUARTER_MONTHS).otherwise("span_months")
    start = pl.when("instant").then(None).when(quarter).then("quarter_start").otherwise("start")
    # Quarterly summaries give earnings per share of the quarter or of the year to date.
    per_share = (pl.col("report") == SUMMARY) & (pl.col("unit") == _PER_SHARE) & ~pl.col("instant")
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
    income = usable.filter(pl.col("report") == _INCOME).select(
        "filing",
        pl.lit(_CASH_FLOW, pl.Int64).alias("report"),
        pl.col("concept").alias("taken_over"),
        pl.col("value").alias("income_value"),
    )
    beside = values.join(
        twins, on=["filing", "twin_report", "twin"], how="left", maintain_order="left"
    )
    return beside.join(
        income, on=["filing", "report", "taken_over"], how="left", maintain_order="left"
    )
