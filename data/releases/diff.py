"""What changed from one release to another: tasks, weights, funnel, privacy, recipe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from data.canonical import file_digest
from data.figures import percent, percent_range
from data.neutralise import one_line, visible
from data.reasons import stage_sentences
from data.releases.facts import CONTENT, REPORT, ReleaseFacts, facts_of_release, facts_of_snapshot
from data.snapshot import layout
from data.snapshot.pages import asset, page
from data.snapshot.release import Release
from data.snapshot.tasks import from_line

_NAMED = 20  # ids listed in a line
_SHOWN = 8  # rows shown of a kind
_ALWAYS_OTHER = ("release.release_date", "release.version")
_LEAST_POINTS = 0.1  # percentage points that a weight must change to be reported


@dataclass(frozen=True, slots=True)
class Changed:
    """A named value before and after; None where it did not exist."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class _Churn:
    """How much of the release changed, as shares from 0 to 1.

    `new`: tasks of the new release that the old lacks (bounded by `max_changed`); `gone`: tasks of
    the old that the new lacks; `turnover`: tasks in only one of them, out of all in either.
    """

    new: float
    gone: float
    turnover: float


@dataclass(frozen=True, slots=True)
class Diff:
    """Two releases compared. Rows that do not differ are left out.

    `changed`: id -> fields that differ; grader fields as `private.<field>`, only if both private
    halves are there (`graded`). `reused`: ids that now have another prompt or input files.
    `renamed`: (old id, new id) with the same prompt and input files, counted as added and removed.
    `distance`: total variation between the mixtures, None unless both have one.
    """

    old: str
    new: str
    counts: tuple[int, int]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    reused: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    churn: _Churn
    graded: bool
    families: tuple[Changed, ...]
    weights: tuple[Changed, ...]
    distance: float | None
    funnel: tuple[Changed, ...]
    rejections: tuple[Changed, ...]
    privacy: tuple[Changed, ...]
    recipe: tuple[Changed, ...]
    made_with: tuple[Changed, ...]
    inputs: Mapping[str, int]

    @property
    def fields(self) -> dict[str, int]:
        """How many tasks changed in each field, most frequent first."""
        counted = Counter(name for names in self.changed.values() for name in names)
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _diff(old: ReleaseFacts, new: ReleaseFacts) -> Diff:
    """Compare two releases."""
    before, after = old.tasks.keys(), new.tasks.keys()
    added, removed = sorted(after - before), sorted(before - after)
    changed = {task: names for task in sorted(before & after) if (names := _differ(old, new, task))}
    return Diff(
        old=old.snapshot,
        new=new.snapshot,
        counts=(len(before), len(after)),
        added=tuple(added),
        removed=tuple(removed),
        changed=changed,
        reused=tuple(task for task, names in changed.items() if set(names) & set(CONTENT)),
        renamed=tuple(_renamed(old, new, removed, added)),
        churn=_churn(len(before), len(after), len(added), len(removed)),
        graded=old.grading is not None and new.grading is not None,
        families=_changes(old.families, new.families),
        weights=_changes(old.weights, new.weights) if old.weights and new.weights else (),
        distance=_distance(old.weights, new.weights),
        funnel=_changes(_named(old.funnel), _named(new.funnel)),
        rejections=_changes(_named(old.rejections), _named(new.rejections)),
        privacy=_changes(old.privacy, new.privacy),
        recipe=_changes(old.recipe, new.recipe),
        made_with=_changes(old.made_with, new.made_with),
        inputs=_inputs(old.inputs.values(), new.inputs.values()),
    )


def _differ(old: ReleaseFacts, new: ReleaseFacts, task: str) -> tuple[str, ...]:
    """The fields of a task that differ; those that make it another task come first."""
    names = [row.name for row in _changes(old.tasks[task], new.tasks[task])]
    if old.grading is not None and new.grading is not None:
        graded = _changes(old.grading.get(task, {}), new.grading.get(task, {}))
        names += [f"private.{row.name}" for row in graded]
    return tuple(sorted(names, key=lambda name: (name not in CONTENT, name)))


def _renamed(
    old: ReleaseFacts, new: ReleaseFacts, removed: Sequence[str], added: Sequence[str]
) -> Iterable[tuple[str, str]]:
    """Pairs with the same content; content that occurs twice in a release is not paired."""
    gone, come = _by_content(old, removed), _by_content(new, added)
    for content, tasks in sorted(gone.items(), key=lambda item: item[1]):
        if len(tasks) == 1 and len(come.get(content, ())) == 1:
            yield tasks[0], come[content][0]


