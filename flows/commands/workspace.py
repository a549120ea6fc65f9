"""Commands other than builds: `demo`, `doctor`, `sql`, `explore`, `metrics`, and `agents services`,
`agents tables` and `agents trajectories`."""

from __future__ import annotations

import sys
import tempfile
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from data.canonical import pretty_json
from data.contracts import SourceFormat
from data.errors import InputError
from data.loopback import LOOPBACK, listen
from data.neutralise import one_line
from data.staging.database import Shell, open_shell
from data.staging.print import Format, print_result, query_text
from data.staging.sql import LEAST_MIB, MOST_MIB, SqlLimits, run_sql
from flows.commands.table import WORKSPACE, BuiltInto, Config

if TYPE_CHECKING:
    pass


def demo_command(
    directory: Annotated[Path, typer.Argument(help="Output directory: new or empty.")],
    size: Annotated[int, typer.Option(min=1, help="Number of sessions.")] = 60,
    seed: Annotated[
        int,
        typer.Option(
            min=0, max=2**63 - 1, help="Seed; the same seed always gives the same workspace."
        ),
    ] = 7,
    bytes_target: Annotated[
        int | None,
        typer.Option(
            "--bytes", min=1, help="Lengthen the sessions until they reach this total size."
        ),
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
    """Check environment, models, solvers, port, disk, permissions, key; exit with 1 on failure."""
    # It loads what it examines, which takes seconds: other commands do not wait for it.
    from flows import doctor
    from flows.recipe import load_settings
    from flows.service import from_environment
    from flows.surroundings import Grade, finding_line

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
    from construction.sessions.export_atif import export_sessions

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
    """Print each stage's items, seconds, bytes and cost as OpenMetrics text."""
    from data.staging.runs import metrics_of_runs

    print(metrics_of_runs(out, run), end="")


def services_command(
    task: Annotated[str, typer.Argument(help="A world.json file or, with --snapshot, a task ID.")],
    snapshot: Annotated[
        Path | None, typer.Option(help="The task's release, with private/.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 picks a free one.")
    ] = 0,
    state: Annotated[
        Path | None,
        typer.Option(help="File for state and log; an existing file is resumed. Default: none."),
    ] = None,
) -> None:
    """Start a workflow task's services: REST, MCP, and a page that shows state and log."""
    with ExitStack() as stack:
        if state is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="services-"))
            state = Path(folder) / "instance.sqlite"
        with suppress(KeyboardInterrupt):
            _serve(_world_file(task, snapshot), state, port)


def _world_file(task: str, snapshot: Path | None) -> Path:
    """The file with the world of a task. Raises InputError."""
    from data.releases.tasks import read_tasks

    path = Path(task) if snapshot is None else read_tasks(snapshot).world(task)
    if not path.is_file():
        expected = "a world.json file, or a task ID with --snapshot"
        raise InputError(task, "no file", expected, "Pass the file, or add --snapshot.")
    return path


def _serve(world: Path, state: Path, port: int) -> None:
    """Serve one instance, the one in `state` if it is there, until interrupted."""
    # FastAPI and the protocol package take a second to import: other commands do not wait.
    from construction.workflows.world_file import read_world
    from flows.mcp_serving import PATH as MCP_PATH
    from flows.services.instance import Instance
    from flows.services.mcp_app import Instances
    from flows.services.serve import serve_instances

    instances = Instances()
    is_there = state.exists()
    began = read_world(world)
    with Instance.reopen(state, began) if is_there else Instance.start(state, began) as held:
        token = instances.add(held)
        with listen(port) as listening:
            port = listening.getsockname()[1]
            _print_addresses(f"http://{LOOPBACK}:{port}", MCP_PATH, token)
            serve_instances(instances, listening, port)


def _print_addresses(address: str, mcp_path: str, token: str) -> None:
    for line in (
        f"page:    {address}/?token={token}",
        f"REST:    {address}/openapi.json lists the routes",
        f"MCP:     {address}{mcp_path}",
        f"header:  Authorization: Bearer {token}",
    ):
        print(f"benchmint: {line}", file=sys.stderr, flush=True)
