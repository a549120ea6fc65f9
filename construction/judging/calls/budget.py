"""What a run may spend: a call's worst case is reserved before it, its cost settled after.

A run that only looks (`build --dry-run`) counts what it would ask in `FORECASTS`.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from construction.judging.calls.contracts import LlmConfig, Usage


class Tariff(NamedTuple):
    """What decides the price of a call: the model, and whether a batch pays for it."""

    model: str
    batch: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has paid so far: number of replies, tokens, and cost in the prices' currency."""

    replies: int
    usage: Usage
    cost: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What questions of one stage would cost, as far as that is known before they are asked.

    The tokens of prompts are estimated, those of replies the most that they may have.
    """

    stage: str
    model: str
    calls: int
    usage: Usage
    cost: float


FORECASTS: ContextVar[list[Forecast] | None] = ContextVar("forecasts", default=None)


class Budget:
    """Tokens and money of one run; shared by its clients and their threads.

    A call starts only if the run would stay within its limits even if every call under way cost
    its worst case. The first call that does not fit while none is under way ends the run's
    spending: `exhausted`. A call that may have been paid for although no reply came is charged its
    worst case.
    """

    def __init__(self, config: LlmConfig) -> None:
        self._config = config
        self._paid: dict[Tariff, Usage] = {}
        self._reserved: dict[Tariff, Usage] = {}
        self._replies = 0
        self._changed = threading.Condition()
        self.exhausted = False

    @property
    def spent(self) -> Spent:
        """The replies, tokens and cost paid so far."""
        usage = sum(self._paid.values(), Usage())
        return Spent(self._replies, usage, self._cost(self._paid))

    def reserve(self, worst: Usage, tariff: Tariff, *, wait: bool = True) -> bool:
        """Reserve `worst`, when it fits; False if it never will in this run.

        Without `wait`, the first that does not fit now ends the run's spending.
        """
        with self._changed:
            while not self.exhausted:
                if self._fits(worst, tariff):
                    self._hold(worst, tariff)
                    return True
                if not wait or not any(self._reserved.values()):
                    self.exhausted = True
                    self._changed.notify_all()
                else:
                    self._changed.wait()
            return False

    def take_over(self, worst: Usage, tariff: Tariff) -> None:
        """Reserve for a batch that an earlier run submitted, even beyond the limits."""
        with self._changed:
            self._hold(worst, tariff)

    def settle(self, worst: Usage, tariff: Tariff, paid: Usage | None, replies: int = 1) -> None:
        """Release a reservation and record what was paid; None: nothing was."""
        with self._changed:
            self._reserved[tariff] = self._reserved[tariff] - worst
            if paid is not None:
                self._paid[tariff] = self._paid.get(tariff, Usage()) + paid
                self._replies += replies
            self._changed.notify_all()

    def _hold(self, worst: Usage, tariff: Tariff) -> None:
        self._reserved[tariff] = self._reserved.get(tariff, Usage()) + worst

    def _fits(self, worst: Usage, tariff: Tariff) -> bool:
        total: dict[Tariff, Usage] = {tariff: worst}
        for part in (self._paid, self._reserved):
            for each, usage in part.items():
                total[each] = total.get(each, Usage()) + usage
        most, most_cost = self._config.budget_tokens, self._config.budget_cost
        if most is not None and sum(usage.tokens for usage in total.values()) > most:
            return False
        return most_cost is None or self._cost(total) <= most_cost

    def _cost(self, usages: dict[Tariff, Usage]) -> float:
        prices = self._config.prices
        return sum(
            prices.cost(usage, batch=tariff.batch, model=tariff.model)
            for tariff, usage in usages.items()
        )
