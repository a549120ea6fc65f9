"""Finds values that a filer cannot have meant: wrong by a factor of a thousand or a million.

Three comparisons, each within what the company itself filed:

- Net income divided by earnings per share gives the number of shares. Share counts and earnings per
  share that contradict it by a thousand or a million are `value.implausible_scale`.
- No company has a trillion shares outstanding; shares authorized may be any number.
- Totals that differ from the neighbouring periods by a thousand or a million, and the amounts of a
  filing of which most do, all in one direction: `value.implausible_jump`. Single lines do jump that
  much in sound filings (a repurchase of shares, a sale of property), so one alone proves nothing.
"""

from __future__ import annotations

from enum import StrEnum

import polars as pl

from construction.statements.model import Statements


class ScaleReason(StrEnum):
    SCALE = "value.implausible_scale"
    JUMP = "value.implausible_jump"


_EARNINGS = (
    r"^(?:EarningsPerShare(?:Basic|Diluted|BasicAndDiluted)|"
    r"1株当たり当期純利益又は当期純損失)$"
)
_INCOME = (
    r"^(?:NetIncomeLoss(?:AvailableToCommonStockholdersBasic)?|ProfitLoss|"
    r"親会社株主に帰属する当期純利益(?:\(IFRS\))?)$"
)
_WHOLE = (
    r"^(?:(?:CommonStock)?Shares(?:Outstanding|Issued)|"
    r"EntityCommonStockSharesOutstanding|WeightedAverageNumberOf(?:SharesOutstandingBasic|"
    r"DilutedSharesOutstanding|ShareOutstandingBasicAndDiluted)|"
    r"発行済株式総数(?:\(普通株式\))?)$"
)
_COMMON = "EquityComponents=CommonStock"  # other components are parts, or other shares
_AUTHORIZED = "(?i)authori[sz]ed"
_TOTALS = (
    r"^(?:Assets|LiabilitiesAndStockholdersEquity|Revenues|SalesRevenueNet|"
    r"総資産|負債純資産|売上高)$"
)
_MOST_SHARES = 1e12
# In powers of ten.
_AGREES = 0.5  # shares issued and average shares of one company differ less than this
_NEAR = 0.35  # how close a ratio must be to a thousand or a million
_PART_ABOVE_WHOLE = 2.9  # a part of the shares cannot exceed all of them
_NEAR_JUMP = 0.15
_LINES = 8  # fewest neighbours that say something about a whole filing
_MOST_LINES = 0.5


def implausible(statements: Statements) -> pl.DataFrame:
    """The points with an implausible value: point_id, scale_reason; one row per point."""
    points = _filed(statements)
    scale = pl.concat([_against_income(points), _too_many(points)]).unique()
    jump = pl.concat([_jumps(points), _jumping_filings(points)]).unique()
    return pl.concat(
        [
            scale.select("point_id", scale_reason=pl.lit(str(ScaleReason.SCALE))),
            jump.join(scale, on="point_id", how="anti").select(
                "point_id", scale_reason=pl.lit(str(ScaleReason.JUMP))
            ),
        ]
    )


def _filed(statements: Statements) -> pl.DataFrame:
    """The filed values other than zero, as sizes, with what their series are about."""
    about = statements.series.select("series_id", "concept", "unit", "dimensions")
    size = pl.col("value").cast(pl.Float64, strict=False).abs()
    return (
        statements.points.filter(~pl.col("computed"))
        .with_columns(size=size)
        .filter(pl.col("size") > 0)
        .join(about, on="series_id", maintain_order="left")
    )


