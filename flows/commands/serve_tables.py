"""`benchmint serve-tables`: the data tools over a statements database, for agents under test."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer


def command(
    directory: Annotated[
        Path, typer.Argument(help="Folder with companies, series and points as Parquet.")
    ],
    http: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Serve over HTTP on this port of 127.0.0.1 (0: a free one); default: stdio.",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(help="Append one JSON line per call to this file; default: standard error."),
    ] = None,
) -> None:
    """Serve company statements to MCP clients: find companies, their line items, the values."""
    # The protocol package takes half a second to import: other commands do not wait for it.
    from construction.statements.tools.call_log import CallLog
    from flows.serve_tables.serve import open_database, serve_http, serve_stdio
    from flows.serve_tables.server import build_server

    server = build_server(open_database(directory), CallLog(log))
    with suppress(KeyboardInterrupt):
        if http is None:
            serve_stdio(server)
        else:
            serve_http(server, http)
