"""The reference steps of a question run on the data tools of this process."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import polars as pl
from pydantic import ValidationError

from construction.grading.spec import StepSpec, TaskSpec
from construction.grading.walk import OracleError, computable, shown_value, walk
from construction.statements.tools.agent_tools import BY_NAME
from construction.statements.tools.database import Database, Refusal
from data.contracts.attempt import Call, Submission

__all__ = ["OracleError", "computable", "oracle"]


def oracle(spec: TaskSpec, database: Database) -> Submission:
    """What an agent that follows the reference steps would submit, with its calls.

    Raises OracleError if a step is refused, does not return what later steps use, or if no value
    or several fit the period.
    """
    return walk(spec, partial(_served, database))


def _served(database: Database, name: str, arguments: Mapping[str, Any]) -> str:
    """The answer of a data tool as JSON, as an agent is shown it. Raises OracleError."""
    tool = BY_NAME[name]
    try:
        checked = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise OracleError(f"{error.error_count()} invalid arguments") from error
    result = tool.call(database, checked)
    if isinstance(result, Refusal):
        raise OracleError(f"refused: {result.text}")
    return tool.answer.dump_json(result).decode()


# What agents submit that walk the reference steps with one mistake: none of them may pass.
#
# Like the oracle they use the data tools and never read the gold. Where a mistake leads to the
# right answer all the same, or cannot be made on a task, there is no submission.

_OF_TWO_VALUES = ("answers-first",)  # the other flaws are those of one look-up
_OTHER_COMPANIES = 50  # that are looked at for one with the same line item


def flawed(flaw: str, spec: TaskSpec, database: Database) -> Submission | None:
    """The submission with a flaw of `FLAWS`; None where the task does not allow it.

    Raises OracleError where the right answer cannot be computed.
    """
    right = oracle(spec, database)
    if (spec.steps[-1].arguments or {}).get("combine") and flaw not in _OF_TWO_VALUES:
        return None
    try:
        wrong = FLAWS[flaw](spec, right, database)
    except OracleError:
        return None
    return None if wrong is None or wrong.answer == right.answer else wrong


def _wrong_period(spec: TaskSpec, right: Submission, database: Database) -> Submission | None:
    """Reads all periods of the right series, and takes the value of a neighbouring one."""
    *_, reading, last = spec.steps
    reference = right.calls[-1].arguments
    every = {name: value for name, value in reference.items() if name != "period"}
    call = _call(reading, every, database)
    days = last.arguments or {}
    others = [
        row
        for row in json.loads(call.output)["values"]
        if row["period_end"] != days["period_end"] and row["months"] == days["months"]
    ]
    if not others:
        return None
    nearest = min(others, key=lambda row: _days_apart(row["period_end"], days["period_end"]))
    return _submitted((*right.calls[:-1], call), shown_value(last, nearest))


def _wrong_company(spec: TaskSpec, right: Submission, database: Database) -> Submission | None:
    """Reads the same line item and period of another company."""
    *_, reading, last = spec.steps
    reference = right.calls[-1].arguments
    series = database.series.row(
        by_predicate=pl.col("series_id") == reference["series_id"], named=True
    )
    for company in islice(_others(database, reference["company_id"]), _OTHER_COMPANIES):
        given = {
            "company_id": company,
            "series_name": series["label"],
            "period": reference["period"],
        }
        try:
            call = _call(reading, given, database)
            rows = json.loads(call.output)["values"]
            return _submitted((*right.calls[:-1], call), shown_value(last, rows[0]))
        except (OracleError, IndexError):
            continue
    return None


def _unrounded(spec: TaskSpec, right: Submission, database: Database) -> Submission | None:
    """Gives the value as it was filed, in another scale or with more digits than asked for."""
    last = spec.steps[-1]
    days = last.arguments or {}
    rows = json.loads(right.calls[-1].output)["values"]
    fitting = [row for row in rows if row["period_end"] == days["period_end"]]
    return _submitted(right.calls, str(fitting[0]["value"])) if fitting else None


def _missing_step(spec: TaskSpec, right: Submission, database: Database) -> Submission | None:
    """Never reads the value, and gives the one number that the list of line items shows."""
    *earlier, listing, _ = right.calls
    hits = json.loads(listing.output)["series"]
    return _submitted((*earlier, listing), str(hits[0]["values"])) if hits else None


def _answers_first(spec: TaskSpec, right: Submission, database: Database) -> Submission | None:
    """Answers with a number of the question before any call."""
    year = str((spec.steps[-1].arguments or {})["period_end"])[:4]
    return _submitted((), year)


_Flaw = Callable[[TaskSpec, Submission, Database], Submission | None]
FLAWS: Mapping[str, _Flaw] = {
    "wrong-period": _wrong_period,
    "wrong-company": _wrong_company,
    "unrounded": _unrounded,
    "missing-step": _missing_step,
    "answers-first": _answers_first,
}


def _call(step: StepSpec, arguments: Mapping[str, Any], database: Database) -> Call:
    """A call of the step's tool with other arguments. Raises OracleError where it is refused."""
    output = _served(database, step.operation, arguments)
    return Call(f"call-{step.index}", step.index, step.operation, arguments, output)


def _submitted(calls: tuple[Call, ...], answer: str) -> Submission:
    numbered = tuple(replace(call, step=step) for step, call in enumerate(calls, 1))
    last = len(numbered) + 1
    return Submission(answer=answer, statements=((last, answer),), calls=numbered, steps=last)


def _others(database: Database, company_id: str) -> Iterator[str]:
    """The other companies, from the one after the given one on."""
    ids = [str(record["company_id"]) for record in database.companies]
    at = database.by_id[company_id]
    yield from (*ids[at + 1 :], *ids[:at])


def _days_apart(first: str, second: str) -> int:
    return abs((dt.date.fromisoformat(first) - dt.date.fromisoformat(second)).days)
