"""What changed between two snapshots."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from construction.signals.collect import CollectConfig, Standing, collect_file, compare
from construction.signals.collect.snapshot import make_snapshot
from data.contracts import Popularity
from data.errors import InputError
from tests.construction.signals.collect.made import DAY, made_snapshot

MAY = dt.date(2026, 5, 1)


def test_added_dropped_and_moved() -> None:
    old = made_snapshot({"a": 50, "b": 30, "c": 20})
    new = made_snapshot({"b": 60, "a": 20, "d": 20}, MAY)
    change = compare(old, new)
    assert (change.old_date, change.new_date, change.top) == (DAY, MAY, 3)
    assert [(c.slug, c.moved) for c in change.moved] == [("a", -0.3), ("b", 0.3)]
    assert change.moved[0].old == Standing(50, 1, 0.5)
    assert change.moved[0].new == Standing(20, 2, 0.2)  # before d by its slug
    assert [(c.slug, c.old, c.moved) for c in change.added] == [("d", None, 0.2)]
    assert [(c.slug, c.new, c.moved) for c in change.dropped] == [("c", None, -0.2)]
    assert change.overlap == 0.8


def test_tops_of_equal_size_are_compared() -> None:
    old = made_snapshot({"a": 60, "b": 40, "c": 39, "d": 1})
    new = made_snapshot({"c": 75, "a": 25}, MAY)
    change = compare(old, new)
    assert change.top == 2
    assert [(c.slug, c.old, c.moved) for c in change.added] == [
        ("c", Standing(39, 3, None), 0.75)  # it was there, below the top
    ]
    assert [c.slug for c in change.dropped] == ["b"]  # and d was never in the compared top
    assert [(c.slug, c.moved) for c in change.moved] == [("a", -0.35)]


def test_most_moved_first_with_ties_by_slug() -> None:
    old = made_snapshot({"a": 25, "b": 25, "c": 25, "d": 25})
    new = made_snapshot({"a": 30, "b": 20, "c": 10, "d": 40}, MAY)
    assert [c.slug for c in compare(old, new).moved] == ["c", "d", "a", "b"]


def test_the_same_snapshot_does_not_change() -> None:
    snapshot = made_snapshot({"a": 1, "b": 2})
    change = compare(snapshot, snapshot)
    assert (change.added, change.dropped, change.overlap) == ((), (), 1.0)
    assert [c.moved for c in change.moved] == [0.0, 0.0]


def test_a_snapshot_without_mass_has_no_shares_to_divide() -> None:
    change = compare(made_snapshot({"a": 0}), made_snapshot({"a": 0}, MAY))
    assert [(c.moved, c.new) for c in change.moved] == [(0.0, Standing(0, 1, 0.0))]


def test_different_measures_are_not_compared() -> None:
    old = made_snapshot({"a": 1})
    new = make_snapshot("made", MAY, Popularity.STARS, ())
    with pytest.raises(InputError, match="mass by stars; expected downloads, as on 2026-03-01"):
        compare(old, new)


def test_march_and_may(material: Path) -> None:
    folder = material / "signals"
    march = collect_file(folder / "clawhub_top_500.csv", "clawhub", DAY, CollectConfig())
    may = collect_file(folder / "clawhub_top_99_2026-05.json", "clawhub", MAY, CollectConfig())
    change = compare(march.snapshot, may.snapshot)
    assert change.top == 99
    assert len(change.moved) + len(change.dropped) == len(change.moved) + len(change.added) == 99
    both = {s.slug for s in march.snapshot.signals} & {s.slug for s in may.snapshot.signals}
    known = [c for c in (*change.added, *change.moved) if c.old is not None]
    assert {c.slug for c in known} == both
    assert sum(c.moved for c in (*change.added, *change.dropped, *change.moved)) == pytest.approx(
        0, abs=1e-6
    )
