"""The values of many filings as one frame: where each stands, its number, or why it has none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from construction.statements.readers.edinet.filings import Filing
from construction.statements.readers.edinet.items import LONGEST, item_frame
from construction.statements.readers.edinet.reasons import Reason
from construction.statements.readers.edinet.source import Repeated

# Stand-ins for what is no text; no number looks like them.
_NOT_TEXT, _TWICE = "(no text)", "(told twice)"
_LONGEST_VALUE = 40  # characters
_PLAIN = r"^-?[0-9]{1,30}(\.[0-9]{1,15})?$"
_NUMBER = re.compile(_PLAIN)
_GROUPED = re.compile(r"-?[0-9]{1,3}(,[0-9]{3}){1,9}(\.[0-9]{1,15})?")
_BRACKETED = re.compile(r"\(([0-9.,]+)\)")
_MISSING = frozenset(("", "-", "―", "—", "–", "ー", "‐"))
_MINUS = re.compile("^[△▲−]")


def value_frame(filings: Sequence[Filing]) -> pl.DataFrame:
    """One row per value: filing (position), report, line, label, the item's columns of
    `item_frame`, value (decimal as text, else null) and reason (null if there is a value)."""
    frame = _flat(filings)
    numbers = _numbers(frame["raw"].unique())
    items = item_frame(frame.select("report", "label").unique())
    frame = frame.join(numbers, on="raw", how="left", maintain_order="left").drop("raw")
    frame = frame.join(items, on=["report", "label"], how="left", maintain_order="left")
    again = pl.struct("filing", "report", "concept").is_first_distinct().not_()
    odd = (pl.col("label").str.len_chars() > LONGEST) | (pl.col("concept") == "")
    reason = (
        pl.when(odd)
        .then(pl.lit(str(Reason.VALUE_LABEL)))
        .when(again)
        .then(pl.lit(str(Reason.VALUE_REPEATED_LABEL)))
        .otherwise(pl.col("reason"))
    )
    return frame.with_columns(reason=reason)


def _flat(filings: Sequence[Filing]) -> pl.DataFrame:
    """The tables of the filings, item by item, in filing order."""
    labels: list[str] = []
    values: list[Any] = []
    sizes: list[int] = []
    for filing in filings:
        for table in filing.tables:
            labels.extend(table.keys())
            values.extend(table.values())
            sizes.append(len(table))
    if not set(map(type, values)) <= {str}:
        values = [_as_text(value) for value in values]
    counts = np.asarray(sizes, dtype=np.int64)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    tables = np.repeat(np.arange(len(sizes), dtype=np.int64), counts)
    return pl.DataFrame(
        {
            "filing": tables // 4,
            "report": tables % 4 + 1,
            "line": np.arange(len(labels), dtype=np.int64) - starts,
            "label": pl.Series(labels, dtype=pl.String),
            "raw": pl.Series(values, dtype=pl.String),
        }
    )


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_VALUE else _NOT_TEXT
    if value is None:
        return ""
    if isinstance(value, Repeated):
        return _TWICE
    # A JSON number with a fraction has gone through a float: not as reported any more.
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else _NOT_TEXT


def _numbers(raw: pl.Series) -> pl.DataFrame:
    """raw -> value, reason."""
    plain = raw.str.contains(_PLAIN)
    odd = [clean_number(text) for text in raw.filter(~plain)]
    cleaned = pl.DataFrame(
        {
            "raw": raw.filter(~plain),
            "value": pl.Series([value for value, _ in odd], dtype=pl.String),
            "reason": pl.Series([reason for _, reason in odd], dtype=pl.String),
        }
    )
    kept = raw.filter(plain)
    whole = pl.DataFrame({"raw": kept, "value": kept}).with_columns(reason=pl.lit(None, pl.String))
    return pl.concat([whole, cleaned])


def clean_number(text: str) -> tuple[str | None, str | None]:
    """The decimal that `text` writes, else the reason.

    Full-width digits, spaces, grouping commas, and △, ▲ or brackets for minus are resolved.
    """
    if text == _TWICE:
        return None, str(Reason.VALUE_REPEATED_LABEL)
    if len(text) > _LONGEST_VALUE:
        return None, str(Reason.VALUE_NOT_A_NUMBER)
    plain = "".join(unicodedata.normalize("NFKC", text).split())
    if plain in _MISSING:
        return None, str(Reason.VALUE_MISSING)
    bracketed = _BRACKETED.fullmatch(plain)
    plain = f"-{bracketed[1]}" if bracketed else _MINUS.sub("-", plain)
    if _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    if _NUMBER.fullmatch(plain):
        return plain, None
    return None, str(Reason.VALUE_NOT_A_NUMBER)
