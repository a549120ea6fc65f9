"""One read-only query of the staging file, run in a child process with limits.

DuckDB's own memory limit does not count every byte a query can allocate, and a long string
function cannot be interrupted; a process can be limited and killed.
"""

from __future__ import annotations

import datetime as dt
import math
import resource
import sys
import threading
from dataclasses import asdict, dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from data.canonical import canonical_json
from data.child import Child, ChildFailed, ChildLimits, confine, read_frame, write_frame
from data.errors import NOT_BUILT, BenchmintError, InputError
from data.neutralise import storable

if TYPE_CHECKING:
    import duckdb

_CHILD = "data.staging.sql"  # its `main` runs there
_MIB = 1 << 20
LEAST_MIB, MOST_MIB = 1024, 1 << 24  # with less no query ends; more is on no machine
_LONGEST_SQL = 20_000  # characters: longer nested queries take the parser minutes
_MOST = 1 << 20
_BATCH = 1_000
# Address space that DuckDB's allocator takes beyond what it counts, by chance more or less: without
# it, with the least memory 8 of 25 runs of one join ended at the limit; with 128 MiB none did.
_RESERVED = 256 << 20
_THREADS = 2


@dataclass(frozen=True, slots=True)
class SqlLimits:
    """Rows and characters per cell that are returned; processor seconds and MiB of the query."""

    rows: int = 10_000
    cell: int = 10_000
    seconds: int = 30
    memory_mib: int = 4096


@dataclass(frozen=True, slots=True)
class SqlResult:
    """Columns with their DuckDB types, and rows of JSON values.

    `more`: there are further rows; `cut`: how many texts were longer than the cell limit.
    """

    columns: tuple[tuple[str, str], ...]
    rows: list[list[Any]]
    more: bool
    cut: int


class _SqlRefused(BenchmintError):
    """A query that DuckDB or this project refuses, or that exceeded its limits."""


def run_sql(staging: Path, sql: str, limits: SqlLimits, *, every_run: bool = True) -> SqlResult:
    """The result of one SELECT over the staging file.

    Raises InputError if there is no staging file, SqlRefused with the reason for anything else.
    """
    if not staging.is_file():
        raise InputError(str(staging), "nothing", "a staging file", NOT_BUILT)
    if len(sql) > _LONGEST_SQL:
        raise _SqlRefused(f"a query of {len(sql)} characters; the limit is {_LONGEST_SQL}.")
    question = {
        "path": str(staging.resolve()),
        "sql": sql,
        "every_run": every_run,
        **asdict(limits),
    }
    try:
        bounds = ChildLimits(limits.seconds, limits.memory_mib * _MIB)
        with Child(_CHILD, bounds) as child:
            child.send(canonical_json(question))
            answer = orjson.loads(child.receive())
    except ChildFailed:
        raise _SqlRefused(
            f"the query took more than {limits.seconds} s of CPU time or {limits.memory_mib} MiB "
            "of memory. Simplify it, or raise --seconds or --memory."
        ) from None
    if "refused" in answer:
        raise _SqlRefused(answer["refused"])
    columns = tuple((name, kind) for name, kind in answer["columns"])
    return SqlResult(columns, answer["rows"], answer["more"], answer["cut"])


class _Cells:
    """Converts values of DuckDB to JSON values; counts the texts that were cut."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.cut = 0

    def __call__(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, Decimal):
            return _decimal(value)
        if isinstance(value, dict):
            return {self._text(str(key)): self(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self(item) for item in value]
        if isinstance(value, int):
            return storable(value) if abs(value) < 1 << 63 else str(value)
        return self._text(_plain(value))

    def _text(self, text: str) -> str:
        if len(text) > self._longest:
            self.cut += 1
            text = f"{text[: self._longest]}… (+{len(text) - self._longest} characters)"
        return str(storable(text))


def _decimal(value: Decimal) -> float | str:
    """A float if it is exact, otherwise the digits."""
    number = float(value)
    return number if math.isfinite(number) and Decimal(repr(number)) == value else str(value)


def _plain(value: Any) -> str:
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def _answer_of(task: dict[str, Any], memory: int) -> dict[str, Any]:
    """The result, or the reason for refusing the query."""

    import duckdb

    from data.staging.database import open_read_only

    try:
        statements = duckdb.extract_statements(task["sql"])
    except duckdb.Error as error:
        return {"refused": _refusal(error)}
    if len(statements) != 1 or statements[0].type is not duckdb.StatementType.SELECT:
        actual = ", ".join(statement.type.name for statement in statements) or "nothing"
        return {"refused": f"found {actual}; expected one SELECT (or FROM, WITH, DESCRIBE)."}
    options = {
        "memory_limit": f"{memory // _MIB // 2}MiB",
        "temp_directory": "",
        "threads": str(_THREADS),
    }
    try:
        with open_read_only(
            Path(task["path"]), every_run=task["every_run"], options=options
        ) as connection:
            timer = threading.Timer(task["seconds"], connection.interrupt)
            timer.start()
            try:
                result = connection.execute(statements[0])
                return _fetched(result, task["rows"], _Cells(task["cell"]))
            finally:
                timer.cancel()
    except duckdb.InterruptException:
        return {"refused": f"the query took more than {task['seconds']} s. Simplify it."}
    except duckdb.Error as error:
        return {"refused": _refusal(error)}
    except MemoryError:
        return {"refused": "the query exceeded its memory limit. Simplify it."}


def _fetched(result: duckdb.DuckDBPyConnection, most: int, cells: _Cells) -> dict[str, Any]:
    columns = [[str(storable(name)), str(kind)] for name, kind, *_ in result.description or ()]
    rows: list[list[Any]] = []
    while len(rows) <= most:
        batch = result.fetchmany(min(_BATCH, most + 1 - len(rows)))
        if not batch:
            break
        rows += [[cells(value) for value in row] for row in batch]
    return {"columns": columns, "rows": rows[:most], "more": len(rows) > most, "cut": cells.cut}


def _refusal(error: duckdb.Error) -> str:
    """DuckDB's message without the caret line: it quotes the query only, staging holds no text."""

    from data.staging.database import NEWEST

    lines = [line for line in str(error).splitlines() if line.strip(" ^")]
    missing = str(error).partition('schema "')[2].partition('"')[0]
    near = get_close_matches(missing, (NEWEST, "main"), n=1)
    guess = f"Did you mean {near[0]}? " if near else ""  # for tables, DuckDB says it itself
    return guess + str(storable(" ".join(lines)))[:1_000]


def _mapped() -> int:
    """Bytes of address space that the process has before the query: libraries, mostly unused.

    The limit of the process counts address space; without this, half a GiB would answer nothing.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:  # not Linux
        return 1 << 30
    return pages * resource.getpagesize()


def main() -> None:
    """Answer one query."""
    import duckdb  # noqa: F401 (before what is mapped is measured)

    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    source = sys.stdin.buffer
    answer = confine(seconds, _mapped() + memory + _RESERVED)
    task = orjson.loads(read_frame(source, _MOST))
    write_frame(answer, canonical_json(_answer_of(task, memory)))
