"""Fiscal and calendar period of every point, from its days, its length and the fiscal year.

`derived_points` adds those that nobody filed, quarters and halves as differences of year-to-date
figures. They have `computed` = true; analysts use them, and the filters drop them.

A month has an index, 12·year + month - 1. A fiscal year end is a month and a day. It counts as the
month's end if its day is within the drift of one, which holds for all 52/53-week years; otherwise
its day matters (some Japanese companies close on the 20th).

How companies name and close their fiscal years is a setting of the recipe, and what filings show.
Three kinds of statements show a name, each compared with the end of the fiscal year it is about:

- `calendar`: the year is that of the calendar, so that both ways of naming give one name.
- `words`: the filer writes "fiscal 2010 and 2009" beside figures of that year.
- `fy`: a filing's fiscal year focus. In many of SEC's data sets it follows a rule for every filer
  (`sec_year`), and shows nothing: it counts if it breaks the rule, or if two companies of its data
  set break it.

The tables CONVENTIONS and CLOSINGS hold the result with its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Context, Decimal, Inexact, Overflow
from enum import StrEnum

import polars as pl

from construction.statements.conventions import (
    PeriodConfig,
    YearLabel,
)
from construction.statements.model import POINTS

# part to derive -> (longer part, part to subtract, months)
_DIFFERENCES = {
    "Q2": ("H1", "Q1", 3),
    "Q3": ("9M", "H1", 3),
    "Q4": ("FY", "9M", 3),
    "H2": ("FY", "H1", 6),
}
_MONTH_DAY = r"^(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
_NUMBER = re.compile(r"-?[0-9]{1,60}(?:\.[0-9]{1,30})?")
_EXACT = Context(prec=120, traps=[Inexact, Overflow])
_PLACE = ["series_id", "fiscal_year"]
# 52/53-week years end on a weekday, up to a week from the month's end (or the day of the month) of
# the fiscal year end, and their last quarter can have 16 or 17 weeks.
_DRIFT_DAYS, _LENGTH_DAYS = 7, 35


def _difference(whole: str | None, part: str | None) -> str | None:
    """whole - part, exact to the last decimal; None unless both are plain decimals.

    The result has as many decimals as the longer of the two: 10.50 - 0.5 = 10.00.
    """
    if whole is None or part is None:
        return None
    if not (_NUMBER.fullmatch(whole) and _NUMBER.fullmatch(part)):
        return None
    return format(_EXACT.subtract(Decimal(whole), Decimal(part)), "f")


def derived_points(points: pl.DataFrame, series: pl.DataFrame) -> pl.DataFrame:
    """Points of POINTS that follow from two filed ones: Q2 = H1 - Q1, Q3 = 9M - H1, Q4 = FY - 9M,
    H2 = FY - H1.

    `points` have their periods (`with_periods`). Only amounts of money add up over time, not
    ratios, figures per share or average numbers of shares; balance sheets have no spans. A part
    that the company filed itself is not derived again. The document is that of the longer span.
    """
    money = series.filter(pl.col("unit") == pl.col("currency")).select("series_id")
    spans = points.filter(
        pl.col("months") > 0,
        pl.col("fiscal_period").is_not_null(),
        ~pl.col("computed"),
    ).join(money, on="series_id", how="semi")
    standing = spans.sort("filed", "point_id", descending=[True, False], nulls_last=True).unique(
        [*_PLACE, "fiscal_period"], keep="first", maintain_order=True
    )
    parts = [_derived_part(standing, part, *rule) for part, rule in _DIFFERENCES.items()]
    return pl.concat(parts).sort("point_id")


def _derived_part(
    standing: pl.DataFrame, part: str, longer: str, shorter: str, months: int
) -> pl.DataFrame:
    """All derived points of one part of the year."""
    filed = standing.filter(pl.col("fiscal_period") == part)
    whole = standing.filter(pl.col("fiscal_period") == longer)
    taken = standing.filter(pl.col("fiscal_period") == shorter).select(
        *_PLACE,
        taken="value",
        taken_end="period_end",
        taken_start="period_start",
        taken_filed="filed",
    )
    pairs = (
        whole.join(taken, on=_PLACE, how="inner")
        .join(filed, on=_PLACE, how="anti")
        .filter(_same_start())
    )
    values = _differences(pairs.select("value", "taken").iter_rows())
    start = pl.col("taken_end") + pl.duration(days=1)
    return (
        pairs.with_columns(
            pl.Series("value", values, dtype=pl.String),
            point_id=pl.format("{}/{}-{}", pl.col("point_id"), pl.lit(longer), pl.lit(shorter)),
            period_start=start,
            months=pl.lit(months, pl.Int64),
            fiscal_period=pl.lit(part),
            period_type=pl.lit("quarter" if months == 3 else "half"),
            filed=pl.max_horizontal("filed", "taken_filed"),
            report=pl.lit(None, pl.Int64),
            line=pl.lit(None, pl.Int64),
            auto_generated=pl.lit(False),
            computed=pl.lit(True),
            restatements=pl.lit(0, pl.Int64),
        )
        .filter(pl.col("value").is_not_null())
        .with_columns(calendar_period=_calendar_period())
        .select(*POINTS.columns)
    )


def _same_start() -> pl.Expr:
    """Whether both spans start within a week of each other (52/53-week years drift that far)."""
    apart = (pl.col("period_start") - pl.col("taken_start")).dt.total_days().abs()
    return (apart <= 7).fill_null(True)


def _differences(pairs: Iterable[tuple[str | None, str | None]]) -> list[str | None]:
    return [_difference(whole, part) for whole, part in pairs]


# (length in months, months to the end of the fiscal year) -> the part of the fiscal year
_PARTS = {
    (12, 0): "FY",
    (6, 6): "H1",
    (6, 0): "H2",
    (3, 9): "Q1",
    (3, 6): "Q2",
    (3, 3): "Q3",
    (3, 0): "Q4",
    (9, 3): "9M",
    (0, 9): "Q1",
    (0, 3): "Q3",
    (0, 0): "FY",
}
# Months of the fiscal year at the end of each of its parts.
ELAPSED = {"Q1": 3, "Q2": 6, "H1": 6, "Q3": 9, "9M": 9, "Q4": 12, "H2": 12, "FY": 12}
_TYPES = {"FY": "annual", "H1": "half", "H2": "half", "9M": "nine_months"}
_LENGTHS = (0, 3, 6, 9, 12)


class _PeriodReason(StrEnum):
    """Why a point has no fiscal period."""

    NO_DATE = "period.no_date"  # no last day, or no length
    NO_YEAR_END = "period.no_year_end"  # the company's fiscal year end is unknown
    ODD_LENGTH = "period.odd_length"  # no year, half, quarter or nine months: a transition
    CONTRADICTION = "period.contradiction"  # first and last day do not fit the length
    OFF_CALENDAR = "period.off_calendar"  # starts or ends inside a fiscal quarter


def with_periods(
    points: pl.DataFrame,
    companies: pl.DataFrame,
    config: PeriodConfig,
    conventions: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """`points` with fiscal_year, fiscal_period, calendar_period and period_type filled.

    A balance sheet has the period that it closes: FY on the last day of the fiscal year, Q1 and Q3,
    and in its middle Q2 if the company shows quarters in that year, else H1. If a company changed
    its fiscal year end, an earlier point belongs to the year end that its annual statements show.
    For points that are not a year, half, quarter or nine months of a fiscal year the columns stay
    null; `period_reasons` says why.
    """
    classified = _classified(points, _year_ends(companies, config, conventions))
    return points.with_columns(
        classified["year"].alias("fiscal_year"),
        classified["part"].alias("fiscal_period"),
        classified["calendar"].alias("calendar_period"),
        classified["type"].alias("period_type"),
    ).select(*POINTS.columns)


def period_reasons(
    points: pl.DataFrame, companies: pl.DataFrame, config: PeriodConfig
) -> pl.Series:
    """Why each point has no fiscal period, as `_PeriodReason`; null for points that have one."""
    return _classified(points, _year_ends(companies, config))["reason"]


def _classified(points: pl.DataFrame, ends: pl.DataFrame) -> pl.DataFrame:
    """The points in their order, with year, part, calendar, type and reason."""
    located = _located(points, ends)
    part = _part()
    fits = pl.col("reason").is_null()
    return (
        located.with_columns(part=part)
        .with_columns(reason=_reason())
        .with_columns(
            part=pl.when(fits).then("part"),
            year=pl.when(fits).then(_fiscal_year(pl.col("last_month"))),
            calendar=pl.when(fits).then(_calendar_period()),
        )
        .with_columns(type=pl.col("part").replace_strict(_TYPES, default="quarter"))
        .with_columns(type=pl.when(pl.col("part").is_not_null()).then("type"))
        .sort("row")
    )


def _located(points: pl.DataFrame, ends: pl.DataFrame) -> pl.DataFrame:
    """Adds row, closes (index of the closing month), last_month (of its fiscal year) and to_go."""
    columns = ("company_id", "period_start", "period_end", "months")
    dated = (
        points.select(columns)
        .with_row_index("row")
        .join(ends, on="company_id", how="left", maintain_order="left")
        .with_columns(closes=_closing_month())
    )
    shown = _shown_year_ends(dated)
    placed = dated.sort("closes", "row").join_asof(
        shown,
        left_on="closes",
        right_on="shown",
        by="company_id",
        strategy="forward",
        check_sortedness=False,
    )
    month = (
        pl.when(pl.col("shown") - pl.col("closes") <= 11)
        .then(pl.col("shown") % 12)
        .otherwise("year_end_month")
    )
    to_go = (month - pl.col("closes")) % 12
    return placed.with_columns(to_go=to_go).with_columns(
        last_month=pl.col("closes") + pl.col("to_go")
    )


def _shown_year_ends(dated: pl.DataFrame) -> pl.DataFrame:
    """Months (`shown`) that close a year according to a company's twelve-month figures.

    Twelve months beside shorter spans with the same last day may be a trailing year in an interim
    report; they count only if the known fiscal year end agrees.
    """
    short = pl.col("months").is_in((3, 6, 9)).any().over("company_id", "closes")
    agrees = pl.col("closes") % 12 == pl.col("year_end_month")
    return (
        dated.with_columns(short=short)
        .filter(pl.col("closes").is_not_null(), pl.col("months") == 12, ~pl.col("short") | agrees)
        .select("company_id", shown="closes")
        .unique()
        .sort("shown", "company_id")
    )


def _part() -> pl.Expr:
    """The part of the fiscal year; null if length and position make none."""
    key = pl.col("months") * 12 + pl.col("to_go")
    known = {months * 12 + to_go: part for (months, to_go), part in _PARTS.items()}
    part = key.replace_strict(known, default=None, return_dtype=pl.String)
    quarters = (pl.col("months").is_in((3, 9)) | pl.col("to_go").is_in((3, 9))).any()
    has_quarters = quarters.over("company_id", "last_month")
    middle = pl.when(has_quarters).then(pl.lit("Q2")).otherwise(pl.lit("H1"))
    is_middle = (pl.col("months") == 0) & (pl.col("to_go") == 6)
    return pl.when(is_middle).then(middle).otherwise(part)


def _reason() -> pl.Expr:
    days = (pl.col("period_end") - pl.col("period_start")).dt.total_days() + 1
    off = (days - pl.col("months") * 30.4375).abs() > _LENGTH_DAYS
    reasons = (
        (pl.col("period_end").is_null() | pl.col("months").is_null(), _PeriodReason.NO_DATE),
        (pl.col("year_end_month").is_null(), _PeriodReason.NO_YEAR_END),
        (~pl.col("months").is_in(_LENGTHS), _PeriodReason.ODD_LENGTH),
        ((pl.col("months") > 0) & off.fill_null(False), _PeriodReason.CONTRADICTION),
        (pl.col("part").is_null(), _PeriodReason.OFF_CALENDAR),
    )
    return pl.coalesce(*(pl.when(test).then(pl.lit(str(reason))) for test, reason in reasons))


def month_index(day: pl.Expr) -> pl.Expr:
    """12·year + month - 1"""
    return day.dt.year().cast(pl.Int64) * 12 + day.dt.month().cast(pl.Int64) - 1


def _year_ends(
    companies: pl.DataFrame, config: PeriodConfig, conventions: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Per company: `year_end_month` (0 to 11), `year_end_day` (null: month's end), `label_start`.

    `conventions` (CONVENTIONS) say how a company names its years, where that is known.
    The first two are null if `fiscal_year_end` is missing or not MM-DD. A year end in the first
    days of a month belongs to the month before: the Saturday nearest to December 31 may be January
    2.
    """
    month = pl.col("fiscal_year_end").str.slice(0, 2).cast(pl.Int64, strict=False) - 1
    day = pl.col("fiscal_year_end").str.slice(3, 2).cast(pl.Int64, strict=False)
    length = month.replace_strict({1: 28, 3: 30, 5: 30, 8: 30, 10: 30}, default=31)
    valid = pl.col("fiscal_year_end").str.contains(_MONTH_DAY).fill_null(False)
    early = day <= _DRIFT_DAYS
    late = day >= length - _DRIFT_DAYS
    named = [
        pl.col(column).replace_strict(names, default=None, return_dtype=pl.String)
        for column, names in (
            ("company_id", config.label_by_company),
            ("company_id", _known(conventions)),
            ("source", config.label_by_source),
        )
        if names
    ]
    return companies.select(
        "company_id",
        year_end_month=pl.when(valid).then((month - early.cast(pl.Int64)) % 12),
        year_end_day=pl.when(valid & ~early & ~late).then(day),
        label_start=pl.coalesce(*named, pl.lit(str(config.label_by))) == YearLabel.START,
    )


