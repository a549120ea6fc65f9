"""Compares two snapshots: added and dropped skills, and changes in the share of the mass."""

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
    """A skill in one snapshot: count, 1-based rank by the measure, and share of the mass.

    `share` is None for a skill below the compared top; the shares of the top sum to 1.
    """

    count: int
    rank: int
    share: float | None


@dataclass(frozen=True, slots=True)
class SignalChange:
    """A skill in the old and the new snapshot, None where it is absent.

    `moved` is the new share minus the old one; a missing share counts as 0.
    """

    slug: str
    old: Standing | None
    new: Standing | None
    moved: float


@dataclass(frozen=True, slots=True)
class SnapshotChange:
    """The comparison of the top `top` of both snapshots; each list by |moved|, then by slug.

    `added` are only in the new top, `dropped` only in the old top, `moved` in both. An added or
    dropped skill may appear in the other snapshot below its top; then it has a standing there.
    `overlap` is the share of the new top's mass held by skills that were in the old top.
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
    """Compare two snapshots on tops of equal size, the size of the smaller one.

    So 401 skills do not seem to disappear between a top 500 and a top 99. Raises InputError if
    the snapshots have different measures.
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
            rank,
            (round(count(signal) / mass, _DIGITS) if mass else 0.0) if rank <= top else None,
        )
        for rank, signal in enumerate(ranked, start=1)
    }


def _change(slug: str, old: Standing | None, new: Standing | None) -> SignalChange:
    def share(standing: Standing | None) -> float:
        return (standing.share or 0.0) if standing else 0.0

    return SignalChange(slug, old, new, round(share(new) - share(old), _DIGITS))
