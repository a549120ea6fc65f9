"""The answer computed by running the reference steps on data tools, wherever those are.

The gold answer is never read: a gold that the tools cannot reproduce makes an oracle that fails.
Imports what exported solvers take along: the standard library and modules that import it alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

from construction.grading.answers.lexicon import rounded
from construction.grading.spec import StepSpec, TaskSpec
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
    for step in spec.steps:
        finders = [
            earlier.index
            for earlier in spec.steps
            if earlier.operation in _FINDS and earlier.index < step.index
        ]
        for key in set(_FINDS.values()) & (step.arguments or {}).keys():
            seen = {value for index in finders for value in _ids(outputs[index], key)}
            used = (step.arguments or {})[key]
            if used not in seen:
                raise OracleError(f"step {step.index}: {key} {used} was in no earlier output")


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
    """The one value of the days asked for, or two of them combined, as asked for."""
    arguments = _resolved(step, outputs)
    first = _fitting(step, arguments, "")
    if arguments.get("combine") is None:
        return shown_value(step, first)
    return shown_value(step, first, _fitting(step, arguments, "second_"))


def _fitting(step: StepSpec, arguments: Mapping[str, Any], prefix: str) -> Mapping[str, Any]:
    """The one row of `values` that has the days asked for."""
    fitting: list[Mapping[str, Any]] = [
        row
        for row in arguments[f"{prefix}values"]
        if all(row.get(name) == arguments.get(f"{prefix}{name}") for name in _DAYS)
    ]
    if document := arguments.get(f"{prefix}document"):
        fitting = [version for row in fitting for version in _versions(row, document)]
    if len(fitting) != 1:
        raise OracleError(f"step {step.index}: {len(fitting)} values fit the period")
    return fitting[0]


def _versions(row: Mapping[str, Any], document: str) -> list[Mapping[str, Any]]:
    """The value as a document gives it: the row itself, or what it replaced."""
    earlier = [{**row, **old} for old in row.get("earlier") or ()]
    return [version for version in (row, *earlier) if version["document"] == document]


def shown_value(
    step: StepSpec, row: Mapping[str, Any], second: Mapping[str, Any] | None = None
) -> str:
    """A value of the data tools in the unit, scale and rounding that the last step asks for.

    With a `second` one it is their difference, growth or ratio.
    """
    arguments = step.arguments or {}
    unit = str(arguments["unit"])
    with localcontext(prec=100):
        amount = _number(step, row)
        given = row["unit"]
        if second is not None:
            if given != second["unit"]:
                raise OracleError(f"step {step.index}: the values are in {given}, {second['unit']}")
            amount, given = _combined(step, amount, _number(step, second), given)
        if given == "ratio" and unit in _PER_RATIO:
            amount *= _PER_RATIO[unit]
        elif given != unit:
            raise OracleError(f"step {step.index}: the value is in {given}, not {unit}")
        quantum = Decimal(1).scaleb(-int(arguments["decimals"]))
        return f"{rounded(amount / Decimal(arguments['scale']), quantum):f}"


def _number(step: StepSpec, row: Mapping[str, Any]) -> Decimal:
    try:
        return Decimal(row["value"])
    except InvalidOperation as error:
        raise OracleError(f"step {step.index}: the value is not a number") from error


def _combined(step: StepSpec, first: Decimal, second: Decimal, unit: str) -> tuple[Decimal, str]:
    """Two values of a unit made one, and its unit."""
    operation = (step.arguments or {})["combine"]
    if operation == "difference":
        return first - second, unit
    if operation not in ("growth", "ratio") or not second:
        raise OracleError(f"step {step.index}: no {operation} of these values")
    return (first if operation == "ratio" else first - second) / second, "ratio"
