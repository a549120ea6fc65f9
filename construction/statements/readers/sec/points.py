"""Facts, series (one per company, tag, unit and dimensions) and their points.

The rows of `num` become facts with typed values, units and periods, or get a reason if unusable.
Each series and period keeps one fact; the others get a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from construction.grading.answers.units import measure_of
from construction.statements.model import (
    POINTS,
    SEPARATOR,
    SERIES,
    HierarchyMethod,
    LabelMethod,
    Statement,
    latest,
)
from construction.statements.readers.sec.contracts import CURRENCIES, SecConfig, SecReason

_SPELLED = {"RMB": "CNY", "CNH": "CNY"}
_PER_SHARE = re.compile(
    r"([A-Za-z]{3})(?:PS|[ _-]?(?:/|per)[ _-]?(?:(?:ordinary|common)[ _-]?)?(?:shares?|units?))",
    re.IGNORECASE,
)
_THINGS = """
count item number integer store restaurant hotel property building segment employee customer
subsidiary company entity vessel aircraft well site location country state plan loan contract
lease warrant option position person business facility plant
"""
_COUNTED = frozenset(_THINGS.split())
_BALANCES = {"D": "debit", "C": "credit"}
_FORECAST = r"(?i)=[^;]*(?:forecast|guidance|outlook)"
_PER_SHARE_TAG = "Per(?:Share|Unit)"
_PER_SHARE_TYPES = frozenset({"perShare", "perUnit"})
_RATIO_TYPES = frozenset({"percent", "pure"})
_COUNT_TYPES = frozenset({"integer", "positiveInteger", "nonNegativeInteger"})
_DECIMAL = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"
_LONGEST = 40  # characters of a value
_MONTHS_PER_QUARTER = 3
_MOST_QUARTERS = 400
_YEARS = (1900, 2100)


def _unit_of(uom: str | None, datatype: str | None) -> str | SecReason:
    """The unit of a fact: currency code, CODE/share, shares, ratio, count or a measure (tonne,
    MWh); or the reason why none.

    `uom` as filed; `datatype` of the tag, null if unknown. Per-share tags are often filed in a
    plain currency. A unit of a partnership counts as a share.
    """
    unit = _spelled_out(uom or "", datatype)
    if unit is None:
        return SecReason.UNIT_UNKNOWN
    if datatype in _PER_SHARE_TYPES and unit in CURRENCIES:
        return f"{unit}/share"
    if unit == "ratio" and datatype in _COUNT_TYPES:
        return "count"
    return unit if _fits(unit, datatype) else SecReason.UNIT_MISMATCH


def _spelled_out(uom: str, datatype: str | None) -> str | None:
    if (code := _code(uom)) is not None:
        return code
    if (per_share := _PER_SHARE.fullmatch(uom)) and (code := _code(per_share[1])) is not None:
        return f"{code}/share"
    plain = uom.lower()
    if plain in ("shares", "share"):
        return "shares"
    if plain == "pure":
        return "ratio"
    if plain.startswith("numberof") or {plain, plain.removesuffix("s")} & _COUNTED:
        return "count"
    if plain.endswith("ies") and f"{plain[:-3]}y" in _COUNTED:
        return "count"
    return "count" if datatype in _COUNT_TYPES else measure_of(uom)


def _code(text: str) -> str | None:
    upper = text.upper()
    return _SPELLED.get(upper, upper) if upper in CURRENCIES else None


def _fits(unit: str, datatype: str | None) -> bool:
    """False if the filer's unit cannot be right, e.g. earnings per share as a pure number."""
    if datatype == "monetary":
        return unit in CURRENCIES
    if datatype == "shares":
        return unit == "shares"
    if datatype in _PER_SHARE_TYPES:
        return unit.endswith("/share")
    if datatype in _RATIO_TYPES:
        return unit == "ratio"
    return True


def _with_units(facts: pl.DataFrame) -> pl.DataFrame:
    """Add `unit` (categorical), or `unit_reason` if there is none, from `uom` and `datatype`."""
    pairs = facts.select("uom", "datatype").unique()
    results = [_unit_of(uom, datatype) for uom, datatype in pairs.iter_rows()]
    named = pairs.with_columns(
        pl.Series(
            "unit", [None if isinstance(t, SecReason) else t for t in results], pl.Categorical
        ),
        pl.Series(
            "unit_reason",
            [str(t) if isinstance(t, SecReason) else None for t in results],
            pl.String,
        ),
    )
    return facts.join(named, on=["uom", "datatype"], how="left", nulls_equal=True)


def judged_facts(num: pl.DataFrame, filings: pl.DataFrame, tags: pl.DataFrame) -> pl.DataFrame:
    """The rows of `num` with filing, unit, value, period and `reason` (null if sound so far).

    `value` is the filed decimal without redundant zeros. A period is `qtrs` quarters up to `ddate`,
    which the SEC rounds to a month's end, so that 52- and 53-week years end on calendar months
    here. `dimensions` is null for the consolidated company.
    """
    types = tags.select("tag", "version", "tag_id", "datatype")
    joined = num.join(filings.select("adsh", "nth", "company_id"), on="adsh", how="left").join(
        types, on=["tag", "version"], how="left"
    )
    # Without a definition the name decides, and filers define own tags per share as plain amounts.
    per_share = pl.col("tag").cast(pl.String).str.contains(_PER_SHARE_TAG)
    named = per_share & pl.col("datatype").fill_null("monetary").eq("monetary")
    joined = joined.with_columns(
        pl.when(named).then(pl.lit("perShare")).otherwise("datatype").alias("datatype")
    )
    whole = _with_dimensions(_with_periods(_with_units(joined)))
    return whole.with_columns(_reason().alias("reason")).with_columns(
        pl.when(pl.col("reason").is_null()).then(_plain_decimal(pl.col("value"))).alias("value")
    )


def _reason() -> pl.Expr:
    value = pl.col("value")
    decimal = value.str.contains(_DECIMAL) & (value.str.len_bytes() <= _LONGEST)
    return (
        pl.when(pl.col("nth").is_null())
        .then(pl.lit(SecReason.UNKNOWN_FILING.value))
        .when(pl.col("coreg").is_not_null())
        .then(pl.lit(SecReason.COREG.value))
        .when(pl.any_horizontal(pl.col("tag", "version").is_null()))
        .then(pl.lit(SecReason.BAD_ROW.value))
        .when(value.is_null())
        .then(pl.lit(SecReason.NO_VALUE.value))
        .when(~decimal)
        .then(pl.lit(SecReason.BAD_VALUE.value))
        .when(pl.col("period_end").is_null())
        .then(pl.lit(SecReason.BAD_PERIOD.value))
        .otherwise("unit_reason")
    )


def _plain_decimal(value: pl.Expr) -> pl.Expr:
    """1234.0000 → 1234, 0.5000 → 0.5, -0.0 → 0: the same number in a uniform spelling."""
    short = value.str.strip_chars_end("0").str.strip_chars_end(".")
    plain = pl.when(value.str.contains(".", literal=True)).then(short).otherwise(value)
    return pl.when(plain == "-0").then(pl.lit("0")).otherwise(plain)


def _with_dimensions(facts: pl.DataFrame) -> pl.DataFrame:
    """Add `dimensions`: the parts of `segments`, sorted by axis, joined by semicolons."""
    parts = (
        pl.col("segments")
        .cast(pl.String)
        .str.strip_chars("; ")
        .str.split(";")
        .list.sort()
        .list.join(";")
    )
    named = facts.select("segments").drop_nulls().unique().with_columns(parts.alias("dimensions"))
    filled = named.with_columns(
        pl.when(pl.col("dimensions") != "").then("dimensions").cast(pl.Categorical)
    )
    return facts.join(filled, on="segments", how="left")


def _with_periods(facts: pl.DataFrame) -> pl.DataFrame:
    """Add `period_start`, `period_end`, `months` and a name; null if there is no such period.

    A period starts on the day after the same day `months` earlier; a month's end corresponds to the
    end of any month.
    """
    end, months = pl.col("period_end"), pl.col("months")
    quarters = pl.col("qtrs").cast(pl.String).cast(pl.Int32, strict=False)
    pairs = facts.select("ddate", "qtrs").unique()
    typed = pairs.with_columns(
        pl.col("ddate").cast(pl.String).str.to_date("%Y%m%d", strict=False).alias("period_end"),
        (quarters.cast(pl.Int64) * _MONTHS_PER_QUARTER).alias("months"),
    ).filter(
        end.dt.year().is_between(*_YEARS)
        & months.is_between(0, _MOST_QUARTERS * _MONTHS_PER_QUARTER)
    )
    counted = end.dt.year().cast(pl.Int64) * 12 + end.dt.month() - months  # months since year 0
    whole = pl.date(counted // 12, counted % 12 + 1, 1)
    partial = end.dt.offset_by(pl.format("-{}mo", months)) + pl.duration(days=1)
    start = pl.when(end == end.dt.month_end()).then(whole).otherwise(partial)
    periods = typed.with_columns(
        pl.when(months > 0).then(start).alias("period_start"),
        pl.format("{}/{}m", end, months).cast(pl.Categorical).alias("period"),
    )
    return facts.join(periods, on=["ddate", "qtrs"], how="left")


_DEPRECATED = r"\(Deprecated [^()]*\)\s*$"  # a note of the taxonomy, not of the filer
KEY = ("company_id", "tag", "unit", "dimensions")
_TAGS = 1 << 32  # more than exist; separates filing and tag version within one number


def tag_table(tag: pl.DataFrame) -> pl.DataFrame:
    """One row per (tag, version), numbered by `tag_id` in that order, with datatype and `tlabel`.

    Data sets repeat definitions; of different ones the first in alphabetical order counts.
    """
    return (
        tag.select("tag", "version", "tlabel", "datatype", "crdr")
        .sort("tag", "version", "tlabel", "datatype", "crdr", nulls_last=True)
        .unique(["tag", "version"], keep="first", maintain_order=True)
        .with_columns(_label(pl.col("tlabel").str.replace(_DEPRECATED, "")))
        .with_row_index("tag_id")
        .with_columns(pl.col("tag_id").cast(pl.Int64))
    )


def _label(text: pl.Expr) -> pl.Expr:
    """A label in one line, without the separator of sections; null if nothing remains."""
    whole = text.str.strip_chars()
    for part, instead in (("\n", " "), ("\r", " "), (SEPARATOR, " / ")):
        whole = whole.str.replace_all(part, instead, literal=True)
    return pl.when(whole.str.len_bytes() > 0).then(whole)


def series_of(
    facts: pl.DataFrame, tag_rows: pl.DataFrame, tags: pl.DataFrame, config: SecConfig
) -> pl.DataFrame:
    """The series of sound `facts`, sorted by id, numbered by `sid`, each with its facts.

    `tag_rows` as from `tag_rows_of_companies`. The label is the taxonomy's, of the newest version
    used; else the filer's, which may contain values; else the tag. A fact with a segment axis
    belongs to the segments, one with an axis of equity to the statement of equity, any other to the
    statement of its tag, or to OTHER if the tag is in no statement.
    """
    newest = pl.col("nth").cast(pl.Int64) * _TAGS + (pl.col("tag_id") + 1).fill_null(0)
    grouped = facts.group_by(KEY).agg(newest.max().alias("newest"), pl.col("fact"))
    other = pl.lit(Statement.OTHER.value, pl.Categorical)
    filers = _label(pl.when(pl.col("tlabel").is_null()).then("plabel"))
    known = (
        grouped.with_columns((pl.col("newest") % _TAGS - 1).alias("tag_id"))
        .join(tags.select("tag_id", "tlabel", "crdr"), on="tag_id", how="left")
        .join(tag_rows, on=["company_id", "tag"], how="left")
        .join(_kinds(grouped, config), on="dimensions", how="left")
        .join(_currencies(grouped), on="unit", how="left")
        .with_columns(
            pl.coalesce("kind", "statement", other).alias("statement"),
            pl.coalesce("tlabel", filers, pl.col("tag").cast(pl.String)).alias("label"),
        )
    )
    parts = ["company_id", "tag", "statement", "unit", "dimensions"]
    ids = pl.concat_str(parts, separator="/", ignore_nulls=True)
    own = ("statement", "label", "currency", "crdr", "row_order", "fact")
    return known.select(*KEY, *own, series_id=ids).sort("series_id").with_row_index("sid")


def series_table(series: pl.DataFrame) -> pl.DataFrame:
    """The series with the columns of SERIES, in its types and the same order."""
    columns = {
        "name": pl.concat_str("statement", "label", separator=SEPARATOR),
        "name_local": pl.lit(None),
        "label_method": pl.lit(LabelMethod.REPORTED.value),
        "concept": pl.col("tag"),
        "category": pl.lit(None),
        "balance": pl.col("crdr").replace_strict(_BALANCES, default=None, return_dtype=pl.String),
        "method": pl.lit(HierarchyMethod.FLAT.value),
        "depth": pl.lit(2),
    }
    return (
        series.with_columns(**columns).select(list(SERIES.columns)).cast(pl.Schema(SERIES.schema))
    )


def _currencies(series: pl.DataFrame) -> pl.DataFrame:
    code = pl.col("unit").cast(pl.String).str.head(3)
    units = series.select("unit").unique()
    return units.with_columns(pl.when(code.is_in(sorted(CURRENCIES))).then(code).alias("currency"))


def _kinds(series: pl.DataFrame, config: SecConfig) -> pl.DataFrame:
    """The statement that dimensions belong to by their axes, or guidance by a member that is a
    forecast; null if the tag decides."""
    ahead = pl.col("dimensions").cast(pl.String).str.contains(_FORECAST)
    axes = pl.col("dimensions").cast(pl.String).str.to_lowercase().str.replace_all(r"=[^;]*", "")
    kind = (
        pl.when(ahead)
        .then(pl.lit(Statement.GUIDANCE.value))
        .when(axes.str.contains_any(list(config.segment_axes)))
        .then(pl.lit(Statement.SEGMENTS.value))
        .when(axes.str.contains_any(list(config.equity_axes)))
        .then(pl.lit(Statement.EQUITY.value))
        .cast(pl.Categorical)
    )
    return series.select("dimensions").drop_nulls().unique().with_columns(kind.alias("kind"))


_PERIOD = ("sid", "period_end", "months")
_THING = (*_PERIOD, "nth")
# Columns that later stages fill.
_LATER = ("fiscal_year", "fiscal_period", "calendar_period", "period_type")


@dataclass(frozen=True, slots=True)
class _Points:
    """Points, history, and (adsh, reason) of each fact that became no point.

    `sids` are the numbers of the series that have points.
    """

    points: pl.DataFrame
    history: pl.DataFrame
    rejected: pl.DataFrame
    sids: pl.Series


@dataclass(frozen=True, slots=True)
class Context:
    """What facts are joined with; `tag_rows` as from `tag_rows_in_filings`."""

    series: pl.DataFrame
    filings: pl.DataFrame
    tag_rows: pl.DataFrame


def with_series(facts: pl.DataFrame, series: pl.DataFrame) -> pl.DataFrame:
    """The sound facts with the number of their series, sorted by _THING, numbered by `row`."""
    columns = ("nth", "version", "value", "period_start", "period_end", "months", "period", *KEY)
    numbers = series.select("sid", "fact").explode("fact")
    listed = facts.select(columns)[numbers["fact"]].with_columns(numbers["sid"])
    return listed.sort(_THING).with_row_index("row")


def points_of(facts: pl.DataFrame, context: Context) -> _Points:
    """The points of the facts of `with_series`.

    A fact that a filing repeats counts once; if a filing gives several values for it, none counts.
    A fact of a superseded filing never becomes a point: it is history if a later filing gives
    another value.
    """
    doubles = _doubles(facts)
    single = facts.join(doubles, on="row", how="anti", maintain_order="left")
    late = _superseded(single, context.filings)
    sound = single.join(late, on="row", how="anti", maintain_order="left")
    shared = sound.filter(_repeats(_PERIOD))
    several = _as_points(shared, context)
    winners, history = latest(several)
    numbered = several.select("point_id", row=shared["row"])
    won = numbered.join(winners.select("point_id", "restatements"), on="point_id")
    lost = numbered.join(winners, on="point_id", how="anti")
    restated = lost.join(history, on="point_id", how="semi").select(
        "row", reason=pl.lit(SecReason.RESTATED.value)
    )
    again = lost.join(history, on="point_id", how="anti").select(
        "row", reason=pl.lit(SecReason.FILED_AGAIN.value)
    )
    stands = sound.join(lost, on="row", how="anti", maintain_order="left")
    counted = stands.join(won.drop("point_id"), on="row", how="left", maintain_order="left")
    rejected = pl.concat([doubles, late, restated, again]).join(
        facts.select("row", "nth"), on="row"
    )
    named = rejected.join(context.filings, on="nth").select(
        pl.col("adsh").cast(pl.String), "reason"
    )
    return _Points(_as_points(counted, context), history, named, stands["sid"].unique())


def _repeats(key: Sequence[str]) -> pl.Expr:
    """Whether a row shares `key` with the row before or after it, in a frame sorted by it."""
    same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift()) for name in key)
    return same | same.shift(-1, fill_value=False)


