"""Days, parts of a year and periods of points in English words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

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


def write_span(start: date, end: date) -> str:
    """April 1, 2009 to March 31, 2010; the year once if both days share it."""
    if start.year == end.year:
        return f"{MONTHS[start.month - 1]} {start.day} to {write_date(end)}"
    return f"{write_date(start)} to {write_date(end)}"


def write_months(start: date, end: date) -> str:
    """April 2009 to March 2010; February to April 2010."""
    first, last = (MONTHS[day.month - 1] for day in (start, end))
    year = f" {start.year}" if start.year != end.year else ""
    return f"{first}{year} to {last} {end.year}"


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
        return f"{named} ({write_span(start, end)})" if dates and start else named
    if start is not None:
        return write_span(start, end)
    months = point["months"]
    return f"the {_COUNTS.get(months, months)} months ended {write_date(end)}"
