"""Serving an MCP server: one client over standard input and output, or HTTP on the loopback."""

from __future__ import annotations

import argparse
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from data.errors import BenchmintError
from data.loopback import LOOPBACK, listen, own_hosts, own_origins
from flows.http_server import serve_app

PATH = "/mcp"
MAX_BODY = 128 * 1024  # bytes of a request
_MAX_SESSIONS = 1000
_MAX_CONNECTIONS = 200
_IDLE_SECONDS = 600.0  # of clients that went away without a word


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
    _serve_socket(server, listening, listening.getsockname()[1])


def _serve_socket(server: Server[Any], listening: socket.socket, port: int) -> None:
    """Serve clients of a socket who call it http://127.0.0.1:PORT/mcp, until interrupted."""
    print(f"benchmint: serving on http://{LOOPBACK}:{port}{PATH}", file=sys.stderr, flush=True)
    serve_app(http_app(server, port), listening, _MAX_CONNECTIONS)


def http_app(server: Server[Any], port: int) -> Starlette:
    """The HTTP application. Host and Origin must name the loopback and this very port (law 10)."""
    return server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=MAX_BODY,
        max_sessions=_MAX_SESSIONS,
        session_idle_timeout=_IDLE_SECONDS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=own_hosts(port),
            allowed_origins=own_origins(port),
        ),
    )


def add_transport(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that serves: without any, standard input and output."""
    parser.add_argument("--http", type=int, metavar="PORT", help="serve HTTP on the loopback")
    parser.add_argument("--socket", type=Path, help="listen here instead of on the port")


def serve_as_asked(
    parser: argparse.ArgumentParser, options: argparse.Namespace, make: Callable[[], Server[Any]]
) -> int:
    """Serve what `make` makes until the client leaves, or until interrupted; the exit code."""
    if options.socket is not None and options.http is None:
        parser.error("--socket needs --http, the port that clients use to call the server")
    try:
        server = make()
        with suppress(KeyboardInterrupt):
            if options.socket is not None:
                _serve_socket(server, _listen_at(options.socket), options.http)
            elif options.http is not None:
                serve_http(server, options.http)
            else:
                serve_stdio(server)
    except BenchmintError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _listen_at(path: Path) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(path))
    listening.listen()
    return listening
