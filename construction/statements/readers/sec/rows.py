"""Rows of statements in filing order, each with the series that it shows."""

from __future__ import annotations

import polars as pl

from construction.statements.model import ROWS


def rows_of(
    judged: pl.DataFrame, told: pl.DataFrame, series: pl.DataFrame, tags: pl.DataFrame
) -> pl.DataFrame:
    """The kept rows of `judged`: columns of ROWS, sorted by (document, report, line).

    `told` are facts with the numbers of their `series`. A row shows the consolidated series of
    its tag, in the unit with the most facts of the filing; without one, the only dimensioned
    series of its tag; null if there are several of those.
    """
    label = pl.coalesce(pl.col("plabel").str.strip_chars(), "tlabel", pl.col("tag").cast(pl.String))
    return (
        judged.filter(pl.col("reason").is_null())
        .join(_shown(told), on=["nth", "tag", "version"], how="left")
        .join(series.select("sid", "series_id"), on="sid", how="left")
        .join(tags.select("tag", "version", "tlabel"), on=["tag", "version"], how="left")
        .with_columns(document="adsh", label=label)
        .sort("by_name", "report", "line")
        .select(list(ROWS.columns))
        .cast(pl.Schema(ROWS.schema))
    )


def _shown(told: pl.DataFrame) -> pl.DataFrame:
    """The number of the series of each (nth, tag, version)."""
    key = ["nth", "tag", "version"]
    span = told.group_by(key).agg(pl.col("sid").min(), pl.col("sid").max().alias("last"))
    alone = span.filter(pl.col("sid") == pl.col("last")).select(*key, "sid")
    several = told.join(span.filter(pl.col("sid") != pl.col("last")), on=key, how="semi")
    most = (
        several.filter(pl.col("dimensions").is_null())
        .group_by(*key, "sid")
        .len()
        .sort("len", "sid", descending=[True, False])
        .unique(key, keep="first", maintain_order=True)
    )
    return pl.concat([alone, most.select(*key, "sid")])
