"""What went wrong with an answer to a question, computed against the tables (FinRetrieval).

A wrong value is looked for in the tables, in the order of `RetrievalError`: the first that fits
names the error. Values are compared as the question asks for them, in its scale and decimals.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum

import polars as pl

from construction.grading.spec import AnswerSpec, TaskSpec
from construction.statements.tools.database import Database
from data.contracts.attempt import Call, Submission

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SCALES = tuple(Decimal(10) ** power for power in (2, 3, 6, 9, -2, -3, -6, -9))
_SEARCH = "discover_company_series"
_READING = "get_company_fundamentals"
_ROUNDED = Decimal("0.005")  # share of the value within which a wrong one is a matter of rounding


class RetrievalError(StrEnum):
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
class Sought:
    """What a question asks for: the series, and the days of the value."""

    company_id: str
    series_id: str
    period_end: str
    months: int


def sought(spec: TaskSpec) -> Sought | None:
    """What the reference steps of a question read; None where there are none."""
    if len(spec.steps) < 2:
        return None
    reading, days = spec.steps[-2].arguments or {}, spec.steps[-1].arguments or {}
    try:
        ids = str(reading["company_id"]), str(reading["series_id"])
        return Sought(*ids, str(days["period_end"]), int(days["months"]))
    except KeyError:
        return None


def first_query(spec: TaskSpec, submission: Submission) -> bool | None:
    """Did the first search of series, or else the first reading, return the series? None: no call.

    A reading of the series itself counts as found.
    """
    aim = sought(spec)
    calls = [call for call in submission.calls if call.name in (_SEARCH, _READING)]
    if aim is None or not calls:
        return None
    first = next((call for call in calls if call.name == _SEARCH), calls[0])
    return _returned(first, aim)


def error_of(
    spec: TaskSpec, submission: Submission, reading: str | None, database: Database | None
) -> RetrievalError:
    """The error of a wrong answer; `reading` is the value that the grader read, in base units.

    Without tables or reference steps only what needs none is told apart.
    """
    value = _value(reading)
    if value is None:
        return RetrievalError.GAVE_UP
    part, aim = spec.answers[0], sought(spec)
    gold = Decimal(part.value) * part.scale
    if value and value == -gold:
        return RetrievalError.SIGN
    if any(value == gold * scale for scale in _SCALES if gold):
        return RetrievalError.SCALE
    if aim is not None and database is not None:
        named = _in_tables(value, part, aim, database)
        if named is not None:
            return named
    if abs(value - gold) <= _ROUNDED * abs(gold):
        return RetrievalError.ROUNDING
    if aim is not None and not any(_returned(call, aim) for call in submission.calls):
        return RetrievalError.SEARCH
    return RetrievalError.OTHER


def _value(reading: str | None) -> Decimal | None:
    match = _NUMBER.search((reading or "").replace(",", ""))
    try:
        return Decimal(match[0]) if match else None
    except InvalidOperation:
        return None


def _in_tables(
    value: Decimal, part: AnswerSpec, aim: Sought, database: Database
) -> RetrievalError | None:
    """Whose value it is: of another period, of another series, of another company."""
    own = database.points_of(aim.company_id)
    shown = _as_shown(value, part)
    others = own.filter(pl.col("series_id") == aim.series_id, ~_at(aim))
    if shown in _shown(others, part):
        return RetrievalError.PERIOD
    beside = own.filter(pl.col("series_id") != aim.series_id, _at(aim))
    if shown in _shown(beside, part):
        return RetrievalError.SERIES
    label = database.series.filter(series_id=aim.series_id)["label"].to_list()
    same = database.series.filter(
        pl.col("label").is_in(label), pl.col("company_id") != aim.company_id
    )["series_id"]
    points = database.points.filter(pl.col("series_id").is_in(same.implode()), _at(aim))
    return RetrievalError.COMPANY if shown in _shown(points, part) else None


def _at(aim: Sought) -> pl.Expr:
    return (pl.col("period_end").cast(pl.String) == aim.period_end) & (
        pl.col("months") == aim.months
    )


def _shown(points: pl.DataFrame, part: AnswerSpec) -> set[Decimal]:
    return {_as_shown(Decimal(str(value)), part) for value in points["value"].to_list()}


def _as_shown(value: Decimal, part: AnswerSpec) -> Decimal:
    """A value in the scale and with the decimals that the question asks for."""
    return round(value / part.scale, part.decimals or 0)


def _returned(call: Call, aim: Sought) -> bool:
    """Does a call show the series, or read it by its id?"""
    if call.arguments.get("series_id") == aim.series_id:
        return True
    return json.dumps(aim.series_id, ensure_ascii=False) in call.output
