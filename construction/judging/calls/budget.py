"""What a run may spend: a call's worst case is reserved before it, its cost settled after."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass

from construction.judging.calls.contracts import LlmConfig, Usage


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has paid so far: number of replies, tokens, and cost in the prices' currency."""

    replies: int
    usage: Usage
    cost: float


class Budget:
    """Tokens and money of one run; shared by its clients, each with a loop of its own.

    A call starts only if the run would stay within its limits even if every call under way cost
    its worst case. The first call that does not fit while none is under way ends the run's
    spending: `exhausted`. A call that may have been paid for although no reply came is charged its
    worst case.
    """

    def __init__(self, config: LlmConfig) -> None:
        self._prices = config.prices
        self._max_tokens = config.budget_tokens
        self._max_cost = config.budget_cost
        self._paid = {False: Usage(), True: Usage()}  # by whether a batch paid it
        self._reserved = {False: Usage(), True: Usage()}
        self._replies = 0
        self._lock = threading.Lock()
        self._changed: dict[asyncio.AbstractEventLoop, asyncio.Event] = {}
        self.exhausted = False

    @property
    def spent(self) -> Spent:
        """The replies, tokens and cost paid so far."""
        both = self._paid[False] + self._paid[True]
        return Spent(self._replies, both, self._cost(self._paid))

    async def reserve(self, worst: Usage) -> bool:
        """Wait until `worst` fits, and reserve it; False if it never will in this run."""
        while True:
            with self._lock:
                if self.exhausted:
                    return False
                if self._reserve(worst, batch=False):
                    return True
                if not any(self._reserved.values()):
                    self.exhausted = True
                    return False
                loop = asyncio.get_running_loop()
                changed = self._changed.setdefault(loop, asyncio.Event())
            await changed.wait()

    def try_reserve(self, worst: Usage, *, batch: bool = False) -> bool:
        """Reserve `worst` if it fits now."""
        with self._lock:
            return self._reserve(worst, batch=batch)

    def _reserve(self, worst: Usage, *, batch: bool) -> bool:
        reserved = {**self._reserved, batch: self._reserved[batch] + worst}
        if not self._fits(reserved):
            return False
        self._reserved = reserved
        return True

    def take_over(self, worst: Usage) -> None:
        """Reserve for a batch that an earlier run submitted, even beyond the limits."""
        with self._lock:
            self._reserved[True] = self._reserved[True] + worst

    def _fits(self, reserved: dict[bool, Usage]) -> bool:
        total = {kind: self._paid[kind] + reserved[kind] for kind in (False, True)}
        if self._max_tokens is not None and sum(map(_tokens, total.values())) > self._max_tokens:
            return False
        return self._max_cost is None or self._cost(total) <= self._max_cost

    def settle(
        self, worst: Usage, paid: Usage | None, *, batch: bool = False, replies: int = 1
    ) -> None:
        """Release a reservation and record what was paid; None: nothing was."""
        with self._lock:
            held = self._reserved[batch]
            self._reserved[batch] = Usage(
                held.prompt_tokens - worst.prompt_tokens,
                held.completion_tokens - worst.completion_tokens,
            )
            if paid is not None:
                self._paid[batch] = self._paid[batch] + paid
                self._replies += replies
            waiting, self._changed = self._changed, {}
        for loop, changed in waiting.items():
            with suppress(RuntimeError):  # the client was closed while it waited
                loop.call_soon_threadsafe(changed.set)

    def _cost(self, usages: dict[bool, Usage]) -> float:
        return sum(self._prices.cost(usage, batch=batch) for batch, usage in usages.items())


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens
