"""A point's period in English: the words of questions, answers and tool descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from construction.statements.periods.words import PARTS, write_date, write_span

_COUNTS = {3: "three", 6: "six", 9: "nine", 12: "twelve"}


def describe(point: Mapping[str, Any], *, dates: bool = True) -> str:
    """The period of a row of POINTS in natural English; `parse_period` reads it back.

    An instant is "as of March 31, 2010"; a span with a fiscal period "fiscal year 2010 (April 1,
    2009 to March 31, 2010)" or "the first quarter of fiscal year 2010 (…)", the brackets only with
    `dates`; any other span "the five months ended May 31, 2010", or its days. The days settle
    which convention names the year, so leave them out only where that is said elsewhere.
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
