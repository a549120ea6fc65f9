"""Opening the staging file for queries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

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
