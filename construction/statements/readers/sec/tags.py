"""Definitions of tags: the rows of `tag`, numbered, with readable labels."""

from __future__ import annotations

import polars as pl

from construction.statements.model import SEPARATOR

_DEPRECATED = r"\(Deprecated [^()]*\)\s*$"  # a remark of the taxonomy, not of the filer


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
    """A label in one line, without what parts the sections of a name; null if nothing is left."""
    whole = text.str.strip_chars()
    for part, instead in (("\n", " "), ("\r", " "), (SEPARATOR, " / ")):
        whole = whole.str.replace_all(part, instead, literal=True)
    return pl.when(whole.str.len_bytes() > 0).then(whole)
