"""Limits requests to one at a time per host, with pauses, and computes the wait before a retry."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

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
