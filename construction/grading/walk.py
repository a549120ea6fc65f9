"""The answer computed by running the reference steps on data tools, wherever those are.

The gold answer is never read: a gold that the tools cannot reproduce makes an oracle that fails.
Imports what exported solvers take along: the standard library and modules that import it alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

from construction.grading.spec import StepSpec, TaskSpec
from construction.statements.answers.rounding import rounded
from construction.statements.questions.operations import PRESENT, TOOLS
from data.contracts.attempt import Call, Submission

# A tool's name and arguments to its answer as JSON, as agents see it; raises OracleError.
Serve = Callable[[str, Mapping[str, Any]], str]

_DAYS = ("period_start", "period_end", "months")
_FINDS = {"discover_companies": "company_id", "discover_company_series": "series_id"}
_PER_RATIO = {"percent": 100, "ratio": 1}


class OracleError(Exception):
    """The reference steps do not lead to one value; the message says which step and why."""


def computable(spec: TaskSpec) -> bool:
    """Do the reference steps run on the data tools, from the first to presenting the value?"""
    operations = [step.operation for step in spec.steps]
    return operations[-1:] == [PRESENT] and all(name in TOOLS for name in operations[:-1])


def walk(spec: TaskSpec, serve: Serve) -> Submission:
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
        try:
            output = serve(step.operation, arguments)
        except OracleError as error:
            raise OracleError(f"step {step.index}: {step.operation}: {error}") from error
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
