"""The leaderboard: rows, groups, failures, plans, and a page that hostile names cannot break."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from data.errors import InputError
from data.figures import percent_range
from flows.commands.leaderboard import _ended
from selection.evaluation.board import Board, TaskFacts, _pass_rate, board
from selection.evaluation.comparisons import pilot_scores, plan, variances
from selection.evaluation.intervals import wilson
from selection.evaluation.leaderboard_page import markdown_table, write_board

HOSTILE = "<script>alert(1)</script>|=cmd()"
SKILL = {"strong": 0.9, "weak": 0.2, HOSTILE: 0.2}
TASKS = [TaskFacts(f"t{at:03d}", f"c{at % 20}", family="ab"[at % 2]) for at in range(100)]


def tables(epochs: int = 2) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = np.random.default_rng(8)
    attempts: list[dict[str, Any]] = []
    scores: list[dict[str, Any]] = []
    for name, skill in SKILL.items():
        for task in TASKS:
            for epoch in range(1, epochs + 1):
                passed = bool(draw.random() < skill)
                attempt = f"{name}-{task.task_id}-{epoch}"
                shared = {"attempt_id": attempt, "task_id": task.task_id, "epoch": epoch}
                attempts.append(
                    shared | {"configuration": name, "harness": "h", "model": "m",
                              "condition": "data", "status": "completed", "steps": 3,
                              "termination": None if passed else "gave_up", "cost": 0.01,
                              "seconds": 2.0, "release_digest": "d"}
                )  # fmt: skip
                scores.append(
                    shared | {"configuration": name, "grader": "g", "judge": None, "passed": passed,
                              "overall": float(passed), "acc": float(passed),
                              "operation": None if passed else "comparison or boolean"}
                )  # fmt: skip
    return pl.DataFrame(attempts, infer_schema_length=None), pl.DataFrame(
        scores, infer_schema_length=None
    )


@pytest.fixture(scope="module")
def made() -> Board:
    return board(*tables(), TASKS)


def test_a_part_of_the_release_is_marked_as_one(tmp_path: Path) -> None:
    attempts, scores = tables()
    few = pl.col("task_id").is_in([task.task_id for task in TASKS[:6]])
    strong = pl.col("configuration") == "strong"
    made = board(attempts.filter(few | strong), scores.filter(few | strong), TASKS)
    assert {row.configuration: row.tasks for row in made.rows} == {
        "strong": 100, "weak": 6, HOSTILE: 6
    }  # fmt: skip
    lines = markdown_table(made).splitlines()[2:]
    cells = {line.split(" | ")[0].strip("| "): line.split(" | ")[1] for line in lines}
    assert (cells["strong"], cells["weak"]) == ("100", "6 of 100")
    write_board(made, "r", tmp_path, [])
    assert "6 of 100" in (tmp_path / "leaderboard.html").read_text()
    assert pl.read_parquet(tmp_path / "leaderboard.parquet")["release_tasks"].to_list() == 3 * [100]


def test_the_page_begins_with_what_it_is_and_leaves_out_empty_columns(
    made: Board, tmp_path: Path
) -> None:
    rows = [replace(row, harness="talk") for row in made.rows]
    groups = {"family": "a", "lane": "questions"}
    listed = [
        {"configuration": "weak", "task": task, "epoch": 1, "result": "failed", "groups": groups,
         "ways": (None, None), "attempt": task}
        for task in ("t1", "t2")
    ]  # fmt: skip
    content = write_board(replace(made, rows=tuple(rows)), "demo", tmp_path, listed)[0].read_text()
    about = content.partition('<p class="lead">')[2].partition("</p>")[0]
    assert about.startswith(
        "A benchmark with 100 tasks for AI agents (tried: 2 questions), and the results of 3"
    )
    assert "All of them are built-in dummies, not AI models" in about
    assert ">unjudged</button>" not in content and ">infrastructure</button>" not in content
    assert ">cost</button>" in content
    rows[0] = replace(rows[0], harness="h", n_infra=2)
    content = write_board(replace(made, rows=tuple(rows)), "demo", tmp_path, [])[0].read_text()
    assert "2 of them are built-in dummies" in content and ">infrastructure</button>" in content


def test_rows_are_ranked_as_far_as_the_data_go(made: Board) -> None:
    strong, *others = made.rows
    assert (strong.configuration, strong.ranks, strong.tie_group) == ("strong", (1, 1), 1)
    assert {(row.ranks, row.tie_group) for row in others} == {((2, 3), 2)}
    assert (strong.tasks, strong.attempts, strong.n_infra) == (100, 200, 0)
    assert strong.cost == pytest.approx(0.01)
    assert strong.method == "clustered t" and strong.error is not None
    assert strong.low is not None and strong.passed is not None and strong.low < strong.passed


def test_results_that_are_all_alike_count_each_cluster_as_one_task() -> None:
    labels = [f"family {at % 10}" for at in range(29)]
    none = _pass_rate(np.zeros(29), labels)
    assert (none.n, none.clusters, none.method) == (29, 10, "clustered wilson")
    assert (none.low, none.high) == (wilson(0, 10).low, wilson(0, 10).high)
    assert _pass_rate(np.zeros(29), labels[:9] * 4).method == "wilson"


def test_infrastructure_and_unjudged_are_counted_and_left_out() -> None:
    attempts, scores = tables(1)
    first = pl.col("task_id") == "t000"
    attempts = attempts.with_columns(
        status=pl.when(first).then(pl.lit("infra_error")).otherwise("status")
    )
    unjudged = pl.when(pl.col("task_id") != "t001").then("passed")
    made = board(attempts, scores.filter(~first).with_columns(passed=unjudged), TASKS)
    row = made.rows[0]
    assert (row.tasks, row.attempts, row.n_infra, row.n_unjudged) == (98, 100, 1, 1)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("how", ["undecided", "without support", "never judged"])
def test_no_agent_gains_by_being_unjudged(share: float, how: str) -> None:
    attempts, scores = tables(1)
    judge = pl.lit("model:j")
    draw = np.random.default_rng(3).random(scores.height) < share
    failed = pl.Series(draw) & (scores["configuration"] == "weak") & ~scores["passed"]
    honest = board(attempts, scores.with_columns(judge=judge), TASKS)
    none = pl.lit(None)
    changes = {
        "undecided": {"passed": none, "overall": none},
        "without support": {"passed_at_best": pl.lit(True)},
        "never judged": {"passed": none, "overall": none, "judge": none},
    }[how]
    changed = scores.with_columns(
        judge=judge, passed_at_best=pl.lit(None, pl.Boolean)
    ).with_columns(
        **{name: pl.when(~failed).then(name).otherwise(value) for name, value in changes.items()}
    )
    gamed = board(attempts, changed, TASKS)
    before, after = (
        next(row for row in made.rows if row.configuration == "weak") for made in (honest, gamed)
    )
    assert after.passed == before.passed == after.passed_at_least
    assert (after.ranks, after.tie_group) == (before.ranks, before.tie_group)
    assert after.overall == pytest.approx(before.overall)
    assert (after.n_unjudged, before.n_unjudged) == (failed.sum(), 0)
    assert before.passed is not None and after.passed_at_most is not None
    assert after.passed_at_most == pytest.approx(before.passed + int(failed.sum()) / 100)
    bounds = percent_range(before.passed, after.passed_at_most)
    assert bounds in markdown_table(gamed)
    assert sum(row["n"] for row in gamed.failures) < sum(row["n"] for row in honest.failures)


def test_without_a_judge_bounds_say_what_is_open() -> None:
    attempts, scores = tables(1)
    opened = pl.when(pl.col("task_id") >= "t050").then("passed")
    made = board(attempts, scores.with_columns(passed=opened), TASKS)
    for row in made.rows:
        assert (row.tasks, row.n_unjudged) == (50, 50)
        assert row.passed is not None
        assert row.passed_at_least == pytest.approx(row.passed / 2)
        assert row.passed_at_most == pytest.approx(row.passed / 2 + 0.5)


def test_groups_of_tasks_and_ways_to_fail(made: Board) -> None:
    assert {cell["grouping"] for cell in made.cells} == {"family"}
    assert sum(cell["tasks"] for cell in made.cells if cell["configuration"] == "weak") == 100
    kinds = {(row["kind"], row["what"]) for row in made.failures}
    assert kinds == {("operation", "comparison or boolean"), ("termination", "gave_up")}


def test_failures_by_turns_and_by_time_stand_apart_from_wrong_results(tmp_path: Path) -> None:
    attempts, scores = tables(1)
    failed = scores.filter(~pl.col("passed"), configuration="weak")["task_id"].to_list()
    ends = dict(zip(failed, ["timeout", "timeout", "budget"], strict=False))
    ran = attempts.with_columns(
        status=pl.col("task_id").replace_strict(ends, default="completed"),
        termination=pl.when(pl.col("termination").is_not_null()).then(pl.lit("other")),
    )
    parts = {"attempt_id": pl.String, "name": pl.String, "reason": pl.String, "value": pl.Float64}
    ended = _ended({"attempts": ran, "score_parts": pl.DataFrame(schema=parts)})
    made = board(ended, scores, TASKS)
    counts = {row["what"]: row["n"] for row in made.failures if row["configuration"] == "weak"}
    assert counts.pop("comparison or boolean") == len(failed)
    assert counts == {"timeout": 2, "budget_spent": 1, "checks_not_met": len(failed) - 3}
    page = write_board(made, "r", tmp_path, [])[0].read_text()
    assert all(f'data-group="{name}"' in page for name in counts)


def test_who_has_none_of_the_files_that_were_asked_for_delivered_nothing() -> None:
    attempts, _ = tables(1)
    parts = {"attempt_id": pl.String, "name": pl.String, "reason": pl.String, "value": pl.Float64}
    gave = attempts.with_columns(termination=pl.lit("other"))
    ended = _ended(
        {"attempts": gave, "score_parts": pl.DataFrame(schema=parts)}, {("weak", "t003-1")}
    )
    empty = ended.filter(termination="delivered_nothing").select("configuration", "task_id")
    assert empty.rows() == [("weak", "t003")]


def test_tables_of_groups_and_failures_have_a_row_per_configuration_and_none_of_none(
    made: Board, tmp_path: Path
) -> None:
    failed_too = [row for row in made.failures if row["configuration"] == "weak"]
    paths = write_board(replace(made, failures=tuple(failed_too)), "demo", tmp_path, [])
    content = paths[0].read_text()
    of_groups, of_failures = content.split('id="failures"')
    assert 'data-group="gave_up">gave up</th>' in of_failures
    assert [name for name in SKILL if f'<th scope="row">{name}</th>' in of_failures] == ["weak"]
    assert all(f'<th scope="row">{escape(name)}</th>' in of_groups for name in SKILL)


@pytest.mark.parametrize(("column", "value"), [("release_digest", "e"), ("task_id", "t999")])
def test_attempts_of_several_releases_are_refused(column: str, value: str) -> None:
    attempts, scores = tables(1)
    changed = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(value)).otherwise(column)
    with pytest.raises(InputError):
        board(attempts.with_columns(changed.alias(column)), scores, TASKS)


def test_names_are_text_in_all_files(made: Board, tmp_path: Path) -> None:
    groups = {"family": "a"}
    listed = [
        {"configuration": HOSTILE, "task": "t1", "epoch": 1, "result": "passed", "groups": groups,
         "ways": (None, None), "attempt": "x"}
    ]  # fmt: skip
    paths = write_board(made, "release </title>", tmp_path, listed)
    page, _, csv, text = paths
    content = page.read_text()
    assert "<script>alert" not in content and "release </title>" not in content
    assert "default-src" in content and not re.search(r"(?:src|href)=\"(?!#)", content)
    assert "<script>" not in text.read_text()
    names = pl.read_csv(csv)["configuration"].to_list()
    assert set(names) == set(SKILL)
    assert len(markdown_table(made).splitlines()) == 2 + len(SKILL)
    assert pl.read_parquet(paths[1])["rank_best"].to_list() == [1, 2, 2]


def test_a_plan_follows_from_the_variances() -> None:
    _, scores = tables(4)
    first, second, tasks = pilot_scores(scores, "strong", "weak")
    seen = variances(first, second, [TASKS[int(task[1:])].cluster for task in tasks])
    assert seen.within == pytest.approx(0.9 * 0.1 + 0.2 * 0.8, abs=0.03)
    once, often = plan(seen, 0.1, 1, cost_per_attempt=0.5), plan(seen, 0.1, 4)
    assert often.tasks < once.tasks and once.cost == once.attempts * 0.5
    half = plan(seen, 0.05, 1)
    assert half.tasks == pytest.approx(4 * once.tasks, rel=0.02)


def test_one_judge_judges_a_board_and_kin_is_marked() -> None:
    attempts, scores = tables(1)
    attempts = attempts.with_columns(model=pl.lit("openai/gpt-4o"))
    made = board(attempts, scores.with_columns(judge=pl.lit("model:gpt-5")), TASKS)
    assert {(row.judge, row.judged_by_kin) for row in made.rows} == {("model:gpt-5", True)}
    assert "model:gpt-5 (same family)" in markdown_table(made)
    other = board(attempts, scores.with_columns(judge=pl.lit("model:claude-9")), TASKS)
    assert not any(row.judged_by_kin for row in other.rows)
    two = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("a")).otherwise(pl.lit("b"))
    with pytest.raises(InputError, match="one judge for the whole leaderboard"):
        board(attempts, scores.with_columns(judge=two), TASKS)


def test_the_lite_subset_is_held_against_the_ranking_on_all_tasks(tmp_path: Path) -> None:
    attempts, scores = tables(epochs=1)
    lite = [replace(task, is_lite=at < 12) for at, task in enumerate(TASKS)]
    made = board(attempts, scores, lite)
    assert made.lite is not None
    assert (made.lite.tasks, made.lite.configurations, made.lite.separated) == (12, 3, 2)
    assert (made.lite.turned, made.lite.tied) == (0, 0)
    page = write_board(made, "r", tmp_path, [])[0].read_text()
    assert "Lite subset (12 tasks): Kendall" in page
    assert (
        "Of 2 pairs distinguished on all tasks, 2 have the same order on it, 0 are reversed" in page
    )
    assert board(attempts, scores, TASKS).lite is None


def test_a_lite_subset_that_turns_a_pair_is_told(tmp_path: Path) -> None:
    rows = [(name, f"t{at:03d}", (name == "a") == (at >= 2)) for name in "ab" for at in range(40)]
    columns = ["configuration", "task_id", "passed"]
    frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        attempt_id=pl.col("configuration") + pl.col("task_id"), epoch=1, grader=pl.lit("g"),
        judge=pl.lit(None, pl.String), overall=pl.col("passed").cast(pl.Float64),
        acc=pl.col("passed").cast(pl.Float64), operation=pl.lit(None, pl.String),
    )  # fmt: skip
    attempts = frame.select("attempt_id", "task_id", "configuration", "epoch").with_columns(
        harness=pl.lit("h"), model=pl.lit("m"), condition=pl.lit("data"), steps=1, cost=0.1,
        status=pl.lit("completed"), termination=pl.lit(None, pl.String), seconds=1.0,
        release_digest=pl.lit("d"),
    )  # fmt: skip
    facts = [TaskFacts(f"t{at:03d}", f"t{at}", is_lite=at < 2) for at in range(40)]
    made = board(attempts, frame, facts)
    assert made.lite is not None
    assert (made.lite.tau, made.lite.separated, made.lite.turned) == (-1.0, 1, 1)
