"""Serving instances over HTTP and MCP on one socket, for callers of this machine alone."""

from __future__ import annotations

import gc
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from flows.http_server import Guard, serve_app, serving
from flows.mcp_serving import PATH as MCP_PATH
from flows.mcp_serving import http_app as mcp_http_app
from flows.services.http_app import Routes
from flows.services.mcp_app import mcp_server
from flows.services.tokens import Instances, TokenCheck

POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
CONNECTIONS = 500


class _Fork:
    """Sends requests to MCP or to the routes by their path; MCP has the lifespan."""

    def __init__(self, services: Sequence[str], mcp: Starlette) -> None:
        self._routes, self._mcp = Routes(services), mcp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_mcp = scope["type"] == "lifespan" or scope["path"] == MCP_PATH
        await (self._mcp if is_mcp else self._routes)(scope, receive, send)


def _guarded(mcp: Starlette, instances: Instances, port: int) -> Guard:
    fork = _Fork(instances.services(), mcp)
    return Guard(TokenCheck(fork, instances), port, POLICY)


def serve_instances(instances: Instances, listening: socket.socket, port: int) -> None:
    """Serve until interrupted; callers name the server 127.0.0.1:PORT."""
    gc.freeze()  # worlds live as long as the server: no collection need visit them again
    serve_app(_guarded(mcp_http_app(mcp_server(), port), instances, port), listening, CONNECTIONS)


@asynccontextmanager
async def serving_instances(
    instances: Instances, listening: socket.socket, port: int
) -> AsyncIterator[None]:
    """Serve in the running event loop while the block runs."""
    mcp = mcp_http_app(mcp_server(), port)
    async with (
        mcp.router.lifespan_context(mcp),
        serving(_guarded(mcp, instances, port), listening, CONNECTIONS),
    ):
        yield
