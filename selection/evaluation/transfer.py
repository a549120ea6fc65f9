"""What a skill changes: the scores of held-out tasks with it and without it, pair by pair.

EnterpriseClawBench (section 3.4) prints the mean difference per creator and consumer. Five tasks
are few, so that every difference has the interval and the exact test of paired tasks that the
leaderboard has (`comparisons`), with Holm's correction over the cells of a table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from data.atomic import write_bytes
from data.canonical import pretty_json
from data.figures import number, percent
from data.neutralise import markdown, storable_tree, visible
from data.snapshot.pages import asset, page
from selection.evaluation.comparisons import Difference, compare, holm
from selection.evaluation.intervals import LEVEL

_AFTER, _BEFORE = "with", "without"


@dataclass(frozen=True, slots=True)
class Pair:
    """A held-out task without a skill and with it: means over the epochs, from 0 to 1.

    `passed_before` and `passed_after` are the shares of epochs that passed, None where undecided.
    """

    creator: str
    consumer: str
    task_class: str
    task_id: str
    before: float
    after: float
    passed_before: float | None = None
    passed_after: float | None = None


@dataclass(frozen=True, slots=True)
class _Cell:
    """One difference: `creator`, `consumer` and `task_class` are empty where it is over all.

    The means are over tasks; that of `difference` is `after - before`.
    """

    creator: str
    consumer: str
    task_class: str
    before: float
    after: float
    passed_before: float | None
    passed_after: float | None
    difference: Difference

    @property
    def n(self) -> int:
        return self.difference.estimate.n

    @property
    def transfer(self) -> str:
        """Its name: positive or negative transfer; `(not shown)` where chance can explain it."""
        mean = self.difference.estimate.mean or 0.0
        if not mean:
            return "none"
        sign = "positive" if mean > 0 else "negative"
        return sign if self.difference.is_real else f"{sign} (not shown)"


@dataclass(frozen=True, slots=True)
class _Matrix:
    """Creator by consumer, the same by task class, and the means of each creator and consumer."""

    cells: tuple[_Cell, ...]
    by_class: tuple[_Cell, ...]
    creators: tuple[_Cell, ...]
    consumers: tuple[_Cell, ...]


def matrix(pairs: Sequence[Pair]) -> _Matrix:
    """All differences. In the means of a creator each task counts once: the mean of consumers."""
    return _Matrix(
        _cells(pairs, lambda pair: (pair.creator, pair.consumer, "")),
        _cells(pairs, lambda pair: (pair.creator, pair.consumer, pair.task_class)),
        _cells(pairs, lambda pair: (pair.creator, "", "")),
        _cells(pairs, lambda pair: ("", pair.consumer, "")),
    )


def _tasks_needed(cells: int) -> int:
    """The fewest tasks on which a cell can show anything: all of them change, and one way.

    The exact test then has p = 2 · ½ⁿ, and Holm's correction multiplies it by the number of cells.
    """
    return next(n for n in count(1) if 2 * 0.5**n * max(cells, 1) < 1 - LEVEL)


def _cells(pairs: Sequence[Pair], key: Callable[[Pair], tuple[str, str, str]]) -> tuple[_Cell, ...]:
    groups: defaultdict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[key(pair)].append(pair)
    cells = [_cell(name, group) for name, group in groups.items()]
    corrected = holm([cell.difference.p for cell in cells])
    return tuple(
        replace(cell, difference=replace(cell.difference, p_corrected=p))
        for cell, p in zip(cells, corrected, strict=True)
    )


def _cell(name: tuple[str, str, str], pairs: Sequence[Pair]) -> _Cell:
    by_task: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_task[pair.task_id].append(pair)
    before = np.array([fmean(pair.before for pair in own) for own in by_task.values()])
    after = np.array([fmean(pair.after for pair in own) for own in by_task.values()])
    labels = [own[0].task_class for own in by_task.values()]
    (difference,) = compare({_AFTER: after, _BEFORE: before}, labels)
    return _Cell(
        *name,
        before=float(before.mean()),
        after=float(after.mean()),
        passed_before=_mean([pair.passed_before for pair in pairs]),
        passed_after=_mean([pair.passed_after for pair in pairs]),
        difference=difference,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean, None where some value is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


# What skills change, as files: one HTML page that needs nothing else, JSON and Markdown.

NAME = "skills"
_HEADS = (
    "creator", "consumer", "class", "tasks", "without", "with", "change", "95 % interval",
    "p (Holm)", "transfer", "passed",
)  # fmt: skip
_ANY = "all"


def transfer_record(about: Mapping[str, Any], made: _Matrix) -> dict[str, Any]:
    """All figures as JSON has them; `about` is what is known of classes, skills and costs."""
    return {
        **about,
        "tasks_needed": _tasks_needed(len(made.cells)),
        **{
            name: [_record(cell) for cell in getattr(made, name)]
            for name in ("cells", "by_class", "creators", "consumers")
        },
        "left_out_counts": [
            {"what": what, "reason": reason, "n": n}
            for (what, reason), n in Counter(
                (_left_out(row), row["reason"]) for row in about["left_out"]
            ).most_common()
        ],
    }


def _left_out(row: Mapping[str, str]) -> str:
    """Tasks are counted; a skill or a class that is missing has its name."""
    if row["what"] == "skill":
        return f"skill of {row['creator']} for {row['consumer']} in {row['name']}"
    return row["what"] if row["what"] == "task" else f"{row['what']} {row['name']}"


def _record(cell: _Cell) -> dict[str, Any]:
    estimate = cell.difference.estimate
    return {
        "creator": cell.creator, "consumer": cell.consumer, "task_class": cell.task_class,
        "tasks": cell.n, "before": cell.before, "after": cell.after, "change": estimate.mean,
        "low": estimate.low, "high": estimate.high, "method": estimate.method,
        "p": cell.difference.p, "p_corrected": cell.difference.p_corrected,
        "transfer": cell.transfer, "passed_before": cell.passed_before,
        "passed_after": cell.passed_after,
    }  # fmt: skip


def write_transfer(record: Mapping[str, Any], out: Path) -> tuple[Path, ...]:
    """Write the page, the JSON and the Markdown table; their paths."""
    paths = tuple(out / f"{NAME}.{ending}" for ending in ("html", "json", "md"))
    out.mkdir(parents=True, exist_ok=True)
    write_bytes(paths[0], _transfer_html(record).encode())
    write_bytes(paths[1], pretty_json(storable_tree(dict(record))))
    write_bytes(paths[2], transfer_markdown(record).encode())
    return paths


def transfer_markdown(record: Mapping[str, Any]) -> str:
    """The table of creators and consumers, what decides in it, and what is not in it."""
    lines = [f"| {' | '.join(_HEADS)} |", f"|{'---|' * len(_HEADS)}"]
    for cell in (*record["cells"], *record["creators"]):
        lines.append(f"| {' | '.join(map(markdown, _shown(cell)))} |")
    lines += ["", _threshold(record)]
    lines += [
        f"- left out: {row['n']} × {row['what']}: {markdown(row['reason'])}"
        for row in record["left_out_counts"]
    ]
    return "\n".join(lines) + "\n"


def _transfer_html(record: Mapping[str, Any]) -> str:
    """The page; names are escaped, and nothing is loaded."""
    tables = [
        ("Creators and consumers", record["cells"]),
        ("Creator means: each task counts once", record["creators"]),
        ("Consumer means: each task counts once", record["consumers"]),
        ("By task class", record["by_class"]),
    ]
    return page(
        f"{NAME}.html.j2",
        asset("report.css") + asset("leaderboard.css"),
        record=record,
        heads=_HEADS,
        tables=[(title, [tuple(map(visible, _shown(cell))) for cell in rows])
                for title, rows in tables if rows],
        grid=_grid(record),
        threshold=_threshold(record),
        skills=[_skill(row) for row in record["skills"]],
        uses=[_use(row) for row in record["uses"]],
    )  # fmt: skip


def _threshold(record: Mapping[str, Any]) -> str:
    cells, needed = len(record["cells"]), record["tasks_needed"]
    return (
        f"With {number(cells)} creator-consumer pairs compared, a change can be told from chance "
        f"with at least {number(needed)} tasks, if all of them change in the same direction."
    )


def _shown(cell: Mapping[str, Any]) -> tuple[str, ...]:
    interval = ""
    if cell["low"] is not None and cell["high"] is not None:
        interval = f"{_points(cell['low'])} to {_points(cell['high'])}"
    p = "" if cell["p_corrected"] is None else f"{cell['p_corrected']:.3f}"
    passed = ""
    if cell["passed_before"] is not None and cell["passed_after"] is not None:
        passed = f"{percent(cell['passed_before'])} → {percent(cell['passed_after'])}"
    return (
        cell["creator"] or _ANY, cell["consumer"] or _ANY, cell["task_class"] or _ANY,
        number(cell["tasks"]), percent(cell["before"]), percent(cell["after"]),
        _points(cell["change"]), interval, p, cell["transfer"], passed,
    )  # fmt: skip


def _points(share: float) -> str:
    """A difference of shares in points, with its sign."""
    return f"{100 * share:+.1f}"


def _grid(record: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Creators as rows, consumers as columns: the change, and the name of the transfer."""
    known = {(cell["creator"], cell["consumer"]): cell for cell in record["cells"]}
    names = record["consumer_names"]
    return [
        (visible(creator), [_square(known.get((creator, name))) for name in names])
        for creator in record["creator_names"]
    ]


def _square(cell: Mapping[str, Any] | None) -> tuple[str, str]:
    return ("–", "no pair") if cell is None else (_points(cell["change"]), cell["transfer"])


def _skill(row: Mapping[str, Any]) -> Sequence[str]:
    cost = "" if row["cost"] is None else f"{row['cost']:.4f}"
    return tuple(
        visible(str(value))
        for value in (
            row["creator"], row["consumer"], row["task_class"], number(row["attempts"]),
            number(row["characters"]), number(row["tokens"]), cost, row["digest"][:12],
        )
    )  # fmt: skip


def _use(row: Mapping[str, Any]) -> Sequence[str]:
    def pair(first: float | None, second: float | None, digits: int) -> str:
        if first is None or second is None:
            return ""
        return f"{first:,.{digits}f} → {second:,.{digits}f}"

    opened = (
        "part of the task" if row["opened"] is None else f"{row['opened']} of {row['attempts']}"
    )
    tokens = pair(row["tokens_before"], row["tokens_after"], 0)
    cost = pair(row["cost_before"], row["cost_after"], 4)
    return (visible(row["creator"]), visible(row["consumer"]), tokens, cost, opened)
