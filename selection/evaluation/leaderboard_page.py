"""The leaderboard as files: an HTML page, Parquet, CSV, Markdown, records of Every Eval Ever."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from data.atomic import write_bytes
from data.canonical import digest as digest_of
from data.canonical import pretty_json
from data.contracts.attempt import OWN_RUNNER
from data.figures import amount, number, percent, percent_range
from data.neutralise import csv_cell, markdown, script_json, visible
from data.reasons import Labels, Words, own_labels, words_of
from data.snapshot.errata import Action, Notice, errata_lines
from data.snapshot.pages import asset, page
from selection.estimator import SUBSET_MEAN
from selection.evaluation.board import COLUMNS, Board, LeaderboardRow
from selection.evaluation.comparisons import Difference

_HEADS = tuple(COLUMNS)
_ALWAYS = 7  # columns that are shown even if they are empty or all zero
_METHODS = {
    "wilson": "Wilson's",
    "clustered wilson": "Wilson's with each cluster counted as one task, if all tasks have the "
    "same result",
    "t": "Student's t over tasks",
    "clustered t": "Student's t over clusters of tasks",
}
_WIDTH, _HEIGHT, _MARGIN, _LEFT = 640.0, 300.0, 44.0, 16.0


def write_board(
    board: Board,
    release: str,
    out: Path,
    attempts: Sequence[Mapping[str, Any]],
    notice: Notice | None = None,
    *,
    process: pl.DataFrame | None = None,
    has_pages: bool = False,
    labels: Labels | None = None,
) -> tuple[Path, ...]:
    """Write the page, the tables and the Markdown table into `out`; their paths.

    `attempts`: task, configuration, epoch, result and attempt id of each, to which cells lead, and
    in `ways` the operation that a failed one missed first and how it ended; `about`: first words
    of the task, if they are given.
    `notice`: the errata of the release. `process`: the table of process measures. `has_pages`:
    attempts and tasks have pages below `private`. `labels`: what labels mean.
    """
    frame = _rows_frame(board, notice)
    paths = tuple(out / f"leaderboard.{ending}" for ending in ("html", "parquet", "csv", "md"))
    out.mkdir(parents=True, exist_ok=True)
    html = _leaderboard_html(
        board, release, attempts, notice, process=process, has_pages=has_pages, labels=labels
    )
    write_bytes(paths[0], html.encode())
    write_frame(frame, out / "leaderboard")
    write_bytes(paths[3], markdown_table(board, notice).encode())
    return paths


def write_frame(frame: pl.DataFrame, path: Path) -> tuple[Path, Path]:
    """Write a table as `path.parquet` and `path.csv`, whose cells are no formulas; both paths."""
    parquet, csv = path.with_name(f"{path.name}.parquet"), path.with_name(f"{path.name}.csv")
    frame.write_parquet(parquet)
    safe = frame.with_columns(
        pl.col(pl.String).map_elements(csv_cell, return_dtype=pl.String, skip_nulls=True)
    )
    write_bytes(csv, safe.write_csv().encode())
    return parquet, csv


def _rows_frame(board: Board, notice: Notice | None) -> pl.DataFrame:
    """The rows as a table; `rank_best` and `rank_worst` are the supported range.

    `withdrawn` and `corrected` count the tasks of the release that errata are about.
    """
    rows = []
    changed = {str(action): len(notice.of(action)) if notice else 0 for action in Action}
    for row in board.rows:
        values = asdict(row)
        best, worst = values.pop("ranks") or (None, None)
        whole = {"release_tasks": board.release_tasks}
        rows.append(values | {"rank_best": best, "rank_worst": worst} | whole | changed)
    return pl.DataFrame(rows, infer_schema_length=None)


def markdown_table(board: Board, notice: Notice | None = None) -> str:
    """The table for a card: pass rates with intervals and the ranks that the data support.

    Below it a line for each erratum.
    """
    lines = [f"| {' | '.join(_HEADS)} |", f"|{'---|' * len(_HEADS)}"]
    for row in board.rows:
        cells = map(markdown, _shown(row, board.release_tasks))
        lines.append(f"| {' | '.join(cells)} |")
    for note in filter(None, (_estimate(board), _lite(board))):
        lines += ["", note]
    if notice is not None:
        lines += ["", *(f"- {markdown(line)}" for line in errata_lines(notice))]
    return "\n".join(lines) + "\n"


def _estimate(board: Board) -> str:
    """What the overall scores are estimated by, as a sentence; empty where they are means."""
    used = board.estimator
    if used is None:
        return ""
    error, raw = (f"{100 * used.errors[name]:.1f}" for name in (used.method, SUBSET_MEAN))
    return (
        f"Overall: estimated for all {number(used.pool)} candidates in the pool with the release's "
        f"{used.method}; its error on held-out pilots is {error} points "
        f"(with the mean over the tasks: {raw}; {used.pilots} pilots)."
    )


def _lite(board: Board) -> str:
    """Whether the Lite subset keeps the ranking, as a sentence; empty without one."""
    lite = board.lite
    if lite is None:
        return ""
    tau = "undefined" if lite.tau is None else f"{lite.tau:.2f}"
    kept = lite.separated - lite.turned - lite.tied
    compared = (
        f"Of {amount(lite.separated, 'pair')} distinguished on all tasks, {number(kept)} have the "
        f"same order on it, {number(lite.turned)} are reversed, and {number(lite.tied)} are tied."
        if lite.separated
        else "No pairs are distinguished on the full set of tasks."
    )
    return (
        f"Lite subset ({amount(lite.tasks, 'task')}): Kendall's τ with the ranking on all tasks is "
        f"{tau} over {amount(lite.configurations, 'configuration')}. {compared}"
    )


def _shown(row: LeaderboardRow, release_tasks: int) -> tuple[str, ...]:
    ranks = "" if row.ranks is None else _range(row.ranks)
    group = "" if row.tie_group is None else str(row.tie_group)
    cost = "" if row.cost is None else f"{row.cost:.4f}"
    seconds = "" if row.seconds is None else f"{row.seconds:.1f}"
    return (
        row.configuration, _of_all(row.tasks, release_tasks), percent(row.passed),
        percent_range(row.low, row.high),
        ranks, group, percent(row.overall), cost, seconds, number(row.n_infra),
        number(row.n_unjudged), _bounds(row), _judge(row),
        "" if row.runner == OWN_RUNNER else row.runner,
    )  # fmt: skip


def _of_all(tasks: int, release_tasks: int) -> str:
    """The tasks with a result, of how many where they are not all of the release."""
    return (
        number(tasks) if tasks == release_tasks else f"{number(tasks)} of {number(release_tasks)}"
    )


def _bounds(row: LeaderboardRow) -> str:
    """The pass rate if all unjudged attempts fail and if all pass; empty where there are none."""
    if not row.n_unjudged:
        return ""
    return percent_range(row.passed_at_least, row.passed_at_most)


def _judge(row: LeaderboardRow) -> str:
    """Who judged, with a mark where judge and judged are one model or of one family."""
    mark = " (same model)" if row.judged_by_itself else " (same family)" * row.judged_by_kin
    return "" if row.judge is None else f"{row.judge}{mark}"


def _range(ranks: tuple[int, int]) -> str:
    return str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def _leaderboard_html(
    board: Board,
    release: str,
    attempts: Sequence[Mapping[str, Any]],
    notice: Notice | None = None,
    *,
    process: pl.DataFrame | None = None,
    has_pages: bool = False,
    labels: Labels | None = None,
) -> str:
    """The page; names of configurations, tasks and models are escaped, and nothing is loaded."""
    known = own_labels() if labels is None else labels
    sorting = [
        [r.configuration, r.tasks, r.passed, r.low, r.ranks[0] if r.ranks else None, r.tie_group,
         r.overall, r.cost, r.seconds, r.n_infra, r.n_unjudged,
         r.passed_at_most if r.n_unjudged else None, r.judge, r.runner]
        for r in board.rows
    ]  # fmt: skip
    cells = [tuple(map(visible, _shown(row, board.release_tasks))) for row in board.rows]
    used = [
        at
        for at in range(len(_HEADS))
        if at < _ALWAYS or any(row[at] not in ("", "0") for row in cells)
    ]
    return page(
        "leaderboard.html.j2",
        asset("report.css") + asset("leaderboard.css"),
        asset("leaderboard.js"),
        release=release,
        has_pages=has_pages,
        about=_about(board, attempts, known),
        notes=list(filter(None, (_estimate(board), _lite(board)))),
        errata=[visible(line) for line in errata_lines(notice)],
        columns=[(_HEADS[at], COLUMNS[_HEADS[at]]) for at in used],
        rows=[[row[at] for at in used] for row in cells],
        bars=[_bar(row) for row in board.rows],
        agents=[words_of(known, "agent", row.configuration).meaning for row in board.rows],
        costs=_costs(board.rows),
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        groupings=_groupings(board, known),
        failures=_failures(board, known),
        explorations=_explorations(process),
        methods=sorted({_METHODS.get(row.method, row.method) for row in board.rows}),
        clusters=board.clusters,
        **_compared(board.differences),
        is_judged=any(row.judge for row in board.rows),
        own_judges=sorted({visible(row.judge or "") for row in board.rows if row.judged_by_itself}),
        data=script_json(
            {
                "sorting": [[row[at] for at in used] for row in sorting],
                "pages": has_pages,
                **_compact(attempts, known),
            }
        ),
    )


def _about(board: Board, attempts: Sequence[Mapping[str, Any]], labels: Labels) -> list[str]:
    """What this is, in sentences: how many tasks of which kinds, which agents; dummies as such."""
    lanes = Counter({a["task"]: a["groups"].get("lane", "none") for a in attempts}.values())
    kinds = ", ".join(f"{number(n)} {lane}" for lane, n in lanes.most_common() if lane != "none")
    scripted = sum(bool(words_of(labels, "agent", row.harness).meaning) for row in board.rows)
    tasks, agents = amount(board.release_tasks, "task"), amount(len(board.rows), "configuration")
    tried = f" (tried: {kinds})" if kinds else ""
    sentences = [f"A benchmark with {tasks} for AI agents{tried}, and the results of {agents}."]
    if scripted:
        who = "All of them" if scripted == len(board.rows) else f"{number(scripted)} of them"
        sentences.append(
            f"{who} are built-in dummies, not AI models: they act by rule and show whether the "
            "tasks and this board work."
        )
    return sentences


def _compared(differences: Sequence[Difference]) -> dict[str, int]:
    """How many pairs there are, are told apart, and were compared without regard to clusters."""
    return {
        "pairs": len(differences),
        "separated": sum(pair.is_real for pair in differences),
        "singly": sum(pair.is_of_few_clusters for pair in differences),
    }


def _compact(attempts: Sequence[Mapping[str, Any]], labels: Labels) -> dict[str, Any]:
    """The attempts with configurations, tasks and results by number: there may be 40,000."""
    tasks = {a["task"]: (a["groups"], a.get("about", "")) for a in attempts}
    names = {
        name: list(dict.fromkeys(attempt[name] for attempt in attempts))
        for name in ("configuration", "result")
    }
    ways = list(dict.fromkeys(way for attempt in attempts for way in attempt["ways"] if way))
    way_numbers = {way: at for at, way in enumerate(ways)}
    numbers = {name: {v: at for at, v in enumerate(values)} for name, values in names.items()}
    task_numbers = {task: at for at, task in enumerate(tasks)}
    return {
        "configurations": names["configuration"],
        "results": names["result"],
        "ways": ways,
        "said": [words_of(labels, "termination", way).meaning for way in ways],
        "tasks": [[task, groups, about] for task, (groups, about) in tasks.items()],
        "attempts": [
            [
                numbers["configuration"][attempt["configuration"]],
                task_numbers[attempt["task"]],
                attempt["epoch"],
                numbers["result"][attempt["result"]],
                attempt["attempt"],
                *(way_numbers.get(way) for way in attempt["ways"]),
            ]
            for attempt in attempts
        ],
    }


def _bar(row: LeaderboardRow) -> tuple[float, float, float]:
    """Start, end and middle of the interval, in per cent."""
    low, high, middle = row.low or 0.0, row.high or 0.0, row.passed or 0.0
    return round(100 * low, 2), round(100 * (high - low), 2), round(100 * middle, 2)


def _costs(rows: Sequence[LeaderboardRow]) -> dict[str, Any]:
    """Cost against pass rate, for configurations of which both are known: dots, and ticks of axes.

    A dot goes by the number of its row, from 1.
    """
    known = [
        (number, row, row.cost, row.passed)
        for number, row in enumerate(rows, start=1)
        if row.cost is not None and row.passed is not None
    ]
    costs = [cost for *_, cost, _ in known] or [0.0]
    least, span = min(costs), max(costs) - min(costs)

    def across(cost: float) -> float:
        share = (cost - least) / span if span else 0.5
        return round(_LEFT + _MARGIN + share * (_WIDTH - _LEFT - 2 * _MARGIN), 1)

    def up(passed: float) -> float:
        return round(_HEIGHT - _MARGIN - passed * (_HEIGHT - 2 * _MARGIN), 1)

    return {
        "dots": [
            {
                "number": number,
                "x": across(cost),
                "y": up(passed),
                "name": visible(row.configuration),
                "text": f"{cost:.4f} US dollars, {percent(passed)}",
            }
            for number, row, cost, passed in known
        ],
        "across": [(across(cost), f"{cost:.4f}") for cost in sorted({least, least + span})],
        "up": [(up(share), f"{100 * share:.0f} %") for share in (0.0, 0.5, 1.0)],
    }


def _groupings(board: Board, labels: Labels) -> list[dict[str, Any]]:
    """Per grouping a heat map: a row per configuration that has a result, a cell per group."""
    output = []
    for grouping in dict.fromkeys(cell["grouping"] for cell in board.cells):
        own = [cell for cell in board.cells if cell["grouping"] == grouping]
        groups = list(dict.fromkeys(cell["group"] for cell in own))
        by_place = {(cell["configuration"], cell["group"]): cell for cell in own}
        rows = _filled_rows(
            board, {key: _cell(cell) for key, cell in by_place.items()}, groups, _cell(None)
        )
        about = words_of(labels, "grouping", grouping).meaning
        shown = _heads(labels, grouping, groups)
        output.append({"name": grouping, "about": about, "groups": shown, "rows": rows})
    return output


def _heads(labels: Labels, kind: str, codes: Sequence[str]) -> list[tuple[str, Words]]:
    """The columns of a table: each code as it is, and in words."""
    return [(code, Words(*map(visible, words_of(labels, kind, code)))) for code in codes]


def _filled_rows(
    board: Board, cells: Mapping[tuple[str, str], Any], groups: Sequence[str], empty: Any
) -> list[dict[str, Any]]:
    """A row of cells per configuration, in the order of the board, without those of none."""
    known = {configuration for configuration, _ in cells}
    return [
        {
            "name": visible(row.configuration),
            "cells": [cells.get((row.configuration, group), empty) for group in groups],
        }
        for row in board.rows
        if row.configuration in known
    ]


def _cell(cell: Mapping[str, Any] | None) -> dict[str, Any]:
    if cell is None:
        return {"shade": -1, "text": "", "tasks": 0}
    return {
        "shade": round(10 * cell["passed"]),
        "text": percent(cell["passed"]).removesuffix(" %"),
        "tasks": cell["tasks"],
    }


def _explorations(process: pl.DataFrame | None) -> list[tuple[str, ...]]:
    """Requests against progress on failed tasks, by falling requests; none without milestones."""
    if process is None:
        return []
    rows = process.drop_nulls("exploration").sort(
        "failed_requests", "configuration", descending=[True, False]
    )
    return [
        (
            visible(row["configuration"]), f"{row['failed_requests']:.1f}",
            percent(row["gpr_direct"]), percent(row["gpr_inferred"]), row["exploration"],
        )
        for row in rows.iter_rows(named=True)
    ]  # fmt: skip


def _failures(board: Board, labels: Labels) -> list[dict[str, Any]]:
    """Per kind a table: a row per configuration that failed so, a column per way to fail."""
    output = []
    for kind in dict.fromkeys(row["kind"] for row in board.failures):
        own = [row for row in board.failures if row["kind"] == kind and row["n"]]
        cells = {(row["configuration"], row["what"]): int(row["n"]) for row in own}
        ways = list(dict.fromkeys(row["what"] for row in own))
        shown = _heads(labels, kind, ways)
        output.append({"kind": kind, "groups": shown, "rows": _filled_rows(board, cells, ways, 0)})
    return output


SCHEMA = "0.3.0"
_NO_MODEL = "none"
_UNSAFE = re.compile(r"[^\w.-]+", re.ASCII)


def write_records(
    board: Board, release: str, digest: str, version: str, now: int, out: Path
) -> tuple[Path, ...]:
    """Write a record for each row below `out`, where the datastore has it; their paths."""
    paths = []
    for path, record in _records(board, release, digest, version, now):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(out / path, pretty_json(record))
        paths.append(out / path)
    return tuple(paths)


def _records(
    board: Board, release: str, digest: str, version: str, now: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (path, record) for each row with a pass rate; `now` in seconds of Unix."""
    for row in board.rows:
        if row.passed is not None:
            record = _record(row, board, release, digest, version, now)
            model = record["model_info"]
            folders = (release, model["developer"], model["name"])
            name = uuid.UUID(hex=digest_of([digest, row.configuration])[:32], version=4)
            yield f"data/{'/'.join(map(_portable, folders))}/{name}.json", record


