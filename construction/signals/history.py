"""Mixtures over time: weights by snapshot, and what changed between two."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from construction.signals.weights import Mixture
from data.apportion import total_variation
from data.errors import ConfigError


@dataclass(frozen=True, slots=True)
class DatedMixture:
    """The mixture of one snapshot: its source, date and digest."""

    source: str
    date: dt.date
    digest: str
    mixture: Mixture


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A family or pattern before and after; `points` is the difference in percentage points."""

    name: str
    before: float
    after: float
    points: float


@dataclass(frozen=True, slots=True)
class MixtureChange:
    """Two snapshots compared; rows by |points|, then by name.

    `distance` is the total variation distance of the family weights. Snapshots of different
    depth (a top 500 and a top 99) differ by their depth, too: give tops of equal size.
    """

    before: dt.date
    after: dt.date
    families: tuple[WeightChange, ...]
    patterns: tuple[WeightChange, ...]
    distance: float


def history(mixtures: Sequence[DatedMixture]) -> list[DatedMixture]:
    """Snapshots by date, then source. Raises ConfigError if their weights cannot be compared."""
    kinds = sorted({(one.mixture.measure, one.mixture.counting) for one in mixtures})
    if len(kinds) > 1:
        told = ", ".join(f"{measure} ({counting})" for measure, counting in kinds)
        raise ConfigError(f"history: the snapshots are counted in several ways: {told}. Use one.")
    return sorted(mixtures, key=lambda one: (one.date, one.source))


def change(before: DatedMixture, after: DatedMixture) -> MixtureChange:
    """What moved from one mixture to another. Raises ConfigError if they count differently."""
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
