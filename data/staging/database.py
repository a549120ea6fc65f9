"""The DuckDB file: built beside the old one from the runs' Parquet files, then swapped in.

Readers that have the old file open keep the old data; later readers see the new.
Staged are the tables of all lanes, of the ledger and of the runs themselves, each with `run_id` as
its first column, and views over them that analysts and auditors start from (`views.toml`).
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from data import schemas
from data.atomic import replacing
from data.canonical import digest
from data.schemas import LEDGER_TABLES, RUNS, Table
from data.staging.opening import NEWEST, open_read_only
from data.text.lexicon import load_table

_CONTRACT = "staging_contract"  # a macro in the file that returns the digest of its contracts


RUN_ID = "run_id"

# Statements are staged without the tables of enrichment, questions without their answers.
_LANES = (
    *schemas.SESSION_TABLES,
    *schemas.SIGNAL_TABLES,
    *(schemas.COMPANIES, schemas.SERIES, schemas.POINTS),
    *(schemas.CONVENTIONS, schemas.CLOSINGS, schemas.QUESTIONS),
    *(schemas.PILOT_SCORES, schemas.SELECTION_ROWS, schemas.TIMINGS, schemas.COSTS),
)
# Written for every run; `runs` itself holds one row of each.
STAGED = (*_LANES, *LEDGER_TABLES)
TABLES = (RUNS, *STAGED)


@dataclass(frozen=True, slots=True)
class View:
    """A view: what one row is, its columns with type and meaning, and the query behind it."""

    name: str
    row: str
    columns: Mapping[str, tuple[str, str]]
    query: str


VIEWS = tuple(
    View(
        name,
        declared["row"],
        {column: (kind, meaning) for column, (kind, meaning) in declared["columns"].items()},
        declared["query"],
    )
    for name, declared in load_table(__package__, "views.toml").items()
)


def sql_types(table: Table) -> dict[str, str]:
    """The columns of a staged table with their DuckDB types, `run_id` first."""
    return {RUN_ID: "VARCHAR"} | table.sql_types


def meanings(table: Table) -> Mapping[str, str]:
    """What each column of a staged table means."""
    return {RUN_ID: "run, one of `runs`"} | table.meanings


@dataclass(frozen=True, slots=True)
class RunTables:
    """A run as it goes into the database: its row of `runs`, and the files of each table."""

    row: Mapping[str, Any]
    files: Mapping[str, Sequence[Path]] = field(default_factory=dict)


def build_database(target: Path, runs: Sequence[RunTables]) -> None:
    """Write `target` from the files of `runs`, oldest first; the last is the newest.

    Runs that the old file holds are taken from there: the rows of a run never change. A run whose
    files do not fit is noted in `runs.problem` and left out of the other tables; the newest run
    must fit, otherwise duckdb.Error is raised, and OSError where the disk is full. The file
    replaces the old one in one step; DuckDB 1.4 and later read it.
    """
    wanted = {run.row[RUN_ID] for run in runs}
    known = _known(target) if target.exists() else frozenset()
    with replacing(target) as part, _disk_errors(target):
        if known and known <= wanted:
            shutil.copyfile(target, part)
        else:
            part.unlink()
            known = frozenset()
        with duckdb.connect(
            str(part), config={"storage_compatibility_version": "v1.4.0"}
        ) as connection:
            connection.execute("BEGIN")  # one commit for hundreds of small statements
            if known:
                connection.execute("DELETE FROM runs")
            else:
                _create_tables(connection)
            _create_newest(connection, runs[-1].row[RUN_ID] if runs else None)
            connection.execute("COMMIT")
            for run in runs:
                files = {} if run.row[RUN_ID] in known else run.files
                _add(connection, RunTables(run.row, files), must_fit=run is runs[-1])
            connection.execute("CHECKPOINT")  # closing would do it, and be silent if it fails


@contextmanager
def _disk_errors(target: Path) -> Iterator[None]:
    """DuckDB's error for a full disk as the system's."""
    full = os.strerror(errno.ENOSPC)
    try:
        yield
    except duckdb.Error as error:
        if full not in str(error):
            raise
        raise OSError(errno.ENOSPC, full, str(target)) from error


def _known(target: Path) -> frozenset[str]:
    """The runs of a file that was built by these contracts; none if it was built by others."""
    try:
        with open_read_only(target) as connection:
            contract = connection.execute(f"SELECT {_CONTRACT}()").fetchall()
            rows = connection.execute("SELECT run_id FROM runs WHERE problem IS NULL").fetchall()
    except duckdb.Error:
        return frozenset()
    return frozenset(row[0] for row in rows) if contract == [(_contract(),)] else frozenset()


def _contract() -> str:
    """A digest of the declarations of all tables and views."""
    tables = [[table.name, table.row, sql_types(table), meanings(table)] for table in TABLES]
    return digest([tables, [[v.name, v.row, v.columns, v.query] for v in VIEWS]])


def table_paths(folders: Iterable[Path]) -> dict[str, list[Path]]:
    """The Parquet files of each staging table under `folders`, sorted, by file stem."""
    paths_of: dict[str, list[Path]] = {table.name: [] for table in STAGED}
    for folder in folders:
        for path in sorted(folder.rglob("*.parquet")):
            if path.stem in paths_of:
                paths_of[path.stem].append(path)
    return paths_of


def _add(connection: duckdb.DuckDBPyConnection, run: RunTables, *, must_fit: bool) -> None:
    """Insert a run's rows: all of them, or none and the reason."""
    connection.execute("BEGIN")
    try:
        for table in STAGED:
            if paths := run.files.get(table.name):
                _insert(connection, table, run.row[RUN_ID], paths)
        _insert_row(connection, run.row)
    except duckdb.Error as error:
        connection.execute("ROLLBACK")
        if must_fit:
            raise
        problem = f"{table.name}: {type(error).__name__}"
        _insert_row(connection, {**run.row, "problem": problem})
    else:
        connection.execute("COMMIT")


