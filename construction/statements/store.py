"""The statements database on disk: a folder with one Parquet file per table of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from construction.statements.model import TABLES, Statements
from data.atomic import replacing_dir
from data.errors import InputError
from data.schemas import Table
from data.tables import write_frame

MAX_BYTES = 8 << 30
MAX_ROWS = 100_000_000
_REBUILD = "Build the tables again."


def write_statements(out: Path, statements: Statements) -> None:
    """Write the five tables to the folder `out`, which appears complete or not at all.

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


def read_statements(folder: Path) -> Statements:
    """The five tables of `folder`, without ledger rows. Raises InputError as `read_tables`."""
    frames = read_tables(folder, TABLES)
    return Statements(
        companies=frames["companies"],
        series=frames["series"],
        points=frames["points"],
        history=frames["history"],
        rows=frames["rows"],
    )


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
        raise InputError(str(path), "no file", expected, "Name the folder that holds it.")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise InputError(str(path), f"{size:,} bytes", f"at most {MAX_BYTES:,}", _REBUILD)
    try:
        _check_schema(path, pl.read_parquet_schema(path), table)
        lazy = pl.scan_parquet(path, glob=False)
        n_rows = lazy.select(pl.len()).collect().item()  # from the footer; nothing is inflated
        if n_rows > MAX_ROWS:
            raise InputError(str(path), f"{n_rows:,} rows", f"at most {MAX_ROWS:,}", _REBUILD)
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
