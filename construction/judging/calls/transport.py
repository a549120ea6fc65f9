"""Below the openai client: an event loop in a thread, the pace of calls, the HTTP transport.

The transport follows no redirects, cuts off endless bodies, and uses no proxy for this machine.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from openai import AsyncOpenAI

from construction.judging.calls.contracts import LlmRuntime
from data.randomness import keyed_generator

Result = TypeVar("Result")
_ONE_CONNECTION = httpx2.Limits(
    max_connections=1, max_keepalive_connections=1, keepalive_expiry=30.0
)


class Loop:
    """An event loop in a thread of its own, so that plain functions can wait for coroutines."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="llm", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run `work` and wait for it, from any thread. Interrupting the wait interrupts it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        """Stop the thread."""
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Pace:
    """Spaces calls evenly; where an endpoint asks to wait, all calls wait.

    Used from one event loop. `per_minute` None: calls are not spaced.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until the next call may start."""
        now = time.monotonic()
        start = max(now, self._next)
        # The slot is taken before the wait, so that later callers queue behind it.
        self._next = max(self._next, start + self._interval if self._interval else 0.0)
        if start > now:
            await asyncio.sleep(start - now)

    def hold(self, seconds: float) -> None:
        """Start no call for the next `seconds`."""
        self._next = max(self._next, time.monotonic() + seconds)


def wait_after(
    headers: Mapping[str, str], key: str, attempt: int, base: float, longest: float
) -> float:
    """Seconds to wait before the next attempt: as the endpoint asks, else exponential backoff.

    The backoff doubles with every attempt. A keyed draw spreads it over its upper half, so that
    calls that failed together are not repeated together. Never more than `longest`.
    """
    requested = retry_after(headers)
    if requested is not None:
        return min(requested, longest)
    spread = keyed_generator(0, "llm.backoff", f"{key}:{attempt}").random()
    return min(base * 2.0 ** min(attempt, 30), longest) * (0.5 + spread / 2)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait: `retry-after-ms` or `retry-after` (seconds or date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "").strip()[:40]) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", "")[:80])
        return max(0.0, moment.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


class _Bounded(httpx2.AsyncByteStream):
    """A response body that raises an error when it exceeds `limit` bytes."""

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
    """One connection for each request under way, reused for the next.

    A connection pool examines all its connections for each request, which at 300 takes more time
    than anything else. Compressed bodies, which were not requested, are refused; endless ones are
    cut off.
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
    """The openai client of a run. Its own retries are off: attempts are counted by `Endpoint`.

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
    """The proxy that the environment names for the endpoint; None for this machine."""
    parts = urlsplit(runtime.base_url)
    if runtime.is_loopback or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
