"""The tables of graded attempts as documented DuckDB views, for `benchmint sql --attempts`.

The Parquet files are the truth; the database is made of them for a query, and removed after it.
Unlike the staging file it holds what agents were shown and said: it is private (law 8).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from data.attempts import TABLES_FOLDER, subfolders
from data.errors import InputError
from data.schemas import ATTEMPT_TABLES, ATTEMPTS
from data.staging.database import comment_on

_STORED = "stored"  # the schema of the rows; the views of `main` are what is documented


@contextmanager
def attempts_database(folder: Path) -> Iterator[Path]:
    """A DuckDB file with the views of `schemas_attempts` over all that was graded below a folder.

    Raises InputError where nothing was.
    """
    sources = table_folders(folder)
    if not sources:
        raise InputError(
            str(folder), "no tables of graded attempts", f"{TABLES_FOLDER}/{ATTEMPTS.name}.parquet",
            "Run `benchmint grade` first.",
        )  # fmt: skip
    require_current(sources)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "attempts.duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE SCHEMA {_STORED}")
            for table in ATTEMPT_TABLES:
                files = [str(source / f"{table.name}.parquet") for source in sources]
                kinds = table.sql_types
                columns = ", ".join(f'"{column}" {kind}' for column, kind in kinds.items())
                connection.execute(f'CREATE TABLE {_STORED}."{table.name}" ({columns})')
                connection.execute(
                    f'INSERT INTO {_STORED}."{table.name}" BY NAME '
                    "FROM read_parquet(?, union_by_name = true)",
                    [files],
                )
                connection.execute(f'CREATE VIEW "{table.name}" AS FROM {_STORED}."{table.name}"')
                meanings = {column: text for column, (_, text) in table.columns.items()}
                comment_on(connection, "VIEW", table.name, table.row, meanings)
        yield path


def require_current(sources: Iterable[Path]) -> None:
    """Raise InputError for a folder whose tables do not have the columns of this version."""
    for source in sources:
        for table in ATTEMPT_TABLES:
            path = source / f"{table.name}.parquet"
            actual = set(pl.read_parquet_schema(path)) if path.is_file() else set()
            lacking = sorted(set(table.columns) - actual)
            if not lacking:
                continue
            raise InputError(
                str(path), f"a table of an older version (no column {lacking[0]})",
                "tables of graded attempts written by this version",
                f"Run `benchmint grade {source.parent} --snapshot SNAPSHOT`; no agents are rerun.",
            )  # fmt: skip


def table_folders(folder: Path) -> list[Path]:
    """The folders of tables below a folder; not those beneath one that has its own.

    A folder's own tables are of all attempts below it, so each attempt is read once.
    """
    own = folder / TABLES_FOLDER
    if (own / f"{ATTEMPTS.name}.parquet").is_file():
        return [own]
    return [source for path in subfolders(folder) for source in table_folders(path)]
