"""The endpoint's Batch API: its files (one request or reply a line) and its calls.

Calls that fail for a time are repeated: submit, find again, wait, fetch.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

import orjson
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from openai.types import Batch

from construction.judging.calls.contracts import LlmConfig, LlmRuntime, Usage
from construction.judging.calls.endpoint import TRANSIENT
from construction.judging.calls.replies import TRIES, Reply, declined, parse, read_reply, safe_code
from construction.judging.calls.requests import Turn, body, form, worst_case
from construction.judging.calls.shapes import Dialect, Shape
from construction.judging.calls.store import NotedBatch
from construction.judging.calls.transport import wait_after
from data.errors import BenchmintError, ConfigError

_URL = "/v1/chat/completions"
_DONE = frozenset({"completed", "failed", "expired", "cancelled"})
_MARK = "benchmint"  # the metadata key under which a batch is found again
_LISTED = 1000  # how many of the endpoint's batches are searched for ours

Response = TypeVar("Response")


@dataclass(frozen=True, slots=True)
class Order:
    """One request of a batch: its question's key, its turn, the form it is asked in."""

    key: str
    turn: Turn
    shape: Shape
    limit_field: str
    worst: Usage
    line: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Line:
    """One line that came back: a reply, or a status with a code and the error's message."""

    key: str
    number: int
    reply: Reply | None
    status: int = 0
    code: str = ""
    message: str = field(default="", repr=False)


def make_order(key: str, turn: Turn, config: LlmConfig, dialect: Dialect) -> Order | None:
    """The request for one turn; None if the endpoint accepts no form of it."""
    shape, limit = dialect.shape(form(turn.question.answer).digest), dialect.limit_field
    if shape is None:
        return None
    request = {
        "custom_id": _custom_id(key, turn.number),
        "method": "POST",
        "url": _URL,
        "body": body(turn, config, shape, limit),
    }
    line = orjson.dumps(request) + b"\n"
    return Order(key, turn, shape, limit, worst_case(turn, config), line)


def chunks(orders: Iterable[Order], runtime: LlmRuntime) -> Iterator[list[Order]]:
    """The orders in batches within the endpoint's limits."""
    chunk: list[Order] = []
    size = 0
    for order in orders:
        too_large = size + len(order.line) > runtime.batch_bytes
        if chunk and (too_large or len(chunk) >= runtime.batch_requests):
            yield chunk
            chunk, size = [], 0
        chunk.append(order)
        size += len(order.line)
    if chunk:
        yield chunk


def total(orders: Sequence[Order]) -> Usage:
    """What a batch can cost at most, before its share of the price."""
    return sum((order.worst for order in orders), Usage())


def read_lines(content: bytes, longest: int, keys: Collection[str] = ()) -> Iterator[Line]:
    """The lines of an output or error file; those with a foreign custom id are skipped.

    `keys` as for `read_reply`.
    """
    for raw in content.split(b"\n"):
        document = parse(raw) if 0 < len(raw) <= longest else None
        key_and_turn = _key_and_turn(_at(document, "custom_id"))
        if key_and_turn is None:
            continue
        response = _at(document, "response")
        reply = read_reply(_at(response, "body"), Usage(), keys)
        status = _at(response, "status_code")
        if status == 200 and reply is not None:
            yield Line(*key_and_turn, reply)
            continue
        error = _at(_at(response, "body"), "error") or _at(document, "error")
        status = status if isinstance(status, int) else 0
        code, message = safe_code(_at(error, "code")), str(_at(error, "message") or "")
        yield Line(*key_and_turn, declined(status, code, message), status, code, message)


def _at(document: Any, key: str) -> Any:
    return document.get(key) if isinstance(document, dict) else None


def _custom_id(key: str, number: int) -> str:
    """45 characters; endpoints accept at most 64."""
    return f"{base64.urlsafe_b64encode(bytes.fromhex(key)).decode().rstrip('=')}-{number}"


