"""The tables of a data set as frames of text; broken lines are set aside, bad bytes replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from construction.statements.readers.sec.contracts import SecConfig, SecReason
from construction.statements.readers.sec.source import (
    SecTable,
    SourceError,
    SourceTable,
    read_bytes,
)

# Optional columns are missing in the data sets of some years; they are null then.
REQUIRED: Mapping[SecTable, tuple[str, ...]] = {
    SecTable.SUB: ("adsh", "cik", "name", "form", "filed"),
    SecTable.TAG: ("tag", "version"),
    SecTable.NUM: ("adsh", "tag", "version", "ddate", "qtrs", "uom", "value"),
    SecTable.PRE: ("adsh", "report", "line", "stmt", "tag", "version"),
}
OPTIONAL: Mapping[SecTable, tuple[str, ...]] = {
    SecTable.SUB: (
        *("sic", "countryba", "countryinc", "fye", "period", "fy", "fp", "prevrpt", "instance"),
    ),
    SecTable.TAG: ("datatype", "tlabel"),
    SecTable.NUM: ("segments", "coreg", "footnote"),
    SecTable.PRE: ("inpth", "plabel", "negating"),
}
# Columns with few distinct values that are compared and joined most.
CODED = frozenset({"adsh", "tag", "version", "ddate", "qtrs", "uom", "segments", "stmt"})
_TAB, _NEWLINE = 9, 10
_BOM = b"\xef\xbb\xbf"
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class TableFrame:
    """A table as read: columns as named above, text or (CODED) categorical, and `source`, its
    label.

    `lines` counts the lines below the header. `broken` has (line number, number of columns) of
    those whose number of columns differs from the header's `columns`; they are not in the frame.
    `replaced` counts the byte sequences that are not UTF-8.
    """

    frame: pl.DataFrame
    lines: int
    columns: int
    broken: Sequence[tuple[int, int]] = ()
    replaced: int = 0


def read_table(source: SourceTable, config: SecConfig) -> TableFrame:
    """Read one table. Raises SourceError if it is broken, too large or lacks a column."""
    read = _read_parquet if source.is_parquet else _read_text
    table = read(source, config)
    required, optional = REQUIRED[source.table], OPTIONAL[source.table]
    lacking = [name for name in optional if name not in table.frame.columns]
    frame = table.frame.with_columns(
        *(pl.lit(None, _dtype(name)).alias(name) for name in lacking),
        pl.lit(source.label).alias("source"),
    ).select(*required, *optional, "source")
    return TableFrame(frame, table.lines, table.columns, table.broken, table.replaced)


def empty_table(table: SecTable) -> pl.DataFrame:
    """The empty frame of a table that no data set has."""
    names = (*REQUIRED[table], *OPTIONAL[table], "source")
    return pl.DataFrame(schema={name: _dtype(name) for name in names})


def _dtype(name: str) -> type[pl.String] | type[pl.Categorical]:
    return pl.Categorical if name in CODED else pl.String


def _wanted(names: Sequence[str], table: SecTable) -> list[str]:
    missing = [name for name in REQUIRED[table] if name not in names]
    if missing:
        actual = f"{len(names)} columns without {', '.join(missing)}"
        raise SourceError(SecReason.NO_COLUMNS, actual, ", ".join(REQUIRED[table]))
    return [name for name in (*REQUIRED[table], *OPTIONAL[table]) if name in names]


def _read_text(source: SourceTable, config: SecConfig) -> TableFrame:
    raw, replaced = _as_utf8(read_bytes(source, config).removeprefix(_BOM))
    head = raw[: raw.find(b"\n")] if b"\n" in raw else raw
    names = head.decode().rstrip("\r").split("\t")
    wanted = _wanted(names, source.table)
    whole, lines, broken = _without_broken_lines(raw, len(names))
    if lines > config.max_table_rows:
        raise SourceError(SecReason.TOO_LARGE, f"{lines:,} rows", "a smaller table")
    frame = pl.read_csv(
        whole,
        separator="\t",
        quote_char=None,
        infer_schema=False,
        columns=wanted,
        schema_overrides={name: _dtype(name) for name in wanted},
    )
    return TableFrame(frame, lines, len(names), broken, replaced)


def _as_utf8(raw: bytes) -> tuple[bytes, int]:
    """The bytes with everything that is not UTF-8 replaced, and the number of replacements."""
    if raw.isascii():
        return raw, 0
    try:
        raw.decode()
    except UnicodeDecodeError:
        text = raw.decode(errors="replace")
        return text.encode(), text.count(_REPLACEMENT) - raw.count(_REPLACEMENT.encode())
    return raw, 0


def _without_broken_lines(raw: bytes, columns: int) -> tuple[bytes, int, list[tuple[int, int]]]:
    """The bytes without lines of another number of columns, the number of lines, those lines.

    Quoting is off: every tab separates, every newline ends a line.
    """
    if not raw.endswith(b"\n"):
        raw += b"\n"
    content = np.frombuffer(raw, np.uint8)
    ends = np.flatnonzero(content == _NEWLINE)
    tabs = np.flatnonzero(content == _TAB)
    if _all_alike(tabs, ends, columns):
        return raw, len(ends) - 1, []
    column_counts = np.diff(np.searchsorted(tabs, ends), prepend=0) + 1
    wrong = np.flatnonzero(column_counts != columns)
    broken = [(int(line) + 1, int(column_counts[line])) for line in wrong]
    if broken:
        sizes = np.diff(ends, prepend=-1)
        raw = content[np.repeat(column_counts == columns, sizes)].tobytes()
    return raw, len(ends) - 1, broken


def _all_alike(tabs: NDArray[np.intp], ends: NDArray[np.intp], columns: int) -> bool:
    """Whether every line has this number of columns: a fast check before the exact one."""
    if columns < 2 or len(tabs) != len(ends) * (columns - 1):
        return False
    lines = tabs.reshape(len(ends), columns - 1)
    return bool((lines[:, -1] < ends).all() and (lines[1:, 0] > ends[:-1]).all())


def _read_parquet(source: SourceTable, config: SecConfig) -> TableFrame:
    try:
        scan = pl.scan_parquet(source.path, glob=False)
        names = scan.collect_schema().names()
        rows = scan.select(pl.len()).collect().item()
        if rows > config.max_table_rows or source.path.stat().st_size > config.max_table_bytes:
            raise SourceError(SecReason.TOO_LARGE, f"{rows:,} rows", "a smaller table")
        frame = scan.select(_wanted(names, source.table)).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SourceError(SecReason.UNREADABLE, type(error).__name__, "a Parquet file") from None
    text = frame.select(
        _as_text(pl.col(name), dtype).cast(_dtype(name)) for name, dtype in frame.schema.items()
    )
    return TableFrame(text, rows, len(names))


def _as_text(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A typed column as the text file would have it; floats as their shortest decimal."""
    if dtype in (pl.Date, pl.Datetime):
        return column.dt.strftime("%Y%m%d")
    if dtype == pl.Boolean:
        return column.cast(pl.Int8).cast(pl.String)
    if dtype.is_float():
        whole = column.cast(pl.Int128, strict=False).cast(pl.String)
        return pl.when(column == column.round()).then(whole).otherwise(column.cast(pl.String))
    text = column.cast(pl.String)
    return pl.when(text.str.len_bytes() > 0).then(text)
