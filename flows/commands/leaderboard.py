"""Commands that compare agents by their attempts: `leaderboard` and `plan`."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from data.errors import InputError
from data.neutralise import one_line, visible
from flows.commands.evaluate import ATTEMPTS, Snapshot
from flows.commands.table import WriteTo

if TYPE_CHECKING:
    from selection.evaluation.board import Board
    from selection.evaluation.comparisons import Linked

_Attempts = Annotated[
    Path, typer.Option("--attempts", help="Folder of graded attempts by all configurations.")
]


def leaderboard_command(
    snapshot: Snapshot,
    attempts: _Attempts = ATTEMPTS,
    out: WriteTo = Path("leaderboard"),
    pages: Annotated[
        bool,
        typer.Option(
            "--pages/--no-pages",
            help="Also write attempt and task pages and Inspect's viewer to OUT/private.",
        ),
    ] = True,
) -> None:
    """Write a leaderboard from graded attempts, and a page for each attempt and task."""
    from data.releases.tasks import read_tasks
    from flows.label_words import all_labels
    from selection.evaluation.board import board
    from selection.evaluation.leaderboard_page import markdown_table, write_board, write_records
    from selection.evaluation.measures import process_table

    release = read_tasks(snapshot)
    questions = _questions(release.tables)
    facts = [_facts(task.candidate, questions, _lite(release)) for task in release.tasks.values()]
    tables = _of_release(_graded(attempts), release, attempts)
    ended = _ended(tables, _without_files(release, attempts))
    made = board(ended, tables["scores"], facts, _estimator(release.tables))
    _tell_of_ungraded(attempts, release.snapshot, set(tables["attempts"]["configuration"]))
    listed = list(_listed(tables | {"attempts": ended}, facts, release))
    n_pages = _write_reading(release, attempts, tables, listed, out) if pages else 0
    process = process_table(tables["attempts"], tables["scores"])
    paths = write_board(
        made, release.snapshot, out, listed, release.notice, process=process,
        has_pages=n_pages > 0, labels=all_labels(),
    )  # fmt: skip
    origin = (release.snapshot, release.digest, version("benchmint"), int(time.time()))
    paths += write_records(made, *origin, out / "every_eval_ever")
    paths += _write_measures(tables, facts, made, questions, attempts, process, out)
    print(markdown_table(made, release.notice) + "\n".join(f"written: {path}" for path in paths))
    if n_pages:
        _tell_of_pages(release, tables["scores"], out / "private", n_pages)


def _tell_of_pages(release: Any, scores: Any, home: Path, n_pages: int) -> None:
    """Say where the pages are, and draw the answers that people check."""
    print(f"written: {home} (private: pages for {n_pages} attempts, with answers)")
    _write_sheet(release, scores, home / "checked.csv")


def _tell_of_ungraded(attempts: Path, snapshot: str, graded: Collection[str]) -> None:
    """Say which configurations ran here and are on no board, as after `skills`."""
    from data.attempts import RUN

    folders = (path.parent for path in attempts.rglob(RUN) if path.parent.parent.name == snapshot)
    for folder in sorted(folder for folder in folders if folder.name not in graded):
        line = f"not on the board: {folder} is not graded (run `benchmint grade {folder} …`)"
        print(one_line(line), file=sys.stderr)


def _write_reading(
    release: Any, attempts: Path, tables: Mapping[str, Any], listed: Sequence[Any], out: Path
) -> int:
    """Write what is read of attempts; none where only tables of them are there."""
    from data.attempts import has_attempts
    from flows.evaluate.reading import write_reading

    if not has_attempts(attempts):
        return 0
    return write_reading(release, attempts, tables, listed, out)


def _write_sheet(release: Any, scores: Any, path: Path) -> None:
    """Draw answers to questions that count as right for people, and say what people found."""
    from data.contracts import Lane
    from data.figures import percent_range
    from selection.evaluation.measures import write_sheet

    tasks = release.tasks.items()
    questions = [name for name, task in tasks if task.candidate.lane is Lane.QUESTIONS]
    checked = write_sheet(path, scores, questions, release.digest)
    if checked.drawn:
        print(f"written: {path} ({checked.drawn} answers graded as right, for people to check)")
    if checked.right.mean is not None:
        n_right = round(checked.right.mean * checked.right.n)
        interval = percent_range(checked.right.low, checked.right.high)
        print(f"people found {n_right} of {checked.right.n} right ({interval})")


def _of_release(tables: dict[str, Any], release: Any, folder: Path) -> dict[str, Any]:
    """The attempts at one release, and their scores as they count."""
    from selection.evaluation.board import counted

    attempts = tables["attempts"].filter(release_digest=release.digest)
    if not attempts.height:
        actual, todo = "attempts at other releases only", "Name the release that was run."
        raise InputError(str(folder), actual, f"attempts at {release.snapshot}", todo)
    outdated = attempts.filter(~attempts["errata"].eq_missing(release.notice_digest))
    if outdated.height:
        raise InputError(
            str(folder / outdated["configuration"][0]), "scores older than the current errata",
            f"attempts graded under the errata that {release.snapshot} has now",
            "Run `benchmint grade` (or `judge`) on them again: no agent is run.",
        )  # fmt: skip
    own = {
        name: tables[name].join(attempts, on="attempt_id", how="semi")
        for name in ("scores", "score_parts")
    }
    return {"attempts": attempts, **own, "scores": counted(own["scores"])}


def _without_files(release: Any, folder: Path) -> set[tuple[str, str]]:
    """Configuration and name of each attempt that has none of the files that its task asks for."""
    from data.attempts import empty_handed

    tasks = {**release.tasks, **release.withdrawn}
    asking = {name for name, task in tasks.items() if task.candidate.deliverables}
    return {one for one in empty_handed(folder) if one[1].rpartition("-")[0] in asking}


def _ended(tables: Mapping[str, Any], without_files: Collection[tuple[str, str]] = ()) -> Any:
    """The attempts with how they ended as pages tell it, by what was recorded and checked."""
    import polars as pl

    from data.attempts import attempt_name
    from data.reasons import ending

    parts: dict[str, list[tuple[str, str | None, float | None]]] = {}
    columns = ("attempt_id", "name", "reason", "value")
    for attempt_id, *part in tables["score_parts"].select(columns).iter_rows():
        parts.setdefault(attempt_id, []).append(tuple(part))
    attempts = tables["attempts"]
    recorded = ("attempt_id", "status", "termination", "configuration", "task_id", "epoch")
    ends = [
        ending(
            status, termination, parts.get(attempt_id, ()),
            lacks_files=(configuration, attempt_name(task, epoch)) in without_files,
        )
        for attempt_id, status, termination, configuration, task, epoch in attempts.select(
            recorded
        ).iter_rows()
    ]  # fmt: skip
    return attempts.with_columns(termination=pl.Series(ends, dtype=pl.String))


def _estimator(tables: Path) -> Any:
    """The estimator that a release ships with its selection, if there is one."""
    from selection.estimator import ShippedEstimator

    record = _selection(tables).get("estimator")
    return ShippedEstimator.of_record(record) if record else None


def _lite(release: Any) -> Collection[str]:
    """The tasks of the Lite subset; none where the release draws none."""
    return set((_selection(release.tables).get("lite") or {}).get("chosen", ()))


def _selection(tables: Path) -> dict[str, Any]:
    """What a release says of its selection; empty where it says nothing."""
    import orjson

    from data.snapshot import layout

    path = tables.parent / layout.AUDIT / "selection.json"
    record: dict[str, Any] = orjson.loads(path.read_bytes()) if path.is_file() else {}
    return record


def _questions(tables: Path) -> dict[str, dict[str, Any]]:
    """Index, category and region of the questions of a release by their words."""
    import polars as pl

    path = tables / "questions.parquet"
    if not path.is_file():
        return {}
    companies = pl.read_parquet(tables / "companies.parquet").select("company_id", "country")
    rows = pl.read_parquet(path).join(companies, on="company_id", how="left").to_dicts()
    return {row["question"]: row for row in rows}


def _write_measures(
    tables: Mapping[str, Any],
    facts: Sequence[Any],
    made: Board,
    questions: Mapping[str, Mapping[str, Any]],
    attempts: Path,
    process: Any,
    out: Path,
) -> tuple[Path, ...]:
    """Write the tables of measures as Parquet and CSV; their paths."""
    from selection.evaluation.leaderboard_page import write_frame
    from selection.evaluation.measures import (
        cells_table,
        pairs_table,
        reliability_table,
        retrieval_table,
        task_table,
    )

    frames = {
        "process": process,
        "cells": cells_table(tables["attempts"], tables["score_parts"], facts),
        "tasks": task_table(tables["scores"], facts),
        "pairs": pairs_table(made.differences),
        "reliability": reliability_table(tables["scores"]),
    }
    if retrieval := _retrieval_frames(attempts, tables["attempts"]["release_digest"][0]):
        regions = {row["index"]: row["country"] or "none" for row in questions.values()}
        inclusion = {
            row["index"]: row["pi_design"] for row in questions.values() if row.get("pi_design")
        }
        frames["retrieval"] = retrieval_table(retrieval, regions, inclusion)
    return tuple(
        path
        for name, frame in frames.items()
        if frame.height
        for path in write_frame(frame, out / name)
    )


def _retrieval_frames(attempts: Path, digest: str) -> dict[str, Any]:
    """FinRetrieval's tables of all configurations at one release; none without questions."""
    import polars as pl

    from data.attempts import table_folders

    folders = [
        source / "retrieval"
        for source in table_folders(attempts)
        if digest in pl.read_parquet(source / "attempts.parquet")["release_digest"]
        and (source / "retrieval" / "scores.parquet").is_file()
    ]
    return {
        name: pl.concat([pl.read_parquet(folder / f"{name}.parquet") for folder in folders])
        for name in ("questions", "scores", "tool_traces")
        if folders
    }


def _graded(folder: Path) -> dict[str, Any]:
    """The tables of attempts and scores below a folder. Raises InputError if there are none."""
    import polars as pl

    from data.attempts import require_current, table_folders

    sources = table_folders(folder)
    if not sources:
        raise InputError(
            str(folder), "no tables of graded attempts", "scores/attempts.parquet below it",
            "Run `benchmint evaluate`, or `benchmint grade`, first.",
        )  # fmt: skip
    require_current(sources)
    return {
        name: pl.concat(
            [pl.read_parquet(source / f"{name}.parquet") for source in sources], how="diagonal"
        )
        for name in ("attempts", "scores", "score_parts")
    }


def _facts(
    candidate: Any, questions: Mapping[str, Mapping[str, Any]], lite: Collection[str]
) -> Any:
    from selection.evaluation.board import TaskFacts

    family = candidate.task_family.value if candidate.task_family else "none"
    question = questions.get(candidate.prompt.partition("\n\n")[0], {})
    deliverables = [deliverable.file_type for deliverable in candidate.deliverables]
    return TaskFacts(
        candidate.task_id,
        cluster=family,
        family=family,
        role=candidate.role.value if candidate.role else "none",
        difficulty=candidate.difficulty or "none",
        lane=str(candidate.lane),
        surface=str(candidate.execution_surface or "none"),
        deliverable=deliverables[0] if deliverables else "none",
        category=question.get("category") or "none",
        region=question.get("country") or "none",
        is_lite=candidate.task_id in lite,
    )


def _listed(
    tables: Mapping[str, Any], facts: Sequence[Any], release: Any
) -> Iterator[dict[str, Any]]:
    """An attempt per line, with the groups and the first words of its task."""
    import polars as pl

    from data.snapshot.task_pages import first_words
    from selection.evaluation.board import GROUPINGS

    known = {fact.task_id: fact for fact in facts}
    results = tables["scores"].select("attempt_id", "passed", "passed_at_best", "operation")
    joined = tables["attempts"].join(results, on="attempt_id", how="left")
    ended = pl.when(pl.col("passed_at_best")).then(pl.lit("unjudged")).otherwise(pl.lit("failed"))
    judged = pl.when(pl.col("passed")).then(pl.lit("passed")).otherwise(ended)
    infra = pl.col("status") == "infra_error"
    words = pl.when(infra).then(pl.lit("infrastructure")).otherwise(judged)
    columns = ("configuration", "task_id", "epoch", "result", "attempt_id")
    rows = joined.with_columns(result=words).sort(columns)
    for configuration, task_id, epoch, result, attempt_id, *ways in rows.select(
        *columns, "operation", "termination"
    ).iter_rows():
        groups = {name: getattr(known[task_id], name) for name in GROUPINGS}
        yield {
            "configuration": configuration, "task": task_id, "epoch": epoch, "result": result,
            "groups": groups, "attempt": attempt_id,
            "about": first_words(visible(release.tasks[task_id].candidate.prompt)),
            "ways": ways if result == "failed" else (None, None),
        }  # fmt: skip


