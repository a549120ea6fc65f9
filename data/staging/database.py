"""The DuckDB file: built beside the old one from the runs' Parquet files, then swapped in.

Readers that have the old file open keep the old data; later readers see the new.
Staged are the tables of all lanes, of the ledger and of the runs themselves, each with `run_id` as
its first column, and views over them that analysts and auditors start from (`views.toml`).
"""

from __future__ import annotations

import atexit
import errno
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data import schemas
from data.atomic import replacing
from data.canonical import digest
from data.errors import NOT_BUILT, InputError
from data.schemas import LEDGER_TABLES, RUNS, Table
from data.text.lexicon import load_table

if TYPE_CHECKING:  # commands that never open the file load no DuckDB
    import duckdb


# Opening the staging file for queries, and in the DuckDB shells that a person may have.

# The views of this schema show the newest run alone; those of `main` show every run.
NEWEST = "newest"


SAFE = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",  # otherwise a query can read variables of this program
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


_OPENED = itertools.count()  # databases: their files have equal names, so a folder each


@cache
def _spill_folder() -> str:
    """Made for this process and closed to other users: what outgrows memory may be private."""
    folder = tempfile.mkdtemp(prefix="benchmint-duckdb-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def in_memory(options: Mapping[str, str] | None = None) -> duckdb.DuckDBPyConnection:
    """A database in memory. What outgrows it goes to the system's folder for temporary files.

    By default that is `.tmp` in the working folder, where a killed process leaves it.
    """
    import duckdb

    spilled = Path(_spill_folder(), f"{os.getpid()}-{next(_OPENED)}")
    connection = duckdb.connect(":memory:", config={"temp_directory": str(spilled)})
    for name, value in (options or {}).items():  # without external access no folder can be set
        connection.execute(f"SET {name} = '{value}'")
    return connection


def open_read_only(
    path: Path, *, every_run: bool = False, options: Mapping[str, str] | None = None
) -> duckdb.DuckDBPyConnection:
    """Open a staging file for queries: read-only, no access to files, network or variables.

    A table name means the rows of the newest run; with `every_run` (or as `main.turns`) those of
    all runs. `runs` lists all runs in both cases.
    """
    import duckdb

    connection = duckdb.connect(str(path), read_only=True, config={**SAFE, **(options or {})})
    schemas = "main" if every_run else f"{NEWEST},main"
    connection.execute(f"SET search_path = '{schemas}'").fetchall()
    connection.execute("SET lock_configuration = true").fetchall()
    return connection


# Shells of DuckDB --------------------------------------------------------------------------------

_SETUP = (
    f"SET search_path = '{NEWEST},main'",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_BESIDE = Path(sys.executable).parent  # where pip of this environment installs programs


class Shell(StrEnum):
    HARLEQUIN = "harlequin"
    DUCKDB = "duckdb"


def open_shell(staging: Path, shell: Shell | None) -> int:
    """Run a shell read-only and without access to files; its exit code.

    Raises InputError if the file or the shell is not there.
    """
    if not staging.is_file():
        raise InputError(str(staging), "nothing", "a staging file", NOT_BUILT)
    for name in [shell] if shell else list(Shell):
        program = shutil.which(name) or shutil.which(name, path=str(_BESIDE))
        if program is not None:
            return _run(name, program, staging)
    raise InputError(
        "PATH",
        f"no {shell or ' and no '.join(Shell)}",
        "a DuckDB shell",
        f"Install one ({_BESIDE / 'pip'} install duckdb-cli, or harlequin), or use `benchmint "
        f"sql`; DuckDB 1.4 or later can open {staging} read-only.",
    )


def _run(name: Shell, program: str, staging: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        setup = Path(folder) / "setup.sql"
        setup.write_text("".join(f"{line};\n" for line in _SETUP))
        arguments = _ARGUMENTS[name](program, setup, staging.resolve())
        return subprocess.run(arguments, check=False).returncode  # noqa: S603 (the user's shell)


def _harlequin(program: str, setup: Path, staging: Path) -> Sequence[str]:
    return [program, "--read-only", "--init-path", str(setup), str(staging)]


def _duckdb(program: str, setup: Path, staging: Path) -> Sequence[str]:
    """Not `-safe`: the shell of the PyPI package refuses to start with it."""
    commands = [part for line in _SETUP for part in ("-cmd", f"{line};")]
    return [program, "-readonly", *commands, str(staging)]


_ARGUMENTS: dict[Shell, Callable[[str, Path, Path], Sequence[str]]] = {
    Shell.HARLEQUIN: _harlequin,
    Shell.DUCKDB: _duckdb,
}


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
class _View:
    """A view: what one row is, its columns with type and meaning, and the query behind it."""

    name: str
    row: str
    columns: Mapping[str, tuple[str, str]]
    query: str


VIEWS = tuple(
    _View(
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
    import duckdb

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
    import duckdb

    full = os.strerror(errno.ENOSPC)
    try:
        yield
    except duckdb.Error as error:
        if full not in str(error):
            raise
        raise OSError(errno.ENOSPC, full, str(target)) from error


def _known(target: Path) -> frozenset[str]:
    """The runs of a file that was built by these contracts; none if it was built by others."""
    import duckdb

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
    import duckdb

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
