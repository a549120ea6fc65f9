"""What skills change, as files: one HTML page that needs nothing else, JSON and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from data.atomic import write_bytes
from data.canonical import pretty_json
from data.figures import number, percent
from data.neutralise import markdown, storable_tree, visible
from data.snapshot.pages import asset, page
from selection.evaluation.transfer import Cell, Matrix, tasks_needed

NAME = "skills"
HEADS = (
    "creator", "consumer", "class", "tasks", "without", "with", "change", "95 % interval",
    "p (Holm)", "transfer", "passed",
)  # fmt: skip
_ANY = "all"


def transfer_record(about: Mapping[str, Any], made: Matrix) -> dict[str, Any]:
    """All figures as JSON has them; `about` is what is known of classes, skills and costs."""
    return {
        **about,
        "tasks_needed": tasks_needed(len(made.cells)),
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


def _record(cell: Cell) -> dict[str, Any]:
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
    lines = [f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}"]
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
        heads=HEADS,
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
