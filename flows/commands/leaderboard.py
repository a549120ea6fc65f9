"""What attempts say about agents: `leaderboard` and `plan`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from data.errors import InputError
from data.neutralise import one_line
from flows.commands.evaluate import ATTEMPTS, Snapshot
from flows.commands.options import WriteTo

Attempts = Annotated[
    Path, typer.Option("--attempts", help="Folder of graded attempts, of all configurations.")
]


def leaderboard_command(
    snapshot: Snapshot,
    attempts: Attempts = ATTEMPTS,
    out: WriteTo = Path("leaderboard"),
) -> None:
    """Write the leaderboard of graded attempts: an HTML page, Parquet, CSV, a Markdown table."""
    from data.releases.tasks import read_tasks
    from selection.evaluation.board import board
    from selection.evaluation.leaderboard_page import markdown_table, write_board

    release = read_tasks(snapshot)
    tables = _graded(attempts)
    facts = [_facts(task.candidate) for task in release.tasks.values()]
    tables = _of_release(tables, release.digest, str(attempts), release.snapshot)
    made = board(tables["attempts"], tables["scores"], facts)
    listed = list(_listed(tables, {fact.task_id: fact for fact in facts}))
    paths = write_board(made, release.snapshot, out, listed)
    print(markdown_table(made), end="")
    print("\n".join(f"written: {path}" for path in paths))


def _of_release(tables: dict[str, Any], digest: str, folder: str, name: str) -> dict[str, Any]:
    """The attempts at one release, and their scores. Raises InputError if there are none."""
    attempts = tables["attempts"].filter(release_digest=digest)
    if not attempts.height:
        actual, todo = "attempts at other releases only", "Name the release that was run."
        raise InputError(folder, actual, f"attempts at {name}", todo)
    scores = tables["scores"].join(attempts, on="attempt_id", how="semi")
    return {"attempts": attempts, "scores": scores}


def _graded(folder: Path) -> dict[str, Any]:
    """The tables of attempts and scores below a folder. Raises InputError if there are none."""
    import polars as pl

    from data.attempts_database import table_folders

    sources = table_folders(folder)
    if not sources:
        raise InputError(
            str(folder), "no tables of graded attempts", "scores/attempts.parquet below it",
            "Run `benchmint evaluate`, or `benchmint grade`, first.",
        )  # fmt: skip
    return {
        name: pl.concat([pl.read_parquet(source / f"{name}.parquet") for source in sources])
        for name in ("attempts", "scores")
    }


def _facts(candidate: Any) -> Any:
    from selection.evaluation.board import TaskFacts

    family = candidate.task_family.value if candidate.task_family else "none"
    deliverables = [deliverable.file_type for deliverable in candidate.deliverables]
    return TaskFacts(
        candidate.task_id,
        cluster=family,
        family=family,
        role=candidate.role.value if candidate.role else "none",
        difficulty=candidate.difficulty or "none",
        lane=str(candidate.lane),
        deliverable=deliverables[0] if deliverables else "none",
    )


def _listed(tables: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """An attempt per line, with the groups that its task belongs to."""
    import polars as pl

    from selection.evaluation.board import GROUPINGS

    results = tables["scores"].select("attempt_id", "passed")
    joined = tables["attempts"].join(results, on="attempt_id", how="left")
    ended = pl.when(pl.col("passed")).then(pl.lit("passed")).otherwise(pl.lit("failed"))
    judged = pl.when(pl.col("passed").is_null()).then(pl.lit("unjudged")).otherwise(ended)
    infra = pl.col("status") == "infra_error"
    words = pl.when(infra).then(pl.lit("infrastructure")).otherwise(judged)
    columns = ("configuration", "task_id", "epoch", "result", "attempt_id")
    rows = joined.with_columns(result=words).select(columns).sort(columns).iter_rows()
    for configuration, task_id, epoch, result, attempt_id in rows:
        groups = {name: getattr(facts[task_id], name) for name in GROUPINGS}
        yield {
            "configuration": configuration, "task": task_id, "epoch": epoch, "result": result,
            "groups": groups, "attempt": attempt_id,
        }  # fmt: skip


def plan_command(
    first: Annotated[str, typer.Argument(help="A configuration that was run.")],
    second: Annotated[str, typer.Argument(help="Another one.")],
    attempts: Attempts = ATTEMPTS,
    gap: Annotated[
        float, typer.Option(min=0.001, max=1, help="Difference of pass rates to find.")
    ] = 0.05,
    power: Annotated[float, typer.Option(min=0.5, max=0.999, help="Chance of finding it.")] = 0.8,
) -> None:
    """Print how many tasks, epochs and dollars tell two such agents apart."""
    from selection.evaluation.planning import pilot_scores, plan, variances

    tables = _graded(attempts)
    known = set(tables["attempts"]["configuration"])
    if strange := [name for name in (first, second) if name not in known]:
        expected = ", ".join(sorted(known))
        raise InputError("plan", strange[0], expected, "Name configurations that were graded.")
    own, others, tasks = pilot_scores(tables["scores"], first, second)
    seen = variances(own, others, tasks)
    costs = tables["attempts"]["cost"]
    mean = None if costs.null_count() else costs.mean()
    print(one_line(f"{first} against {second}: {len(tasks)} tasks of both"))
    print(f"variance between tasks {seen.between:.4f}, within a task {seen.within:.4f}")
    # of single epochs nothing is known about what more of them would gain
    for epochs in (1, 2, 4, 8) if own.shape[1] > 1 else (1,):
        made = plan(seen, gap, epochs, cost_per_attempt=mean, power=power)
        cost = "" if made.cost is None else f", {made.cost:.2f} US dollars"
        print(f"epochs {epochs}: {made.tasks} tasks, {made.attempts} attempts{cost}")
