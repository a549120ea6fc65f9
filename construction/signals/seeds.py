"""Seed ideas: briefs for task writers from weighted patterns, more ideas for heavier patterns."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from construction.signals.codebook import Codebook, Crosswalk
from construction.signals.config import GapConfig, SignalsConfig
from construction.signals.weights import Mixture
from data.apportion import apportion, total_variation
from data.contracts import Candidate, Evidence
from data.errors import ConfigError

# Coverage gap: the market's weights compared with the tasks of a pool or the last release.


class Action(StrEnum):
    """The action for a family: more tasks (PRIORITY, ADD), fewer (TRIM, REDUCE), or none (OK)."""

    PRIORITY = "PRIORITY"
    ADD = "ADD"
    OK = "OK"
    TRIM = "TRIM"
    REDUCE = "REDUCE"


@dataclass(frozen=True, slots=True)
class GapRow:
    """A family: its weight, its share of the tasks, and weight minus share in percentage points.

    `suggested` is its number of tasks in a release of the requested size.
    """

    family: str
    weight: float
    share: float
    gap: float
    tasks: int
    suggested: int
    action: Action


@dataclass(frozen=True, slots=True)
class CoverageGap:
    """The gap by family, largest first.

    `distance` is the total variation distance of the tasks from the weights.
    `suggested_distance` is that of the suggested release: the effect of whole numbers and bounds.
    """

    rows: tuple[GapRow, ...]
    tasks: int
    size: int
    distance: float
    suggested_distance: float


def coverage_gap(
    weights: Mapping[str, float],
    tasks: Mapping[str, int],
    size: int,
    config: GapConfig,
    *,
    least: Mapping[str, int] | None = None,
    most: Mapping[str, int] | None = None,
) -> CoverageGap:
    """Compare task counts by family with weights, and apportion a release of `size` tasks.

    A family of the pool without weight has weight 0. Suggested numbers follow the largest
    remainder method within `least` and `most`; raises ConfigError if these bounds admit no release
    of `size`. An empty pool has share 0 everywhere, and distance 1.
    """
    families = sorted(weights.keys() | tasks.keys())
    held = sum(tasks.values())
    full = {family: weights.get(family, 0.0) for family in families}
    suggested = _suggested(full, size, least or {}, most)
    rows = [
        _row(family, full[family], tasks.get(family, 0), held, suggested[family], config)
        for family in families
    ]
    rows.sort(key=lambda row: (-row.gap, row.family))
    return CoverageGap(
        tuple(rows),
        held,
        size,
        round(total_variation(full, tasks), 9) if held else 1.0,
        round(total_variation(full, suggested), 9) if size else 1.0,
    )


def _suggested(
    weights: Mapping[str, float],
    size: int,
    least: Mapping[str, int],
    most: Mapping[str, int] | None,
) -> dict[str, int]:
    """Suggested numbers of tasks; a family without weight gets exactly its `least`."""
    bounds = dict(most or {}) | {name: least.get(name, 0) for name, w in weights.items() if w <= 0}
    return apportion(weights, size, least=least, most=bounds) if weights else {}


def _row(
    family: str, weight: float, tasks: int, held: int, suggested: int, config: GapConfig
) -> GapRow:
    share = round(tasks / held, 9) if held else 0.0
    gap = round(100.0 * (weight - share), 9)
    return GapRow(family, weight, share, gap, tasks, suggested, action(gap, config))


def action(gap: float, config: GapConfig) -> Action:
    """The action for a gap in percentage points; a gap equal to a limit triggers its action."""
    if gap >= config.act:
        return Action.PRIORITY
    if gap >= config.mind:
        return Action.ADD
    if gap <= -config.act:
        return Action.REDUCE
    if gap <= -config.mind:
        return Action.TRIM
    return Action.OK


def gap_of_pool(
    weights: Mapping[str, float], pool: Iterable[Candidate], size: int, config: GapConfig
) -> dict[str, Any]:
    """The coverage gap of a pool for a release of `size`, as the report of a selection has it."""
    families = Counter(task.task_family.value for task in pool if task.task_family is not None)
    return asdict(coverage_gap(weights, families, size, config))


_PATH = Path(__file__).parent / "seeds.toml"


@dataclass(frozen=True, slots=True)
class Grading:
    """The evidence that a grader of a pattern's tasks needs, and what is graded and what is not."""

    evidence: Evidence
    expected: str
    graded: str
    ungraded: str


@dataclass(frozen=True, slots=True)
class SeedIdea:
    """A brief for `ideas` tasks of one pattern, with the slugs of its heaviest signals."""

    pattern: str
    family: str
    task_family: str
    display_group: str
    weight: float
    ideas: int
    user_goal: str
    artifact: str
    execution_surface: str
    grading: Grading
    signals: tuple[str, ...]


@cache
def gradings() -> Mapping[str, Grading]:
    """The gradings of seeds.toml by pattern."""
    with _PATH.open("rb") as handle:
        tables = tomllib.load(handle)
    return {pattern: _grading(entry) for pattern, entry in tables.items()}


def seed_ideas(
    mixture: Mixture, codebook: Codebook, crosswalk: Crosswalk, config: SignalsConfig
) -> tuple[SeedIdea, ...]:
    """Briefs for `config.ideas` tasks, apportioned to the patterns' weights; heaviest first.

    Each pattern with weight gets at least one idea if there are enough for all, and none gets more
    than `config.max_ideas`; with few patterns the total is therefore below `config.ideas`. Raises
    ConfigError if a pattern has no grading.
    """
    weights = mixture.pattern_weights
    lacking = sorted(weights.keys() - gradings().keys())
    if lacking:
        raise ConfigError(f"{_PATH}: no grading for {', '.join(lacking)}. Add a table for each.")
    numbers = _numbers(weights, config)
    masses = {one.pattern: one for one in mixture.patterns}
    ideas = []
    for name in sorted(weights, key=lambda name: (-weights[name], name)):
        pattern = codebook.patterns[name]
        task_family = crosswalk.task_family({pattern.family: 1.0}) or ""
        ideas.append(
            SeedIdea(
                pattern=name,
                family=pattern.family,
                task_family=task_family,
                display_group=crosswalk.display_group(task_family) if task_family else "",
                weight=weights[name],
                ideas=numbers[name],
                user_goal=pattern.goal,
                artifact=pattern.artifact,
                execution_surface=pattern.surface,
                grading=gradings()[name],
                signals=masses[name].heaviest,
            )
        )
    return tuple(ideas)


def _numbers(weights: Mapping[str, float], config: SignalsConfig) -> dict[str, int]:
    total = min(config.ideas, len(weights) * config.max_ideas)
    floor = 1 if total >= len(weights) else 0
    return apportion(
        weights,
        total,
        least=dict.fromkeys(weights, floor),
        most=dict.fromkeys(weights, config.max_ideas),
    )


def _grading(entry: Mapping[str, Any]) -> Grading:
    kinds = dict.fromkeys(entry["evidence"], True)
    return Grading(Evidence(**kinds), entry["expected"], entry["graded"], entry["ungraded"])