def _by_content(facts: ReleaseFacts, tasks: Sequence[str]) -> dict[tuple[Any, ...], list[str]]:
    tasks_by_content: dict[tuple[Any, ...], list[str]] = {}
    for task in tasks:
        content = tuple(facts.tasks[task].get(name) for name in CONTENT)
        tasks_by_content.setdefault(content, []).append(task)
    return tasks_by_content


def _churn(before: int, after: int, added: int, removed: int) -> _Churn:
    either = before + added
    return _Churn(
        new=_share(added, after),
        gone=_share(removed, before),
        turnover=_share(added + removed, either),
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 9) if whole else 0.0


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Changed, ...]:
    """The rows that differ: those of the new release in its order, then those that are gone."""
    names = dict.fromkeys([*new, *old])
    rows = (Changed(name, old.get(name), new.get(name)) for name in names)
    return tuple(row for row in rows if row.before != row.after)


def _named(rows: Mapping[Any, Any]) -> dict[str, Any]:
    """Rows by their joined key parts; a rejection outside the gates has no gate."""
    return {" / ".join(part for part in key if part != "null"): rows[key] for key in rows}


def _distance(old: Mapping[str, float], new: Mapping[str, float]) -> float | None:
    """Total variation distance: half the sum of absolute differences of the shares."""
    if not old or not new:
        return None
    names = sorted(old.keys() | new.keys())
    return round(sum(abs(new.get(n, 0.0) - old.get(n, 0.0)) for n in names) / 2, 9)


def _inputs(old: Iterable[str], new: Iterable[str]) -> dict[str, int]:
    """How many inputs were added, removed and kept, by their digests."""
    before, after = Counter(old), Counter(new)
    return {
        "added": (after - before).total(),
        "removed": (before - after).total(),
        "kept": (before & after).total(),
    }


def with_changes(release: Release, last: Path | None) -> Release:
    """The release with its CHANGELOG against the last one, which is an input then (law 5)."""
    if last is None:
        return release
    public, _ = layout.halves(last)
    inputs = {**release.build.inputs, "last-release": file_digest(public / layout.SUMS)}
    changes = _changes_between(last, facts_of_release(release))
    return replace(release, changes=changes, build=replace(release.build, inputs=inputs))


def _changes_between(old: Path, new: ReleaseFacts) -> list[str]:
    """The lines of the CHANGELOG: what changed since the snapshot or public half `old`.

    Raises InputError if `old` is not a snapshot.
    """
    return list(_lines(_diff(facts_of_snapshot(old, private=False), new)))


def _lines(changes: Diff) -> Iterator[str]:
    before, after = changes.counts
    yield (
        f"Since {changes.old}: {len(changes.added)} tasks added, {len(changes.removed)} removed, "
        f"{len(changes.changed)} changed; {before} tasks before, {after} now. "
        f"{percent(changes.churn.new)} of this release is new."
    )
    if changes.changed:
        fields = ", ".join(f"{name} in {n}" for name, n in changes.fields.items())
        yield f"What changed in tasks: {fields}."
    if changes.reused:
        yield (
            "IDs that now have a different prompt or different input files, so scores are not "
            f"comparable: {_some(changes.reused)}."
        )
    if changes.renamed:
        pairs = [f"{old} is now {new}" for old, new in changes.renamed]
        yield f"Same content under a different ID: {_some(pairs)}."
    if changes.families:
        yield f"Tasks by family: {_rows(changes.families)}."
    if changes.distance is not None and changes.distance > 0:
        moved = sorted(changes.weights, key=lambda row: (-abs(_points(row)), row.name))
        shown = [row for row in moved if abs(_points(row)) >= _LEAST_POINTS][:_SHOWN]
        rows = ", ".join(f"{row.name} {_points(row):+.1f} points" for row in shown)
        moved_by = f"Mixture: shifted by {changes.distance:.3f} (total variation)"
        yield f"{moved_by}: {rows}." if rows else f"{moved_by}."
    if changes.funnel:
        yield f"Funnel (in, passed): {_rows(changes.funnel)}."
    stamp = [row for row in changes.privacy if not row.name.startswith(REPORT)]
    if stamp:
        yield f"Privacy and licence: {_rows(stamp)}."
    figures = len(changes.privacy) - len(stamp)
    if figures:
        yield f"Privacy report: {figures} figures differ (audit/privacy.json)."
    settings = [row for row in changes.recipe if row.name not in _ALWAYS_OTHER]
    if settings:
        yield f"Recipe: {_rows(settings)}."


def _points(row: Changed) -> float:
    points: float = round(100 * ((row.after or 0.0) - (row.before or 0.0)), 9)
    return points


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


# Two releases on one page ------------------------------------------------------------------------

_LEDGER = "ledger.parquet"
_LOST = ("rejected", "errored", "not_chosen")