def _doubles(facts: pl.DataFrame) -> pl.DataFrame:
    """(row, reason) of the facts that repeat or contradict another fact of their filing."""
    several = facts.filter(_repeats(_THING)).sort(*_THING, "value", "version")
    reason = (
        pl.when(pl.col("value").n_unique().over(_THING) > 1)
        .then(pl.lit(SecReason.CONFLICT.value))
        .when(pl.int_range(pl.len()).over(_THING) > 0)
        .then(pl.lit(SecReason.DUPLICATE.value))
    )
    return several.select("row", reason=reason).drop_nulls("reason")


def _superseded(facts: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """(row, reason) of facts of superseded filings without a later fact in a valid filing."""
    superseded = filings.filter("superseded").select("nth")
    old = facts.join(superseded, on="nth", how="semi")
    standing = (
        facts.join(old, on=_PERIOD, how="semi")
        .join(superseded, on="nth", how="anti")
        .group_by(_PERIOD)
        .agg(pl.col("nth").max().alias("standing"))
    )
    late = (pl.col("standing") < pl.col("nth")).fill_null(value=True)
    refused = old.join(standing, on=_PERIOD, how="left").filter(late)
    return refused.select("row", reason=pl.lit(SecReason.SUPERSEDED.value))


def _as_points(facts: pl.DataFrame, context: Context) -> pl.DataFrame:
    """The facts with the columns of POINTS, in the same order."""
    filings = context.filings.select("nth", "filed", document="adsh")
    named = context.series.select("sid", "series_id")
    restatements = pl.col("restatements") if "restatements" in facts.columns else pl.lit(0)
    columns = {
        "point_id": pl.concat_str("series_id", "period", "document", separator="/"),
        "auto_generated": pl.col("line").is_null(),
        "computed": pl.lit(value=False),
        "restatements": restatements.fill_null(0),
        **{name: pl.lit(None, POINTS.schema[name]) for name in _LATER},
    }
    return (
        facts.join(
            context.tag_rows, on=["nth", "tag", "version"], how="left", maintain_order="left"
        )
        .join(filings, on="nth", how="left", maintain_order="left")
        .join(named, on="sid", how="left", maintain_order="left")
        .with_columns(**columns)
        .select(list(POINTS.columns))
        .cast(pl.Schema(POINTS.schema))
    )