def _portable(name: str) -> str:
    """A name of a folder on any system."""
    return _UNSAFE.sub("-", name).strip("-. ") or "unnamed"


def _record(
    row: LeaderboardRow, board: Board, release: str, digest: str, version: str, now: int
) -> dict[str, Any]:
    identifier = row.model if row.model != _NO_MODEL else f"no-model/{row.harness}"
    source = {
        "dataset_name": release,
        "source_type": "other",
        "additional_details": {"release_digest": digest},
    }
    results = [_result("pass_rate", "Pass rate", row.passed, source, row)]
    if row.overall is not None:
        results.append(_result("overall", "Mean score", row.overall, source, row))
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{release}/{identifier.replace('/', '_')}/{now}",
        "retrieved_timestamp": str(now),
        "source_metadata": {
            "source_name": f"Leaderboard of {release}",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": row.runner,
            "version": version if row.runner == OWN_RUNNER else "unknown",
            "additional_details": {"graded_by": f"benchmint {version}"},
        },
        "model_info": _model(row, board, identifier),
        "evaluation_results": results,
    }


def _model(row: LeaderboardRow, board: Board, identifier: str) -> dict[str, Any]:
    # a provider that resells names the developer after itself: openrouter/openai/gpt-5
    rest, _, name = identifier.rpartition("/")
    platform, _, developer = rest.rpartition("/")
    return {
        "name": name,
        "id": f"{developer}/{name}" if developer else name,
        "developer": developer or "unknown",
        **({"inference_platform": platform} if platform else {}),
        "additional_details": {
            "deployment_type": "unknown",
            "model_availability": "unknown",
            "configuration": row.configuration,
            "harness": row.harness,
            "condition": row.condition,
            "tasks": f"{row.tasks} of {board.release_tasks}",
            "attempts": str(row.attempts),
            "ended_by_infrastructure": str(row.n_infra),
            "unjudged": str(row.n_unjudged),
        },
    }


def _result(
    metric: str, title: str, score: float | None, source: dict[str, Any], row: LeaderboardRow
) -> dict[str, Any]:
    """One metric from 0 to 1; the interval is known of the pass rate alone."""
    details: dict[str, Any] = {"score": score}
    if metric == "pass_rate" and row.low is not None and row.high is not None:
        details["uncertainty"] = {
            "confidence_interval": {
                "lower": row.low,
                "upper": row.high,
                "confidence_level": 0.95,
                "method": row.method,
            },
            "num_samples": row.tasks,
        }
    if row.judge is not None:
        details["details"] = {"judge": row.judge}
    return {
        "evaluation_result_id": metric,
        "evaluation_name": str(source["dataset_name"]),
        "source_data": source,
        "metric_config": {
            "metric_id": metric,
            "metric_name": title,
            "metric_kind": metric,
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": details,
    }
