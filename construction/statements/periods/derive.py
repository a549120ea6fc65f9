"""Points that nobody filed: quarters and halves as differences of year-to-date figures.

They have `computed` = true; analysts use them, and the filters drop them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Context, Decimal, Inexact, Overflow

import polars as pl

from construction.statements.model import POINTS
from construction.statements.periods.calendar import calendar_period

# part to derive -> (longer part, part to subtract, months)
_DIFFERENCES = {
    "Q2": ("H1", "Q1", 3),
    "Q3": ("9M", "H1", 3),
    "Q4": ("FY", "9M", 3),
    "H2": ("FY", "H1", 6),
}
_NUMBER = re.compile(r"-?[0-9]{1,60}(?:\.[0-9]{1,30})?")
_EXACT = Context(prec=120, traps=[Inexact, Overflow])
_PLACE = ["series_id", "fiscal_year"]


def difference(whole: str | None, part: str | None) -> str | None:
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
        .with_columns(calendar_period=calendar_period())
        .select(*POINTS.columns)
    )


def _same_start() -> pl.Expr:
    """Whether both spans start within a week of each other (52/53-week years drift that far)."""
    apart = (pl.col("period_start") - pl.col("taken_start")).dt.total_days().abs()
    return (apart <= 7).fill_null(True)


def _differences(pairs: Iterable[tuple[str | None, str | None]]) -> list[str | None]:
    return [difference(whole, part) for whole, part in pairs]
