"""Printing what the ledger says, as tables or as JSON; names in it come from session logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from data.neutralise import one_line
from data.staging.audit import Rows, funnel

_WIDE = 10_000
_BRIEF = ("unit", "item_id", "gate", "reason", "observed", "limit", "path", "line", "found")


def print_rows(tables: Mapping[str, Rows], as_json: bool) -> None:
    """Print each table that has rows."""
    if as_json:
        print(orjson.dumps(tables, option=orjson.OPT_INDENT_2).decode())
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE  # piped: one line a row, nothing cut
    with console.capture() as printed:
        _print_tables(tables, console)
    print("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _print_tables(tables: Mapping[str, Rows], console: Console) -> None:
    for title, rows in tables.items():
        if not rows:
            continue
        wanted = _BRIEF if title == "rejections" else tuple(rows[0])
        columns = [name for name in wanted if any(row[name] is not None for row in rows)]
        table = Table(title=f"{title} ({len(rows)})", title_justify="left", box=None)
        for name in columns:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(_cell(row[name]) for name in columns))
        console.print(table)
    if not any(tables.values()):
        console.print("Nothing was rejected.")


def _cell(value: object) -> Text:
    """A cell without markup or control characters: names in it come from session logs."""
    return Text("" if value is None else one_line(str(value)))


def print_funnel(staging: Path) -> None:
    """Print the funnel of the newest build."""
    columns = ("stage", "unit", "n_in", "passed", "rejected", "errored")
    rows = ([row[name] for name in columns] for row in funnel(staging))
    print_table(("stage", "unit", "in", "passed", "rejected", "errored"), rows)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table without markup; a line is never cut at the width of the terminal."""
    console = Console(highlight=False, soft_wrap=True, markup=False)
    table = Table(*head, box=None)
    for row in rows:
        table.add_row(*(one_line(str(value)) for value in row))
    console.print(table)
