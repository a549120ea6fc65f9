"""Settings of the analytics lane in a build, and its quotas: of tasks whose answer noise changes,
and per category in proportion to demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from construction.analytics.contracts import AnalyticTask, Category, Split
from construction.analytics.environment.declaration import IGNORABLE, Noise
from construction.judging.consensus import ConsensusConfig
from data.apportion import apportion
from data.contracts import Share, StageConfig
from data.text.lexicon import load_table

Variant = Literal["raw", "cleaned", "guided"]


def _ignorable(noise: Noise) -> Noise:
    if noise not in IGNORABLE:
        raise ValueError(f"found {noise}; expected one of {', '.join(IGNORABLE)}")
    return noise


_IgnorableNoise = Annotated[Noise, AfterValidator(_ignorable)]


class AnalyticsRecipe(StageConfig):
    """Which variant agents get, and how many tasks must depend on its noise.

    `papers`: where an agency's papers are, if there are more than 60 of them: in its `archive`, a
    service that finds words and answers a limited number of requests, or among the `files`.

    `noisy`: the minimum share of tasks whose answer changes if some noise is ignored; `noise`: the
    minimum share per kind of noise. Candidates that would put these shares out of reach are
    rejected, so a set may be smaller than requested, but never short of noise. `splits`: which
    tasks to make from templates: those that apply a policy and ask for two results (`full`), and
    easy ones (`smoke`).

    `quotas`: how many tasks to make per category: as the environment declares (`declared`), or the
    same total distributed by the weights from the signals lane (`signals`; `families.toml` says
    which category serves which family). `per_template`: how many tasks one template may make, for
    example as many as a release takes. `consensus`: who answers each task in addition to the gates:
    `executor`, and models by name. If they do not agree, people decide (`agents review`); without
    annotators, nobody is asked.
    """

    variant: Variant = "raw"
    papers: Literal["archive", "files"] = "archive"
    splits: Annotated[tuple[Split, ...], Field(min_length=1)] = ("full", "smoke")
    noisy: Share = 0.3
    quotas: Literal["declared", "signals"] = "declared"
    per_template: Annotated[int, Field(gt=0)] | None = None
    noise: Mapping[_IgnorableNoise, Share] = Field(default_factory=dict)
    consensus: ConsensusConfig = ConsensusConfig()


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


Quotas = Mapping[str, Mapping[str, int]]


def family_of(category: Category | str) -> str:
    """The task family of a category."""
    return str(load_table(__package__, "families.toml")[str(category)])


def market_quotas(declared: Quotas, weights: Mapping[str, float]) -> Quotas:
    """The declared quotas with the same sum, shared by the weights of the categories' families.

    Within a family, and within a category by difficulty, the declared proportions stay. Where no
    family of the categories has a weight, the quotas are the declared ones.
    """
    totals = {category: sum(levels.values()) for category, levels in declared.items()}
    of_family: dict[str, int] = {}
    for category, n in totals.items():
        of_family[family_of(category)] = of_family.get(family_of(category), 0) + n
    shares = {
        category: weights.get(family_of(category), 0.0) * n / max(of_family[family_of(category)], 1)
        for category, n in totals.items()
    }
    if not sum(shares.values()):
        return declared
    made = apportion(shares, sum(totals.values()))
    return {
        category: apportion({level: float(n) for level, n in levels.items()}, made[category])
        for category, levels in declared.items()
    }
