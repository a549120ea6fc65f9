"""Selects the points that can be asked about, and records why the others cannot.

Values that a filer cannot have meant, wrong by a factor of a thousand or a million, are found by
three comparisons, each within what the company itself filed:

- Net income divided by earnings per share gives the number of shares. Share counts and earnings per
  share that contradict it by a thousand or a million are `value.implausible_scale`.
- No company has a trillion shares outstanding; shares authorized may be any number.
- Totals that differ from the neighbouring periods by a thousand or a million, and the amounts of a
  filing of which most do, all in one direction: `value.implausible_jump`. Single lines do jump that
  much in sound filings (a repurchase of shares, a sale of property), so one alone proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Any

import polars as pl

from construction.statements.categories import Category, CategoryReason
from construction.statements.config import FilterConfig
from construction.statements.model import POINTS, LabelMethod, Statement, Statements
from construction.statements.periods.fill import ELAPSED, period_reasons
from construction.statements.presentation import SIGN_CONTRADICTED, contradicted
from construction.statements.questions.wording import has_foreign_letters
from data.contracts import Outcome, StageKind, StageTally
from data.ledger import close
from data.tables import LEDGER


class ScaleReason(StrEnum):
    SCALE = "value.implausible_scale"
    JUMP = "value.implausible_jump"


_EARNINGS = (
    r"^(?:EarningsPerShare(?:Basic|Diluted|BasicAndDiluted)|"
    r"(?:Basic|Diluted)EarningsLossPerShare|1株当たり当期純利益又は当期純損失)$"
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
    r"^(?:Assets|LiabilitiesAndStockholdersEquity|EquityAndLiabilities|Revenues?|SalesRevenueNet|"
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


STAGE = "filter_points"
# Share of points that the seed dropped as computed or auto-generated (FinRetrieval, filters).
SEED_DROPPED_SHARE = 0.09
_BALANCE = r"(?i)\bcash\b|balance|beginning|end of|残高|現金"
_CASH_HELD = r"(?i)^cash(?:,? cash equivalents)?(?: and cash equivalents)?(?:, at carrying value)?$"
_LABEL, _IS_DAY = pl.col("label").fill_null(""), pl.col("months") == 0
_WRONG_LENGTH = (pl.col("statement") == Statement.CASH_FLOW) & (
    (_IS_DAY & ~_LABEL.str.contains(_BALANCE)) | (~_IS_DAY & _LABEL.str.contains(_CASH_HELD))
)
_CASH = r"(?i)cash|activities|キャッシュ|現金|活動"
_ZERO = r"^[-+]?0*(?:\.0*)?$"


class FilterReason(StrEnum):
    """Why a point is not asked about; for missing periods see `PeriodReason`."""

    COMPUTED = "point.computed"
    AUTO_GENERATED = "point.auto_generated"
    UNTRANSLATED = "label.untranslated"
    PARENTHETICAL = "point.parenthetical"  # printed in brackets beside another row
    TRANSLATED = "value.translated"  # beside the currency in which the filing reports
    BLANK = "value.blank"
    ZERO = "value.zero"
    NO_SERIES = "point.no_series"
    NO_ENGLISH_NAME = "company.no_english_name"  # not in the code list, or without one there
    NO_STATEMENT = "point.no_statement"  # its filing has no cash flow statement, only some items
    WRONG_LENGTH = "point.wrong_length"  # a flow of one day, or a balance of cash over months
    SIGN_CONTRADICTED = SIGN_CONTRADICTED  # by the row that prints it
    PART_CONTRADICTED = "period.part_contradicted"  # by the longest span of its filing
    NOT_FILLED = "period.not_filled"  # `with_periods` has not run, or with another config


@dataclass(frozen=True, slots=True)
class FilterReport:
    """Counts of points by reason, and the share that was computed or auto-generated.

    `dropped_share` is relative to all incoming points, `seed_share` is the seed's figure for it.
    `fill` has a row per category and region: how many points were filed (available), how many of
    them can be asked about (askable), and how many cannot, by reason (rejected).
    """

    n_in: int
    n_kept: int
    rejected: dict[str, int]
    dropped_share: float
    fill: list[dict[str, Any]]
    seed_share: float = SEED_DROPPED_SHARE


@dataclass(frozen=True, slots=True)
class Filtered:
    """`points` in their order; `ledger` (schema LEDGER) has a row per rejected point."""

    points: pl.DataFrame
    ledger: pl.DataFrame
    tallies: tuple[StageTally, ...]
    report: FilterReport


def filter_points(statements: Statements, config: FilterConfig) -> Filtered:
    """Keep the points that a question can ask about.

    A point is dropped for the first reason that applies: computed (derived by us), auto-generated
    (in no statement), unknown series, untranslated, no category, company without an English name,
    parenthetical, in no whole statement, of a wrong length, translated, blank, zero, implausible,
    with a sign that its row contradicts, in a part of the year that its filing contradicts, no
    fiscal period. `statements` already have names, categories and periods.
    """
    judged = _judged(statements, config)
    kept = judged.filter(pl.col("reason").is_null()).select(*POINTS.columns)
    rejected_points = judged.filter(pl.col("reason").is_not_null())
    by_reason = rejected_points.group_by("reason").len().sort("reason")
    rejected = {reason: int(n) for reason, n in by_reason.iter_rows()}
    counts = {Outcome.KEPT: kept.height, Outcome.REJECTED: rejected_points.height}
    tally = close(STAGE, StageKind.FILTER, "point", judged.height, counts)
    dropped = sum(rejected.get(r, 0) for r in (FilterReason.COMPUTED, FilterReason.AUTO_GENERATED))
    share = round(dropped / judged.height, 9) if judged.height else 0.0
    fill = _fill_by_category(judged)
    report = FilterReport(judged.height, kept.height, rejected, share, fill)
    return Filtered(kept, _ledger(rejected_points), (tally,), report)


def _judged(statements: Statements, config: FilterConfig) -> pl.DataFrame:
    """All points with `reason`, null for those that are kept."""
    joined = _joined(statements, config)
    blank = pl.col("value").is_null() | (pl.col("value").str.strip_chars() == "")
    tests = [
        (pl.col("computed"), FilterReason.COMPUTED),
        (pl.col("auto_generated"), FilterReason.AUTO_GENERATED),
        (pl.col("statement").is_null(), FilterReason.NO_SERIES),
        (pl.col("label_method") == LabelMethod.UNTRANSLATED, FilterReason.UNTRANSLATED),
        (pl.col("category").is_null(), CategoryReason.NONE),
        (pl.col("nameless").fill_null(value=False), FilterReason.NO_ENGLISH_NAME),
        (pl.col("bracketed").is_not_null(), FilterReason.PARENTHETICAL),
        (pl.col("cashless").is_not_null(), FilterReason.NO_STATEMENT),
        (_WRONG_LENGTH, FilterReason.WRONG_LENGTH),
        (_translated(), FilterReason.TRANSLATED),
        (blank, FilterReason.BLANK),
        (pl.col("value").str.contains(_ZERO), FilterReason.ZERO),
    ]
    undated = pl.when(pl.col("period_type").is_null()).then(
        pl.col("undated").fill_null(str(FilterReason.NOT_FILLED))
    )
    return joined.with_columns(
        reason=pl.coalesce(
            *(pl.when(test).then(pl.lit(str(r))) for test, r in tests),
            "scale_reason",
            "sign_reason",
            pl.when("misplaced").then(pl.lit(str(FilterReason.PART_CONTRADICTED))),
            undated,
        )
    )


def _translated() -> pl.Expr:
    """Is it in another currency than most amounts of its filing? A convenience translation is."""
    currency = pl.col("unit").str.extract(r"^([A-Z]{3})(?:/|$)")
    return (currency != currency.drop_nulls().mode().sort().first().over("document")).fill_null(
        value=False
    )


def _joined(statements: Statements, config: FilterConfig) -> pl.DataFrame:
    """The points in their order, with what is known about their series, rows and companies."""
    columns = ("series_id", "statement", "label_method", "category", "label", "unit")
    about = statements.series.select(columns)
    points = statements.points.with_columns(
        undated=period_reasons(statements.points, statements.companies, config.periods)
    )
    bracketed = (
        statements.rows.filter("parenthetical")
        .select("document", "report", "line", bracketed=True)
        .unique()
    )
    joined = points.join(about, on="series_id", how="left", maintain_order="left").join(
        bracketed, on=["document", "report", "line"], how="left", maintain_order="left"
    )
    joined = joined.join(
        _without_cash(statements), on=["document", "statement"], how="left", maintain_order="left"
    )
    doubted = implausible(statements) if config.reject_implausible else _NONE_DOUBTED
    for about, key in ((contradicted(statements), "point_id"), (_misplaced(points), "document")):
        joined = joined.join(about, on=key, how="left", maintain_order="left")
    return joined.join(doubted, on="point_id", how="left", maintain_order="left").join(
        _companies(statements.companies), on="company_id", how="left", maintain_order="left"
    )


def _misplaced(points: pl.DataFrame) -> pl.DataFrame:
    """Documents whose longest span up to their last day is too short for the part of the fiscal
    year in which that day lies: a register's year end is wrong, or the year was cut short.

    A second quarter is reported with its half, a third one with nine months.
    """
    spans = points.filter(~pl.col("computed"), pl.col("months") > 0)
    last = pl.col("period_end") == pl.col("period_end").max().over("document")
    elapsed = pl.col("fiscal_period").replace_strict(ELAPSED, default=None, return_dtype=pl.Int64)
    return (
        spans.filter(last)
        .group_by("document")
        .agg((pl.col("months").max() < elapsed.max()).alias("misplaced"))
        .filter("misplaced")
    )


def _without_cash(statements: Statements) -> pl.DataFrame:
    """Documents (and the name of the statement) whose cash flow statement has no line about cash.

    Interim reports may do without the statement and give a few of its items, such as depreciation.
    """
    about_cash = pl.col("label").str.contains(_CASH).fill_null(value=False).any()
    return (
        statements.rows.filter(pl.col("statement") == Statement.CASH_FLOW)
        .group_by("document", "statement")
        .agg(about_cash.alias("whole"))
        .filter(~pl.col("whole"))
        .select("document", "statement", cashless=pl.lit(value=True))
    )


_NONE_DOUBTED = pl.DataFrame(schema={"point_id": pl.String, "scale_reason": pl.String})


def _companies(companies: pl.DataFrame) -> pl.DataFrame:
    """The region of each company, and whether an English sentence cannot name it."""
    names = companies["name"].to_list()
    nameless = [not name or has_foreign_letters(name) for name in names]
    return companies.select(
        "company_id",
        pl.col("us").fill_null(value=False).alias("is_us"),
        pl.Series("nameless", nameless, pl.Boolean),
    )


def _fill_by_category(judged: pl.DataFrame) -> list[dict[str, Any]]:
    """A row per category and region, those without any point included; see `FilterReport`."""
    filed = judged.filter(~pl.col("computed") & pl.col("category").is_not_null())
    counts = filed.group_by("category", "is_us", "reason").len().sort("category", "is_us", "reason")
    rows = []
    for category, is_us in product(Category, (True, False)):
        own = counts.filter((pl.col("category") == str(category)) & (pl.col("is_us") == is_us))
        why: dict[str, int] = dict(own.drop_nulls("reason").select("reason", "len").iter_rows())
        available = int(own["len"].sum())
        askable = available - sum(why.values())
        cells = {"available": available, "askable": askable, "rejected": why}
        rows.append({"category": str(category), "is_us": is_us, **cells})
    return rows


def _ledger(rejected_points: pl.DataFrame) -> pl.DataFrame:
    """One row of LEDGER per rejected point; the evidence points to the row of the filing."""
    values = {
        "stage": pl.lit(STAGE),
        "unit": pl.lit("point"),
        "item_id": pl.col("point_id"),
        "outcome": pl.lit(str(Outcome.REJECTED)),
        "reason": pl.col("reason"),
        "stratum": pl.col("category"),
        "evidence": pl.struct("document", "line", "report").struct.json_encode(),
        "n": pl.lit(1),
    }
    columns = (
        values.get(name, pl.lit(None)).cast(kind).alias(name) for name, kind in LEDGER.items()
    )
    return rejected_points.sort("point_id").select(columns)
