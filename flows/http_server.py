"""Serving HTTP on the loopback, with Host and Origin checked (law 10)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from data.loopback import refusal

_PATIENCE = 3.0  # seconds for a server to end


def serve_app(app: ASGIApp, listening: socket.socket, connections: int) -> None:
    """Serve until interrupted, at most so many connections at once."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=connections,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server beside other work: signals are not its business."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(app: ASGIApp, listening: socket.socket, connections: int) -> AsyncIterator[None]:
    """Serve in the running event loop while the block runs, then close the socket."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=connections,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield
    finally:
        server.should_exit = server.force_exit = True
        with suppress(asyncio.CancelledError):
            await asyncio.wait({task}, timeout=_PATIENCE)
        listening.close()


class Guard:
    """An ASGI application in front of another: it refuses requests that other pages send, and
    every answer says how little a browser may do with it.
    """

    def __init__(self, inner: ASGIApp, port: int, policy: str) -> None:
        self._inner, self._port = inner, port
        self._headers = {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-resource-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cache-control": "no-store",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        reason = refusal(scope["headers"], self._port)
        answer = self._inner if reason is None else PlainTextResponse(reason, 403)
        await answer(scope, receive, guarded)