def _insert(
    connection: duckdb.DuckDBPyConnection, table: Table, run_id: str, paths: Sequence[Path]
) -> None:
    """Insert the table's columns that the files have; older code may have written others."""
    files = [str(path) for path in paths]
    source = "read_parquet(?, union_by_name = true)"
    described = f"DESCRIBE SELECT * FROM {source}"  # noqa: S608 — a constant
    there = {row[0] for row in connection.execute(described, [files]).fetchall()}
    shared = [f'"{name}"' for name in table.schema if name in there and name != RUN_ID]
    connection.execute(
        f'INSERT INTO "{table.name}" BY NAME '  # noqa: S608 — names from the contracts
        f"SELECT ? AS {RUN_ID}, {', '.join(shared)} FROM {source}",
        [run_id, files],
    )


def _insert_row(connection: duckdb.DuckDBPyConnection, row: Mapping[str, Any]) -> None:
    names = list(RUNS.schema)
    marks = ", ".join("?" for _ in names)
    connection.execute(
        f"INSERT INTO runs VALUES ({marks})",  # noqa: S608
        [row.get(name) for name in names],
    )


def _create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the tables, the views over all runs, their comments, and the macro with the digest."""
    for table in TABLES:
        columns = ", ".join(f'"{name}" {sql}' for name, sql in sql_types(table).items())
        connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
    for view in VIEWS:
        connection.execute(f'CREATE VIEW main."{view.name}" AS {view.query}')
    _comment(connection)
    connection.execute(f"CREATE MACRO main.{_CONTRACT}() AS {_quoted(_contract())}")
    connection.execute(f"CREATE SCHEMA {NEWEST}")


def _create_newest(connection: duckdb.DuckDBPyConnection, newest: str | None) -> None:
    """Create views of the newest run's rows in a schema of their own."""
    only = f"{RUN_ID} = {_quoted(newest)}" if newest is not None else "false"
    sources = {table.name: "*, rowid" for table in STAGED} | {view.name: "*" for view in VIEWS}
    for name, columns in sources.items():
        query = f'SELECT {columns} FROM main."{name}" WHERE {only}'  # noqa: S608
        connection.execute(f'CREATE OR REPLACE VIEW {NEWEST}."{name}" AS {query}')


def _comment(connection: duckdb.DuckDBPyConnection) -> None:
    for table in TABLES:
        comment_on(connection, "TABLE", table.name, table.row, meanings(table))
    for view in VIEWS:
        meaning_of = {name: meaning for name, (_, meaning) in view.columns.items()}
        comment_on(connection, "VIEW", view.name, view.row, meaning_of)


def comment_on(
    connection: duckdb.DuckDBPyConnection,
    kind: str,
    name: str,
    row: str,
    columns: Mapping[str, str],
) -> None:
    """Comment on a table or view of `main` and its columns: what a row is, what each means."""
    row_text = _quoted(f"One row: {row}.")
    connection.execute(f'COMMENT ON {kind} main."{name}" IS {row_text}')
    for column, meaning in columns.items():
        text = _quoted(meaning + ".")
        connection.execute(f'COMMENT ON COLUMN main."{name}"."{column}" IS {text}')


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
