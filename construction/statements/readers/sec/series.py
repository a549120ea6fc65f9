"""Series: one per company, tag, unit and dimensions, with statement and label."""

from __future__ import annotations

import polars as pl

from construction.statements.model import (
    SEPARATOR,
    SERIES,
    HierarchyMethod,
    LabelMethod,
    Statement,
)
from construction.statements.readers.sec.contracts import SecConfig
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
