"""The staging file of a workspace: `audit`, `sql`, `explore` and `metrics`."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from data import hash_chain
from data.errors import InputError
from data.staging import audit
from data.staging.audit_print import print_rows
from data.staging.shells import Shell, open_shell
from data.staging.sql import SqlLimits, run_sql
from data.staging.sql_print import Format, print_result, query_text
from flows.commands.options import WORKSPACE, BuiltInto, Json

_DEFAULT = SqlLimits()
_MORE = "those of one reason: benchmint audit --reason R; all of them: benchmint audit --json"


def audit_command(
    gate: Annotated[str | None, typer.Option(help="Only this gate, e.g. fixture.")] = None,
    reason: Annotated[str | None, typer.Option(help="Only this reason.")] = None,
    instance: Annotated[str | None, typer.Option(help="Everything about one instance.")] = None,
    private: Annotated[
        bool, typer.Option(help="With --instance: show the text; each look is logged.")
    ] = False,
    as_json: Json = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the audit page on 127.0.0.1, until interrupted.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="With --serve: the port; 0 takes a free one.")
    ] = 0,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the page, CSV and JSON to this folder, without names."),
    ] = None,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Count rejections by reason; list those of a gate or reason; tell one instance's story."""
    if serve or export is not None:
        _audit_page(out, export, port if serve else None)
        return
    staging = out / "staging.duckdb"
    if private and instance is None:
        raise InputError("--private", "no --instance", "one instance", "Name it with --instance.")
    audit.require_known("gate", gate, audit.gates(staging))
    audit.require_known("reason", reason, audit.reasons(staging))
    if instance is not None:
        tables = audit.about_instance(staging, instance, audit.RejectionFilter(gate, reason))
        if private:
            from data.source_lines import with_text

            hash_chain.record_access(out / "private" / "access.log", "audit --private", instance)
            tables["turns"] = with_text(out, tables["turns"])
        print_rows(tables, as_json)
    elif gate is None and reason is None and not as_json:
        print_rows({"rejections by reason": audit.rejection_counts(staging)}, as_json=False)
        print(_MORE)
    else:
        rows = audit.rejections(staging, audit.RejectionFilter(gate, reason))
        print_rows({"rejections": rows}, as_json)


def _audit_page(out: Path, export: Path | None, port: int | None) -> None:
    """Write the audit page to a folder; serve it until interrupted. Port 0 takes a free one."""
    # The server takes half a second to import: the other audits do not wait for it.
    from flows.audit_server import export_page, serve_page

    if export is not None:
        for path in export_page(out, export):
            print(path)
    if port is not None:
        with suppress(KeyboardInterrupt):
            serve_page(out, port)


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
        int, typer.Option(min=512, help="MiB of memory the query may use.")
    ] = _DEFAULT.memory_mib,
    out: BuiltInto = WORKSPACE,
) -> None:
    """Ask the staging file of all runs; without a query, list its tables and views."""
    limits = SqlLimits(rows=limit, seconds=seconds, memory_mib=memory)
    result = run_sql(out / "staging.duckdb", query_text(query), limits)
    print_result(result, format)
    if result.more:
        print(f"only the first {limit} rows are shown: see --limit", file=sys.stderr)
    if result.cut:
        print(f"{result.cut} long texts were cut at {limits.cell} characters", file=sys.stderr)


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
