"""Serving HTTP on the loopback, with Host and Origin checked (law 10)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import ClassVar

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from data.loopback import refusal

_PATIENCE = 3.0  # seconds for a server to end
_REQUEST_SECONDS = 10.0  # for a whole request to arrive, once a connection is open
_SILENT_SHARE = 2  # at most a connection in so many may be one that never sent a request


def serve_app(app: ASGIApp, listening: socket.socket, connections: int) -> None:
    """Serve until interrupted, at most so many connections at once."""
    config = uvicorn.Config(
        app,
        http=_protocol(connections),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=connections,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listening])


class _Gathering(asyncio.Transport):
    """A transport that sends what is written in one turn of the loop at once.

    Head and body of a short answer are written apart; each send is a system call, and wakes the
    client.
    """

    def __init__(self, inner: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._inner, self._loop = inner, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(bytes(data))

    def _send(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._inner.write(b"".join(parts))

    def close(self) -> None:
        self._send()
        self._inner.close()

    def abort(self) -> None:
        self._parts = []
        self._inner.abort()

    def is_closing(self) -> bool:
        return self._inner.is_closing()

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self._inner.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        self._inner.resume_reading()


class _Protocol(H11Protocol):
    """HTTP that half-open connections cannot block; each server has a class of its own.

    A connection is closed if a request takes too long to arrive. Of those that never sent one, the
    oldest are closed as soon as they could fill the server.
    """

    silent: ClassVar[dict[H11Protocol, None]]  # oldest first
    most_silent: ClassVar[int]
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(_Gathering(transport, self.loop))
        self.silent[self] = None
        self._await_request()
        if len(self.silent) > self.most_silent:
            oldest = next(iter(self.silent))
            del self.silent[oldest]  # now, since many may connect before its end is noticed
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.silent.pop(self, None)
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        cycle = self.cycle
        if cycle is None or cycle.response_complete or cycle.more_body:
            self._await_request()
        else:
            self.silent.pop(self, None)
            self._stop_timer()

    def _await_request(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(_REQUEST_SECONDS, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _protocol(connections: int) -> type[H11Protocol]:
    """The protocol of one server with so many connections."""

    class Protocol(_Protocol):
        silent: ClassVar[dict[H11Protocol, None]] = {}
        most_silent = connections // _SILENT_SHARE

    return Protocol


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
        http=_protocol(connections),
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
        headers = {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-resource-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cache-control": "no-store",
        }
        self._headers = {name.encode(): value.encode() for name, value in headers.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = message.get("headers", ())
                others = [pair for pair in sent if pair[0] not in self._headers]
                message = {**message, "headers": [*others, *self._headers.items()]}
            await send(message)

        reason = refusal(scope["headers"], self._port)
        answer = self._inner if reason is None else PlainTextResponse(reason, 403)
        await answer(scope, receive, guarded)
