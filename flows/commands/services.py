"""Services of a workflow task for a person to try: `services`."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

import typer

from data.errors import InputError
from data.loopback import LOOPBACK, listen
from data.releases.tasks import read_tasks


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
        typer.Option(help="File for state and log, resumed if it exists; default: none."),
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
    from flows.services.serve import serve_instances
    from flows.services.tokens import Instances

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
