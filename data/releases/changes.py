"""The CHANGELOG of a release, written from what changed since the last one.

Only what both public halves show goes in: ids as released, counts, shares, recipe settings. The
last release is an input of the new one: its digest belongs among the inputs of the manifest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import orjson

from data.errors import InputError
from data.releases.diff import Changed, Diff, diff
from data.releases.facts import REPORT, ReleaseFacts, facts_of_snapshot
from data.snapshot import layout

_NAMED = 20  # ids named in a line
_SHOWN = 8  # rows of a kind told
_ALWAYS_OTHER = ("release.release_date", "release.version")
_LEAST_POINTS = 0.1  # percentage points that a weight must move to be told


def changes_between(old: Path, new: ReleaseFacts) -> list[str]:
    """The lines of the CHANGELOG: what changed since the snapshot or public half `old`.

    Raises InputError if `old` is none.
    """
    return list(_lines(diff(facts_of_snapshot(old, private=False), new)))


def previous_release(snapshots: Path, name: str, released: date) -> Path | None:
    """The newest release of this name with an earlier date; None if there is none.

    The same for every rebuild of a release, whatever was built after it.
    """
    found: list[tuple[str, int, Path]] = []
    for entry in sorted(os.scandir(snapshots), key=lambda e: e.name) if snapshots.is_dir() else ():
        if entry.is_dir(follow_symlinks=False) and entry.name.startswith(f"{name}-"):
            try:
                manifest = orjson.loads(
                    Path(entry.path, layout.PUBLIC, layout.MANIFEST).read_bytes()
                )
                told = (str(manifest["released"]), int(manifest["revision"]), Path(entry.path))
            except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
                continue  # no release: `benchmint releases` tells why
            if manifest.get("name") == name and told[0] < released.isoformat():
                found.append(told)
    return max(found)[2] if found else None


def _lines(told: Diff) -> Iterator[str]:
    before, after = told.counts
    yield (
        f"Since {told.old}: {len(told.added)} tasks added, {len(told.removed)} removed, "
        f"{len(told.changed)} changed; {before} tasks before, {after} now. "
        f"{100 * told.churn.new:.1f} % of this release is new."
    )
    if told.changed:
        fields = ", ".join(f"{name} in {n}" for name, n in told.fields.items())
        yield f"What changed in tasks: {fields}."
    if told.reused:
        yield (
            "Ids that now name another prompt or other input files; their scores do not compare: "
            f"{_some(told.reused)}."
        )
    if told.renamed:
        pairs = [f"{old} is now {new}" for old, new in told.renamed]
        yield f"Same content under another id: {_some(pairs)}."
    if told.families:
        yield f"Tasks by family: {_rows(told.families)}."
    if told.distance is not None and told.distance > 0:
        moved = sorted(told.weights, key=lambda row: (-abs(_points(row)), row.name))
        shown = [row for row in moved if abs(_points(row)) >= _LEAST_POINTS][:_SHOWN]
        rows = ", ".join(f"{row.name} {_points(row):+.1f} points" for row in shown)
        moved_by = f"Mixture: moved by {told.distance:.3f} (total variation)"
        yield f"{moved_by}: {rows}." if rows else f"{moved_by}."
    if told.funnel:
        yield f"Funnel (in, passed): {_rows(told.funnel)}."
    stamp = [row for row in told.privacy if not row.name.startswith(REPORT)]
    if stamp:
        yield f"Privacy and licence: {_rows(stamp)}."
    figures = len(told.privacy) - len(stamp)
    if figures:
        yield f"Privacy report: {figures} figures differ (audit/privacy.json)."
    settings = [row for row in told.recipe if row.name not in _ALWAYS_OTHER]
    if settings:
        yield f"Recipe: {_rows(settings)}."


def _points(row: Changed) -> float:
    return round(100 * ((row.after or 0.0) - (row.before or 0.0)), 9)


def _rows(rows: Sequence[Changed]) -> str:
    shown = "; ".join(f"{r.name} {value(r.before)} → {value(r.after)}" for r in rows[:_SHOWN])
    more = f"; and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return shown + more


def value(of: object) -> str:
    """A value of a `Changed` as text."""
    if of is None:
        return "nothing"
    return " of ".join(str(part) for part in reversed(of)) if isinstance(of, tuple) else str(of)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def find_snapshot(name: str, snapshots: Path) -> Path:
    """A snapshot by path, or by its name below `snapshots`. Raises InputError for none."""
    for path in (Path(name), snapshots / name):
        if path.is_dir() and (layout.is_id(name) or path == Path(name)):
            return path
    raise InputError(
        name,
        "nothing",
        "a snapshot, by path or name",
        "List the releases with `benchmint releases`.",
    )
