"""Requests to a registry: one at a time, limited in time and size, repeated after failures."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import orjson

from construction.sessions.network.transport import TRANSIENT, backoff
from construction.sessions.readers.source import loads
from construction.signals.collect.fields import SourceShape, describe, value_at
from construction.signals.config import RegistryConfig
from data.errors import BenchmintError

_Parsed = TypeVar("_Parsed")

_GONE = frozenset({404, 410})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 5
_MAX_CURSOR = 4096
_HEADERS = {
    "User-Agent": "benchmint",
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # so that the limit on size also limits memory
}


class RegistryError(BenchmintError):
    """A registry does not answer as expected; the answers so far are in the journal."""

    def __init__(self, url: str, actual: str, expected: str, todo: str) -> None:
        super().__init__(f"{url}: found {actual}; expected {expected}. {todo}")
        self.url, self.actual, self.expected, self.todo = url, actual, expected, todo


class RegistryBusyError(RegistryError):
    """A registry requests a longer pause than the configuration allows."""


class _PassingError(Exception):
    """A failure worth a retry; `wait` is the pause that the registry requests, in seconds."""

    def __init__(self, actual: str, wait: float = 0.0) -> None:
        super().__init__(actual)
        self.actual, self.wait = actual, wait


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of the listing, its items as delivered. `next_cursor` is None on the last page."""

    items: tuple[Any, ...]
    next_cursor: str | None


def _listing_url(config: RegistryConfig, shape: SourceShape) -> str:
    """The address of the listing."""
    return f"{config.base_url}{shape.path}"


def detail_url(config: RegistryConfig, shape: SourceShape, slug: str) -> str:
    """The address of one skill; the slug is quoted completely, so that it stays one segment."""
    return f"{_listing_url(config, shape)}/{quote(slug, safe='')}"


