"""One read-only query of the staging file, asked in a child process with limits.

DuckDB's own memory limit does not count every byte a query can allocate, and a long string
function cannot be interrupted; a process can be limited and killed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from data.canonical import canonical_json
from data.child import Child, ChildFailed, ChildLimits
from data.errors import BenchmintError, InputError

_CHILD = "data.staging.sql_child"
_MIB = 1 << 20
_LONGEST_SQL = 20_000  # characters: what is longer takes the parser minutes if it is nested


@dataclass(frozen=True, slots=True)
class SqlLimits:
    """Rows and characters of a cell that are told; processor seconds and MiB of the query."""

    rows: int = 10_000
    cell: int = 10_000
    seconds: int = 30
    memory_mib: int = 4096


@dataclass(frozen=True, slots=True)
class SqlResult:
    """Columns with their DuckDB types, and rows of JSON values.

    `more`: there were further rows; `cut`: so many texts were longer than a cell may be.
    """

    columns: tuple[tuple[str, str], ...]
    rows: list[list[Any]]
    more: bool
    cut: int


class SqlRefused(BenchmintError):
    """A query that DuckDB or this project refuses, or that broke its limits."""


def run_sql(staging: Path, sql: str, limits: SqlLimits, *, every_run: bool = True) -> SqlResult:
    """The result of one SELECT over the staging file.

    Raises InputError without a staging file, SqlRefused with the reason for anything else.
    """
    if not staging.is_file():
        raise InputError(str(staging), "nothing", "a staging file", "Run `benchmint build` first.")
    if len(sql) > _LONGEST_SQL:
        raise SqlRefused(f"a query of {len(sql)} characters; at most {_LONGEST_SQL} are read.")
    told = {"path": str(staging.resolve()), "sql": sql, "every_run": every_run, **asdict(limits)}
    try:
        bounds = ChildLimits(limits.seconds, limits.memory_mib * _MIB)
        with Child(_CHILD, bounds) as child:
            child.send(canonical_json(told))
            answer = orjson.loads(child.receive())
    except ChildFailed:
        raise SqlRefused(
            f"the query took more than {limits.seconds} s of processor time or "
            f"{limits.memory_mib} MiB. Ask for less, or raise --seconds or --memory."
        ) from None
    if "refused" in answer:
        raise SqlRefused(answer["refused"])
    columns = tuple((name, kind) for name, kind in answer["columns"])
    return SqlResult(columns, answer["rows"], answer["more"], answer["cut"])
