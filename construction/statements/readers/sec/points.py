"""Points: each series and period keeps one fact; the others get a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from construction.statements.model import POINTS
from construction.statements.readers.restate import latest
from construction.statements.readers.sec.contracts import SecReason
from construction.statements.readers.sec.series import KEY

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
