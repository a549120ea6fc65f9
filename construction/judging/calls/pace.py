"""How fast calls start, and how long to wait after a failed one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from data.randomness import keyed_generator


class Pace:
    """Spaces calls evenly; an endpoint that asks for patience holds all of them.

    Used from one event loop. `per_minute` None: as fast as calls come.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def turn(self) -> None:
        """Wait for the next free start."""
        now = time.monotonic()
        start = max(now, self._next)
        # Whoever comes later waits behind, so the slot is taken before the wait.
        self._next = max(self._next, start + self._interval if self._interval else 0.0)
        if start > now:
            await asyncio.sleep(start - now)

    def hold(self, seconds: float) -> None:
        """Start nothing for so long."""
        self._next = max(self._next, time.monotonic() + seconds)


def wait_after(
    headers: Mapping[str, str], key: str, attempt: int, base: float, longest: float
) -> float:
    """Seconds to wait before the next attempt: what the endpoint asks for, else backoff.

    The backoff doubles with every attempt and is spread over its upper half, by key, so that
    calls that failed together do not come back together. Never more than `longest`.
    """
    asked = retry_after(headers)
    if asked is not None:
        return min(asked, longest)
    spread = keyed_generator(0, "llm.backoff", f"{key}:{attempt}").random()
    return min(base * 2.0 ** min(attempt, 30), longest) * (0.5 + spread / 2)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait for: `retry-after-ms`, seconds, or an HTTP date."""
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
