"""Masses and weights of patterns and families, w_f = Σ_{p∈P_f} m_p / Σ m, and their history.

The sums run over benchmarkable patterns (Claw-Eval-Live §3.2). Uncategorized mass, and the mass of
patterns that serve agents themselves, are reported separately.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from construction.signals.assign import Assignment
from construction.signals.codebook import UNCATEGORIZED, Codebook
from construction.signals.config import Counting, SignalsConfig
from data.apportion import total_variation
from data.errors import ConfigError


@dataclass(frozen=True, slots=True)
class PatternMass:
    """A pattern's mass, its number of signals, and its heaviest signals by share of mass."""

    pattern: str
    family: str
    benchmarkable: bool
    mass: float
    signals: int
    heaviest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FamilyWeight:
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
    patterns: tuple[PatternMass, ...]
    families: tuple[FamilyWeight, ...]
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


def _pattern_mass(slug: str, parts: Sequence[tuple[float, str]], codebook: Codebook) -> PatternMass:
    heaviest = sorted(parts, key=lambda part: (-part[0], part[1]))[:_HEAVIEST]
    pattern = codebook.patterns[slug]
    return PatternMass(
        slug,
        pattern.family,
        pattern.benchmarkable,
        round(fsum(mass for mass, _ in parts), 9),
        len(parts),
        tuple(name for _, name in heaviest),
    )


def _family_weights(
    patterns: Sequence[PatternMass], codebook: Codebook
) -> tuple[FamilyWeight, ...]:
    market = fsum(one.mass for one in patterns if one.benchmarkable)
    rows = []
    for family in codebook.families:
        own = [one for one in patterns if one.family == family]
        mass = fsum(one.mass for one in own)
        counted = fsum(one.mass for one in own if one.benchmarkable)
        rows.append(FamilyWeight(family, round(mass, 9), _share(counted, market), len(own)))
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
class WeightChange:
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
    families: tuple[WeightChange, ...]
    patterns: tuple[WeightChange, ...]
    distance: float


def history(mixtures: Sequence[DatedMixture]) -> list[DatedMixture]:
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
    history([before, after])
    old, new = before.mixture, after.mixture
    return MixtureChange(
        before.date,
        after.date,
        _changes(old.weights, new.weights),
        _changes(old.pattern_weights, new.pattern_weights),
        round(total_variation(old.weights, new.weights), 9),
    )


def _changes(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[WeightChange, ...]:
    rows = []
    for name in before.keys() | after.keys():
        old, new = before.get(name, 0.0), after.get(name, 0.0)
        rows.append(WeightChange(name, old, new, round(100.0 * (new - old), 9)))
    return tuple(sorted(rows, key=lambda row: (-abs(row.points), row.name)))
