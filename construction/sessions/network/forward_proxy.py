"""An HTTP proxy for a task that may reach named hosts, and nothing else.

Plain HTTP and CONNECT, on whatever sockets it is given: it serves the loopback of a sandbox without
a network. A name is resolved here, every address of it must be public, and the connection goes to
an address that was checked (`transport.GuardedBackend`). Each request is one audit row. What a
client asks and sends is hostile: heads, bytes, connections and time are limited.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from socket import socket

import httpcore

from construction.mentions.urls import WebUrl, parse_url
from construction.sessions.network.transport import GuardedBackend, ProbeFailure, Wire
from data.contracts.attempt import AuditRow
from data.neutralise import one_line

_SERVICE = "network"
_DEFAULT_PORTS = frozenset({80, 443})
_HEAD_BYTES = 64 << 10
_CHUNK = 64 << 10
# No folded lines, no blanks before the colon, no bare line ends: servers read these differently.
_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*")
_NOT_FORWARDED = (b"host:", b"proxy-", b"connection:", b"keep-alive:", b"te:", b"upgrade:")
_Authority = tuple[str, int]  # host in ASCII, port


@dataclass(frozen=True, slots=True)
class _ProxyLimits:
    """For one attempt: requests, those at once, bytes in both directions, seconds of silence."""

    requests: int = 500
    at_once: int = 16
    total_bytes: int = 200 << 20
    head_seconds: float = 15.0
    idle_seconds: float = 60.0


class _Refused(Exception):
    """A request that is not carried out; the status line's code, and the reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


@dataclass(slots=True)
class _Traffic:
    """Bytes of one request, sent by the client and received by it."""

    sent: int = 0
    received: int = 0


