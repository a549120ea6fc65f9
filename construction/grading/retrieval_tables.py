"""FinRetrieval's four tables, written from graded attempts at the questions of a release.

`questions` are the released ones, without answers; `responses`, `scores` and `tool_traces` have a
row for each attempt, found by the question's `index`, the configuration and the epoch, with its
condition (`data`, `web` or `data+web`) and reasoning. They hold answers and traces: private.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from construction.grading.retrieval_errors import error_of, first_query
from construction.grading.spec import spec_of
from construction.statements.tools.database import Database, database_of
from data.attempts import AttemptRecord
from data.contracts.attempt import Attempt, AttemptStatus, Score
from data.releases.tasks import ReleasedTasks
from data.tables import frame_of, replace_frames

QUESTIONS = "questions"
_STATUS = {AttemptStatus.COMPLETED: "success", AttemptStatus.TIMEOUT: "timeout"}
_NO_VALUE = frozenset({"answer.missing", "answer.refused", "answer.ambiguous"})
_KEY = {
    "index": pl.Int64,
    "configuration": pl.String,
    "condition": pl.String,
    "reasoning": pl.String,
    "epoch": pl.Int64,
}
_RESPONSES = {
    **_KEY,
    "response": pl.String,
    "status": pl.String,
    "duration_ms": pl.Int64,
    "model": pl.String,
    "input_tokens": pl.Int64,
    "output_tokens": pl.Int64,
}
_SCORES = {
    **_KEY,
    "is_correct": pl.Boolean,
    "expected_value": pl.String,
    "expected_unit": pl.String,
    "extracted": pl.String,
    "could_extract": pl.Boolean,
    "error_reason": pl.String,
    "error_kind": pl.String,
    "first_query": pl.Boolean,
}
_TRACES = {
    **_KEY,
    "tool_calls": pl.String,
    "num_tool_calls": pl.Int64,
    "total_duration_ms": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Graded:
    """One attempt at a question: its number, the attempt, and the score if there is one."""

    index: int
    record: AttemptRecord
    score: Score | None


def write_retrieval_tables(
    out: Path,
    release: ReleasedTasks,
    attempts: Iterable[AttemptRecord],
    scores: Iterable[tuple[Attempt, Score]],
) -> bool:
    """Write the four tables into a folder; False where the release has no questions."""
    path = release.tables / f"{QUESTIONS}.parquet"
    if not path.is_file():
        return False
    questions = pl.read_parquet(path)
    numbers = dict(questions.select("question", "index").iter_rows())
    by_task = {
        task_id: numbers[question]
        for task_id, task in release.tasks.items()
        if (question := task.candidate.prompt.partition("\n\n")[0]) in numbers
    }
    known = {(a.task_id, a.configuration.name, a.epoch): score for a, score in scores}
    rows = [
        Graded(by_task[attempt.task_id], record, known.get(_key(attempt)))
        for record in attempts
        if (attempt := record.attempt).task_id in by_task
    ]
    attempted = questions.filter(pl.col("index").is_in(list(by_task.values())))
    graded = [row for row in rows if row.score is not None]
    database = database_of(release.tables)
    frames = (
        (QUESTIONS, attempted),
        ("responses", frame_of(map(_response, rows), _RESPONSES)),
        ("scores", frame_of((_score(release, row, database) for row in graded), _SCORES)),
        ("tool_traces", frame_of(map(_trace, rows), _TRACES)),
    )
    replace_frames(out, frames)
    return True


def _key(attempt: Attempt) -> tuple[str, str, int]:
    return attempt.task_id, attempt.configuration.name, attempt.epoch


def _row_key(row: Graded) -> dict[str, Any]:
    attempt = row.record.attempt
    return {
        "index": row.index,
        "configuration": attempt.configuration.name,
        "condition": attempt.configuration.condition,
        "reasoning": attempt.configuration.reasoning,
        "epoch": attempt.epoch,
    }


def _response(row: Graded) -> dict[str, Any]:
    attempt = row.record.attempt
    return {
        **_row_key(row),
        "response": row.record.submission.answer,
        "status": _STATUS.get(attempt.status, "error"),
        "duration_ms": round(attempt.seconds * 1000),
        "model": attempt.configuration.model,
        "input_tokens": attempt.usage.input_tokens,
        "output_tokens": attempt.usage.output_tokens,
    }


def _score(release: ReleasedTasks, row: Graded, database: Database | None) -> dict[str, Any]:
    """The answer's part beside what was expected, and what went wrong; a question has one part."""
    whole = release.grading(row.record.attempt.task_id)
    gold: Mapping[str, Any] = whole["answers"][0]
    spec, submission = spec_of(whole), row.record.submission
    assert row.score is not None
    part = next(part for part in row.score.parts if part.name.startswith("answer."))
    unit = gold["unit"] if gold["scale"] == 1 else f"{gold['unit']} x {gold['scale']}"
    return {
        **_row_key(row),
        "is_correct": part.value == 1,
        "expected_value": gold["value"],
        "expected_unit": unit,
        "extracted": part.detail.get("reading"),
        "could_extract": part.reason not in _NO_VALUE,
        "error_reason": part.reason,
        "error_kind": None
        if part.value == 1
        else str(error_of(spec, submission, part.detail.get("reading"), database)),
        "first_query": first_query(spec, submission),
    }


def _trace(row: Graded) -> dict[str, Any]:
    calls = row.record.submission.calls
    shown = [
        {
            "id": call.call_id,
            "name": call.name,
            "start_ms": call.start_ms,
            "duration_ms": call.duration_ms,
            "input": dict(call.arguments),
            "output": call.output,
            "is_error": call.is_error,
            "error_message": call.error_message,
        }
        for call in calls
    ]
    return {
        **_row_key(row),
        "tool_calls": orjson.dumps(shown, option=orjson.OPT_SORT_KEYS).decode(),
        "num_tool_calls": len(calls),
        "total_duration_ms": sum(call.duration_ms or 0.0 for call in calls),
    }
