"""What a run may spend: the worst case is reserved before a call, what it took settled after."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from construction.judging.calls.config import LlmConfig
from construction.judging.calls.contracts import Usage


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has paid so far: replies and their tokens, and money in the prices' currency."""

    replies: int
    usage: Usage
    cost: float


class Budget:
    """Tokens and money of one run; shared by the clients of a run, used from one loop at a time.

    A call starts only if, were everything under way to cost its worst case, the run would still
    keep within its limits. The first call that cannot, with nothing under way, ends the run's
    spending: `exhausted`. Calls that may have been paid for although no reply came are charged in
    full.
    """

    def __init__(self, config: LlmConfig) -> None:
        self._prices = config.prices
        self._max_tokens = config.budget_tokens
        self._max_cost = config.budget_cost
        self._paid = {False: Usage(), True: Usage()}  # by whether it was a batch
        self._reserved = {False: Usage(), True: Usage()}
        self._replies = 0
        self._changed: asyncio.Event | None = None
        self.exhausted = False

    @property
    def spent(self) -> Spent:
        """What was paid so far."""
        both = self._paid[False] + self._paid[True]
        return Spent(self._replies, both, self._cost(self._paid))

    async def reserve(self, worst: Usage) -> bool:
        """Wait until `worst` fits, and reserve it; False if it never will in this run."""
        while not self.exhausted:
            if self.try_reserve(worst):
                return True
            if not any(self._reserved.values()):
                self.exhausted = True
                break
            if self._changed is None:
                self._changed = asyncio.Event()
            await self._changed.wait()
        return False

    def try_reserve(self, worst: Usage, *, batch: bool = False) -> bool:
        """Reserve `worst` if it fits now."""
        reserved = {**self._reserved, batch: self._reserved[batch] + worst}
        if not self._fits(reserved):
            return False
        self._reserved = reserved
        return True

    def take_over(self, worst: Usage) -> None:
        """Reserve, fit or not, for a batch that an earlier run submitted."""
        self._reserved[True] = self._reserved[True] + worst

    def _fits(self, reserved: dict[bool, Usage]) -> bool:
        total = {kind: self._paid[kind] + reserved[kind] for kind in (False, True)}
        if self._max_tokens is not None and sum(map(_tokens, total.values())) > self._max_tokens:
            return False
        return self._max_cost is None or self._cost(total) <= self._max_cost

    def settle(
        self, worst: Usage, paid: Usage | None, *, batch: bool = False, replies: int = 1
    ) -> None:
        """Give back what was reserved and book what was paid; None: nothing was."""
        held = self._reserved[batch]
        self._reserved[batch] = Usage(
            held.prompt_tokens - worst.prompt_tokens,
            held.completion_tokens - worst.completion_tokens,
        )
        if paid is not None:
            self._paid[batch] = self._paid[batch] + paid
            self._replies += replies
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def _cost(self, usages: dict[bool, Usage]) -> float:
        return sum(self._prices.cost(usage, batch=batch) for batch, usage in usages.items())


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens
