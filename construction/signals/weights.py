"""Masses and weights of patterns and families, w_f = Σ_{p∈P_f} m_p / Σ m, the gap, and seed ideas.

The sums run over benchmarkable patterns (Claw-Eval-Live §3.2). Uncategorized mass, and the mass of
patterns that serve agents themselves, are reported separately.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from math import fsum
from pathlib import Path
from typing import Any

from construction.signals.assign import Assignment
from construction.signals.codebook import UNCATEGORIZED, Codebook, Crosswalk
from construction.signals.config import Counting, GapConfig, SignalsConfig
from data.apportion import apportion, total_variation
from data.contracts import Candidate, Evidence
from data.errors import ConfigError


@dataclass(frozen=True, slots=True)
class _PatternMass:
    """A pattern's mass, its number of signals, and its heaviest signals by share of mass."""

    pattern: str
    family: str
    benchmarkable: bool
    mass: float
    signals: int
    heaviest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _FamilyWeight:
    """A signal family's mass and its weight among the benchmarkable ones (0 for the others)."""

    family: str
    mass: float
    weight: float
    patterns: int


@dataclass(frozen=True, slots=True)
class Mixture:
    """The market's mixture by one measure and one way of counting, both named.

    `total` is the popularity of all signals. Under fractional counting the masses of all patterns
    and `uncategorized` sum to it; under full counting a signal counts in each of its patterns.
    `uncategorized_share` and `meta_share` (patterns that are not benchmarkable) are relative to
    `total`; under full counting a signal may count in a meta pattern and in others.
    """

    measure: str
    counting: str
    total: float
    patterns: tuple[_PatternMass, ...]
    families: tuple[_FamilyWeight, ...]
    uncategorized_share: float
    meta_share: float
    uncategorized: tuple[str, ...]

    @property
    def weights(self) -> dict[str, float]:
        """Weight by family, benchmarkable families only: sums to 1 unless there is no mass."""
        return {row.family: row.weight for row in self.families if row.weight > 0}

    @property
    def pattern_weights(self) -> dict[str, float]:
        """As `weights`, by benchmarkable pattern."""
        masses = {row.pattern: row.mass for row in self.patterns if row.benchmarkable and row.mass}
        market = fsum(masses.values())
        return {pattern: _share(mass, market) for pattern, mass in masses.items()}


_HEAVIEST = 5


def mixture(
    assignments: Sequence[Assignment],
    masses: Mapping[str, float],
    codebook: Codebook,
    config: SignalsConfig,
) -> Mixture:
    """Sum the popularity of signals over their patterns and families."""
    by_pattern = parts(assignments, masses, config.counting)
    patterns = tuple(
        _pattern_mass(slug, by_pattern.get(slug, []), codebook) for slug in codebook.patterns
    )
    total = round(fsum(masses.values()), 9)
    lost = [one.slug for one in assignments if one.pattern == UNCATEGORIZED]
    return Mixture(
        config.measure.value,
        config.counting.value,
        total,
        patterns,
        _family_weights(patterns, codebook),
        _share(fsum(masses[slug] for slug in lost), total),
        _share(fsum(one.mass for one in patterns if not one.benchmarkable), total),
        tuple(sorted(lost, key=lambda slug: (-masses[slug], slug))),
    )


def parts(
    assignments: Iterable[Assignment], masses: Mapping[str, float], counting: Counting
) -> dict[str, list[tuple[float, str]]]:
    """The masses and slugs of each pattern's signals."""
    own: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for assignment in assignments:
        for share in assignment.shares:
            part = share.share if counting is Counting.FRACTIONAL else 1.0
            own[share.pattern].append((round(part * masses[assignment.slug], 9), assignment.slug))
    return own


def _pattern_mass(
    slug: str, parts: Sequence[tuple[float, str]], codebook: Codebook
) -> _PatternMass:
    heaviest = sorted(parts, key=lambda part: (-part[0], part[1]))[:_HEAVIEST]
    pattern = codebook.patterns[slug]
    return _PatternMass(
        slug,
        pattern.family,
        pattern.benchmarkable,
        round(fsum(mass for mass, _ in parts), 9),
        len(parts),
        tuple(name for _, name in heaviest),
    )


def _family_weights(
    patterns: Sequence[_PatternMass], codebook: Codebook
) -> tuple[_FamilyWeight, ...]:
    market = fsum(one.mass for one in patterns if one.benchmarkable)
    rows = []
    for family in codebook.families:
        own = [one for one in patterns if one.family == family]
        mass = fsum(one.mass for one in own)
        counted = fsum(one.mass for one in own if one.benchmarkable)
        rows.append(_FamilyWeight(family, round(mass, 9), _share(counted, market), len(own)))
    return tuple(rows)


def _share(part: float, whole: float) -> float:
    return round(part / whole, 9) if whole else 0.0


@dataclass(frozen=True, slots=True)
class DatedMixture:
    """The mixture of one snapshot, with the snapshot's source, date and digest."""

    source: str
    date: dt.date
    digest: str
    mixture: Mixture


@dataclass(frozen=True, slots=True)
class _WeightChange:
    """A family or pattern before and after; `points` is the difference in percentage points.

    `low` and `high` are the ends of its 95 % interval, where one was computed (`drift`).
    """

    name: str
    before: float
    after: float
    points: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class MixtureChange:
    """The comparison of two snapshots; rows by |points|, then by name.

    `distance` is the total variation distance of the family weights. Snapshots of different size
    (a top 500 and a top 99) also differ by their size: compare tops of equal size.
    """

    before: dt.date
    after: dt.date
    families: tuple[_WeightChange, ...]
    patterns: tuple[_WeightChange, ...]
    distance: float


def _history(mixtures: Sequence[DatedMixture]) -> list[DatedMixture]:
    """The mixtures by date, then source; raises ConfigError if they are not comparable."""
    kinds = sorted({(one.mixture.measure, one.mixture.counting) for one in mixtures})
    if len(kinds) > 1:
        ways = ", ".join(f"{measure} ({counting})" for measure, counting in kinds)
        raise ConfigError(
            f"history: the snapshots are counted in different ways: {ways}. Analyse them all "
            "with the same measure and counting."
        )
    return sorted(mixtures, key=lambda dated: (dated.date, dated.source))


def change(before: DatedMixture, after: DatedMixture) -> MixtureChange:
    """The changes from one mixture to another; raises ConfigError if they are not comparable."""
    _history([before, after])
    old, new = before.mixture, after.mixture
    return MixtureChange(
        before.date,
        after.date,
        _changes(old.weights, new.weights),
        _changes(old.pattern_weights, new.pattern_weights),
        round(total_variation(old.weights, new.weights), 9),
    )


def _changes(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[_WeightChange, ...]:
    rows = []
    for name in before.keys() | after.keys():
        old, new = before.get(name, 0.0), after.get(name, 0.0)
        rows.append(_WeightChange(name, old, new, round(100.0 * (new - old), 9)))
    return tuple(sorted(rows, key=lambda row: (-abs(row.points), row.name)))


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
    return GapRow(family, weight, share, gap, tasks, suggested, _action(gap, config))


def _action(gap: float, config: GapConfig) -> Action:
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
class _Grading:
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
    grading: _Grading
    signals: tuple[str, ...]


@cache
def _gradings() -> Mapping[str, _Grading]:
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
    lacking = sorted(weights.keys() - _gradings().keys())
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
                grading=_gradings()[name],
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


def _grading(entry: Mapping[str, Any]) -> _Grading:
    kinds = dict.fromkeys(entry["evidence"], True)
    return _Grading(Evidence(**kinds), entry["expected"], entry["graded"], entry["ungraded"])
