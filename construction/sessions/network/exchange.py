"""Sends one request and reads its answer, with limits on time, headers and body.

Also the pace of requests: one at a time per host, with pauses, and the wait before a retry.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import string
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import quote

import httpcore

from construction.mentions.urls import WebUrl
from construction.sessions.gates.network import Cause, NetworkConfig
from construction.sessions.network.transport import GuardedBackend, ProbeFailure, Wire
from data.randomness import keyed_hash

TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})  # statuses worth a retry
_FORGET_ABOVE = 1024
_JITTER_KEY = b"benchmint probe back-off"


@dataclass(slots=True)
class _Host:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    ready_at: float = 0.0


class HostTurns:
    """Admits one request per host at a time, with `delay` seconds between two requests."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until the host may be requested; hold its turn for the length of the context."""
        entry = self._entry(host)
        entry.waiting += 1
        try:
            async with entry.lock:
                await asyncio.sleep(max(0.0, entry.ready_at - time.monotonic()))
                try:
                    yield
                finally:
                    entry.ready_at = time.monotonic() + self._delay
        finally:
            entry.waiting -= 1

    def _entry(self, host: str) -> _Host:
        if host not in self._hosts and len(self._hosts) >= _FORGET_ABOVE:
            now = time.monotonic()
            busy = {
                name: entry
                for name, entry in self._hosts.items()
                if entry.waiting or entry.ready_at > now
            }
            self._hosts = busy
        return self._hosts.setdefault(host, _Host())


def backoff(url: str, attempt: int, base: float) -> float:
    """Seconds before the next attempt: base · 2^attempt, times 0.5 to 1.5 depending on the URL."""
    share = int.from_bytes(keyed_hash(_JITTER_KEY, str(attempt), url)[:4], "big") / 2**32
    return float(base * 2**attempt * (0.5 + share))


USER_AGENT = "Benchmint/0.1 (checks that the links in benchmark tasks answer)"
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_UNKNOWN_TYPE = "application/octet-stream"
_ASCII = string.punctuation
_DIGITS = re.compile(r"[0-9]{1,9}")
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_NETWORK_ERRORS = (
    ProbeFailure,
    OSError,  # includes TimeoutError and SSLError; no file is accessed here
    httpcore.TimeoutException,
    httpcore.RemoteProtocolError,
    httpcore.NetworkError,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: `retry_after` in seconds, `body` decoded and None unless requested."""

    status: int
    location: str | None
    retry_after: float
    media_type: str
    body: bytes | None

    @property
    def is_redirect(self) -> bool:
        return self.status in (301, 302, 303, 307, 308) and self.location is not None


async def exchange(
    method: str, url: WebUrl, wire: Wire, config: NetworkConfig, seconds: float
) -> Answer:
    """Send one request over a new, checked connection, within `seconds` in all.

    It uses no proxy, cookie or credential. Only in mode `freeze` is the body of a 2xx answer to
    GET read. Raises ProbeFailure for every failure of the network.
    """
    guard = GuardedBackend(wire)
    request = _request(method, url, config)
    connection = httpcore.AsyncHTTPConnection(
        request.url.origin, ssl_context=wire.ssl_context, network_backend=guard
    )
    keep = method == "GET" and config.mode == "freeze"
    status: int | None = None
    try:
        async with asyncio.timeout(seconds):
            response = await connection.handle_async_request(request)
            status = response.status
            return await _answer(response, config.max_bytes if keep else None)
    except _NETWORK_ERRORS as error:
        raise _failure(error, status) from error
    finally:
        await guard.aclose()


def _request(method: str, url: WebUrl, config: NetworkConfig) -> httpcore.Request:
    """The request for `url`, which holds no credentials: `parse_url` removed them."""
    host_port = url.text.removeprefix(f"{url.scheme}://").removesuffix(url.target)
    timeouts = {
        "connect": config.connect_timeout,
        "read": config.read_timeout,
        "write": config.read_timeout,
    }
    return httpcore.Request(
        method,
        httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target),
        headers=[
            ("Host", host_port),
            ("User-Agent", USER_AGENT),
            ("Accept", "*/*"),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
        ],
        extensions={"timeout": timeouts},
    )


def _failure(error: Exception, status: int | None) -> ProbeFailure:
    if isinstance(error, ProbeFailure):
        return ProbeFailure(error.cause, transient=error.transient, status=status)
    if isinstance(error, TimeoutError | httpcore.TimeoutException):
        return ProbeFailure(Cause.TIMEOUT, transient=True, status=status)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return ProbeFailure(Cause.TLS, status=status)
        cause = cause.__cause__
    if isinstance(error, httpcore.ConnectError):
        return ProbeFailure(Cause.NO_CONNECTION, transient=True)
    return ProbeFailure(Cause.BROKEN_RESPONSE, transient=True, status=status)


async def _answer(response: httpcore.Response, limit: int | None) -> Answer:
    headers = {name.lower(): value for name, value in response.headers}
    wanted = limit is not None and 200 <= response.status < 300
    location = headers.get(b"location")
    return Answer(
        status=response.status,
        location=quote(location, safe=_ASCII) if location is not None else None,
        retry_after=_seconds(headers.get(b"retry-after", b"")),
        media_type=_media_type(headers.get(b"content-type", b"")),
        body=await _body(response, headers, limit) if wanted and limit is not None else None,
    )


async def _body(response: httpcore.Response, headers: dict[bytes, bytes], limit: int) -> bytes:
    declared = headers.get(b"content-length", b"").decode("latin-1")
    if _DIGITS.fullmatch(declared) and int(declared) > limit:
        raise ProbeFailure(Cause.TOO_LARGE)
    body = BoundedBody(limit, headers.get(b"content-encoding", b"").decode("latin-1"))
    async for chunk in response.aiter_stream():
        body.feed(chunk)
    return body.finish()


class BoundedBody:
    """Collects a body, decompresses gzip or deflate, and keeps at most `limit` + 1 bytes."""

    def __init__(self, limit: int, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ProbeFailure(Cause.BROKEN_RESPONSE)
        self._limit = limit
        self._packed = name not in ("", "identity")
        self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._started = False
        self._content = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Add raw bytes; raises ProbeFailure if the decoded body is too large or corrupt."""
        if self._packed:
            self._unpack(chunk)
        else:
            self._content += chunk
        if len(self._content) > self._limit:
            raise ProbeFailure(Cause.TOO_LARGE)

    def finish(self) -> bytes:
        """The whole decoded body; raises ProbeFailure if the compressed stream is cut off."""
        if self._started and not self._inflate.eof:
            raise ProbeFailure(Cause.BROKEN_RESPONSE, transient=True)
        return bytes(self._content)

    def _unpack(self, chunk: bytes) -> None:
        self._started = self._started or bool(chunk)
        try:
            while chunk and len(self._content) <= self._limit:
                if self._inflate.eof:  # a gzip file may have several members
                    self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
                room = self._limit - len(self._content) + 1
                self._content += self._inflate.decompress(chunk, room)
                chunk = self._inflate.unused_data or self._inflate.unconsumed_tail
        except zlib.error as error:
            raise ProbeFailure(Cause.BROKEN_RESPONSE) from error


def _seconds(value: bytes) -> float:
    """Retry-After in seconds; 0 for its other form, a date, which leaves the usual back-off."""
    text = value.decode("latin-1").strip()
    return float(text) if _DIGITS.fullmatch(text) else 0.0


def _media_type(value: bytes) -> str:
    text = value.decode("latin-1").partition(";")[0].strip().lower()
    return text if _MEDIA_TYPE.fullmatch(text) else _UNKNOWN_TYPE
