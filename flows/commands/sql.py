"""`benchmint sql`: one read-only question to the staging file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from data.errors import InputError
from data.staging.print import CATALOGUE, Format, print_result
from data.staging.sql import SqlLimits, run_sql

_DEFAULT = SqlLimits()


def command(
    query: Annotated[
        str | None, typer.Argument(help="One SELECT; `-` reads it from standard input.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to print the result.")] = Format.TABLE,
    limit: Annotated[
        int, typer.Option(min=1, help="Maximum number of rows to print.")
    ] = _DEFAULT.rows,
    seconds: Annotated[
        int, typer.Option(min=1, max=3600, help="CPU seconds the query may use.")
    ] = _DEFAULT.seconds,
    memory: Annotated[
        int, typer.Option(min=512, help="MiB of memory the query may use.")
    ] = _DEFAULT.memory_mib,
    out: Annotated[Path, typer.Option(help="The directory that was built into.")] = Path(
        "workspace"
    ),
) -> None:
    """Ask the staging file of all runs; without a query, list its tables and views."""
    sql = _text(_piped() if query == "-" else os.fsencode(query or CATALOGUE))
    limits = SqlLimits(rows=limit, seconds=seconds, memory_mib=memory)
    result = run_sql(out / "staging.duckdb", sql, limits)
    print_result(result, format)
    if result.more:
        print(f"only the first {limit} rows are shown: see --limit", file=sys.stderr)
    if result.cut:
        print(f"{result.cut} long texts were cut at {limits.cell} characters", file=sys.stderr)


def _piped() -> bytes:
    if sys.stdin is None:
        raise InputError("-", "no standard input", "a query", "Pipe one in, or give it as text.")
    return sys.stdin.buffer.read()


def _text(query: bytes) -> str:
    """A query as UTF-8, whatever the locale."""
    try:
        return query.decode("utf-8-sig")
    except UnicodeDecodeError:
        actual = f"{len(query)} bytes that are no UTF-8"
        raise InputError("the query", actual, "a SELECT as UTF-8 text", "Convert it.") from None
