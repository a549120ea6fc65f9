"""FinRetrieval's tables from graded attempts: one row per attempt, with what was expected."""

from __future__ import annotations

from pathlib import Path

import orjson
import polars as pl

from construction.grading.retrieval_tables import write_retrieval_tables
from data.attempts import AttemptRecord
from data.canonical import digest
from data.contracts import Answer, Candidate, Disclosure, Lane, Provenance
from data.contracts.attempt import (
    Attempt,
    AttemptStatus,
    Call,
    Configuration,
    Score,
    ScorePart,
    Submission,
    Usage,
)
from data.releases.tasks import ReleasedTask, ReleasedTasks

QUESTION = "What was the revenue of Marrow Ltd for fiscal year 2022?"


def tasks(folder: Path) -> ReleasedTasks:
    """A release with one question and one other task."""
    candidates = [
        Candidate(
            task_id=name,
            lane=Lane.QUESTIONS,
            prompt=f"{prompt}\n\nAnswer with one number.",
            language="en",
            provenance=Provenance(
                source="s", source_format="f", item_id="i", disclosure=Disclosure.PUBLIC
            ),
        )
        for name, prompt in (("q", QUESTION), ("other", "Write a letter."))
    ]
    gold = Answer(part="value", type="number", value="12", unit="USD", scale=1000)
    (folder / "private/q").mkdir(parents=True)
    answers = {"answers": [gold.model_dump(mode="json")]}
    content = orjson.dumps(answers)
    (folder / "private/q/answers.json").write_bytes(content)
    (folder / "tables").mkdir()
    frame = pl.DataFrame({"index": [7, 8], "question": [QUESTION, "Another?"]})
    frame.write_parquet(folder / "tables/questions.parquet")
    by_id = {task.task_id: ReleasedTask(task, task.prompt, {}) for task in candidates}
    sums = {"q/answers.json": digest(content)}
    return ReleasedTasks("demo", "d", by_id, folder / "tables", folder / "private", sums)


def record(task_id: str, status: AttemptStatus = AttemptStatus.COMPLETED) -> AttemptRecord:
    attempt = Attempt(
        attempt_id=f"{task_id}-{status}",
        release_digest="d",
        task_id=task_id,
        configuration=Configuration(str(status), "react", "m"),
        epoch=1,
        status=status,
        termination=None,
        steps=1,
        usage=Usage(10, 0, 5, 0),
        seconds=1.25,
        retries=0,
        log_digest="x",
    )
    call = Call("c1", 1, "discover_companies", {"query": "Marrow"}, "{}", duration_ms=4.5)
    return AttemptRecord(attempt, Submission(answer="13", calls=(call,), steps=1))


def test_each_attempt_at_a_question_has_its_rows(tmp_path: Path) -> None:
    release = tasks(tmp_path)
    records = [record("q"), record("q", AttemptStatus.INFRA_ERROR), record("other")]
    part = ScorePart(
        "answer.value", "accuracy", 1.0, 0.0, reason="answer.wrong_value", detail={"reading": "13"}
    )
    score = Score("q", "g", (part,), 0.0, False, 0.0, None, 1.0)
    out = tmp_path / "out"
    assert write_retrieval_tables(out, release, records, [(records[0].attempt, score)])
    assert pl.read_parquet(out / "questions.parquet")["index"].to_list() == [7]
    responses = pl.read_parquet(out / "responses.parquet")
    assert responses["status"].to_list() == ["success", "error"]
    assert responses["duration_ms"].to_list() == [1250, 1250]
    (graded,) = pl.read_parquet(out / "scores.parquet").to_dicts()
    assert (graded["expected_value"], graded["expected_unit"]) == ("12", "USD x 1000")
    assert (graded["is_correct"], graded["extracted"]) == (False, "13")
    assert (graded["could_extract"], graded["error_reason"]) == (True, "answer.wrong_value")
    trace = pl.read_parquet(out / "tool_traces.parquet").to_dicts()[0]
    assert (trace["num_tool_calls"], trace["total_duration_ms"]) == (1, 4.5)
    assert orjson.loads(trace["tool_calls"])[0]["input"] == {"query": "Marrow"}


def test_a_release_without_questions_has_no_such_tables(tmp_path: Path) -> None:
    release = tasks(tmp_path)
    (tmp_path / "tables/questions.parquet").unlink()
    assert not write_retrieval_tables(tmp_path / "out", release, [record("q")], [])
    assert not (tmp_path / "out").exists()
