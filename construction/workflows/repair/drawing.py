"""Keyed draws for the folders of repair tasks, and the tables that their files are made of."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from data.randomness import keyed_generator

Item = TypeVar("Item")


class Draw:
    """Draws that belong to one draft of one generator."""

    def __init__(self, seed: int, generator: str, number: int) -> None:
        self._random = keyed_generator(seed, "repair", f"{generator}/{number}")

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return int(self._random.integers(low, high + 1))

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.number(0, len(items) - 1)]

    def several(self, items: Sequence[Item], count: int) -> list[Item]:
        """So many different items, in random order."""
        order = self._random.permutation(len(items))[:count]
        return [items[int(index)] for index in order]

    def instant(self, first: str = "2026-01-12", days: int = 200, hour: int = 6) -> datetime:
        """An instant in the three hours from `hour` UTC, up to `days` days after `first`.

        Without arguments: a working morning of the year 2026.
        """
        start = datetime.fromisoformat(first).replace(hour=hour, tzinfo=UTC)
        return start + timedelta(days=self.number(0, days), minutes=self.number(0, 180))

    def night(self) -> datetime:
        """An instant of a night of the year 2026, UTC."""
        return self.instant(hour=0)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV file with Unix line ends."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return buffer.getvalue().encode()


def read_table(data: bytes) -> list[dict[str, str]]:
    """The rows of a CSV file by column."""
    return list(csv.DictReader(io.StringIO(data.decode())))


def stamp(moment: datetime) -> str:
    """An instant as logs write it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
