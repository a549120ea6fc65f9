"""Series (one per company, tag, unit and dimensions) and their points.

Each series and period keeps one fact; the others get a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from construction.statements.model import (
    POINTS,
    SEPARATOR,
    SERIES,
    HierarchyMethod,
    LabelMethod,
    Statement,
    latest,
)
from construction.statements.readers.sec.contracts import SecConfig, SecReason
from construction.statements.readers.sec.facts import CURRENCIES

_DEPRECATED = r"\(Deprecated [^()]*\)\s*$"  # a note of the taxonomy, not of the filer
KEY = ("company_id", "tag", "unit", "dimensions")
_TAGS = 1 << 32  # more than exist; separates filing and tag version within one number


def tag_table(tag: pl.DataFrame) -> pl.DataFrame:
    """One row per (tag, version), numbered by `tag_id` in that order, with datatype and `tlabel`.

    Data sets repeat definitions; of different ones the first in alphabetical order counts.
    """
    return (
        tag.select("tag", "version", "tlabel", "datatype")
        .sort("tag", "version", "tlabel", "datatype", nulls_last=True)
        .unique(["tag", "version"], keep="first", maintain_order=True)
        .with_columns(label(pl.col("tlabel").str.replace(_DEPRECATED, "")))
        .with_row_index("tag_id")
        .with_columns(pl.col("tag_id").cast(pl.Int64))
    )


def label(text: pl.Expr) -> pl.Expr:
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
    filers = label(pl.when(pl.col("tlabel").is_null()).then("plabel"))
    known = (
        grouped.with_columns((pl.col("newest") % _TAGS - 1).alias("tag_id"))
        .join(tags.select("tag_id", "tlabel"), on="tag_id", how="left")
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
    own = ("statement", "label", "currency", "row_order", "fact")
    return known.select(*KEY, *own, series_id=ids).sort("series_id").with_row_index("sid")


def series_table(series: pl.DataFrame) -> pl.DataFrame:
    """The series with the columns of SERIES, in its types and the same order."""
    columns = {
        "name": pl.concat_str("statement", "label", separator=SEPARATOR),
        "name_local": pl.lit(None),
        "label_method": pl.lit(LabelMethod.REPORTED.value),
        "concept": pl.col("tag"),
        "category": pl.lit(None),
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
    """The statement that dimensions belong to by their axes; null if the tag decides."""
    axes = pl.col("dimensions").cast(pl.String).str.to_lowercase().str.replace_all(r"=[^;]*", "")
    kind = (
        pl.when(axes.str.contains_any(list(config.segment_axes)))
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
class Points:
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


def points_of(facts: pl.DataFrame, context: Context) -> Points:
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
    return Points(_as_points(counted, context), history, named, stands["sid"].unique())


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