def _key_and_turn(custom_id: Any) -> tuple[str, int] | None:
    """Key and turn of a custom id; None if `_custom_id` did not make it."""
    if not isinstance(custom_id, str) or len(custom_id) != 45 or custom_id[43] != "-":
        return None
    try:
        key = base64.b64decode(custom_id[:43] + "=", altchars=b"-_", validate=True).hex()
    except (binascii.Error, ValueError):
        return None
    number = custom_id[44:]
    return (key, int(number)) if number in map(str, range(TRIES)) else None


class BatchError(BenchmintError):
    """The endpoint's Batch API failed; batches that were submitted stay recorded."""


class Absent(Enum):
    """Why there is no finished batch."""

    NEVER_ARRIVED = "never arrived"  # the endpoint does not know it
    NOT_DONE = "not done"


class BatchApi:
    """Used from one event loop. Raises ConfigError where the endpoint has no Batch API or refuses
    the key, BatchError where it keeps failing."""

    def __init__(self, client: AsyncOpenAI, runtime: LlmRuntime) -> None:
        self._client, self._runtime = client, runtime

    async def submit(self, name: str, content: bytes) -> Batch | None:
        """Submit a batch under our name for it; None: it is unclear whether it arrived."""
        uploaded = await self._steadily(
            lambda: self._client.files.create(file=(f"{name}.jsonl", content), purpose="batch")
        )
        try:
            return await self._client.batches.create(
                input_file_id=uploaded.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={_MARK: name},
            )
        except APIConnectionError:
            return None  # a second try could be a second batch: `wait` looks for the first
        except APIStatusError as error:
            if error.status_code in TRANSIENT:
                return None
            raise BatchError(f"the endpoint accepts no batch: {error.status_code}") from None

    async def wait(self, noted: NotedBatch, deadline: float) -> Batch | Absent:
        """The batch when it is done. Asks at least once, and waits no longer than the deadline."""
        if noted.batch:
            batch: Batch | None = await self._retrieve(noted.batch)
        else:
            await asyncio.sleep(self._runtime.batch_poll)  # a new batch may not be listed at once
            batch = await self._find(noted.name)
        if batch is None:
            return Absent.NEVER_ARRIVED
        while batch.status not in _DONE:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return Absent.NOT_DONE
            await asyncio.sleep(min(self._runtime.batch_poll, remaining))
            batch = await self._retrieve(batch.id)
        return batch

    async def lines(self, batch: Batch) -> AsyncIterator[Line]:
        """The lines that came back, replies first."""
        for file in (batch.output_file_id, batch.error_file_id):
            if file:
                content, longest = await self._content(file), self._runtime.max_reply_bytes
                for line in read_lines(content, longest, (self._client.api_key,)):
                    yield line

    async def _retrieve(self, batch: str) -> Batch:
        return await self._steadily(lambda: self._client.batches.retrieve(batch))

    async def _content(self, file: str) -> bytes:
        download = await self._steadily(lambda: self._client.files.content(file))
        return download.content

    async def _find(self, name: str) -> Batch | None:
        """The batch that was submitted under our name for it, if there is one."""

        async def search() -> Batch | None:
            seen = 0
            async for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get(_MARK) == name:
                    return batch
                seen += 1
                if seen >= _LISTED:
                    break
            return None

        return await self._steadily(search)

    async def _steadily(self, make: Callable[[], Awaitable[Response]]) -> Response:
        """Repeat a call without side effects until it succeeds."""
        runtime = self._runtime
        for attempt in range(1, runtime.attempts + 1):
            headers = {}
            try:
                return await make()
            except APIStatusError as error:
                status = error.status_code
                if status in {401, 404}:
                    raise ConfigError(f"the endpoint's Batch API answers {status}") from None
                if status not in TRANSIENT:
                    raise BatchError(f"the endpoint's Batch API answers {status}") from None
                headers = dict(error.response.headers)
            except APIConnectionError:
                pass
            await asyncio.sleep(
                wait_after(headers, "batch", attempt, runtime.backoff, runtime.max_wait)
            )
        raise BatchError("the endpoint's Batch API does not answer")
