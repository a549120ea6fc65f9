"""What changed between two snapshots: who came, who went, and whose share of the mass moved."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass

from data.contracts import Popularity, Signal, SignalSnapshot
from data.errors import InputError

_DIGITS = 9  # shares are rounded before they decide an order (law 5)


@dataclass(frozen=True, slots=True)
class Standing:
    """A skill in one snapshot: count, 1-based place by the measure, and its share of the mass.

    `share` is None for a skill below the compared top: only these have shares that sum to 1.
    """

    count: int
    place: int
    share: float | None


@dataclass(frozen=True, slots=True)
class SignalChange:
    """A skill in the old and the new snapshot; None where it is not in it at all.

    `moved` is the new share minus the old one, with 0 for no share.
    """

    slug: str
    old: Standing | None
    new: Standing | None
    moved: float


@dataclass(frozen=True, slots=True)
class SnapshotChange:
    """The top `top` of both snapshots compared; each list by |moved|, then by slug.

    `added` are in the new top only, `dropped` in the old top only, `moved` in both. Such a skill
    may still stand in the other snapshot below its top: then it has a standing there.
    `overlap` is the share of the new top's mass that was in the old top.
    """

    source: str
    measure: Popularity
    old_date: dt.date
    new_date: dt.date
    top: int
    added: tuple[SignalChange, ...]
    dropped: tuple[SignalChange, ...]
    moved: tuple[SignalChange, ...]
    overlap: float


def compare(old: SignalSnapshot, new: SignalSnapshot) -> SnapshotChange:
    """Compare two snapshots on tops of equal size, that of the smaller one.

    A top 500 and a top 99 can be compared so, without 401 skills that seem to have gone. Raises
    InputError if they count different things.
    """
    if old.measure is not new.measure:
        raise InputError(
            f"snapshot {new.date.isoformat()}",
            f"mass by {new.measure}",
            f"{old.measure}, as on {old.date.isoformat()}",
            "Collect both by one measure.",
        )
    top = min(len(old.signals), len(new.signals))
    before, after = _standings(old, top), _standings(new, top)
    changes = [
        _change(slug, before.get(slug), after.get(slug)) for slug in sorted(before.keys() | after)
    ]
    changes.sort(key=lambda change: (-abs(change.moved), change.slug))
    was = {slug for slug, standing in before.items() if standing.share is not None}
    has = {slug for slug, standing in after.items() if standing.share is not None}
    kept_mass = math.fsum(after[slug].share or 0.0 for slug in was & has)
    return SnapshotChange(
        source=new.source,
        measure=new.measure,
        old_date=old.date,
        new_date=new.date,
        top=top,
        added=tuple(change for change in changes if change.slug in has - was),
        dropped=tuple(change for change in changes if change.slug in was - has),
        moved=tuple(change for change in changes if change.slug in was & has),
        overlap=round(kept_mass, _DIGITS),
    )


def _standings(snapshot: SignalSnapshot, top: int) -> Mapping[str, Standing]:
    def count(signal: Signal) -> int:
        return signal.popularity[snapshot.measure]

    ranked = sorted(snapshot.signals, key=lambda signal: (-count(signal), signal.slug))
    mass = sum(map(count, ranked[:top]))
    return {
        signal.slug: Standing(
            count(signal),
            place,
            (round(count(signal) / mass, _DIGITS) if mass else 0.0) if place <= top else None,
        )
        for place, signal in enumerate(ranked, start=1)
    }


def _change(slug: str, old: Standing | None, new: Standing | None) -> SignalChange:
    def share(standing: Standing | None) -> float:
        return (standing.share or 0.0) if standing else 0.0

    return SignalChange(slug, old, new, round(share(new) - share(old), _DIGITS))
