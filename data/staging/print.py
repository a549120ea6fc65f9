"""Printing query results and what the ledger says: as tables, as CSV, as JSON.

Names in them come from session logs: what is printed is harmless to terminals and sheets.
"""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from rich.text import Text

from data.contracts import TurnedAway
from data.errors import InputError, program
from data.figures import NUMBER, number
from data.neutralise import csv_cell, one_line
from data.reasons import ReasonWords
from data.staging.audit import Match, Rows

if TYPE_CHECKING:
    from rich.console import Console

    from data.staging.sql import SqlResult

_WIDE = 10_000
_NARROW = 80  # columns of a terminal; below it, each field has a line of its own
_GAP = 2  # columns between two of a table
_JSON_ESCAPED = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_NUMERIC = ("INT", "DOUBLE", "FLOAT", "DECIMAL")
# What stands in the staging file: a query without a query.
CATALOGUE = """SELECT name, row, "columns" FROM (
  SELECT table_name AS name, replace(comment, 'One row: ', '') AS row
  FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal
  UNION ALL
  SELECT view_name, replace(comment, 'One row: ', '')
  FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal)
JOIN (SELECT table_name AS name, string_agg(column_name, ', ' ORDER BY column_index) AS "columns"
      FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal GROUP BY ALL) USING (name)
ORDER BY name"""


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
        raise InputError("-", "no standard input", "a query", "Pipe one in, or pass it as text.")
    return sys.stdin.buffer.read()


