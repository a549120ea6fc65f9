"""A guesser without the data: the most frequent answer, and what a public ranking says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from construction.analytics.contracts import AnalyticTask
from construction.analytics.drawing import World

NAMES, YES_NO = "entity", "boolean"


class Guesser:
    """Counts the answers that a guesser would get right, by kind of part.

    Chance is 1/2 for yes or no, and 1 among the values of the column for names. A public ranking
    names the entity at the rank asked for by the metric declared as `prominence`.
    """

    def __init__(self, world: World, beyond: float) -> None:
        self.beyond = beyond
        self.chance = {YES_NO: 0.5}
        self.ranking: dict[str, list[str]] = {}
        self.constant: dict[str, Counter[str]] = {}
        self.ranked: Counter[str] = Counter()
        declaration = world.declaration
        for slot, name in declaration.prominence.items():
            metric = next(metric for metric in declaration.metrics if metric.name == name)
            frame = world.tables[metric.table]
            if slot in frame.columns:
                ordered = frame.drop_nulls(metric.column).sort(metric.column, descending=True)
                self.ranking[slot] = (
                    ordered[slot].drop_nulls().unique(maintain_order=True).to_list()
                )
                self.chance[slot] = 1 / max(len(self.ranking[slot]), 1)

    def limit(self, slot: str, n: int) -> int:
        """How many of `n` answers may be guessed; at least one."""
        return max(int((self.chance[slot] + self.beyond) * n + 1e-9), 1)

    def fits(self, task: AnalyticTask, room: int = 4) -> bool:
        """Could the task be added? `room`: how many more are expected, while there are few."""
        for slot, value, ranked in self._guessable(task):
            counted = self.constant.setdefault(slot, Counter())
            n = max(counted.total() + 1, room)
            if counted[value] + 1 > self.limit(slot, n):
                return False
            if ranked and self.ranked[slot] + 1 > self.limit(slot, n):
                return False
        return True

    def add(self, task: AnalyticTask) -> None:
        for slot, value, ranked in self._guessable(task):
            self.constant.setdefault(slot, Counter())[value] += 1
            self.ranked[slot] += ranked

    def _guessable(self, task: AnalyticTask) -> Iterator[tuple[str, str, bool]]:
        for part, answer in zip(task.parts, task.answers, strict=True):
            if part.kind == YES_NO:
                yield YES_NO, answer.value, False
            elif part.kind == NAMES and part.names in self.chance:
                yield part.names, answer.value, self._is_ranked(task, part.names, answer.value)

    def _is_ranked(self, task: AnalyticTask, slot: str, value: str) -> bool:
        rank = int(task.drawn.get("nth", "1"))
        ranking = self.ranking[slot]
        return rank <= len(ranking) and ranking[rank - 1] == value

    def report(self) -> Mapping[str, Mapping[str, float | int]]:
        """By kind of part: how many, chance, and the share that each guesser gets right."""
        return {
            slot: {
                "n": counted.total(),
                "chance": round(self.chance[slot], 4),
                "majority": round(max(counted.values()) / counted.total(), 4),
                "ranking": round(self.ranked[slot] / counted.total(), 4),
            }
            for slot, counted in sorted(self.constant.items())
            if counted
        }
