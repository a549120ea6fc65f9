"""A real HTTP server on loopback, reached through a connector behind the address check.

The check sees the public address that the resolver gives; only then does the connector put the
loopback address in its place.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType

import httpcore

from construction.sessions.network.transport import Wire, _system_connect
from tests.construction.sessions.network.wires import TRUST

Handler = Callable[[str, str, asyncio.StreamWriter], Awaitable[None]]
PUBLIC = "93.184.216.34"


def respond(status: str = "200 OK", body: bytes = b"", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


class LocalServer:
    """Serves `handler(method, target, writer)` from a thread of its own, one call a request."""

    def __init__(self, handler: Handler, ssl_context: ssl.SSLContext | None = None) -> None:
        self._handler = handler
        self._ssl_context = ssl_context
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.port = 0
        self.requests: list[str] = []
        self.open_now = 0
        self.most_open = 0
        self.addresses: list[str] = []

    def __enter__(self) -> LocalServer:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def wire(self, trust: ssl.SSLContext = TRUST) -> Wire:
        """Any name resolves to a public address; any connection ends at this server."""

        async def resolve(host: str) -> list[str]:
            if host.startswith("gone."):
                raise socket.gaierror(socket.EAI_NONAME, "name not known")
            return [PUBLIC]

        async def connect(address: str, port: int) -> httpcore.AsyncNetworkStream:
            self.addresses.append(address)
            return await _system_connect("127.0.0.1", self.port)

        return Wire(resolve, connect, trust)

    async def _start(self) -> int:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, ssl=self._ssl_context
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def _stop(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, target, _ = head.split("\r\n")[0].split(" ")
            self.requests.append(f"{method} {target}")
            await self._handler(method, target, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open_now -= 1
            writer.close()
