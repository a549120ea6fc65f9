"""Filings: the rows of `sub`, typed and judged."""

from __future__ import annotations

import polars as pl

from construction.statements.readers.sec.reasons import SecReason

_ACCESSION = r"^\d{10}-\d{2}-\d{6}$"


def judged_filings(sub: pl.DataFrame, source: str) -> pl.DataFrame:
    """One row per row of `sub`, with `reason` (null if kept) and `company_id`.

    `nth` numbers the filings by (filed, adsh) from 0: the greater, the later; null for rows that
    are none. A filing given twice is taken once. A superseded one has a reason and a number: its
    values may be history.
    """
    content = [name for name in sub.columns if name != "source"]
    typed = sub.with_columns(
        pl.col("cik").cast(pl.Int64, strict=False),
        pl.col("filed").str.to_date("%Y%m%d", strict=False),
        # A name like a later one's, so that the order of the data sets does not matter.
    ).sort("adsh", *content[1:], "source", nulls_last=True)
    sound = (
        pl.col("adsh").cast(pl.String).str.contains(_ACCESSION)
        & (pl.col("cik") > 0)
        & pl.col("filed").is_not_null()
    ).fill_null(value=False)
    reason = (
        pl.when(~sound)
        .then(pl.lit(SecReason.BAD_FILING.value))
        .when(pl.col("adsh").cum_count().over("adsh", sound) > 1)
        .then(pl.lit(SecReason.DUPLICATE_FILING.value))
        .when(pl.col("prevrpt") == "1")
        .then(pl.lit(SecReason.SUPERSEDED.value))
    )
    judged = typed.with_columns(reason.alias("reason")).sort("filed", "adsh", nulls_last=True)
    counted = pl.col("reason").is_null() | (pl.col("reason") == SecReason.SUPERSEDED.value)
    return judged.with_columns(
        pl.when(counted).then(counted.cum_sum() - 1).cast(pl.Int32).alias("nth"),
        pl.format("{}:{}", pl.lit(source), "cik").cast(pl.Categorical).alias("company_id"),
    )


def known_filings(judged: pl.DataFrame) -> pl.DataFrame:
    """The filings that facts and rows may belong to, sorted by `nth`; `by_name` ranks by adsh."""
    superseded = pl.col("reason") == SecReason.SUPERSEDED.value
    return judged.filter(pl.col("nth").is_not_null()).with_columns(
        superseded.fill_null(value=False).alias("superseded"),
        pl.col("adsh").cast(pl.String).rank("dense").alias("by_name"),
    )
