"""Restated values: the last filing takes precedence, and what it replaced is kept."""

from __future__ import annotations

import polars as pl

from construction.statements.model import HISTORY, POINTS

KEY = ("series_id", "period_start", "period_end", "months")
_LATEST = ("filed", "document", "report", "line", "value")  # breaks every tie, whatever the order


def latest(points: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One point per series and period, and the values that it replaced.

    `points` has the columns of POINTS. Of the points that share `KEY`, the one with the greatest
    (filed, document) is kept; a missing filing day counts as the earliest. Its `restatements` is
    the number of earlier points with another value, and those are the history (columns of HISTORY,
    `replaced_by` = the kept point). An earlier point with the same value is no restatement and is
    in neither frame. Values are compared as text, so they must be written uniformly. Both frames
    are sorted by series and period, the history then by (filed, document).
    """
    shared = points.select(pl.struct(KEY).is_duplicated()).to_series()
    several = _ranked(points.filter(shared))
    kept = pl.concat(
        [
            points.filter(~shared).with_columns(restatements=pl.lit(0, pl.Int64)),
            several.filter("kept").select(points.columns),
        ]
    ).select(list(POINTS.columns))
    history = several.filter("differs").with_columns(restatements=pl.lit(0, pl.Int64))
    order = ["series_id", "period_end", "months", "period_start"]
    return kept.sort(order), history.select(list(HISTORY.columns)).sort(*order, *_LATEST)


def _ranked(points: pl.DataFrame) -> pl.DataFrame:
    """Which point of each key is kept, which ones differ from it, and how many those are."""
    ordered = points.sort(_LATEST)
    last = {name: pl.col(name).last().over(KEY) for name in ("point_id", "value")}
    return ordered.with_columns(
        last["point_id"].alias("replaced_by"),
        (pl.col("value") != last["value"]).alias("differs"),
        (pl.int_range(pl.len()).over(KEY) == pl.len().over(KEY) - 1).alias("kept"),
    ).with_columns(pl.col("differs").sum().over(KEY).cast(pl.Int64).alias("restatements"))
