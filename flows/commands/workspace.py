"""Commands beside the builds: `demo`, `doctor`, `export-atif` and `serve-tables`."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from data.canonical import pretty_json
from data.contracts import SourceFormat
from data.neutralise import one_line
from flows.commands.options import Config


def demo_command(
    directory: Annotated[Path, typer.Argument(help="Output directory: new or empty.")],
    size: Annotated[int, typer.Option(min=1, help="Number of sessions.")] = 60,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="The same seed gives the same workspace.")
    ] = 7,
    bytes_target: Annotated[
        int | None, typer.Option("--bytes", min=1, help="Lengthen the sessions to this total size.")
    ] = None,
) -> None:
    """Write sessions in several formats, their files, a configuration and truth.json."""
    from data.demo import generate

    made = generate(directory, size, seed, bytes_target=bytes_target)
    planted, name = sum(made.plants.values()), one_line(str(directory))
    print(
        f"{name}: {made.sessions} sessions ({made.session_files} logs, {made.bytes:,} bytes), "
        f"{made.fixture_files} files they work on; {planted} planted defects of "
        f"{len(made.plants)} kinds, listed in {name}/truth.json"
    )


def doctor_command(
    config: Config = None,
    out: Annotated[Path | None, typer.Option(help="Build directory.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check environment, models, solvers, port, disk, permissions and key; exit 1 if any fails."""
    # It loads what it examines, which takes seconds: other commands do not wait for it.
    from data.doctor import Grade, finding_line
    from flows import doctor
    from flows.recipe import load_settings
    from flows.service.lifecycle import from_environment

    given = {"runtime": {"out": out}} if out is not None else {}
    findings = doctor.examine(load_settings(config, given), from_environment())
    if json:
        print(pretty_json([asdict(finding) for finding in findings]).decode())
    else:
        print("\n".join(map(finding_line, findings)))
    failed = any(finding.grade is Grade.FAIL for finding in findings)
    raise typer.Exit(1 if failed else 0)


def export_atif_command(
    sessions: Annotated[list[Path], typer.Argument(help="Session logs or folders of logs.")],
    out: Annotated[Path, typer.Option(help="Output directory: one JSON file per session.")],
    format: Annotated[
        SourceFormat | None, typer.Option(help="Read every file in this format.")
    ] = None,
) -> None:
    """Write sessions as ATIF trajectories, one file per session.

    Lists unreadable lines and files on standard error, and exits with 1 if there are any.
    """
    from construction.sessions.packaging.export_atif import export_sessions

    def tell(problem: str) -> None:
        print(one_line(problem), file=sys.stderr)

    written, problems = export_sessions(sessions, format, out, tell)
    print(f"{written} trajectories in {out}")
    raise typer.Exit(1 if problems else 0)


def serve_tables_command(
    directory: Annotated[
        Path, typer.Argument(help="Folder with companies, series and points in Parquet.")
    ],
    http: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Serve over HTTP on this port on 127.0.0.1 (0 picks one); default: stdio.",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(help="Append one JSON line per call to this file; default: standard error."),
    ] = None,
) -> None:
    """Serve company statements over MCP: clients can find companies, line items and values."""
    # The protocol package takes half a second to import: other commands do not wait for it.
    from construction.statements.tools.agent_tools import CallLog
    from construction.statements.tools.database import open_database
    from flows.evaluate.table_server import build_server
    from flows.mcp_serving import serve_http, serve_stdio

    server = build_server(open_database(directory), CallLog(log))
    with suppress(KeyboardInterrupt):
        if http is None:
            serve_stdio(server)
        else:
            serve_http(server, http)
