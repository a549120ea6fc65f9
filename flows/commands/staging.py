"""The staging file of a workspace: `sql`, `explore` and `metrics`."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from data.staging.opening import Shell, open_shell
from data.staging.print import Format, print_result, query_text
from data.staging.sql import LEAST_MIB, MOST_MIB, SqlLimits, run_sql
from flows.commands.options import WORKSPACE, BuiltInto

_DEFAULT = SqlLimits()


def sql_command(
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
        int, typer.Option(min=LEAST_MIB, max=MOST_MIB, help="MiB of memory the query may use.")
    ] = _DEFAULT.memory_mib,
    attempts: Annotated[
        Path | None, typer.Option(help="Query the graded attempts below this folder instead.")
    ] = None,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Ask the staging file of all runs; without a query, list its tables, views and columns."""
    limits = SqlLimits(rows=limit, seconds=seconds, memory_mib=memory)
    with nullcontext(out / "staging.duckdb") if attempts is None else _graded(attempts) as path:
        result = run_sql(path, query_text(query), limits)
    print_result(result, format)
    if result.more:
        print(f"only the first {limit} rows are shown: see --limit", file=sys.stderr)
    if result.cut:
        print(f"{result.cut} long texts were cut at {limits.cell} characters", file=sys.stderr)


def _graded(attempts: Path) -> AbstractContextManager[Path]:
    from data.attempts_database import attempts_database  # loads Polars

    return attempts_database(attempts)


def explore_command(
    shell: Annotated[
        Shell | None, typer.Option(help="Which shell; default: the first that is installed.")
    ] = None,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Open harlequin or the duckdb shell, read-only and without access to files."""
    raise typer.Exit(open_shell(out / "staging.duckdb", shell))


def metrics_command(
    out: BuiltInto = WORKSPACE,
    run: Annotated[
        str | None, typer.Option(help="Id of a staged run, or `all`; default: the newest.")
    ] = None,
) -> None:
    """Print items, seconds, bytes and cost of each stage for a monitor to read."""
    from data.staging.runs import metrics_of_runs

    print(metrics_of_runs(out, run), end="")
