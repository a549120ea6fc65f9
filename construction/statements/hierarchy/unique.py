"""No two series of one company share a name."""

from __future__ import annotations

import polars as pl

_KEY = ("company_id", "name")


def distinct_names(series: pl.DataFrame) -> pl.Series:
    """Names of `series` (columns of SERIES), made distinct within each company.

    Where several share one, their unit is added in brackets if that tells them apart, else their
    concept; what even then is the same gets all of its id but the company.
    """
    marks = (
        pl.format(" ({})", pl.col("unit")),
        pl.format(" [{}]", pl.col("concept")),
        pl.format(" [{}]", pl.col("series_id").str.strip_prefix(pl.col("company_id"))),
    )
    named = series.select("series_id", "company_id", "unit", "concept", "name")
    for mark in marks:
        shared = pl.len().over(_KEY) > 1
        tells = (pl.col("mark").n_unique().over(_KEY) == pl.len().over(_KEY)) | (
            pl.lit(mark is marks[-1])
        )
        named = named.with_columns(mark=mark).with_columns(
            name=pl.when(shared & tells.fill_null(False))
            .then(pl.col("name") + pl.col("mark").fill_null(""))
            .otherwise("name")
        )
    return named["name"]