@dataclass(slots=True)
class ForwardProxy:
    """What one attempt may reach, and what it has reached so far."""

    allowed: frozenset[_Authority]
    limits: _ProxyLimits = field(default_factory=_ProxyLimits)
    wire: Wire = field(default_factory=Wire)
    rows: list[AuditRow] = field(default_factory=list)
    _requests: int = 0
    _open: int = 0
    _bytes: int = 0

    async def serve_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry out the one request of a connection; nothing raises but cancellation."""
        operation, traffic, status = "", _Traffic(), "ok"
        self._open += 1
        try:
            self._admit()
            operation, url, head = await self._read_head(reader)
            await self._forward(operation, url, head, (reader, writer), traffic)
        except _Refused as refused:
            status = refused.reason
            with suppress(OSError):
                text = f"HTTP/1.1 {refused.code} {status}\r\nConnection: close\r\n\r\n"
                writer.write(text.encode("ascii"))
                await writer.drain()
        except (OSError, TimeoutError, httpcore.NetworkError, httpcore.TimeoutException):
            status = "broken_off"
        finally:
            self._open -= 1
            writer.close()
            sizes = {"sent": traffic.sent, "received": traffic.received}
            if len(self.rows) <= self.limits.requests:  # one row more says that there were more
                self.rows.append(AuditRow(_SERVICE, one_line(operation)[:1000], sizes, status))

    def _admit(self) -> None:
        self._requests += 1
        if self._requests > self.limits.requests:
            raise _Refused(429, "too_many_requests")
        if self._open > self.limits.at_once:
            raise _Refused(429, "too_many_at_once")

    async def _read_head(self, reader: asyncio.StreamReader) -> tuple[str, WebUrl, list[bytes]]:
        """The request in words, its target, and the lines of its head. Raises _Refused."""
        try:
            async with asyncio.timeout(self.limits.head_seconds):
                head = await reader.readuntil(b"\r\n\r\n")
        except (TimeoutError, asyncio.LimitOverrunError, asyncio.IncompleteReadError) as error:
            raise _Refused(400, "no_request") from error
        first, *lines = head[:-4].split(b"\r\n")
        method, _, rest = first.decode("latin-1").partition(" ")
        target = rest.rpartition(" ")[0]
        url = parse_url(f"https://{target}" if method == "CONNECT" else target)
        is_web = url is not None and (method == "CONNECT" or url.scheme == "http")
        if url is None or not is_web or not all(map(_HEADER.fullmatch, lines)):
            raise _Refused(400, "malformed")
        if (url.host, url.port) not in self.allowed:
            raise _Refused(403, f"not_allowed {url.host}:{url.port}"[:200])
        return f"{method} {url.text}", url, [first, *lines]

    async def _forward(
        self,
        operation: str,
        url: WebUrl,
        head: Sequence[bytes],
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        traffic: _Traffic,
    ) -> None:
        backend = GuardedBackend(self.wire)
        try:
            try:
                server = await backend.connect_tcp(url.host, url.port, self.limits.idle_seconds)
            except ProbeFailure as failure:
                raise _Refused(502, str(failure.cause)) from failure
            if operation.startswith("CONNECT "):
                client[1].write(b"HTTP/1.1 200 connected\r\n\r\n")
            else:
                await server.write(_origin_head(url, head), self.limits.idle_seconds)
            await self._relay(client, server, traffic)
        finally:
            await backend.aclose()

    async def _relay(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: httpcore.AsyncNetworkStream,
        traffic: _Traffic,
    ) -> None:
        """Both directions, until the server has said all, or a limit is reached."""
        reader, writer = client
        idle = self.limits.idle_seconds

        async def upwards() -> None:
            while chunk := await reader.read(_CHUNK):
                traffic.sent += self._count(chunk)
                await server.write(chunk, idle)

        sending = asyncio.create_task(upwards())
        try:
            while chunk := await server.read(_CHUNK, idle):
                traffic.received += self._count(chunk)
                writer.write(chunk)
                async with asyncio.timeout(idle):
                    await writer.drain()
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, OSError, httpcore.NetworkError):
                await sending

    def _count(self, chunk: bytes) -> int:
        self._bytes += len(chunk)
        if self._bytes > self.limits.total_bytes:
            raise ConnectionAbortedError("more bytes than allowed")
        return len(chunk)


def _origin_head(url: WebUrl, head: Sequence[bytes]) -> bytes:
    """The head as the origin server gets it: a path, one request per connection."""
    method = head[0].partition(b" ")[0]
    kept = [line for line in head[1:] if not line.lower().startswith(_NOT_FORWARDED)]
    host = url.text.partition("://")[2].partition("/")[0]
    first = method + f" {url.target} HTTP/1.1".encode("ascii")
    lines = [first, f"Host: {host}".encode("ascii"), *kept, b"Connection: close"]
    return b"\r\n".join([*lines, b"", b""])


def allowed_hosts(urls: Iterable[str]) -> frozenset[_Authority]:
    """What a task may reach for the URLs that it lists: their hosts and ports.

    A host with a default port may be reached by HTTP and HTTPS.
    """
    parsed = [url for text in urls if (url := parse_url(text)) is not None]
    return frozenset(
        (url.host, port)
        for url in parsed
        for port in (_DEFAULT_PORTS if url.port in _DEFAULT_PORTS else (url.port,))
    )


def client_variables(port: int) -> dict[str, str]:
    """The variables by which programs find a proxy on their loopback."""
    address = f"http://127.0.0.1:{port}"
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    return {**dict.fromkeys(names, address), "no_proxy": "127.0.0.1,localhost"}


@asynccontextmanager
async def proxying(listening: socket, proxy: ForwardProxy) -> AsyncIterator[None]:
    """Serve the clients of a listening socket while the block runs, and close it."""
    clients: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(proxy.serve_client(reader, writer))
        clients.add(task)
        task.add_done_callback(clients.discard)

    server = await asyncio.start_server(accept, sock=listening, limit=_HEAD_BYTES)
    try:
        yield
    finally:
        server.close()
        await _cancelled(clients)


async def _cancelled(tasks: Collection[asyncio.Task[None]]) -> None:
    for task in list(tasks):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