def plan_command(
    first: Annotated[str, typer.Argument(help="A configuration with graded attempts.")],
    second: Annotated[str, typer.Argument(help="Another configuration.")],
    attempts: _Attempts = ATTEMPTS,
    gap: Annotated[
        float, typer.Option(min=0.001, max=1, help="Difference in pass rate to detect.")
    ] = 0.05,
    power: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Probability of detecting it.")
    ] = 0.8,
) -> None:
    """Print how many tasks, epochs and dollars you need to tell two agents apart."""
    from selection.evaluation.comparisons import pilot_scores, plan, variances

    tables = _graded(attempts)
    known = set(tables["attempts"]["configuration"])
    if strange := [name for name in (first, second) if name not in known]:
        expected = ", ".join(sorted(known))
        raise InputError(
            "plan", strange[0], expected, "Choose configurations with graded attempts."
        )
    own, others, tasks = pilot_scores(tables["scores"], first, second)
    seen = variances(own, others, tasks)
    costs = tables["attempts"]["cost"]
    mean = None if costs.null_count() else costs.mean()
    print(one_line(f"{first} against {second}: {len(tasks)} tasks in common"))
    print(f"variance between tasks {seen.between:.4f}, within a task {seen.within:.4f}")
    # of single epochs nothing is known about what more of them would gain
    for epochs in (1, 2, 4, 8) if own.shape[1] > 1 else (1,):
        made = plan(seen, gap, epochs, cost_per_attempt=mean, power=power)
        cost = "" if made.cost is None else f", {made.cost:.2f} US dollars"
        print(f"epochs {epochs}: {made.tasks} tasks, {made.attempts} attempts{cost}")


def link_command(
    reference: Annotated[Path, typer.Argument(help="Snapshot whose scale to use.")],
    later: Annotated[Path, typer.Argument(help="The other snapshot.")],
    attempts: _Attempts = ATTEMPTS,
    out: WriteTo = Path("leaderboard"),
    seed: Annotated[int, typer.Option(min=0, help="Bootstrap seed.")] = 0,
) -> None:
    """Put scores from two snapshots on one scale, with intervals, and write the table."""
    import polars as pl

    from data.figures import percent, percent_range
    from selection.evaluation.leaderboard_page import write_frame

    releases, anchors, linked = linked_scores(reference, later, attempts, seed)
    out.mkdir(parents=True, exist_ok=True)
    paths = write_frame(pl.DataFrame(linked), out / "linked")
    print(f"{len(anchors)} tasks are in both; scores are on the scale of {releases[0].snapshot}")
    for row in linked:
        where = releases[0] if row.on_reference else releases[1]
        print(
            f"{row.configuration} ({where.snapshot}): {percent(row.score)}, "
            f"{percent_range(row.low, row.high)}; raw {percent(row.raw)}"
        )
    print("\n".join(f"written: {path}" for path in paths))


def linked_scores(
    reference: Path, later: Path, attempts: Path, seed: int = 0
) -> tuple[list[Any], list[str], Sequence[Linked]]:
    """Both releases, the tasks that tie them together, and the scores on the scale of the first.

    Raises InputError without attempts at each of them, and with too few tasks in both.
    """
    from data.releases.tasks import read_tasks
    from selection.evaluation.comparisons import link

    releases = [read_tasks(reference), read_tasks(later)]
    tables = _graded(attempts)
    rates = [_rates(_of_release(tables, release, attempts)) for release in releases]
    anchors = _anchors(*releases)
    first, second = (
        {name: _named(row, anchors, side) for name, row in own.items()}
        for side, own in enumerate(rates)
    )
    return releases, anchors, link(first, second, anchors, seed)


def _rates(tables: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The pass rate over epochs by configuration and task."""
    import polars as pl

    graded = tables["scores"].drop_nulls("passed").group_by("configuration", "task_id")
    rates: dict[str, dict[str, float]] = {}
    for name, task, rate in graded.agg(pl.col("passed").mean()).sort(pl.all()).iter_rows():
        rates.setdefault(name, {})[task] = rate
    return rates


def _anchors(reference: Any, later: Any) -> list[str]:
    """Tasks of both snapshots that ask the same and are graded the same."""
    from data.canonical import digest

    parts = ("prompt", "guidelines", "fixtures", "answers", "rules", "rubric", "checks")

    def content(release: Any, task_id: str) -> str:
        whole = release.grading(task_id)
        return digest([whole.get(part) for part in parts])

    shared = sorted(reference.tasks.keys() & later.tasks.keys())
    return [name for name in shared if content(reference, name) == content(later, name)]


def _named(row: Mapping[str, float], anchors: Sequence[str], side: int) -> dict[str, float]:
    """A task that changed between the snapshots goes by another name in each."""
    same = set(anchors)
    return {task if task in same else f"{task} {side}": rate for task, rate in row.items()}
