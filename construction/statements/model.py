"""The model of financial statements: companies, series and data points, as typed tables.

Readers write these tables; hierarchy, categories, periods and filters fill their columns; sampling,
enrichment, questions and the data tools read them. Values are decimals as text, exactly as
reported: they never pass through a float between filing and answer. Where filings restate a value,
the last filing takes precedence, and what it replaced is kept. On disk the tables are a folder with
one Parquet file each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl

from data.atomic import replacing_dir
from data.contracts import LedgerRow, StageTally
from data.errors import InputError
from data.schemas import (
    AMOUNTS,
    CLOSINGS,
    COMPANIES,
    CONVENTIONS,
    HISTORY,
    POINTS,
    ROWS,
    SERIES,
    STATEMENT_TABLES,
    Table,
)
from data.tables import write_frame

__all__ = [
    "CLOSINGS",
    "COMPANIES",
    "CONVENTIONS",
    "HISTORY",
    "POINTS",
    "ROWS",
    "SEPARATOR",
    "SERIES",
    "TABLES",
    "HierarchyMethod",
    "LabelMethod",
    "Statement",
    "Statements",
    "read_statements",
    "read_tables",
    "write_statements",
]

SEPARATOR = " | "


class Statement(StrEnum):
    """The part of a filing that a series belongs to; also the first component of its name."""

    INCOME = "Income statement"
    BALANCE = "Balance sheet"
    CASH_FLOW = "Cash flow statement"
    EQUITY = "Statement of equity"
    COMPREHENSIVE = "Comprehensive income"
    KPI = "Operating indicators"
    GUIDANCE = "Guidance"
    SEGMENTS = "Segments"
    OTHER = "Other"


# The codes of the SEC, in order of preference: a tag in several statements is of the first.
STATEMENTS = {
    "BS": Statement.BALANCE,
    "IS": Statement.INCOME,
    "CF": Statement.CASH_FLOW,
    "CI": Statement.COMPREHENSIVE,
    "EQ": Statement.EQUITY,
    "KPI": Statement.KPI,  # these two of other sources alone
    "GUIDANCE": Statement.GUIDANCE,
}
CODES = {str(statement): code for code, statement in STATEMENTS.items()}


class HierarchyMethod(StrEnum):
    """How the name of a series was rebuilt."""

    TOTALS = "totals"  # by row order and closing totals
    TREE = "tree"  # by the standard tree of the statement
    FLAT = "flat"  # statement and label only


class LabelMethod(StrEnum):
    """Where the English label of a series comes from."""

    REPORTED = "reported"  # the filing is in English
    TABLE = "table"  # from the project's label table
    UNTRANSLATED = "untranslated"


TABLES = STATEMENT_TABLES


@dataclass(frozen=True, slots=True)
class Statements:
    """What a reader returns: frames with exactly the schemas above, ledger rows and tallies.

    `ledger` and `tallies` account for every file, line and point (law 2). The frames are sorted by
    their id columns, so that the order of the input does not matter.
    """

    companies: pl.DataFrame
    series: pl.DataFrame
    points: pl.DataFrame
    history: pl.DataFrame
    rows: pl.DataFrame
    conventions: pl.DataFrame = field(default_factory=lambda: _empty(CONVENTIONS))
    closings: pl.DataFrame = field(default_factory=lambda: _empty(CLOSINGS))
    ledger: Sequence[LedgerRow] = field(default=())
    tallies: Sequence[StageTally] = field(default=())


def _empty(table: Table) -> pl.DataFrame:
    return pl.DataFrame(schema=table.schema)


# Applied in this order; none of these has a legitimate use in a filing's labels.
_RULES = (
    (r"\x1b\[[0-9;?]*[ -/]*[@-~]", ""),  # terminal commands
    (r"<[^<>]{0,300}>", " "),  # tags
    (r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)", "$1"),  # Markdown links and pictures
    (r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", " "),
    (r" {2,}", " "),
)
_COMPANY = ("name", "name_local", "name_kana", "ticker", "exchange", "industry")
_SERIES = ("name", "name_local", "label")


def plain_texts(statements: Statements) -> Statements:
    """The same statements with names and labels as plain text (law 10).

    They reach questions, tasks and pictures: markup, terminal commands and invisible characters are
    removed.
    """
    return replace(
        statements,
        companies=_plain(statements.companies, _COMPANY),
        series=_plain(statements.series, _SERIES),
        rows=_plain(statements.rows, ("label",)),
    )


def _plain(frame: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    texts = pl.col(names)
    for pattern, instead in _RULES:
        texts = texts.str.replace_all(pattern, instead)
    return frame.with_columns(texts.str.strip_chars())


_MAX_BYTES = 8 << 30
_MAX_ROWS = 100_000_000
_REBUILD = "It was made by another version: rebuild the tables or the release with this one."


def write_statements(out: Path, statements: Statements) -> None:
    """Write the tables and `AMOUNTS` to the folder `out`, which appears complete or not at all.

    The ledger and the tallies of `statements` are written by the stage, not here.

    Raises:
        InputError: `out` is not empty, or a frame has another schema than the model.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        actual, expected = "a file or a full folder", "an empty or missing folder"
        raise InputError(str(out), actual, expected, "Choose another one.")
    with replacing_dir(out) as part:
        for table in TABLES:
            frame: pl.DataFrame = getattr(statements, table.name)
            _check_schema(_file(out, table), frame.schema, table)
            write_frame(_file(part, table), frame)
        dtype = AMOUNTS.schema["value"]
        amounts = pl.col("value").cast(dtype, strict=False)
        write_frame(_file(part, AMOUNTS), statements.points.select("point_id", amounts))


