"""Counts and distributions of the released tasks and of gate measurements."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from data.contracts import Candidate, Fixture, Label
from data.snapshot import layout

Bins = Mapping[str, tuple[float, float]]  # label -> [low, high)

NONE = "not labelled"
UNREAD = "nobody"  # the judge of a task that neither a model nor a person has read
_TENTHS = 10
_EXACT = 2**53  # largest whole number up to which floats are exact


def statistics(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Inputs, deliverables, languages and lengths of the tasks.

    `unread` counts tasks of which nobody said that they can be done, `without_rubric` those that
    hard rules alone judge. Lengths are in characters, sizes in bytes. `*_types.tasks` counts tasks
    that have the type at all, `*_types.files` counts files.
    """
    fixtures = stored_fixtures(candidates)
    return {
        "tasks": len(candidates),
        "lanes": counted(str(task.lane) for task in candidates),
        "languages": counted(task.language for task in candidates),
        "formats": counted(task.provenance.source_format for task in candidates),
        "families": counted(_value(task.task_family) for task in candidates),
        "roles": counted(_value(task.role) for task in candidates),
        "skills": counted(_value(task.skill_subclass) for task in candidates),
        "task_classes": counted(_class(task) for task in candidates),
        "splits": counted(_split(task) for task in candidates),
        "judges": counted(task.role.judge if task.role else NONE for task in candidates),
        "unread": sum(task.provenance.judge == UNREAD for task in candidates),
        "without_rubric": sum(
            task.rubric is not None and task.rubric.needs_model for task in candidates
        ),
        "difficulties": counted(task.difficulty or NONE for task in candidates),
        "measured": counted(task.measured_difficulty for task in candidates),
        "smoke": counted(task.split for task in candidates),
        "surfaces": counted(task.execution_surface or NONE for task in candidates),
        "network": counted(task.network.mode for task in candidates),
        "evidence": counted(kind for task in candidates for kind in evidence_kinds(task)),
        "input_types": _types(_inputs(task) for task in candidates),
        "deliverable_types": _types(_deliverables(task) for task in candidates),
        "prompt_chars": distribution([len(task.prompt) for task in candidates]),
        "inputs_per_task": distribution([len(task.fixtures) for task in candidates]),
        "input_bytes": distribution([fixture.bytes for fixture in fixtures]),
        "total_input_bytes": sum(fixture.bytes for fixture in fixtures),
    }


def stored_fixtures(candidates: Iterable[Candidate]) -> list[Fixture]:
    """The input files that a release holds: those of an environment once for all its tasks."""
    stored = {
        layout.input_path(task.task_id, fixture): fixture
        for task in candidates
        for fixture in task.fixtures
    }
    return list(stored.values())


def verified(candidates: Iterable[Candidate]) -> int:
    """How many tasks were tried in a sandbox, without a fault."""
    return sum(task.preflight == "verified" for task in candidates)


def counted(values: Iterable[str]) -> list[dict[str, Any]]:
    """Values with their counts, most frequent first, then by name."""
    ranked = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
    return [{"value": value, "n": n} for value, n in ranked]


def distribution(values: Sequence[float]) -> dict[str, Any]:
    """`summary` and the histogram of `values`."""
    edges = bins(values)
    counts = Counter(label_of(value, edges) for value in values)
    return summary(values) | {
        "histogram": [{"label": label, "n": counts[label]} for label in edges]
    }


def summary(values: Sequence[float]) -> dict[str, Any]:
    """n, min, quartiles and max; quantiles by nearest rank, so each is a value that occurred."""
    if not values:
        return {"n": 0}
    ordered = sorted(values)
    places = {"min": 0.0, "p25": 0.25, "median": 0.5, "p75": 0.75, "max": 1.0}
    ranks = {name: max(math.ceil(q * len(ordered)) - 1, 0) for name, q in places.items()}
    return {"n": len(ordered)} | {name: plain(ordered[rank]) for name, rank in ranks.items()}


def bins(values: Sequence[float]) -> Bins:
    """Bins that cover `values`: tenths for shares, else 0, 1, 2, 5, 10, 20, 50 and so on."""
    if not values:
        return {}
    low, high = min(values), max(values)
    if low >= 0 and high <= 1 and any(value % 1 for value in values):
        # The last bin holds 1 itself.
        edges = [*(index / _TENTHS for index in range(_TENTHS)), math.inf]
        return {f"{a:.1f}–{min(b, 1.0):.1f}": (a, b) for a, b in pairwise(edges)}
    whole = not any(value % 1 for value in values)
    pairs = [(a, b) for a, b in pairwise(_series_up_to(high)) if b > low]
    covered = {_span(a, b, whole): (a, b) for a, b in pairs}
    return ({"< 0": (-math.inf, 0.0)} if low < 0 else {}) | covered


def label_of(value: float, edges: Bins) -> str:
    """The label of the bin that holds `value`, which must be one of those `bins` was given."""
    return next(label for label, (low, high) in edges.items() if low <= value < high)


def plain(value: float) -> float | int:
    """A whole number as int while that is exact; any other rounded to 1e-9 (law 5)."""
    return int(value) if abs(value) <= _EXACT and value % 1 == 0 else round(value, 9)


def evidence_kinds(task: Candidate) -> list[str]:
    """The kinds of evidence a grader of `task` needs."""
    return [kind for kind, needed in task.evidence.model_dump().items() if needed]


def _series_up_to(high: float) -> list[float]:
    """0, 1, 2, 5, 10, 20, 50, … past `high`."""
    edges = [0.0]
    power = 1.0
    while edges[-1] <= high:
        edges += [power, 2 * power, 5 * power]
        power *= 10
    last = next(index for index, edge in enumerate(edges) if edge > high)
    return edges[: last + 1]


def _span(low: float, high: float, whole: bool) -> str:
    """Label of [low, high); whole numbers name the last one that is in it while it is short."""
    if whole and high - low == 1:
        return _short(low)
    return f"{_short(low)}–{_short(high - 1 if whole and high < 1000 else high)}"


def _short(value: float) -> str:
    """1500 -> 1.5k, as axis labels have it."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _value(label: Label | None) -> str:
    return label.value if label else NONE


def _class(task: Candidate) -> str:
    return task.task_class.name if task.task_class else NONE


def _split(task: Candidate) -> str:
    return (task.task_class and task.task_class.split) or NONE


def _inputs(task: Candidate) -> Counter[str]:
    return Counter(extension(fixture.path) for fixture in task.fixtures)


def _deliverables(task: Candidate) -> Counter[str]:
    files: Counter[str] = Counter()
    for item in task.deliverables:
        files[item.file_type] += item.count
    return files


def extension(path: str) -> str:
    """Lower-case extension without the dot, or "none"."""
    return PurePosixPath(path).suffix.lower().removeprefix(".") or "none"


def _types(files_by_task: Iterable[Counter[str]]) -> list[dict[str, Any]]:
    files: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    for counts in files_by_task:
        files.update(counts)
        tasks.update(counts.keys())
    ranked = sorted(files, key=lambda name: (-tasks[name], -files[name], name))
    return [{"value": name, "tasks": tasks[name], "files": files[name]} for name in ranked]
