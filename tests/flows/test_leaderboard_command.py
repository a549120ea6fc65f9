"""`benchmint leaderboard` and `plan` on attempts that were graded."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl
import pytest
import typer

from data.errors import InputError
from data.releases.tasks import read_tasks
from data.schemas import ATTEMPTS, SCORE_PARTS, SCORES, TOOL_CALLS, Table
from flows.commands.leaderboard import leaderboard_command, link_command, plan_command
from tests.demo import Demo
from tests.flows.command import invoked
from tests.selection.evaluation.test_board import tables

app = typer.Typer()
app.command(name="leaderboard")(leaderboard_command)
app.command(name="plan")(plan_command)
app.command(name="link")(link_command)


run = partial(invoked, app)


def latest(demo: Demo) -> Path:
    return demo.out / "snapshots" / "latest"


@pytest.fixture
def graded(demo: Demo, tmp_path: Path) -> Path:
    """Attempts at the demo's release, and at another one."""
    release = read_tasks(latest(demo))
    ids = sorted(release.tasks)
    named = dict(zip((f"t{at:03d}" for at in range(len(ids))), ids, strict=True))
    attempts, scores = (
        table.filter(pl.col("task_id").is_in(list(named))).with_columns(
            pl.col("task_id").replace(named)
        )
        for table in tables()
    )
    attempts = attempts.with_columns(release_digest=pl.lit(release.digest))
    nothing = pl.lit(None, dtype=pl.Float64)
    names = ("ee", "gpr_direct", "gpr_inferred", "tpe")
    scores = scores.with_columns(**dict.fromkeys(names, nothing))
    other = attempts.with_columns(
        release_digest=pl.lit("other"), attempt_id=pl.col("attempt_id") + "-other"
    )
    folder = tmp_path / "attempts"
    for name, of, rows in (("a", attempts, scores), ("b", other, scores.head(0))):
        (folder / name / "scores").mkdir(parents=True)
        parts = rows.select(
            "attempt_id",
            name=pl.lit("rubric.depth"),
            value=pl.col("overall"),
            detail=pl.lit("{}"),
        )
        frames = (
            (ATTEMPTS, of), (SCORES, rows), (SCORE_PARTS, parts), (TOOL_CALLS, pl.DataFrame()),
        )  # fmt: skip
        for table, frame in frames:
            path = folder / name / "scores" / f"{table.name}.parquet"
            complete(frame, table).write_parquet(path)
    return folder


def complete(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
    """The rows with all columns of their table."""
    lacking = {
        column: pl.lit(None, dtype)
        for column, dtype in table.schema.items()
        if column not in frame.columns
    }
    return frame.with_columns(**lacking) if frame.columns else pl.DataFrame(schema=table.schema)


@pytest.mark.parametrize("name", ["attempts", "scores", "tool_calls"])
def test_attempts_that_an_older_version_graded_are_graded_again(
    graded: Path, demo: Demo, name: str
) -> None:
    path = graded / "a" / "scores" / f"{name}.parquet"
    frame = pl.read_parquet(path)
    frame.drop(frame.columns[-1]).write_parquet(path)
    expected = rf"{name}.parquet: found a table of an older version \(no column "
    with pytest.raises(InputError, match=expected) as refused:
        run("leaderboard", latest(demo), "--attempts", graded, "--out", graded / "board")
    assert f"Run `benchmint grade {graded / 'a'} --snapshot SNAPSHOT`" in str(refused.value)
    assert not (graded / "board").exists()


def test_attempts_at_one_release_become_a_board(graded: Path, demo: Demo, tmp_path: Path) -> None:
    out, tasks = tmp_path / "out", len(read_tasks(latest(demo)).tasks)
    said = run("leaderboard", latest(demo), "--attempts", graded, "--out", out)
    assert f"| strong | {tasks} |" in said
    files = [path for path in out.iterdir() if path.is_file()]
    assert {path.suffix for path in files} == {".html", ".parquet", ".csv", ".md"}
    assert len(list((out / "every_eval_ever" / "data").rglob("*.json"))) == 3
    assert pl.read_parquet(out / "leaderboard.parquet")["attempts"].to_list() == [2 * tasks] * 3
    cells = pl.read_parquet(out / "cells.parquet")
    assert set(cells["dimension"]) == {"depth"} and cells["value"].null_count() == 0
    assert pl.read_parquet(out / "process.parquet")["attempts"].to_list() == [2 * tasks] * 3


def test_attempts_at_other_releases_only_are_refused(
    graded: Path, demo: Demo, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="attempts at other releases only"):
        run("leaderboard", latest(demo), "--attempts", graded / "b", "--out", tmp_path / "out")


def test_nothing_graded_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(InputError, match="no tables of graded attempts"):
        run("plan", "a", "b", "--attempts", tmp_path / "d")


def test_a_plan_names_tasks_attempts_and_dollars(graded: Path) -> None:
    said = run("plan", "strong", "weak", "--attempts", graded, "--gap", 0.1)
    first, *_ = [line for line in said.splitlines() if line.startswith("epochs 1:")]
    assert first.endswith("US dollars") and "tasks" in first
    assert "epochs 8" in said
    with pytest.raises(InputError, match="found weaker"):
        run("plan", "strong", "weaker", "--attempts", graded)


def test_two_snapshots_are_put_on_one_scale_by_the_tasks_of_both(
    graded: Path, demo: Demo, tmp_path: Path
) -> None:
    """With the same snapshot twice every task is an anchor, and the scores are the raw ones."""
    out = tmp_path / "out"
    said = run("link", latest(demo), latest(demo), "--attempts", graded, "--out", out)
    assert f"{len(read_tasks(latest(demo)).tasks)} tasks are in both" in said
    linked = pl.read_parquet(out / "linked.parquet")
    assert linked["on_reference"].to_list().count(True) == 3
    assert (linked["score"] - linked["raw"]).abs().max() < 0.02  # type: ignore[operator]
    assert ((linked["low"] <= linked["score"]) & (linked["score"] <= linked["high"])).all()
