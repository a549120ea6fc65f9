"""Printing query results and what the ledger says: as tables, as CSV, as JSON.

Names in them come from session logs: what is printed is harmless to terminals and sheets.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from data.contracts import TurnedAway
from data.errors import InputError
from data.neutralise import csv_cell, one_line
from data.staging.audit import Rows, commonest_reasons, funnel, turned_away
from data.staging.sql import SqlResult

_WIDE = 10_000
_NARROW = 80  # columns of a terminal; below it, each field has a line of its own
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
_JSON_ESCAPED = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_NUMERIC = ("INT", "DOUBLE", "FLOAT", "DECIMAL")
# What stands in the staging file: a query without a query.
CATALOGUE = """SELECT name, row, "columns" FROM (
  SELECT table_name AS name, replace(comment, 'One row: ', '') AS row, column_count AS "columns"
  FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal
  UNION ALL
  SELECT view_name, replace(comment, 'One row: ', ''), column_count
  FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal) ORDER BY name"""


def query_text(argument: str | None) -> str:
    """The query of a command line: given, piped in (`-`), or without one a list of the tables.

    Raises InputError if it is not UTF-8, in any locale, or if nothing is piped in.
    """
    query = _piped() if argument == "-" else os.fsencode(argument or CATALOGUE)
    try:
        return query.decode("utf-8-sig")
    except UnicodeDecodeError:
        actual = f"{len(query)} bytes that are not UTF-8"
        raise InputError("the query", actual, "a SELECT as UTF-8 text", "Convert it.") from None


def _piped() -> bytes:
    if sys.stdin is None:
        raise InputError("-", "no standard input", "a query", "Pipe one in, or give it as text.")
    return sys.stdin.buffer.read()


class Format(StrEnum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def _console() -> Console:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE  # piped: one line a row, nothing cut
    return console


def _is_narrow(console: Console) -> bool:
    return console.is_terminal and console.width < _NARROW


def _print_stacked(console: Console, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A line for each field that holds something, and an empty line after each row."""
    names = [one_line(name) for name in head]
    width = max(map(len, names), default=0)
    for row in rows:
        for name, value in zip(names, row, strict=True):
            if (text := _shown(value)) != "":
                console.print(Text(f"{name:<{width}}  {text}"), soft_wrap=True)
        console.print()


def print_result(result: SqlResult, format: Format) -> None:
    """Print a result to standard output."""
    _PRINTERS[format](result)


def _print_table(result: SqlResult) -> None:
    console = _console()
    if _is_narrow(console):
        _print_stacked(console, [name for name, _ in result.columns], result.rows)
        return
    table = Table(box=None)
    for name, kind in result.columns:
        numeric = any(part in kind for part in _NUMERIC)
        table.add_column(
            Text(one_line(name)), overflow="fold", justify="right" if numeric else "left"
        )
    for row in result.rows:
        table.add_row(*(Text(_shown(value)) for value in row))
    console.print(table)


def _print_csv(result: SqlResult) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([csv_cell(name) for name, _ in result.columns])
    writer.writerows([_csv_value(value) for value in row] for row in result.rows)
    print(text.getvalue(), end="")


def _print_json(result: SqlResult) -> None:
    """One object a row in an array; a name that occurs twice gets a number."""
    names = list(_distinct(name for name, _ in result.columns))
    rows = [dict(zip(names, row, strict=True)) for row in result.rows]
    print(_harmless(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()))


_PRINTERS = {Format.TABLE: _print_table, Format.CSV: _print_csv, Format.JSON: _print_json}


def _shown(value: Any) -> str:
    """A cell without control characters: names in it come from session logs."""
    if value is None:
        return ""
    return one_line(value if isinstance(value, str) else orjson.dumps(value).decode())


def _csv_value(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; figures stay figures, line ends line ends."""
    text = value if isinstance(value, str) else _shown(value)
    return text if _NUMBER.fullmatch(text) else csv_cell(text)


def _harmless(text: str) -> str:
    """JSON with what a terminal obeys or hides written as escapes: the same values for a parser."""
    return _JSON_ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _distinct(names: Iterator[str]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}_{seen[name]}"


_BRIEF = (
    "unit",
    "n",
    "item_id",
    "gate",
    "reason",
    "observed",
    "limit",
    "path",
    "line",
    "found",
    "missing",
)


def print_rows(tables: Mapping[str, Rows], as_json: bool) -> None:
    """Print each table that has rows."""
    if as_json:
        print(orjson.dumps(tables, option=orjson.OPT_INDENT_2).decode())
        return
    console = _console()
    with console.capture() as printed:
        _print_tables(tables, console)
    print("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _print_tables(tables: Mapping[str, Rows], console: Console) -> None:
    for title, rows in tables.items():
        if not rows:
            continue
        wanted = _BRIEF if title == "rejections" else tuple(rows[0])
        columns = [name for name in wanted if any(row[name] is not None for row in rows)]
        console.print(Text(f"{title} ({_counted(title, rows)})", style="italic"), soft_wrap=True)
        if _is_narrow(console):
            _print_stacked(console, columns, [[row[name] for name in columns] for row in rows])
            continue
        table = Table(box=None)
        for name in columns:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(_cell(row[name]) for name in columns))
        console.print(table)
    if not any(tables.values()):
        console.print("Nothing was rejected.")


def _counted(title: str, rows: Rows) -> str:
    if title != "rejections":
        return str(len(rows))
    return str(TurnedAway(sum(row["n"] for row in rows), len(rows)))


def _cell(value: object) -> Text:
    """A cell without markup or control characters: names in it come from session logs."""
    return Text("" if value is None else one_line(str(value)))


def print_funnel(staging: Path) -> None:
    """Print the funnel of the newest build."""
    columns = ("stage", "unit", "n_in", "passed", "rejected", "errored")
    rows = ([row[name] for name in columns] for row in funnel(staging))
    print_table(("stage", "unit", "in", "passed", "rejected", "errored"), rows)
    print_turned_away(staging)


def print_turned_away(staging: Path) -> None:
    """Print how much the newest build rejected."""
    print(f"rejected or errored: {turned_away(staging)}")


def print_no_release(staging: Path) -> None:
    """Print why a build released nothing: the funnel, three reasons, and how to look further."""
    print_funnel(staging)
    print("\nno task passed every gate; the commonest reasons:")
    out = shlex.quote(str(staging.parent))
    for row in commonest_reasons(staging, 3):
        reason = one_line(str(row["reason"]))
        print(f"{row['n']:>6}  {reason}  benchmint audit --reason {reason} --out {out}")


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table without markup; a line is never cut at the width of the terminal."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    if _is_narrow(console):
        _print_stacked(console, head, rows)
        return
    table = Table(*head, box=None)
    for row in rows:
        table.add_row(*(one_line(str(value)) for value in row))
    console.print(table)
