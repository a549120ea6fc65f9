"""Opening the staging file for queries, and in the DuckDB shells that a person may have."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from data.errors import NOT_BUILT, InputError

if TYPE_CHECKING:
    import duckdb

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
    import duckdb  # as below

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
    import duckdb  # commands that never open the file name its schema

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
