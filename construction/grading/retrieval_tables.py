"""FinRetrieval's four tables, written from graded attempts at the questions of a release.

`questions` are the released ones, without answers; `responses`, `scores` and `tool_traces` have a
row for each attempt, found by the question's `index`, the configuration and the epoch, with its
condition (`data`, `web` or `data+web`) and reasoning. They hold answers and traces: private.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from construction.grading.spec import AnswerSpec, TaskSpec, spec_of
from construction.statements.tools.database import Database, database_of
from data.attempts import AttemptRecord
from data.contracts.attempt import Attempt, AttemptStatus, Call, Score, Submission
from data.releases.tasks import ReleasedTasks
from data.tables import frame_of, replace_frames

# What went wrong with an answer to a question, computed against the tables (FinRetrieval)

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SCALES = tuple(Decimal(10) ** power for power in (2, 3, 6, 9, -2, -3, -6, -9))
_SEARCH = "discover_company_series"
_READING = "get_company_fundamentals"
_ROUNDED = Decimal("0.005")  # share of the value within which a wrong one is a matter of rounding


class _RetrievalError(StrEnum):
    """Why an answer is wrong."""

    GAVE_UP = "gave_up"  # it names no value
    SIGN = "sign"
    SCALE = "scale"
    PERIOD = "period"  # the value of the same series in another period
    SERIES = "series"  # the value of another series of the company in the same period
    COMPANY = "company"  # the value of the same line item of another company in the period
    ROUNDING = "rounding"
    SEARCH = "search"  # no call returned the series that was asked for
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class _Sought:
    """What a question asks for: the series, and the days of the value."""

    company_id: str
    series_id: str
    period_end: str
    months: int


def _sought(spec: TaskSpec) -> _Sought | None:
    """What the reference steps of a question read; None where there are none."""
    if len(spec.steps) < 2:
        return None
    reading, days = spec.steps[-2].arguments or {}, spec.steps[-1].arguments or {}
    try:
        ids = str(reading["company_id"]), str(reading["series_id"])
        return _Sought(*ids, str(days["period_end"]), int(days["months"]))
    except KeyError:
        return None


def _first_query(spec: TaskSpec, submission: Submission) -> bool | None:
    """Did the first search of series, or else the first reading, return the series? None: no call.

    A reading of the series itself counts as found.
    """
    aim = _sought(spec)
    calls = [call for call in submission.calls if call.name in (_SEARCH, _READING)]
    if aim is None or not calls:
        return None
    first = next((call for call in calls if call.name == _SEARCH), calls[0])
    return _returned(first, aim)


def _error_of(
    spec: TaskSpec, submission: Submission, reading: str | None, database: Database | None
) -> _RetrievalError:
    """The error of a wrong answer; `reading` is the value that the grader read, in base units.

    Without tables or reference steps only what needs none is told apart.
    """
    value = _value(reading)
    if value is None:
        return _RetrievalError.GAVE_UP
    part, aim = spec.answers[0], _sought(spec)
    gold = Decimal(part.value) * part.scale
    if value and value == -gold:
        return _RetrievalError.SIGN
    if any(value == gold * scale for scale in _SCALES if gold):
        return _RetrievalError.SCALE
    if aim is not None and database is not None:
        named = _in_tables(value, part, aim, database)
        if named is not None:
            return named
    if abs(value - gold) <= _ROUNDED * abs(gold):
        return _RetrievalError.ROUNDING
    if aim is not None and not any(_returned(call, aim) for call in submission.calls):
        return _RetrievalError.SEARCH
    return _RetrievalError.OTHER


def _value(reading: str | None) -> Decimal | None:
    match = _NUMBER.search((reading or "").replace(",", ""))
    try:
        return Decimal(match[0]) if match else None
    except InvalidOperation:
        return None


def _in_tables(
    value: Decimal, part: AnswerSpec, aim: _Sought, database: Database
) -> _RetrievalError | None:
    """Whose value it is: of another period, of another series, of another company."""
    own = database.points_of(aim.company_id)
    shown = _as_shown(value, part)
    others = own.filter(pl.col("series_id") == aim.series_id, ~_at(aim))
    if shown in _shown(others, part):
        return _RetrievalError.PERIOD
    beside = own.filter(pl.col("series_id") != aim.series_id, _at(aim))
    if shown in _shown(beside, part):
        return _RetrievalError.SERIES
    label = database.series.filter(series_id=aim.series_id)["label"].to_list()
    same = database.series.filter(
        pl.col("label").is_in(label), pl.col("company_id") != aim.company_id
    )["series_id"]
    points = database.points.filter(pl.col("series_id").is_in(same.implode()), _at(aim))
    return _RetrievalError.COMPANY if shown in _shown(points, part) else None


def _at(aim: _Sought) -> pl.Expr:
    return (pl.col("period_end").cast(pl.String) == aim.period_end) & (
        pl.col("months") == aim.months
    )


def _shown(points: pl.DataFrame, part: AnswerSpec) -> set[Decimal]:
    return {_as_shown(Decimal(str(value)), part) for value in points["value"].to_list()}


def _as_shown(value: Decimal, part: AnswerSpec) -> Decimal:
    """A value in the scale and with the decimals that the question asks for."""
    return round(value / part.scale, part.decimals or 0)


def _returned(call: Call, aim: _Sought) -> bool:
    """Does a call show the series, or read it by its id?"""
    if call.arguments.get("series_id") == aim.series_id:
        return True
    return json.dumps(aim.series_id, ensure_ascii=False) in call.output


_QUESTIONS = "questions"
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
class _Graded:
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
    path = release.tables / f"{_QUESTIONS}.parquet"
    if not path.is_file():
        return False
    questions = pl.read_parquet(path)
    numbers: dict[str, int] = dict(questions.select("question", "index").iter_rows())
    by_task = {
        task_id: numbers[question]
        for task_id, task in release.tasks.items()
        if (question := task.candidate.prompt.partition("\n\n")[0]) in numbers
    }
    known = {(a.task_id, a.configuration.name, a.epoch): score for a, score in scores}
    rows = [
        _Graded(by_task[attempt.task_id], record, known.get(_key(attempt)))
        for record in attempts
        if (attempt := record.attempt).task_id in by_task
    ]
    attempted = questions.filter(pl.col("index").is_in(list(by_task.values())))
    graded = [row for row in rows if row.score is not None]
    database = database_of(release.tables)
    frames = (
        (_QUESTIONS, attempted),
        ("responses", frame_of(map(_response, rows), _RESPONSES)),
        ("scores", frame_of((_score(release, row, database) for row in graded), _SCORES)),
        ("tool_traces", frame_of(map(_trace, rows), _TRACES)),
    )
    replace_frames(out, frames)
    return True


def _key(attempt: Attempt) -> tuple[str, str, int]:
    return attempt.task_id, attempt.configuration.name, attempt.epoch


def _row_key(row: _Graded) -> dict[str, Any]:
    attempt = row.record.attempt
    return {
        "index": row.index,
        "configuration": attempt.configuration.name,
        "condition": attempt.configuration.condition,
        "reasoning": attempt.configuration.reasoning,
        "epoch": attempt.epoch,
    }


def _response(row: _Graded) -> dict[str, Any]:
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


def _score(release: ReleasedTasks, row: _Graded, database: Database | None) -> dict[str, Any]:
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
        else str(_error_of(spec, submission, part.detail.get("reading"), database)),
        "first_query": _first_query(spec, submission),
    }


def _trace(row: _Graded) -> dict[str, Any]:
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
