"""The answer computed by running the reference steps on the data tools.

The gold answer is never read: a gold that the tools cannot reproduce makes an oracle that fails.
Not part of the exported bundle, which has no data tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

from pydantic import ValidationError

from construction.grading.spec import StepSpec, TaskSpec
from construction.statements.answers.amounts import rounded
from construction.statements.questions.reference import PRESENT
from construction.statements.tools.agent_tools import BY_NAME
from construction.statements.tools.database import Database
from construction.statements.tools.results import Refusal
from data.contracts.attempt import Call, Submission

_DAYS = ("period_start", "period_end", "months")
_FINDS = {"discover_companies": "company_id", "discover_company_series": "series_id"}
_PER_RATIO = {"percent": 100, "ratio": 1}


class OracleError(Exception):
    """The reference steps do not lead to one value; the message says which step and why."""


def computable(spec: TaskSpec) -> bool:
    """Do the reference steps run on the data tools, from the first to presenting the value?"""
    operations = [step.operation for step in spec.steps]
    return operations[-1:] == [PRESENT] and all(name in BY_NAME for name in operations[:-1])


def oracle(spec: TaskSpec, database: Database) -> Submission:
    """What an agent that follows the reference steps would submit, with its calls.

    Raises OracleError if a step is refused, does not return what later steps use, or if no value
    or several fit the period.
    """
    if not computable(spec):
        raise OracleError("the reference steps cannot be run on the data tools")
    *lookups, last = spec.steps
    calls: list[Call] = []
    outputs: dict[int, Any] = {}
    for step in lookups:
        arguments = _resolved(step, outputs)
        output = run_step(step, arguments, database)
        outputs[step.index] = json.loads(output)
        calls.append(Call(f"call-{step.index}", step.index, step.operation, arguments, output))
    _check_path(spec, outputs)
    answer = _present(last, outputs)
    return Submission(
        answer=answer,
        statements=((last.index, answer),),
        calls=tuple(calls),
        steps=len(spec.steps),
    )


def run_step(step: StepSpec, arguments: Mapping[str, Any], database: Database) -> str:
    """The output of the step's tool as JSON, as an agent is shown it."""
    tool = BY_NAME[step.operation]
    try:
        checked = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        raise OracleError(f"step {step.index}: {error.error_count()} invalid arguments") from error
    result = tool.call(database, checked)
    if isinstance(result, Refusal):
        raise OracleError(f"step {step.index}: {step.operation} refused: {result.text}")
    return tool.answer.dump_json(result).decode()


def _resolved(step: StepSpec, outputs: Mapping[int, Any]) -> dict[str, Any]:
    """The arguments, with `$N.field` replaced by that field of step N's output."""
    return {name: _value(value, outputs) for name, value in (step.arguments or {}).items()}


def _value(value: Any, outputs: Mapping[int, Any]) -> Any:
    if not (isinstance(value, str) and value.startswith("$")):
        return value
    number, *path = value[1:].split(".")
    output: Any = outputs.get(int(number)) if number.isdecimal() else None
    for name in path:
        if isinstance(output, list) and name.isdecimal() and int(name) < len(output):
            output = output[int(name)]
        else:
            output = output.get(name) if isinstance(output, dict) else None
    if output is None:
        raise OracleError(f"{value} is not in the output of an earlier step")
    return output


def _check_path(spec: TaskSpec, outputs: Mapping[int, Any]) -> None:
    """Each id that a step uses was returned by an earlier step that looks for such ids."""
    for key, index in _looked_up(spec):
        used = {
            step.arguments[key]
            for step in spec.steps
            if step.index > index and step.arguments and key in step.arguments
        }
        missing = used - set(_ids(outputs[index], key))
        if missing:
            names = ", ".join(sorted(map(str, missing)))
            raise OracleError(f"step {index}: {key} {names} is not in the output")


def _looked_up(spec: TaskSpec) -> list[tuple[str, int]]:
    return [(_FINDS[step.operation], step.index) for step in spec.steps if step.operation in _FINDS]


def _ids(output: Mapping[str, Any], key: str) -> list[Any]:
    """The ids in the rows of a tool's output."""
    return [
        row[key]
        for rows in output.values()
        if isinstance(rows, list)
        for row in rows
        if isinstance(row, dict) and key in row
    ]


def _present(step: StepSpec, outputs: Mapping[int, Any]) -> str:
    """The one value of the days asked for, in the unit, scale and rounding asked for."""
    arguments = _resolved(step, outputs)
    fitting = [
        row
        for row in arguments["values"]
        if all(row.get(name) == arguments.get(name) for name in _DAYS)
    ]
    if len(fitting) != 1:
        raise OracleError(f"step {step.index}: {len(fitting)} values fit the period")
    return shown_value(step, fitting[0])


def shown_value(step: StepSpec, row: Mapping[str, Any]) -> str:
    """A value of the data tools in the unit, scale and rounding that the last step asks for."""
    arguments = step.arguments or {}
    unit = str(arguments["unit"])
    with localcontext(prec=100):
        try:
            amount = Decimal(row["value"])
        except InvalidOperation as error:
            raise OracleError(f"step {step.index}: the value is not a number") from error
        if row["unit"] == "ratio" and unit in _PER_RATIO:
            amount *= _PER_RATIO[unit]
        elif row["unit"] != unit:
            raise OracleError(f"step {step.index}: the value is in {row['unit']}, not {unit}")
        quantum = Decimal(1).scaleb(-int(arguments["decimals"]))
        return f"{rounded(amount / Decimal(arguments['scale']), quantum):f}"