class RegistryClient:
    """Requests pages and details; an async context manager that holds the connection.

    Like other clients it uses a proxy named in the environment.
    """

    def __init__(self, config: RegistryConfig, shape: SourceShape) -> None:
        self._config = config
        self._shape = shape
        # httpx limits the time of each step, _follow the whole; _follow also stays in one origin.
        self._http = httpx.AsyncClient(
            headers=_HEADERS, follow_redirects=False, timeout=config.timeout
        )
        self._listing = _listing_url(config, shape)
        self._ready_at = 0.0

    async def __aenter__(self) -> RegistryClient:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def page(self, sort: str, cursor: str | None) -> _Page:
        """The page of the listing at `cursor`, None for the first. Raises RegistryError."""
        shape = self._shape
        params = dict(shape.parameters) | ({"sort": sort} if sort else {})
        if shape.size:
            params[shape.size] = str(self._config.page_size)
        if shape.position and (cursor is not None or shape.paging == "page"):
            params[shape.position] = str(shape.first) if cursor is None else cursor
        url = httpx.URL(self._listing, params=params or None)
        page = await self._ask(url, lambda body: _page(body, shape, cursor))
        if page is None:
            expected = f"the listing of a registry: {shape.meaning}"
            raise RegistryError(self._listing, "no such page", expected, "Check base_url.")
        return page

    async def detail(self, slug: str) -> dict[str, Any] | None:
        """The record of one skill, None if it is gone. Raises RegistryError."""
        return await self._ask(httpx.URL(detail_url(self._config, self._shape, slug)), _object)

    async def _ask(self, url: httpx.URL, parse: Callable[[bytes], _Parsed]) -> _Parsed | None:
        """The parsed answer, None for a page that is gone; several attempts, with pauses."""
        config = self._config
        actual = "no attempt"
        for attempt in range(config.attempts):
            try:
                body = await self._follow(url)
                return None if body is None else parse(body)
            except _PassingError as trouble:
                actual, wait = trouble.actual, trouble.wait
            if wait > config.max_retry_after:
                actual = f"{actual}, with {wait:.0f} s to wait"
                todo = "The answers so far are kept: run again later, or raise max_retry_after."
                limit = f"at most {config.max_retry_after:.0f} s"
                raise RegistryBusyError(self._listing, actual, limit, todo)
            if attempt + 1 < config.attempts:
                await asyncio.sleep(max(wait, backoff(str(url), attempt, config.backoff)))
        actual = f"{actual}, after {config.attempts} attempts"
        todo = "The answers so far are kept: run again to continue."
        raise RegistryError(self._listing, actual, "an answer", todo)

    async def _follow(self, url: httpx.URL) -> bytes | None:
        """The body at the end of redirects within the registry's own origin."""
        for _ in range(_MAX_REDIRECTS):
            await self._turn()
            try:
                async with asyncio.timeout(self._config.timeout):
                    answer = await self._exchange(url)
            except TimeoutError:
                actual = f"no whole answer in {self._config.timeout:g} s"
                raise _PassingError(actual) from None
            except httpx.TransportError as error:
                raise _PassingError(f"a broken connection ({type(error).__name__})") from None
            if not isinstance(answer, httpx.URL):
                return answer
            url = answer
        todo = "Check base_url."
        raise RegistryError(self._listing, "redirects without end", "an answer", todo)

    async def _turn(self) -> None:
        """Wait so that requests start at least 1 / requests_per_second apart."""
        await asyncio.sleep(max(0.0, self._ready_at - time.monotonic()))
        self._ready_at = time.monotonic() + 1 / self._config.requests_per_second

    async def _exchange(self, url: httpx.URL) -> bytes | httpx.URL | None:
        """Send one request: the body, the target of a redirect, or None for a page that is gone."""
        async with self._http.stream("GET", url) as response:
            status = response.status_code
            if status in _GONE:
                return None
            if status in _REDIRECTS:
                return self._redirected(url, response.headers.get("location", ""))
            if status in TRANSIENT:
                raise _PassingError(f"status {status}", _requested_wait(response.headers))
            if status != 200:
                todo = "Check base_url; if a cursor has expired, delete the journal."
                raise RegistryError(self._listing, f"status {status}", "200", todo)
            return await self._body(response)

    def _redirected(self, url: httpx.URL, location: str) -> httpx.URL:
        """The target of a redirect, which must have the same scheme, host and port."""
        try:
            target = url.join(location)
        except (httpx.InvalidURL, ValueError):
            target = httpx.URL()
        if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
            actual = "a redirect to another scheme, host or port"
            todo = "If the registry has moved, set base_url."
            raise RegistryError(self._listing, actual, "an answer", todo)
        return target.copy_with(username=None, password=None) if target.userinfo else target

    async def _body(self, response: httpx.Response) -> bytes:
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding != "identity":
            actual = "a compressed answer"
            todo = "The request forbids compression; check the proxy before the registry."
            raise RegistryError(self._listing, actual, "a plain answer", todo)
        limit = self._config.max_answer_bytes
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > limit:
                todo = "Lower page_size or raise max_answer_bytes."
                raise RegistryError(self._listing, f"more than {limit} bytes", "fewer", todo)
        return bytes(body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        document = loads(body)
    except orjson.JSONDecodeError:
        raise _PassingError(f"{len(body)} bytes that are not JSON") from None
    if not isinstance(document, dict):
        raise _PassingError(f"JSON that is {describe(document)}")
    return document


def _page(body: bytes, shape: SourceShape, position: str | None) -> _Page:
    document = _object(body)
    items = value_at(document, shape.items)
    if not isinstance(items, list):
        raise _PassingError(f"a page whose {shape.items} are {describe(items)}")
    cursor = shape.following(document, position)
    if not isinstance(cursor, str | None) or len(cursor or "") > _MAX_CURSOR:
        raise _PassingError(f"a page whose cursor is {describe(cursor)}")
    return _Page(tuple(items), cursor or None)


def _requested_wait(headers: httpx.Headers) -> float:
    """Seconds to wait by Retry-After (seconds or a date) or RateLimit-Reset, 0 without them."""
    value = headers.get("retry-after", headers.get("ratelimit-reset", "")).strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        moment = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, moment - time.time())
