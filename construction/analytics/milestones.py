"""Milestones of a task: the values that its steps make, and what each implies upstream."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from construction.analytics import steps as s
from construction.analytics.contracts import Part
from construction.analytics.execute_polars import Result
from construction.statements.questions.operations import PRESENT
from data.contracts import Milestone, Step

TOLERANCE = 0.01  # relative, as DataClawBench has it


def milestones_of(
    program: s.Program, results: Sequence[Result], words: Sequence[str]
) -> tuple[Milestone, ...]:
    """One per step that makes a number or a name; `words` are those of what is drawn.

    A number is evidence only beside a word of the step's columns or of `words`.
    """
    made: dict[int, str] = {}
    implied: dict[int, set[int]] = {}
    milestones = []
    for number, (step, result) in enumerate(zip(program, results, strict=True), 1):
        uses = s.reads_steps(step)
        implied[number] = set(uses).union(*(implied[other] for other in uses))
        if isinstance(step, s.Rank) and isinstance(result, pl.DataFrame) and result.height:
            result = str(result[step.label][-1])  # the last of those taken
        if isinstance(step, s.Policy) and isinstance(result, pl.DataFrame):
            result = result.height  # how many are covered
        if isinstance(result, bool | pl.DataFrame):
            continue
        made[number] = f"{step.op}_{number}"
        is_text = isinstance(result, str)
        columns = [str(value) for key, value in step if key in ("column", "x", "y", "result")]
        milestones.append(
            Milestone(
                name=made[number],
                value=str(result) if is_text else f"{result:.12g}",
                type="text" if is_text else "number",
                tolerance=TOLERANCE,
                step=number,
                context=() if is_text else tuple(dict.fromkeys([*columns, *words])),
                implies=tuple(made[other] for other in sorted(implied[number]) if other in made),
            )
        )
    return tuple(milestones)


def reference_steps(program: s.Program, parts: Sequence[Part]) -> tuple[Step, ...]:
    """The programme as the steps of a candidate: in words, and as data that both executors run.

    A last step for each part of the answer says of which step it is made, and how it is written.
    """
    made = tuple(
        Step(
            index=number,
            text=_described(step),
            operation=step.op,
            arguments=step.model_dump(mode="json", exclude={"op", "text"}),
            reads=tuple(s.reads_tables(step)),
        )
        for number, step in enumerate(program, 1)
    )
    given = tuple(
        Step(
            index=number,
            text=f"Give the result of step {part.step} as {part.part}.",
            operation=PRESENT,
            arguments=part.model_dump(mode="json"),
        )
        for number, part in enumerate(parts, len(program) + 1)
    )
    return made + given


def program_of_steps(steps: Sequence[Step]) -> tuple[s.Program, tuple[Part, ...]]:
    """The programme and the parts of the answer that `reference_steps` wrote.

    Raises pydantic.ValidationError for other steps.
    """
    made = [
        {"op": step.operation, "text": step.text, **step.arguments}
        for step in steps
        if step.operation != PRESENT
    ]
    given = [step.arguments for step in steps if step.operation == PRESENT]
    return s.program_of(made), tuple(map(Part.model_validate, given))


def _described(step: s.StepOf) -> str:
    """A step in words, without its result."""
    if step.text:
        return step.text
    operation = s.operation_of(step)
    if isinstance(step, s.Compare):
        return f"{operation}: {step.result} of {step.first} and {step.second}."
    what = [str(value) for key, value in step if key in ("function", "column", "x", "y")]
    rows = step.source + (f" with {step.other}" if isinstance(step, s.Join) else "")
    tests = [f"{c.column} {c.test} {c.value}" for c in step.where]
    where = f" where {' and '.join(tests)}" if tests else ""
    return f"{operation}: {step.op} {' '.join(what)} of {rows}{where}."
