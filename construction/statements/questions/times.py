"""The period of a question in the company's own convention, with its days where they are needed."""

from __future__ import annotations

from construction.statements.periods.describe import describe
from construction.statements.questions.contracts import Point

# Months of the fiscal year that lie before its parts.
_MONTHS_BEFORE = {"FY": 0, "H1": 0, "9M": 0, "Q1": 0, "Q2": 3, "Q3": 6, "H2": 6, "Q4": 9}


def period_words(point: Point, *, dated: bool) -> str:
    """ "as of March 31, 2010"; "for fiscal year 2009", if `dated` with the days it covers."""
    said = describe(
        {
            "period_start": point.period_start,
            "period_end": point.period_end,
            "months": point.months,
            "fiscal_year": point.fiscal_year,
            "fiscal_period": point.fiscal_period,
        },
        dates=dated,
    )
    if point.months == 0:
        return said
    by_days = point.fiscal_period is None and point.period_start is not None
    return f"for the period from {said}" if by_days else f"for {said}"


def needs_days(point: Point) -> bool:
    """Whether a fiscal period is not the calendar period of the same name; its days are known.

    "The first half of fiscal year 2024" says too little where it runs from July to December.
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
    """The years after which readers may name the fiscal year that a duration belongs to.

    These are the company's own and those of its first and last day: the fiscal year from April
    2009 to March 2010 is 2009 to some and 2010 to others, and so are its quarters.
    """
    last = point.period_end.year * 12 + point.period_end.month - 1
    first = last - max(point.months, 1) + 1
    if point.fiscal_period in _MONTHS_BEFORE:
        first -= _MONTHS_BEFORE[point.fiscal_period]
        last = first + 11
    named = (point.fiscal_year, first // 12, last // 12)
    return frozenset(year for year in named if year is not None)