class Format(StrEnum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def _output_console() -> Console:
    """Standard output; where it is no terminal, a row is one line of any length.

    Who sets COLUMNS has said how wide a line may be, also for a pipe.
    """

    from rich.console import Console

    console = Console(highlight=False)
    if not _has_width(console):
        console.width = _WIDE  # piped: one line a row, nothing cut
    return console


def _has_width(console: Console) -> bool:
    return console.is_terminal or os.environ.get("COLUMNS", "").isdigit()


def _is_narrow(console: Console, needed: int = 0) -> bool:
    """Is the output too narrow for tables, or for one that needs so many columns?"""
    return _has_width(console) and console.width < max(_NARROW, needed)


def _print_fitting(
    console: Console,
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    numeric: Sequence[bool] | None = None,
) -> None:
    """Print a table; where the terminal is narrower, a line for each field, so that ids stay whole.

    Columns that are `numeric` are aligned to the right.
    """

    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    names = [one_line(name) for name in head]
    cells = [[_shown(value) for value in row] for row in rows]
    widths = (max(map(cell_len, column)) for column in zip(names, *cells, strict=True))
    if _is_narrow(console, sum(width + _GAP for width in widths)):
        _print_stacked(console, head, rows)
        return
    table = Table(box=None)
    for name, is_number in zip(names, numeric or [False] * len(names), strict=True):
        table.add_column(Text(name), overflow="fold", justify="right" if is_number else "left")
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def _print_stacked(console: Console, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A line for each field that holds something, and an empty line after each row."""

    from rich.text import Text

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
    numeric = [any(part in kind for part in _NUMERIC) for _, kind in result.columns]
    rows = [["NULL" if value is None else value for value in row] for row in result.rows]
    _print_fitting(_output_console(), [name for name, _ in result.columns], rows, numeric)


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
    return text if NUMBER.fullmatch(text) else csv_cell(text)


def _harmless(text: str) -> str:
    """JSON with what a terminal obeys or hides written as escapes: the same values for a parser."""
    return _JSON_ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _distinct(names: Iterator[str]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}_{seen[name]}"


def print_funnel(staging: Path, words: ReasonWords) -> None:
    """Print the funnel of the newest build, and what its gates let through without a verdict."""

    from data.staging.audit import funnel, undecided_lines

    columns = ("stage", "unit", "n_in", "passed", "rejected", "errored", "not_chosen")
    rows = ([number(row[name]) for name in columns] for row in funnel(staging))
    print_table(("stage", "unit", "in", "passed", "rejected", "errored", "not chosen"), rows)
    for line in undecided_lines(staging, words):
        print(line)
    print_turned_away(staging)


def print_turned_away(staging: Path) -> None:
    """Print how much the newest build rejected."""

    from data.staging.audit import turned_away

    print(f"rejected or errored: {turned_away(staging)}")


def print_no_release(staging: Path, words: ReasonWords) -> None:
    """Print why a build released nothing: the funnel, three reasons, and how to look further."""

    from data.staging.audit import commonest_reasons

    print_funnel(staging, words)
    print("\nno task passed every gate; the most common reasons:")
    out = shlex.quote(str(staging.parent))
    for row in commonest_reasons(staging, 3):
        reason = one_line(str(row["reason"]))
        print(f"{row['n']:>6,}  {reason}  {program()} audit --reason {reason} --out {out}")


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table without markup; a line is never cut at the width of the terminal."""

    from rich.console import Console
    from rich.table import Column, Table

    console = Console(highlight=False, soft_wrap=True, markup=False)
    if _is_narrow(console):
        _print_stacked(console, head, rows)
        return
    cells = [[one_line(str(value)) for value in row] for row in rows]
    width = _table_width(head, cells)
    if _has_width(console) and width > console.width:
        head = [name.replace(" ", "\n") for name in head]
        width = _table_width(head, cells)
    console.width = max(console.width, width)
    table = Table(*(Column(name, no_wrap=True) for name in head), box=None)
    for row in cells:
        table.add_row(*row)
    console.print(table)


def _table_width(head: Sequence[str], cells: Sequence[Sequence[str]]) -> int:
    """The columns of a table whose lines are whole; a head may have several."""

    from rich.cells import cell_len

    lines = [name.split("\n") for name in head]
    widths = (
        max(map(cell_len, [*names, *(row[at] for row in cells)])) for at, names in enumerate(lines)
    )
    return sum(width + _GAP for width in widths)


# What an audit shows -----------------------------------------------------------------------------

_REJECTIONS = (
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
_OUTCOMES = {"chosen": "chosen for the release", "not_chosen": "kept, not chosen"}
_NOTHING = (None, 0, False, "")
_LEAST_WIDTH, _MOST_WIDTH = 40, 100  # columns of running text


def print_json(tables: Mapping[str, Rows]) -> None:
    """Print tables by title as JSON."""
    print(orjson.dumps(tables, option=orjson.OPT_INDENT_2).decode())


def print_reasons(rows: Rows, words: ReasonWords) -> None:
    """Print the units of each reason with a sentence: by gate in their order, then by stage."""
    gates, questions = list(words.gates), words.questions()
    groups: dict[tuple[int, str], Rows] = {}
    for row in rows:
        gate = row["gate"]
        at = len(gates) + (gate is None) if gate not in gates else gates.index(gate)
        groups.setdefault((at, gate or f"stage {row['stage']}"), []).append(row)
    ordered = sorted(groups.items(), key=lambda item: item[0][0])
    units = max((len(f"{row['units']:,}") for row in rows), default=0)
    names = max((len(row["unit"]) for row in rows), default=0)
    for (_, title), group in ordered:
        print(f"\n{one_line(title)}{f': {questions[title]}' if title in questions else ''}")
        for row in group:
            reason = one_line(row["reason"] or "errored")
            print(f"  {row['units']:>{units},} {row['unit']:<{names}}  {reason}")
            _print_wrapped(words.sentences.get(reason, ""), " " * (units + names + 5))


def print_rejections(rows: Rows, words: ReasonWords) -> None:
    """Print rejections with limits as a person reads them, then what each reason means."""
    print_tables({"rejections": _readable(rows, words)})
    _print_sentences(rows, words)


def _print_sentences(rows: Rows, words: ReasonWords) -> None:
    """Print a sentence for each reason in `rows`."""
    for reason in sorted({row["reason"] for row in rows} & words.sentences.keys()):
        print(f"{reason}: {words.sentences[reason]}")


def _readable(rows: Rows, words: ReasonWords) -> Rows:
    """Rows of rejections or verdicts with values and limits in words."""
    return [
        row
        | {
            "observed": words.measured(row["gate"], row["observed"]),
            "limit": words.allowed(row["gate"], row["reason"], row["limit"]),
        }
        for row in rows
    ]


def print_item(tables: Mapping[str, Rows], words: ReasonWords) -> None:
    """Print all that is known of an item; texts of turns stand below each other."""
    shown = dict(tables)
    for row in _readable(tables["rejections"], words):
        _print_wrapped(_why(row, words), "")
    shown["verdicts"] = [
        row | {"measures": _measures(row["measures"])}
        for row in _readable(tables["verdicts"], words)
    ]
    shown["rejections"] = _readable(tables["rejections"], words)
    turns = _numbered(shown.pop("turns"))
    if turns:  # they have a table of their own
        shown["story"] = [row for row in tables["story"] if row["unit"] != "turn"]
    is_private = bool(turns) and "text" in turns[0]
    print_tables(shown if is_private else shown | {"turns": _located(turns)})
    if is_private:
        _print_texts(turns)
    whys = [{"reason": row["why"]} for row in tables["story"]]
    explained = {row["reason"] for row in tables["rejections"]}
    others = [row for row in tables["verdicts"] if row["reason"] not in explained]
    _print_sentences(others + whys, words)


def print_last_outcome(item: Match, words: ReasonWords) -> None:
    """Print what became of an item that nothing rejected."""
    outcome = _OUTCOMES.get(item.outcome, one_line(item.outcome))
    sentence = words.sentences.get(item.reason or "", "")
    _print_wrapped(f"{outcome} (stage {one_line(item.stage)}){sentence and f': {sentence}'}", "")


def _why(row: Mapping[str, Any], words: ReasonWords) -> str:
    """Why it was rejected, in a sentence, with what was measured and what is allowed."""
    sentence = words.sentences.get(
        row["reason"], row["reason"] or "The item could not be processed."
    )
    measured = "" if row["observed"] is None else f" Measured: {one_line(str(row['observed']))}."
    allowed = "" if row["limit"] is None else f" Allowed: {one_line(str(row['limit']))}."
    return f"{row['outcome']} in {row['gate'] or row['stage']}: {sentence}{measured}{allowed}"


def _measures(text: str | None) -> str | None:
    """The measures that are not zero: `chars 27, orders 2`."""
    measures: Mapping[str, Any] = orjson.loads(text or "{}")
    shown = (f"{name} {value}" for name, value in measures.items() if value not in _NOTHING)
    return ", ".join(shown) or None


def _numbered(turns: Rows) -> Rows:
    """Turns with `turn`, the number of a person's message in the task from 1, as gates name it."""
    number, numbered = 0, []
    for row in turns:
        is_person = row["role"] == "user" and row["origin"] == "human"
        number += is_person
        numbered.append({"turn": number if is_person else None} | row)
    return numbered


def _located(turns: Rows) -> Rows:
    hidden = ("session_uid", "turn_index")
    return [{name: row[name] for name in row if name not in hidden} for row in turns]


def _print_texts(turns: Rows) -> None:
    for row in turns:
        line = f":{row['line']}" if row["line"] else ""
        who = row["role"] if row["turn"] is None else f"turn {row['turn']}, {row['role']}"
        print(f"\n{who}, {one_line(row['path'])}{line}")
        for paragraph in row["text"].splitlines():
            _print_wrapped(paragraph, "  ")
    print()


def print_tables(tables: Mapping[str, Rows]) -> None:
    """Print each table that has rows."""
    console = _output_console()
    with console.capture() as printed:
        for title, rows in tables.items():
            if not rows:
                continue
            wanted: Sequence[str] = _REJECTIONS if title == "rejections" else tuple(rows[0])
            names = [name for name in wanted if any(row[name] is not None for row in rows)]
            console.print(
                Text(f"{title} ({_counted(title, rows)})", style="italic"), soft_wrap=True
            )
            _print_fitting(console, names, [[row[name] for name in names] for row in rows])
        if not any(tables.values()):
            console.print("Nothing was rejected.")
    _print_stripped(printed.get().splitlines())


def _print_stripped(lines: Iterable[str]) -> None:
    print("\n".join(line.rstrip() for line in lines))


def _counted(title: str, rows: Rows) -> str:
    if title != "rejections":
        return str(len(rows))
    return str(TurnedAway(sum(row["n"] for row in rows), len(rows)))


def _print_wrapped(text: str, indent: str) -> None:
    """Print a text in lines that fit the terminal."""
    if text:
        columns = shutil.get_terminal_size().columns
        width = min(max(columns, _LEAST_WIDTH), _MOST_WIDTH)
        wrapper = textwrap.TextWrapper(
            width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        print(wrapper.fill(text))
