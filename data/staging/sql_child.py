"""The process in which a query runs: one frame with the question in, one with the answer out.

python -m data.staging.sql_child SECONDS BYTES
"""

from __future__ import annotations

import datetime as dt
import math
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import orjson

from data.canonical import canonical_json
from data.child import confine, read_frame, write_frame
from data.snapshot.neutralise import storable
from data.staging.database import open_read_only

_MOST = 1 << 20
_BATCH = 1_000
_THREADS = 2
_MIB = 1 << 20


class _Cells:
    """Values of DuckDB as JSON values; counts the texts that were cut."""

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
    """A float where it says the same, the digits otherwise."""
    number = float(value)
    return number if math.isfinite(number) and Decimal(repr(number)) == value else str(value)


def _plain(value: Any) -> str:
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def answer_of(task: dict[str, Any], memory: int) -> dict[str, Any]:
    """The result, or why there is none."""
    try:
        statements = duckdb.extract_statements(task["sql"])
    except duckdb.Error as error:
        return {"refused": _told(error)}
    if len(statements) != 1 or statements[0].type is not duckdb.StatementType.SELECT:
        found = ", ".join(statement.type.name for statement in statements) or "nothing"
        return {"refused": f"found {found}; expected one SELECT (or FROM, WITH, DESCRIBE)."}
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
        return {"refused": f"the query took more than {task['seconds']} s. Ask for less."}
    except duckdb.Error as error:
        return {"refused": _told(error)}
    except MemoryError:
        return {"refused": "the query took more memory than it may. Ask for less."}


def _fetched(result: duckdb.DuckDBPyConnection, most: int, cells: _Cells) -> dict[str, Any]:
    columns = [[str(storable(name)), str(kind)] for name, kind, *_ in result.description or ()]
    rows: list[list[Any]] = []
    while len(rows) <= most:
        batch = result.fetchmany(min(_BATCH, most + 1 - len(rows)))
        if not batch:
            break
        rows += [[cells(value) for value in row] for row in batch]
    return {"columns": columns, "rows": rows[:most], "more": len(rows) > most, "cut": cells.cut}


def _told(error: duckdb.Error) -> str:
    """DuckDB's own words, without the caret line: they name the query, the staging has no text."""
    lines = [line for line in str(error).splitlines() if line.strip(" ^")]
    return str(storable(" ".join(lines)))[:1_000]


def main() -> None:
    """Answer one question."""
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    source = sys.stdin.buffer
    answer = confine(seconds, memory)
    task = orjson.loads(read_frame(source, _MOST))
    write_frame(answer, canonical_json(answer_of(task, memory)))


if __name__ == "__main__":
    main()