def _known(conventions: pl.DataFrame | None) -> dict[str, str]:
    if conventions is None:
        return {}
    return dict(conventions.drop_nulls("named_by").select("company_id", "named_by").iter_rows())


def _closing_month() -> pl.Expr:
    """The month that `period_end` closes for its company, as an index; null if it closes none.

    Needs `year_end_day`.
    """
    end = pl.col("period_end")
    day, index = end.dt.day().cast(pl.Int64), month_index(end)
    last = end.dt.month_end().dt.day().cast(pl.Int64)
    at_month_end = (
        pl.when(day >= last - _DRIFT_DAYS).then(index).when(day <= _DRIFT_DAYS).then(index - 1)
    )
    near = (day - pl.col("year_end_day")).abs() <= _DRIFT_DAYS
    return pl.when(pl.col("year_end_day").is_null()).then(at_month_end).when(near).then(index)


def _fiscal_year(last_month: pl.Expr) -> pl.Expr:
    """The name of the fiscal year whose last month has this index. Needs `label_start`."""
    return pl.when(pl.col("label_start")).then((last_month - 11) // 12).otherwise(last_month // 12)


def _calendar_period() -> pl.Expr:
    """The calendar year, half or quarter that shares most days with the period.

    This is the one that contains the period's middle day, since a year, half or quarter never
    covers parts of more than two of its kind; in a tie the earlier one. (April to September has 92
    days in the second half and 91 in the first, so it counts as the second.) An instant gets the
    quarter whose last day is nearest (both as in the SEC's `frames`, which allows 30 days either
    side). Null for nine months, for which the calendar has no name, and for odd lengths.
    """
    end, months = pl.col("period_end"), pl.col("months")
    days = pl.coalesce(
        (end - pl.col("period_start")).dt.total_days(),
        (months * 30.4375).round().cast(pl.Int64) - 1,
    )
    middle = month_index(end - pl.duration(days=days - days // 2))
    nearest = month_index(end) - (end.dt.day() < 16).cast(pl.Int64)
    quarter = (nearest - 1) // 3
    year = (middle // 12).cast(pl.String)
    return (
        pl.when(months == 0)
        .then(pl.format("{}-Q{}", quarter // 4, quarter % 4 + 1))
        .when(months == 3)
        .then(pl.format("{}-Q{}", year, middle % 12 // 3 + 1))
        .when(months == 6)
        .then(pl.format("{}-H{}", year, middle % 12 // 6 + 1))
        .when(months == 12)
        .then(year)
    )
