"""Seed ideas: briefs for task writers from weighted patterns, more ideas for heavier patterns."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from construction.signals.codebook import Codebook
from construction.signals.config import SignalsConfig
from construction.signals.crosswalk import Crosswalk
from construction.signals.weights import Mixture
from data.apportion import apportion
from data.contracts import Evidence
from data.errors import ConfigError

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
