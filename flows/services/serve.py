"""Serving instances over HTTP and MCP on one socket, for callers of this machine alone."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from data.loopback import own_hosts, own_origins
from flows.http_server import Guard, serve_app, serving
from flows.services.http_app import http_app
from flows.services.mcp_app import mcp_server
from flows.services.tokens import Instances, TokenCheck

MCP_PATH = "/mcp"
POLICY = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
CONNECTIONS = 500
_MAX_BODY = 128 * 1024
_MAX_SESSIONS = 1000
_IDLE_SECONDS = 600.0


class _Fork:
    """Sends requests to MCP or to the routes by their path; MCP has the lifespan."""

    def __init__(self, routes: ASGIApp, mcp: Starlette) -> None:
        self._routes, self._mcp = routes, mcp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_mcp = scope["type"] == "lifespan" or scope["path"] == MCP_PATH
        await (self._mcp if is_mcp else self._routes)(scope, receive, send)


def _mcp_app(port: int) -> Starlette:
    return mcp_server().streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        max_request_body_size=_MAX_BODY,
        max_sessions=_MAX_SESSIONS,
        session_idle_timeout=_IDLE_SECONDS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=own_hosts(port),
            allowed_origins=own_origins(port),
        ),
    )


def _guarded(mcp: Starlette, instances: Instances, port: int) -> Guard:
    fork = _Fork(http_app(instances.services()), mcp)
    return Guard(TokenCheck(fork, instances), port, POLICY)


def serve_instances(instances: Instances, listening: socket.socket, port: int) -> None:
    """Serve until interrupted; callers name the server 127.0.0.1:PORT."""
    serve_app(_guarded(_mcp_app(port), instances, port), listening, CONNECTIONS)


@asynccontextmanager
async def serving_instances(
    instances: Instances, listening: socket.socket, port: int
) -> AsyncIterator[None]:
    """Serve in the running event loop while the block runs."""
    mcp = _mcp_app(port)
    async with (
        mcp.router.lifespan_context(mcp),
        serving(_guarded(mcp, instances, port), listening, CONNECTIONS),
    ):
        yield
