"""Serving a statements database: over standard input and output, or HTTP on the loopback."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from construction.statements.model import COMPANIES, POINTS, SERIES, read_tables
from construction.statements.tools.database import Database, index_database
from data.loopback import LOOPBACK, listen

PATH = "/mcp"
_MAX_BODY = 64 * 1024
_MAX_SESSIONS = 1000
_MAX_CONNECTIONS = 200
_IDLE_SECONDS = 300.0  # of clients that went away without a word


def open_database(folder: Path) -> Database:
    """The companies, series and points of `folder`, indexed. Raises InputError."""
    tables = read_tables(folder, (COMPANIES, SERIES, POINTS))
    return index_database(tables["companies"], tables["series"], tables["points"])


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output, until it closes them."""

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(run)


def serve_http(server: Server[Any], port: int) -> None:
    """Serve clients at http://127.0.0.1:PORT/mcp, until interrupted. Port 0 takes a free one.

    Raises InputError if the port cannot be taken.
    """
    listening = listen(port)
    port = listening.getsockname()[1]
    print(f"benchmint: serving on http://{LOOPBACK}:{port}{PATH}", file=sys.stderr, flush=True)
    config = uvicorn.Config(
        http_app(server, port),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listening])


def http_app(server: Server[Any], port: int) -> Starlette:
    """The HTTP application. Host and Origin must name the loopback and this very port (law 10)."""
    names = (LOOPBACK, "localhost")
    return server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=_MAX_BODY,
        max_sessions=_MAX_SESSIONS,
        session_idle_timeout=_IDLE_SECONDS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[f"{name}:{port}" for name in names],
            allowed_origins=[f"http://{name}:{port}" for name in names],
        ),
    )