def read_statements(folder: Path) -> Statements:
    """The tables of `folder`, without ledger rows. Raises InputError as `read_tables`."""
    tables: Mapping[str, Any] = read_tables(folder, TABLES)
    return Statements(**tables)


def read_tables(folder: Path, tables: Sequence[Table]) -> dict[str, pl.DataFrame]:
    """Some tables of a statements database, by name.

    Raises:
        InputError: a file is missing, too large, not Parquet, or has another schema.
    """
    return {table.name: _read(_file(folder, table), table) for table in tables}


def _file(folder: Path, table: Table) -> Path:
    return folder / f"{table.name}.parquet"


def _read(path: Path, table: Table) -> pl.DataFrame:
    if not path.is_file():
        expected = f"the table {table.name} of a statements database"
        raise InputError(str(path), "no file", expected, "Pass the folder that contains it.")
    size = path.stat().st_size
    if size > _MAX_BYTES:
        raise InputError(str(path), f"{size:,} bytes", f"at most {_MAX_BYTES:,}", _REBUILD)
    try:
        _check_schema(path, pl.read_parquet_schema(path), table)
        lazy = pl.scan_parquet(path, glob=False)
        n_rows = lazy.select(pl.len()).collect().item()  # from the footer; nothing is inflated
        if n_rows > _MAX_ROWS:
            raise InputError(str(path), f"{n_rows:,} rows", f"at most {_MAX_ROWS:,}", _REBUILD)
        return lazy.collect()
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        actual = f"{size:,} bytes that are not Parquet ({type(error).__name__})"
        raise InputError(str(path), actual, "a Parquet file", _REBUILD) from error


def _check_schema(path: Path, schema: Mapping[str, object], table: Table) -> None:
    if list(schema.items()) == list(table.schema.items()):
        return
    missing = [name for name in table.schema if name not in schema]
    wrong = [name for name, dtype in table.schema.items() if schema.get(name, dtype) != dtype]
    problems = "; ".join(
        f"{what} {', '.join(names)}"
        for what, names in (("no column", missing), ("another type of", wrong))
        if names
    )
    raise InputError(
        str(path),
        problems or f"{len(schema)} columns in another order or number",
        f"the {len(table.schema)} columns of {table.name} in their order",
        _REBUILD,
    )


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
