"""In which power of ten a statement reports its amounts."""

from __future__ import annotations

import polars as pl

from construction.statements.model import Statements


def reporting_exponents(
    statements: Statements, round_share: float
) -> dict[tuple[str, int | None, str], int]:
    """Per document, number of the statement and unit the power of ten: 0, 3 or 6.

    It is 6 (3) if at least `round_share` of the amounts other than zero are whole millions
    (thousands): filings give full amounts, but print rounded ones.
    """
    units = statements.series.select("series_id", "unit")
    values = statements.points.join(units, on="series_id").filter(
        ~pl.col("unit").str.ends_with("/share") & ~pl.col("unit").is_in(["ratio", "count"])
    )
    bare = pl.col("value").str.strip_prefix("-")
    zeros = bare.str.len_chars() - bare.str.strip_chars_end("0").str.len_chars()
    zeros = pl.when(bare.str.contains(".", literal=True)).then(0).otherwise(zeros)
    shares = (
        values.filter(bare.str.contains(r"[1-9]"))
        .group_by("document", "report", "unit")
        .agg(millions=(zeros >= 6).mean(), thousands=(zeros >= 3).mean())
    )
    power = (
        pl.when(pl.col("millions") >= round_share)
        .then(6)
        .when(pl.col("thousands") >= round_share)
        .then(3)
        .otherwise(0)
    )
    told = shares.select("document", "report", "unit", power.alias("power"))
    return {(row[0], row[1], row[2]): row[3] for row in told.iter_rows()}
