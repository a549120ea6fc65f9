"""What varies between the drafts of a scenario, drawn by key."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TypeVar

from data.randomness import keyed_generator

Item = TypeVar("Item")


class Drawing:
    """Draws that belong to one draft of one scenario."""

    def __init__(self, scenario: str, number: int, seed: int) -> None:
        self._generator = keyed_generator(seed, f"workflows.{scenario}", str(number))
        self._numbers: dict[str, set[int]] = {}

    def whole(self, low: int, high: int, step: int = 1) -> int:
        """A whole number from `low` to `high`, both included, in steps of `step`."""
        return low + step * int(self._generator.integers(0, (high - low) // step + 1))

    def cents(self, low: int, high: int) -> float:
        """An amount between two whole ones, to the cent."""
        return round(self.whole(low * 100, high * 100) / 100, 2)

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.whole(0, len(items) - 1)]

    def sample(self, items: Sequence[Item], count: int) -> list[Item]:
        """`count` different items in any order."""
        order = self._generator.permutation(len(items))[:count]
        assert len(order) == count, f"{count} of {len(items)} items"
        return [items[int(at)] for at in order]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        return self.sample(items, len(items))

    def day(self, start: str, end: str) -> str:
        """A day from `start` to `end`, both included, all as YYYY-MM-DD."""
        first, last = dt.date.fromisoformat(start), dt.date.fromisoformat(end)
        return str(first + dt.timedelta(self.whole(0, (last - first).days)))

    def identifier(self, prefix: str, digits: int = 4) -> str:
        """An id that no other record of the draft has; its number says nothing."""
        taken = self._numbers.setdefault(prefix, set())
        while True:
            number = self.whole(10 ** (digits - 1), 10**digits - 1)
            if number not in taken:
                taken.add(number)
                return f"{prefix}-{number}"


def days_later(day: str, count: int) -> str:
    """The day `count` days after (or, if negative, before) a day as YYYY-MM-DD."""
    return str(dt.date.fromisoformat(day) + dt.timedelta(count))