def _against_income(points: pl.DataFrame) -> pl.DataFrame:
    """Share counts and earnings per share that contradict net income.

    Of the two, the one that agrees with no other figure of its filing is wrong.
    """
    common = pl.col("dimensions").fill_null(_COMMON) == _COMMON
    counts = points.filter(
        (pl.col("unit") == "shares") & common & ~pl.col("concept").str.contains(_AUTHORIZED)
    ).select("point_id", "document", shares="size", whole=pl.col("concept").str.contains(_WHOLE))
    implied = _implied_shares(points)
    pairs = implied.join(counts, on="document").with_columns(
        gap=(pl.col("shares") / pl.col("implied")).log10()
    )
    agree = pl.col("whole") & (pl.col("gap").abs() < _AGREES)
    judged = pairs.with_columns(
        shares_agree=agree.any().over("document", "point_id"),
        earnings_agree=agree.any().over("document", "earnings_id"),
        gap=pl.col("gap").median().over("document", "point_id"),
        own_gap=pl.col("gap"),
    )
    wrong_whole = pl.col("whole") & ~pl.col("shares_agree") & _off(pl.col("gap"), _NEAR)
    wrong_part = ~pl.col("whole") & (pl.col("gap") > _PART_ABOVE_WHOLE)
    wrong_earnings = (
        pl.col("shares_agree") & ~pl.col("earnings_agree") & _off(pl.col("own_gap"), _NEAR)
    )
    return pl.concat(
        [
            judged.filter(wrong_whole | wrong_part).select("point_id"),
            judged.filter(wrong_earnings).select(point_id="earnings_id"),
        ]
    )


def _implied_shares(points: pl.DataFrame) -> pl.DataFrame:
    """Net income by earnings per share: one row per filed earnings per share and net income."""
    whole = points.filter(pl.col("dimensions").is_null())
    period = ["document", "period_end", "months", "currency"]
    currency = pl.col("unit").str.head(3).alias("currency")
    income = whole.filter(pl.col("concept").str.contains(_INCOME)).with_columns(currency)
    earnings = whole.filter(
        pl.col("concept").str.contains(_EARNINGS) & pl.col("unit").str.ends_with("/share")
    ).with_columns(currency)
    return earnings.join(income.select(*period, income="size"), on=period).select(
        "document", earnings_id="point_id", implied=pl.col("income") / pl.col("size")
    )


def _too_many(points: pl.DataFrame) -> pl.DataFrame:
    issued = ~pl.col("concept").str.contains(_AUTHORIZED)
    return points.filter(
        (pl.col("unit") == "shares") & issued & (pl.col("size") >= _MOST_SHARES)
    ).select("point_id")


def _off(gap: pl.Expr, tolerance: float) -> pl.Expr:
    """Whether a ratio, as a power of ten, is about a thousand or a million, or their inverse."""
    size = gap.abs()
    return ((size - 3).abs() < tolerance) | ((size - 6).abs() < tolerance)


def _with_gaps(points: pl.DataFrame) -> pl.DataFrame:
    """The points with `gap`, their ratio to the periods of the same length, if it is one to a
    neighbour too and about a thousand or a million; null for others.

    The median of the series tells which of two neighbours is wrong; of two values alone both are
    doubtful.
    """
    own = ["series_id", "months"]
    size = pl.col("size")
    before = (size / size.shift().over(own)).log10()
    after = (size / size.shift(-1).over(own)).log10()
    several = pl.len().over(own) > 2
    gap = pl.when(several).then((size / size.median().over(own)).log10())
    beside = (_off(before, _NEAR_JUMP) | _off(after, _NEAR_JUMP)).fill_null(value=False)
    ordered = points.sort(*own, "period_end", "point_id")
    return (
        ordered.filter(pl.len().over(own) > 1)
        .with_columns(gap=pl.when(beside).then(gap.fill_null(pl.coalesce(before, after))))
        .with_columns(gap=pl.when(_off(pl.col("gap"), _NEAR_JUMP)).then("gap"))
    )


def _jumps(points: pl.DataFrame) -> pl.DataFrame:
    """Totals a thousand times those of the other periods, or a thousandth of them."""
    totals = points.filter(pl.col("concept").str.contains(_TOTALS))
    return _with_gaps(totals).drop_nulls("gap").select("point_id")


def _jumping_filings(points: pl.DataFrame) -> pl.DataFrame:
    """The amounts of filings of which most differ alike from the other periods."""
    amounts = _with_gaps(points.filter(pl.col("unit").str.len_chars() == 3))
    up, down = ((pl.col("gap") * sign > 0).fill_null(value=False).mean() for sign in (1, -1))
    filings = amounts.group_by("document").agg(n=pl.len(), share=pl.max_horizontal(up, down))
    wrong = filings.filter((pl.col("n") >= _LINES) & (pl.col("share") > _MOST_LINES))
    return amounts.join(wrong, on="document", how="semi").select("point_id")
