"""The command of exported services: those of one attempt at a workflow task, and their record.

    python -I services WORLD --state FILE                            over standard input and output
    python -I services WORLD --state FILE --http PORT                on the loopback
    python -I services WORLD --state FILE --http PORT --socket PATH  on a Unix socket, for clients
                                                     behind a relay who call it 127.0.0.1:PORT
    python -I services --record FILE                 what was asked and changed, as JSON

FILE holds the world and the chained log (`instance.py`); the first server makes it and later ones
continue it. Agents must be able to read neither file. Imports nothing that the exported bundle does
not have.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from construction.workflows.world_file import read_world
from data.errors import BenchmintError, InputError
from flows.mcp_serving import add_transport, serve_as_asked
from flows.services.instance import Instance, recorded
from flows.services.mcp_app import mcp_server


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client leaves or until interrupted, or print a record."""
    parser = argparse.ArgumentParser(prog="services", description="Serve services (MCP).")
    parser.add_argument("world", type=Path, nargs="?", help="the initial state (JSON)")
    parser.add_argument("--state", type=Path, help="where to keep world and log")
    add_transport(parser)
    parser.add_argument("--record", type=Path, metavar="FILE", help="print the record of a state")
    options = parser.parse_args(arguments)
    try:
        if options.record is not None:
            print(json.dumps(record_of(options.record)))
            return 0
        if options.world is None or options.state is None:
            parser.error("WORLD and --state are needed")
        with _only_server(options.state), _instance(options.world, options.state) as instance:
            return serve_as_asked(parser, options, lambda: mcp_server(lambda _: instance))
    except BenchmintError as error:
        print(error, file=sys.stderr)
        return 2


def record_of(state: Path) -> dict[str, object]:
    """The audit rows and the changes that a state holds, as graders read them.

    Raises InputError if there is no such file, BrokenChain if its log was altered.
    """
    audit, changes = recorded(state)
    return {"audit": [*map(asdict, audit)], "changes": [*map(asdict, changes)]}


def _instance(world: Path, state: Path) -> Instance:
    if state.exists():
        return Instance.reopen(state)
    if not world.is_file():
        raise InputError(str(world), "no file", "a world", "Export again with --with-private.")
    return Instance.start(state, read_world(world))


@contextmanager
def _only_server(state: Path) -> Iterator[None]:
    """Hold a state against other servers: each would answer from a world of its own."""
    state.parent.mkdir(parents=True, exist_ok=True)
    with state.with_name(f"{state.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                str(state), "another server of this attempt", "one server at a time",
                "Stop the other one, or give this attempt its own state.",
            ) from None  # fmt: skip
        yield
