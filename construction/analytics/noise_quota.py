"""The quota of tasks whose answer noise changes, all in all and per kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from construction.analytics.config import AnalyticsRecipe
from construction.analytics.contracts import AnalyticTask

ANY = "any"


class NoiseQuota:
    """Counts the tasks with and without each kind that has a quota.

    `wanted`: the number of tasks of the whole set, None if it is open. A task is refused if the
    rest of the set could no longer reach a quota after it; in an open set the shares must be
    reached all along, but for the first few tasks.
    """

    def __init__(self, recipe: AnalyticsRecipe, wanted: int | None, room: int = 4) -> None:
        kinds = {str(kind): share for kind, share in recipe.noise.items()}
        self.shares: Mapping[str, float] = {ANY: recipe.noisy, **kinds}
        self.wanted, self.room = wanted, room
        self.n = 0
        self.without: Counter[str] = Counter()

    def missing(self, task: AnalyticTask) -> str | None:
        """The kind of noise of which there would be too little with this task."""
        size = self.wanted if self.wanted is not None else max(self.n + 1, self.room)
        for kind, share in self.shares.items():
            most = int((1 - share) * size + 1e-9)
            if not _has(task, kind) and self.without[kind] + 1 > most:
                return kind
        return None

    def add(self, task: AnalyticTask) -> None:
        self.n += 1
        self.without.update(kind for kind in self.shares if not _has(task, kind))

    def report(self) -> dict[str, dict[str, float]]:
        """Per kind the share that was wanted, and the share that there is."""
        return {
            kind: {
                "wanted": share,
                "reached": round(1 - self.without[kind] / self.n, 4) if self.n else 0.0,
            }
            for kind, share in self.shares.items()
        }

    @property
    def is_reached(self) -> bool:
        return all(kind["reached"] >= kind["wanted"] for kind in self.report().values())


def _has(task: AnalyticTask, kind: str) -> bool:
    return bool(task.noise) if kind == ANY else kind in task.noise
