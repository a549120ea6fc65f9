"""Tables of published measures: micro averages, cells, discrimination; undefined is null."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from selection.evaluation.board import TaskFacts, _model_family
from selection.evaluation.comparisons import compare
from selection.evaluation.measures import (
    cells_table,
    pairs_table,
    process_table,
    reliability_table,
    retrieval_table,
    task_table,
)

TASKS = [TaskFacts("t1", "c", "fam", "hr", deliverable="md"), TaskFacts("t2", "c", "fam", "hr")]


def attempts() -> pl.DataFrame:
    rows = [
        ("a1", "one", "t1", "gave_up", 0.5), ("a2", "one", "t2", None, 1.5),
        ("b1", "two", "t1", "timeout", None), ("b2", "two", "t2", None, 2.0),
    ]  # fmt: skip
    names = ["attempt_id", "configuration", "task_id", "termination", "cost"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(
        harness=pl.lit("h"), model=pl.col("configuration"), status=pl.lit("completed"),
        seconds=pl.lit(3.0), steps=pl.Series([8, 90, 2, 90]),
    )  # fmt: skip


def score(attempt: str, passed: bool | None, **more: Any) -> dict[str, Any]:
    name, task = {"a": "one", "b": "two"}[attempt[0]], f"t{attempt[1]}"
    nothing = dict.fromkeys(("acc", "ee", "gpr_direct", "gpr_inferred", "tpe", "operation"))
    overall = None if passed is None else float(passed)
    base = {"attempt_id": attempt, "configuration": name, "task_id": task, "passed": passed}
    return {**base, "overall": overall, **nothing, **more}


SCORES = pl.DataFrame(
    [
        score("a1", False, acc=0.0, gpr_direct=0.5, gpr_inferred=0.75, tpe=0.9, operation="sum"),
        score("a2", True, acc=1.0, ee=0.8),
        score("b1", False, acc=0.0, gpr_direct=0.0, gpr_inferred=0.0, operation="sum"),
        score("b2", None),
    ],
    infer_schema_length=None,
)


def test_process_measures_are_means_over_the_attempts_that_have_them() -> None:
    first, second = process_table(attempts(), SCORES).to_dicts()
    assert (first["acc"], first["ee"], first["gpr_inferred"], first["tpe"]) == (0.5, 0.8, 0.75, 0.9)
    assert (first["passed"], first["failed"], first["termination.gave_up"]) == (1, 1, 1)
    assert (second["ee"], second["tpe"], second["gpr_direct"]) == (None, None, 0.0)
    assert (second["attempts"], second["passed"], second["failed"]) == (2, 0, 1)
    assert (second["first_unreached.sum"], second["termination.gave_up"]) == (1, 0)
    assert (first["failed_requests"], first["exploration"]) == (8, "many requests, much progress")
    assert (second["failed_requests"], second["exploration"]) == (
        2,
        "few requests, little progress",
    )


def test_cells_keep_what_is_unjudged_apart_and_know_no_cost_where_one_is_missing() -> None:
    parts = pl.DataFrame(
        [
            ("a1", "rubric.depth", 1.0, '{"supported":true}'), ("a1", "rubric.depth.2", 0.5, "{}"),
            ("a1", "answer.value", 0.0, "{}"), ("b1", "rubric.depth", None, "{}"),
            ("a2", "rubric.depth", 0.0, '{"supported":false}'),
        ],
        schema=["attempt_id", "name", "value", "detail"], orient="row",
    )  # fmt: skip
    rows = {
        (row["model"], row["deliverable"]): row
        for row in cells_table(attempts(), parts, TASKS).to_dicts()
    }
    own = rows["one", "md"]
    assert (own["role"], own["dimension"], own["value"], own["parts"]) == ("hr", "depth", 0.75, 2)
    assert (own["attempts"], own["cost"], own["seconds"]) == (1, 0.5, 3.0)
    assert [row["unsupported"] for row in rows.values() if row["model"] == "one"].count(1) == 1
    assert own["unsupported"] == 0
    other = rows["two", "md"]
    assert (other["value"], other["parts"], other["unjudged"]) == (None, 0, 1)
    assert other["cost"] is None


def test_discrimination_is_the_spread_over_configurations() -> None:
    rows = {row["task_id"]: row for row in task_table(SCORES, TASKS).to_dicts()}
    assert (rows["t1"]["pass_share"], rows["t1"]["discrimination"]) == (0.0, 0.0)
    assert rows["t1"]["family"] == "fam"
    (single,) = task_table(SCORES.filter(task_id="t1", configuration="one"), TASKS).to_dicts()
    assert single["discrimination"] is None


def epochs(*results: tuple[str, str, bool | None]) -> pl.DataFrame:
    return pl.DataFrame(results, schema=["configuration", "task_id", "passed"], orient="row")


def test_a_pair_has_one_test_and_no_interval_without_spread() -> None:
    tasks = [f"t{n:02d}" for n in range(12)]
    made = compare({"one": np.ones(12), "two": np.zeros(12)}, tasks)
    (pair,) = pairs_table(made).to_dicts()
    assert pair == {
        "first": "one", "second": "two", "tasks": 12, "units": 12, "difference": 1.0, "low": None,
        "high": None, "p": 2 * 0.5**12, "p_holm": 2 * 0.5**12, "separated": True,
    }  # fmt: skip


def test_pass_hat_k_has_both_conventions_by_name() -> None:
    given = [("one", "t1", True)] * 3
    others = (("one", "t1", False), ("one", "t2", True), ("one", "t2", None))
    first, second, *_, last = reliability_table(epochs(*given, *others)).to_dicts()
    assert (first["k"], first["tasks"], first["power"], first["combinations"]) == (
        1, 2, 0.875, 0.875,
    )  # fmt: skip
    assert (second["tasks"], second["power"], second["combinations"]) == (1, 0.75**2, 0.5)
    assert (last["k"], last["combinations"]) == (4, 0.0)


def test_sampled_questions_are_weighted_by_one_over_their_probability() -> None:
    frames = {
        "questions": pl.DataFrame({"index": [0, 1, 2], "category": ["c"] * 3}),
        "scores": pl.DataFrame(
            {"index": [0, 1, 2], "configuration": ["one"] * 3, "epoch": [1] * 3,
             "is_correct": [True, False, True], "first_query": [None] * 3,
             "error_kind": [None] * 3},
            schema_overrides={"first_query": pl.Boolean, "error_kind": pl.String},
        ),
        "tool_traces": pl.DataFrame(
            {"index": [0, 1, 2], "configuration": ["one"] * 3, "epoch": [1] * 3,
             "num_tool_calls": [1] * 3}
        ),
    }  # fmt: skip
    row = retrieval_table(frames, {}, {0: 0.5, 1: 0.1, 2: 0.25}).to_dicts()[0]
    assert row["weighted"] == pytest.approx((2 + 4) / (2 + 10 + 4))
    assert row["weighted_low"] < row["weighted"] < row["weighted_high"]
    row = retrieval_table(frames, {}, {0: 0.5, 1: 0.1}).to_dicts()[0]
    assert (row["weighted"], row["accuracy"]) == (None, pytest.approx(2 / 3))


def test_retrieval_by_category_and_region() -> None:
    key = {"configuration": "one", "epoch": 1}
    scores = pl.DataFrame(
        [
            {"index": 1, **key, "is_correct": True, "error_kind": None, "first_query": True},
            {"index": 2, **key, "is_correct": False, "error_kind": "period", "first_query": True},
            {"index": 3, **key, "is_correct": False, "error_kind": "search", "first_query": None},
        ]
    )
    frames = {
        "scores": scores,
        "questions": pl.DataFrame({"index": [1, 2, 3], "category": ["a", "a", "b"]}),
        "tool_traces": pl.DataFrame(
            [{"index": at, **key, "num_tool_calls": at} for at in (1, 2, 3)]
        ),
    }
    table = retrieval_table(frames, {1: "US", 2: "JP", 3: "JP"})
    rows = {(row["grouping"], row["group"]): row for row in table.to_dicts()}
    assert rows["all", "all"]["accuracy"] == pytest.approx(1 / 3)
    assert rows["all", "all"]["first_query"] == 1.0
    assert rows["all", "all"]["accuracy_after"] == 0.5
    assert (rows["all", "all"]["calls"], rows["all", "all"]["error.period"]) == (2.0, 1)
    assert (rows["category", "b"]["first_query"], rows["category", "b"]["accuracy"]) == (None, 0.0)
    assert rows["region", "JP"]["attempts"] == 2


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("openai/gpt-4o-mini", "gpt"), ("model:gpt-5", "gpt"), ("openai-api/local/o3", "gpt"),
        ("anthropic/claude-opus-4", "claude"), ("qwen2.5-72b", "qwen"), ("none", "none"),
    ],
)  # fmt: skip
def test_families_of_models(name: str, family: str) -> None:
    assert _model_family(name) == family
