"""How a question names its period: as the company does where that is known, else by its last day.

Only a calendar year has one name for everybody. Of other fiscal years a question says the day on
which they end, and the name only if the company's filings show it; then also the other name by
which readers may know the year. A day that the source rounds and no filing states is "about".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from construction.statements.periods.conventions import Convention, YearLabel, sec_year
from construction.statements.questions.contracts import Company, Point
from data.text.dates import MONTHS, write_date

PARTS = {
    "FY": "",
    "H1": "the first half of ",
    "H2": "the second half of ",
    "Q1": "the first quarter of ",
    "Q2": "the second quarter of ",
    "Q3": "the third quarter of ",
    "Q4": "the fourth quarter of ",
    "9M": "the first nine months of ",
}
_COUNTS = {3: "three", 6: "six", 9: "nine", 12: "twelve"}


def _write_span(start: date, end: date) -> str:
    """April 1, 2009 to March 31, 2010; the year once if both days share it."""
    if start.year == end.year:
        return f"{MONTHS[start.month - 1]} {start.day} to {write_date(end)}"
    return f"{write_date(start)} to {write_date(end)}"


def describe(point: Mapping[str, Any], *, dates: bool = True) -> str:
    """The period of a row of POINTS in natural English; `parse_period` reads it back.

    An instant is "as of March 31, 2010"; a span with a fiscal period "fiscal year 2010 (April 1,
    2009 to March 31, 2010)" or "the first quarter of fiscal year 2010 (…)", with the brackets only
    if `dates`; any other span "the five months ended May 31, 2010", or its days. The days make
    clear which convention names the year, so omit them only if that is said elsewhere.
    """
    end: date = point["period_end"]
    if point["months"] == 0:
        return f"as of {write_date(end)}"
    start: date | None = point["period_start"]
    if point["fiscal_period"] is not None:
        named = f"{PARTS[point['fiscal_period']]}fiscal year {point['fiscal_year']}"
        return f"{named} ({_write_span(start, end)})" if dates and start else named
    if start is not None:
        return _write_span(start, end)
    months = point["months"]
    return f"the {_COUNTS.get(months, months)} months ended {write_date(end)}"


# Months of the fiscal year before each of its parts.
_MONTHS_BEFORE = {"FY": 0, "H1": 0, "9M": 0, "Q1": 0, "Q2": 3, "Q3": 6, "H2": 6, "Q4": 9}
_LENGTHS = {3: "the three months", 6: "the six months", 9: "the nine months", 12: "the year"}
# Of 52/53-week years, whose quarters have 12, 13, 14 or 16 weeks.
_WEEKS = {3: "the quarter", 6: "the half-year", 9: "the three quarters", 12: "the year"}


def period_words(point: Point, company: Company, *, dated: bool) -> str:
    """ "as of March 31, 2010"; "for the first quarter of fiscal year 2010" if that is a part of the
    calendar year, with its last day if `dated`; "for fiscal 2010 (the year ended February 27, 2010,
    which others call fiscal 2009)" if the company's name for it is known; otherwise "for the fiscal
    year ended March 31, 2010"."""
    if point.months == 0:
        return _day_words(point.period_end, company.convention)
    part, start = point.fiscal_period, point.period_start
    if part not in _MONTHS_BEFORE:
        if start is not None and not company.convention.is_rounded:
            return f"for the period from {_write_span(start, point.period_end)}"
        return f"for {_ended(point, company.convention)}"
    of_year = PARTS[part] if part != "FY" else ""
    if not needs_days(point):
        closed = company.convention.closed(point.period_end)
        is_odd = closed is not None and closed.month != point.period_end.month
        span = f" ({_ended(point, company.convention)})" if dated or is_odd else ""
        return f"for {of_year}fiscal year {point.fiscal_year}{span}"
    if company.convention.named_by is not None:
        aside = f"{_ended(point, company.convention)}{_other_name(point, company)}"
        return f"for {of_year}fiscal {point.fiscal_year} ({aside})"
    if part == "FY":
        return f"for {_ended(point, company.convention).replace('the year', 'the fiscal year', 1)}"
    return f"for {_ended(point, company.convention)} ({of_year}its fiscal year)"


def _day_words(end: date, convention: Convention) -> str:
    closed = convention.closed(end)
    if closed is None:
        return f"as of the balance sheet date nearest to {write_date(end)}"
    return f"as of {write_date(closed)}"


def _ended(point: Point, convention: Convention) -> str:
    """ "the three months ended March 31, 2010"."""
    closed = convention.closed(point.period_end)
    lengths = _WEEKS if convention.is_rounded else _LENGTHS
    length = lengths.get(point.months, f"the {point.months} months")
    if closed is None:
        return f"{length} ended about {write_date(point.period_end)}"
    return f"{length} ended {write_date(closed)}"


def _other_name(point: Point, company: Company) -> str:
    """What others call a fiscal year that the company names; empty if they call it the same."""
    last = _last_month(point)
    if company.convention.named_by is YearLabel.START:
        return f", which others call fiscal {last // 12}"
    by_sec = sec_year(last) if company.source == "sec" else point.fiscal_year
    return f", which others call fiscal {by_sec}" if by_sec != point.fiscal_year else ""


def _last_month(point: Point) -> int:
    """The last month of the fiscal year of a span, as an index: 12·year + month - 1."""
    end = point.period_end.year * 12 + point.period_end.month - 1
    first = end - point.months + 1 - _MONTHS_BEFORE[point.fiscal_period or "FY"]
    return first + 11


def needs_days(point: Point) -> bool:
    """Whether a fiscal period differs from the calendar period of that name, with days known.

    "The first half of fiscal year 2024" is unclear if it begins in July.
    """
    part, start = point.fiscal_period, point.period_start
    if point.months == 0 or start is None or part not in _MONTHS_BEFORE:
        return False
    end = point.period_end
    last = _MONTHS_BEFORE[part] + point.months
    starts = (start.year, start.month, start.day) == (
        point.fiscal_year, _MONTHS_BEFORE[part] + 1, 1,
    )  # fmt: skip
    return not starts or (end.year, end.month) != (point.fiscal_year, last)


def years_named(point: Point) -> frozenset[int]:
    """The years by which readers may call the fiscal year that a duration belongs to.

    These are the company's own and those of its first and last day: the fiscal year from April 2009
    to March 2010 is 2009 to some and 2010 to others, and so are its quarters.
    """
    last = point.period_end.year * 12 + point.period_end.month - 1
    first = last - max(point.months, 1) + 1
    if point.fiscal_period in _MONTHS_BEFORE:
        first -= _MONTHS_BEFORE[point.fiscal_period]
        last = first + 11
    named = (point.fiscal_year, first // 12, last // 12)
    return frozenset(year for year in named if year is not None)
