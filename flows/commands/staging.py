"""The staging file of a workspace: `sql`, `explore` and `metrics`."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from data.staging.database import Shell, open_shell
from data.staging.print import Format, print_result, query_text
from data.staging.sql import LEAST_MIB, MOST_MIB, SqlLimits, run_sql
from flows.commands.options import WORKSPACE, BuiltInto

_DEFAULT = SqlLimits()


def sql_command(
    query: Annotated[
        str | None, typer.Argument(help="One SELECT statement; `-` reads it from standard input.")
    ] = None,
    format: Annotated[Format, typer.Option(help="Output format.")] = Format.TABLE,
    limit: Annotated[
        int, typer.Option(min=1, help="Maximum number of rows to print.")
    ] = _DEFAULT.rows,
    seconds: Annotated[
        int, typer.Option(min=1, max=3600, help="Maximum CPU seconds for the query.")
    ] = _DEFAULT.seconds,
    memory: Annotated[
        int, typer.Option(min=LEAST_MIB, max=MOST_MIB, help="Maximum memory for the query in MiB.")
    ] = _DEFAULT.memory_mib,
    attempts: Annotated[
        Path | None, typer.Option(help="Query the graded attempts under this folder instead.")
    ] = None,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Query the staging database of all runs; with no query, list its tables and columns."""
    limits = SqlLimits(rows=limit, seconds=seconds, memory_mib=memory)
    with nullcontext(out / "staging.duckdb") if attempts is None else _graded(attempts) as path:
        result = run_sql(path, query_text(query), limits)
    print_result(result, format)
    if result.more:
        print(f"showing only the first {limit} rows; see --limit", file=sys.stderr)
    if result.cut:
        print(f"{result.cut} long texts were cut at {limits.cell} characters", file=sys.stderr)


def _graded(attempts: Path) -> AbstractContextManager[Path]:
    from data.attempts import attempts_database  # loads Polars

    return attempts_database(attempts)


def explore_command(
    shell: Annotated[
        Shell | None, typer.Option(help="Shell to open; default: the first one installed.")
    ] = None,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Open harlequin or the duckdb shell, read-only and with no file access."""
    raise typer.Exit(open_shell(out / "staging.duckdb", shell))


def metrics_command(
    out: BuiltInto = WORKSPACE,
    run: Annotated[
        str | None, typer.Option(help="ID of a staged run, or `all`; default: the newest.")
    ] = None,
) -> None:
    """Print each stage's items, seconds, bytes and cost in a format that monitors can read."""
    from data.staging.runs import metrics_of_runs

    print(metrics_of_runs(out, run), end="")
