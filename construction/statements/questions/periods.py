"""How a question names its period: as the company does where that is known, else by its last day.

Only a calendar year has one name for everybody. Of other fiscal years a question says the day on
which they end, and the name only if the company's filings show it. A day that the source rounds
and no filing states is not said: such a period needs a name.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

import polars as pl

from construction.statements.model import Statement, Statements
from construction.statements.periods.conventions import Convention, YearLabel
from construction.statements.periods.fill import ELAPSED
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


def _write_span(start: date, end: date) -> str:
    """April 1, 2009 to March 31, 2010; the year once if both days share it."""
    if start.year == end.year:
        return f"{MONTHS[start.month - 1]} {start.day} to {write_date(end)}"
    return f"{write_date(start)} to {write_date(end)}"


# Months of the fiscal year before each of its parts.
_MONTHS_BEFORE = {"FY": 0, "H1": 0, "9M": 0, "Q1": 0, "Q2": 3, "Q3": 6, "H2": 6, "Q4": 9}
_LENGTHS = {3: "the three months", 6: "the six months", 9: "the nine months", 12: "the year"}
# Of 52/53-week years, whose quarters have 12, 13, 14 or 16 weeks.
_WEEKS = {3: "the quarter", 6: "the half-year", 9: "the three quarters", 12: "the year"}


_MARGIN = timedelta(days=20)  # by which last days move: of years of weeks, and rounded ones
_YEAR = timedelta(days=380)
_PERIOD = ("company_id", "period_end", "fiscal_period")
_LAST_DAY = "last_day"


def last_days(points: pl.DataFrame) -> pl.DataFrame:
    """The last days of the whole fiscal years of each company."""
    years = points.filter(pl.col("fiscal_period") == "FY", pl.col("months") == 12)
    return years.select("company_id", pl.col("period_end").alias(_LAST_DAY)).unique()


def without_wrong_parts(points: pl.DataFrame, years: pl.DataFrame) -> pl.DataFrame:
    """The points without the names of quarters and halves that the `years` of `last_days` refute.

    A name counts from the first day of the year that the register knows. If another year closed
    between that day and the end of the quarter, the company has moved the end of its years since.
    """
    ago = pl.col("fiscal_period").replace_strict(
        {part: f"-{months}mo" for part, months in ELAPSED.items() if part != "FY"},
        default=None,
        return_dtype=pl.String,
    )
    begin = pl.col("period_end").dt.offset_by("1d").dt.offset_by(ago)
    wrong = (
        points.select(*_PERIOD, begin=begin)
        .unique()
        .join(years, on="company_id")
        .filter(
            pl.col(_LAST_DAY) > pl.col("begin") + _MARGIN,
            pl.col(_LAST_DAY) < pl.col("period_end") - _MARGIN,
        )
        .select(*_PERIOD, is_wrong=True)
        .unique()
    )
    names = ("fiscal_year", "fiscal_period")
    marked = points.join(wrong, on=_PERIOD, how="left")
    kept = [pl.when(pl.col("is_wrong").is_null()).then(pl.col(name)).alias(name) for name in names]
    return marked.with_columns(kept).drop("is_wrong")


def document_ends(statements: Statements) -> dict[str, date]:
    """The last day of the period that each document is about: of its flows, if it has any.

    Forecasts reach beyond it, and so do counts of shares on the cover.
    """
    ahead = statements.series.filter(pl.col("statement") == Statement.GUIDANCE)
    columns = ("document", "series_id", "period_end", "months")
    filed = pl.concat([statements.points.select(columns), statements.history.select(columns)])
    ends = (
        filed.join(ahead, on="series_id", how="anti")
        .group_by("document")
        .agg(
            pl.col("period_end").filter(pl.col("months") > 0).max().alias("flows"),
            pl.col("period_end").max().alias("any"),
        )
        .select("document", pl.coalesce("flows", "any"))
    )
    return {document: end for document, end in ends.iter_rows() if end is not None}


def is_comparative(end: date, document_end: date | None, *, is_flow: bool) -> bool:
    """Is a value that ends on `end` one of an earlier period, which filings may give otherwise?

    Flows of a year ago are recast for operations sold since. The balance sheet at the end of the
    last year, which every report repeats, is not.
    """
    gap = _MARGIN if is_flow else _YEAR
    return document_end is not None and document_end - end > gap


def period_words(point: Point, company: Company, *, dated: bool) -> str:
    """ "as of March 31, 2010"; "for the first quarter of fiscal year 2010" if that is a part of the
    calendar year, with its last day if `dated`; "for fiscal 2010 (the year ended February 27,
    2010)" if the company's name for it is known; otherwise "for the fiscal year ended March 31,
    2010". Empty if neither the day nor a name is known."""
    named, ended = _fiscal_name(point, company), _ended(point, company.convention)
    if point.months == 0:
        closed = company.convention.closed(point.period_end)
        at_end = f"at the end of {named}" if named else ""
        return f"as of {write_date(closed)}" if closed else at_end
    part, start = point.fiscal_period, point.period_start
    if part not in _MONTHS_BEFORE:
        if start is not None and not company.convention.is_rounded:
            return f"for the period from {_write_span(start, point.period_end)}"
        return f"for {ended}" if ended else ""
    if named:
        closed = company.convention.closed(point.period_end)
        is_odd = closed is not None and closed.month != point.period_end.month
        is_said = ended and (dated or is_odd or needs_days(point))
        return f"for {named} ({ended})" if is_said else f"for {named}"
    return f"for {ended.replace('the year', 'the fiscal year', 1)}" if ended else ""


def span_words(point: Point, company: Company) -> str:
    """One end of a change, said once: "the year ended March 31, 2010", "March 31, 2010"; as
    `period_words` calls it if its last day is unknown or its length has no name."""
    if point.months in _LENGTHS and (ended := _ended(point, company.convention)):
        return ended
    return re.sub(
        r"^(?:for the period from|for|as of) ", "", period_words(point, company, dated=True)
    )


def _fiscal_name(point: Point, company: Company) -> str:
    """ "the first quarter of fiscal year 2010", or "of fiscal 2010" if that is the company's own
    name for it; empty if nothing shows what the company calls the year."""
    part, label = point.fiscal_period, company.convention.named_by
    if part not in _MONTHS_BEFORE or point.fiscal_year is None:
        return ""
    if _is_calendar(point):
        return f"{PARTS[part]}fiscal year {point.fiscal_year}"
    is_dated = company.convention.closed(point.period_end) is not None and point.months > 0
    is_clear = label is YearLabel.END or (label is not None and is_dated)
    return f"{PARTS[part]}fiscal {point.fiscal_year}" if is_clear else ""


def _is_calendar(point: Point) -> bool:
    """Is a fiscal period, or the day at its end, that of the calendar year of the same name?"""
    if point.months:
        return not needs_days(point)
    last = ELAPSED[point.fiscal_period or "FY"]
    return (point.period_end.year, point.period_end.month) == (point.fiscal_year, last)


def _ended(point: Point, convention: Convention) -> str:
    """ "the three months ended March 31, 2010"; empty if the day is unknown."""
    closed = convention.closed(point.period_end)
    lengths = _WEEKS if convention.is_rounded else _LENGTHS
    length = lengths.get(point.months, f"the {point.months} months")
    return f"{length} ended {write_date(closed)}" if closed else ""


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
