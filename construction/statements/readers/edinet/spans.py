"""The period that a filing's figures really cover; its dates often say another one.

An annual report states its fiscal year. A half-year report mostly states the whole fiscal year,
while its figures are of the first half. A quarterly report states one quarter, while its figures
run from the start of the fiscal year, except those of IFRS filers' income statements, which are
of the quarter alone (and of some half-year reports). The description says which report it is.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import lru_cache

from construction.statements.readers.edinet.filings import Filing

_TERM = re.compile(r"第([0-9]{1,4})期")
_QUARTER = re.compile(r"第([1-4])四半期")
_AMENDED = "訂正"
_DAYS_A_MONTH = 30.4375
_LEEWAY = 8  # days: fiscal years of 52 or 53 weeks, short Februaries
_SAME_START = 10  # days
_FOURTH = 4
REGULAR = (3, 6, 9, 12)


class Kind(StrEnum):
    """Reports that hold statements, by the word their description begins with."""

    ANNUAL = "有価証券報告書"
    QUARTER = "四半期報告書"
    HALF = "半期報告書"


@dataclass(frozen=True, slots=True)
class Report:
    """What the description of a filing says: its kind, fiscal term and quarter, if told."""

    kind: Kind
    term: int | None
    quarter: int | None


@dataclass(frozen=True, slots=True)
class Span:
    """The days that the figures of a report cover: from `start` to `end`.

    `months` from `start`: 3, 6, 9 or 12; None where the period is none of these, so that only
    the figures of its last day can be used. `quarter_start`: first day of the last quarter.
    """

    kind: Kind
    start: date
    end: date
    months: int | None
    quarter_start: date


@lru_cache(maxsize=1 << 16)
def report_of(description: str) -> Report | None:
    """Kind, term and quarter of a description; None for another kind of document."""
    text = unicodedata.normalize("NFKC", description).strip().removeprefix(_AMENDED)
    kind = next((kind for kind in Kind if text.startswith(kind)), None)
    if kind is None:
        return None
    term, quarter = _TERM.search(text), _QUARTER.search(text)
    return Report(kind, int(term[1]) if term else None, int(quarter[1]) if quarter else None)


def term_starts(filings: Sequence[Filing]) -> dict[tuple[str, int], date]:
    """First day of each fiscal term (company, term) by its annual reports; the newest counts."""
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

    That is told by the quarter's number, or by the annual report of the term where they differ.
    The stated first day is not used: it is the quarter's in most reports, the year's in some, and
    thirty years off in a few. The fourth quarter of a year of more than twelve months fits none.
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
    """The same day some months later; the last one where the month is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
