"""The endpoint's Batch API: submit, find again, wait, fetch. Faults on the way are endured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from enum import Enum
from typing import TypeVar

from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from openai.types import Batch

from construction.judging.calls.batch_lines import Line, read_lines
from construction.judging.calls.config import LlmRuntime
from construction.judging.calls.endpoint import TRANSIENT
from construction.judging.calls.pace import wait_after
from construction.judging.calls.store import NotedBatch
from data.errors import BenchmintError, ConfigError

_DONE = frozenset({"completed", "failed", "expired", "cancelled"})
_MARK = "benchmint"  # the metadata key that a batch is found again by
_LISTED = 1000  # how many of the endpoint's batches are searched for ours

Found = TypeVar("Found")


class BatchError(BenchmintError):
    """The endpoint's Batch API did not do what it is for; what was submitted stays noted."""


class Absent(Enum):
    """Why there is no finished batch."""

    NEVER_CAME = "never came"  # the endpoint does not know it
    NOT_DONE = "not done"


class BatchApi:
    """Used from one event loop. Raises ConfigError where the endpoint has no Batch API or refuses
    the key, BatchError where it keeps failing."""

    def __init__(self, client: AsyncOpenAI, runtime: LlmRuntime) -> None:
        self._client, self._runtime = client, runtime

    async def submit(self, name: str, content: bytes) -> Batch | None:
        """Submit a batch under a name of ours; None: it is unclear whether it came through."""
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
            raise BatchError(f"the endpoint takes no batch: {error.status_code}") from None

    async def wait(self, noted: NotedBatch, deadline: float) -> Batch | Absent:
        """The batch when it is done; looks at least once, and no longer than the deadline."""
        if noted.batch:
            found: Batch | None = await self._retrieve(noted.batch)
        else:
            await asyncio.sleep(self._runtime.batch_poll)  # a new batch may not be listed at once
            found = await self._find(noted.name)
        if found is None:
            return Absent.NEVER_CAME
        while found.status not in _DONE:
            left = deadline - time.monotonic()
            if left <= 0:
                return Absent.NOT_DONE
            await asyncio.sleep(min(self._runtime.batch_poll, left))
            found = await self._retrieve(found.id)
        return found

    async def lines(self, batch: Batch) -> AsyncIterator[Line]:
        """What came back, replies first."""
        for file in (batch.output_file_id, batch.error_file_id):
            if file:
                for line in read_lines(await self._content(file), self._runtime.max_reply_bytes):
                    yield line

    async def _retrieve(self, batch: str) -> Batch:
        return await self._steadily(lambda: self._client.batches.retrieve(batch))

    async def _content(self, file: str) -> bytes:
        found = await self._steadily(lambda: self._client.files.content(file))
        return found.content

    async def _find(self, name: str) -> Batch | None:
        """The batch that was submitted under a name of ours, if it was."""

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

    async def _steadily(self, make: Callable[[], Awaitable[Found]]) -> Found:
        """Repeat a call that may be repeated until it succeeds."""
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
