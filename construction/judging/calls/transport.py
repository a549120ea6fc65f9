"""The HTTP client under the openai client: no redirects, no bombs, no proxy to this machine."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from openai import AsyncOpenAI

from construction.judging.calls.config import LlmRuntime

_ONE_CONNECTION = httpx2.Limits(
    max_connections=1, max_keepalive_connections=1, keepalive_expiry=30.0
)


class _Bounded(httpx2.AsyncByteStream):
    """A body that breaks off with an error where it grows beyond `limit` bytes."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, limit: int, closed: Callable[[], None]
    ) -> None:
        self._stream, self._limit = stream, limit
        self._closed: Callable[[], None] | None = closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._limit:
                raise httpx2.ReadError(f"a body of more than {self._limit} bytes")
            yield chunk

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            closed, self._closed = self._closed, None
            if closed is not None:
                closed()


class _Lines(httpx2.AsyncBaseTransport):
    """One connection for each request under way, kept for the next.

    A pool of many connections looks at all of them for each request: at 300 that takes more time
    than anything else. Compressed bodies, which nobody asked for, are refused, and endless ones
    cut.
    """

    def __init__(self, runtime: LlmRuntime, max_bytes: int) -> None:
        self._context = ssl.create_default_context()
        self._proxy = _proxy(runtime)
        self._max_bytes = max_bytes
        self._lines: list[httpx2.AsyncHTTPTransport] = []
        self._free: list[httpx2.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        line = self._free.pop() if self._free else self._add()
        try:
            response = await line.handle_async_request(request)
            stream = response.stream
            if not isinstance(stream, httpx2.AsyncByteStream):
                raise httpx2.ReadError("a body of another kind")
            if response.headers.get("content-encoding", "identity") != "identity":
                await stream.aclose()
                raise httpx2.ReadError("a compressed body")
        except BaseException:
            self._free.append(line)
            raise
        response.stream = _Bounded(stream, self._max_bytes, lambda: self._free.append(line))
        return response

    async def aclose(self) -> None:
        for line in self._lines:
            await line.aclose()

    def _add(self) -> httpx2.AsyncHTTPTransport:
        line = httpx2.AsyncHTTPTransport(
            verify=self._context, limits=_ONE_CONNECTION, proxy=self._proxy
        )
        self._lines.append(line)
        return line


def connect(runtime: LlmRuntime, max_bytes: int) -> AsyncOpenAI:
    """The one openai client of a run. Its own retries are off: each attempt is counted here.

    Raises ConfigError if the endpoint needs a key and the environment has none.
    """
    timeout = httpx2.Timeout(runtime.timeout, connect=runtime.connect_timeout)
    client = httpx2.AsyncClient(
        transport=_Lines(runtime, max_bytes),
        timeout=timeout,
        headers={"accept-encoding": "identity"},
        follow_redirects=False,
        trust_env=False,
    )
    return AsyncOpenAI(
        api_key=runtime.key(),
        base_url=runtime.base_url,
        timeout=timeout,
        max_retries=0,
        http_client=client,
    )


def _proxy(runtime: LlmRuntime) -> str | None:
    """The proxy that the environment names for the endpoint; none may see what is meant for
    this machine."""
    parts = urlsplit(runtime.base_url)
    if runtime.is_loopback or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