@dataclass(frozen=True, slots=True)
class _Fate:
    """A task that is in only one of two releases: its family, and why."""

    task: str
    family: str
    why: str


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference of two releases, with the fate of each task that left or came."""

    diff: Diff
    kept: int
    retired: tuple[_Fate, ...]
    new: tuple[_Fate, ...]


def changes_of(old: Path, new: Path) -> Changes:
    """What changed from one snapshot to another. Raises InputError for what is no snapshot.

    Why a task left or came is in the ledger of the other release's private half.
    """
    difference = _diff(facts_of_snapshot(old), facts_of_snapshot(new))
    weights = {row.name: row for row in difference.weights}
    retired = _fates(old, difference.removed, _lost(new), weights, "is no longer requested")
    arrived = _fates(new, difference.added, _lost(old), weights, "was not requested before")
    return Changes(difference, difference.counts[0] - len(difference.removed), retired, arrived)


def _fates(
    snapshot: Path,
    tasks: Sequence[str],
    lost: Mapping[str, str] | None,
    weights: Mapping[str, Changed],
    otherwise: str,
) -> tuple[_Fate, ...]:
    families = _families(snapshot)
    fates = []
    for task in tasks:
        family = families.get(task, "(none)")
        if lost is None:
            why = "unknown: the other release's private half is missing"
        elif task in lost:
            why = f"in the other release: {lost[task]}"
        else:
            moved = _moved(weights.get(family))
            why = f"it is not a candidate in the other release: it {otherwise}{moved}"
        fates.append(_Fate(task, family, why))
    return tuple(sorted(fates, key=lambda fate: (fate.family, fate.task)))


def _moved(row: Changed | None) -> str:
    """How the weight of the family moved, in words."""
    if row is None:
        return ""
    before, after = percent(row.before or 0.0), percent(row.after or 0.0)
    return f" (its family went from {before} to {after} of the market)"


def _families(snapshot: Path) -> dict[str, str]:
    path = layout.halves(snapshot)[0] / layout.TASK_LIST
    rows = [from_line(orjson.loads(line)) for line in path.read_bytes().splitlines()]
    return {row["task_id"]: (row.get("task_family") or {}).get("value") or "(none)" for row in rows}


def _lost(snapshot: Path) -> dict[str, str] | None:
    """Why each unit of a release's ledger was left out, by id; None without the private half."""
    private = layout.halves(snapshot)[1]
    if private is None or not (private / _LEDGER).is_file():
        return None
    rows = pl.read_parquet(private / _LEDGER, columns=["item_id", "stage", "outcome", "reason"])
    words = stage_sentences()
    return {
        item: one_line(f"{stage}: {words.get(reason or '', reason or outcome)}")
        for item, stage, outcome, reason in rows.iter_rows()
        if outcome in _LOST
    }


def changes_page(changes: Changes, linked: Sequence[Mapping[str, Any]], note: str) -> str:
    """The page. `linked`: configuration, release, raw, score, low and high of each board row.

    `note` says why there are no linked scores.
    """
    difference = changes.diff
    return page(
        "changes.html.j2",
        asset("report.css"),
        old=difference.old,
        new=difference.new,
        counts=difference.counts,
        kept=changes.kept,
        changed=[(name, ", ".join(fields)) for name, fields in difference.changed.items()],
        retired=changes.retired,
        arrived=changes.new,
        contradictions=[*difference.reused, *(f"{a} → {b}" for a, b in difference.renamed)],
        distance=difference.distance,
        families=_family_rows(difference),
        inputs=difference.inputs,
        recipe=[(row.name, _text(row.before), _text(row.after)) for row in difference.recipe],
        linked=[_linked(row) for row in linked],
        note=note,
    )


def _family_rows(difference: Diff) -> list[list[str]]:
    """Weight and number of tasks before and after, by family, those that moved most first."""
    weights = {row.name: row for row in difference.weights}
    counts = {row.name: row for row in difference.families}
    names = sorted(
        weights.keys() | counts.keys(),
        key=lambda name: (-abs(_delta(weights.get(name))), name),
    )
    return [
        [visible(name), *_pair(weights.get(name), percent), *_pair(counts.get(name), str)]
        for name in names
    ]


def _delta(row: Changed | None) -> float:
    return (row.after or 0.0) - (row.before or 0.0) if row else 0.0


def _pair(row: Changed | None, written: Any) -> list[str]:
    return ["as before", ""] if row is None else [written(row.before or 0), written(row.after or 0)]


def _text(value: object) -> str:
    return "nothing" if value is None else visible(str(value))


def _linked(row: Mapping[str, Any]) -> list[str]:
    return [
        visible(row["configuration"]),
        row["release"],
        percent(row["raw"]),
        percent(row["score"]),
        percent_range(row["low"], row["high"]),
    ]
