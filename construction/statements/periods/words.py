"""Days, parts of a year and periods of points in English words, and days read from text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_BY_START = {name[:3].casefold(): number for number, name in enumerate(MONTHS, 1)}
_NAMES = "|".join(
    sorted({*MONTHS, *(name[:3] for name in MONTHS), "Sept"}, reverse=True)
).casefold()
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
PARTS_BY_ORDINAL = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "1st": 1,
    "2nd": 2,
    "3rd": 3,
    "4th": 4,
}
_DATES = (
    re.compile(r"(?P<y>[0-9]{4})(?P<sep>[-/.])(?P<m>[0-9]{1,2})(?P=sep)(?P<d>[0-9]{1,2})"),
    re.compile(r"(?P<y>(?:19|20)[0-9]{2})(?P<m>[0-9]{2})(?P<d>[0-9]{2})"),
    re.compile(rf"(?P<name>{_NAMES})\.? (?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<y>[0-9]{{4}})"),
    re.compile(rf"(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)? (?P<name>{_NAMES})\.?,? (?P<y>[0-9]{{4}})"),
    re.compile(r"(?P<y>[0-9]{4})年(?P<m>[0-9]{1,2})月(?P<d>[0-9]{1,2})日"),
)
_COUNTS = {3: "three", 6: "six", 9: "nine", 12: "twelve"}


def write_date(day: date) -> str:
    """March 31, 2010"""
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def write_span(start: date, end: date) -> str:
    """April 1, 2009 to March 31, 2010; the year once if both days share it."""
    if start.year == end.year:
        return f"{MONTHS[start.month - 1]} {start.day} to {write_date(end)}"
    return f"{write_date(start)} to {write_date(end)}"


def read_date(text: str) -> date | None:
    """The day that `text` (lower case) names: 2010-03-31, 20100331, march 31, 2010; else None."""
    for form in _DATES:
        match = form.fullmatch(text.strip())
        if match is None:
            continue
        said = match.groupdict()
        month = _BY_START[said["name"][:3]] if "name" in said else int(said["m"])
        try:
            return date(int(said["y"]), month, int(said["d"]))
        except ValueError:
            return None
    return None


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
