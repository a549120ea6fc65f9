"""A model that answers an analytic task by steps of its own, which are run for it.

It sees the question and the columns of the clean tables. Its steps are data: they are validated,
and nothing that it writes is run as code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import orjson
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from construction.analytics.contracts import Part
from construction.analytics.environment.declaration import Declaration
from construction.analytics.milestones import program_of_steps
from construction.analytics.released import StepsDoNotRunError, answer_text, submission_of
from construction.analytics.steps import TypedStep, reads_steps
from construction.grading.answers.parts import grade_answers
from construction.grading.spec import TaskSpec, spec_of
from construction.judging.contracts import Answer, Fault, JudgeReason
from construction.judging.model.asking import Checked, Stage
from construction.judging.model.prompt import Cleaner, load_prompt
from data.canonical import digest
from data.contracts import Candidate

_CHARS = 8_000


class ProgrammeAnswer(Answer):
    programme: Annotated[str, Field(min_length=2, max_length=_CHARS)]


class _Given(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    part: str
    step: Annotated[int, Field(ge=1)]
    column: str | None = None


class _Programme(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: Annotated[tuple[TypedStep, ...], Field(max_length=9)]
    answers: Annotated[tuple[_Given, ...], Field(max_length=4)]


@dataclass(frozen=True, slots=True)
class Subject:
    """A task with its gold, and the clean tables that all annotators answer from."""

    candidate: Candidate
    declaration: Declaration
    tables: Mapping[str, pl.DataFrame]

    @property
    def spec(self) -> TaskSpec:
        return spec_of(self.candidate.model_dump(mode="json"))

    @property
    def gold(self) -> str:
        answers = self.candidate.answers
        numeric = [a.type == "number" for a in answers]
        return answer_text([a.part for a in answers], [a.value for a in answers], numeric)

    @property
    def parts(self) -> tuple[Part, ...]:
        return program_of_steps(self.candidate.steps)[1]

    @property
    def case(self) -> str:
        return digest([self.candidate.prompt, self.candidate.guidelines, self.gold])

    def form(self, answer: str) -> str:
        """The gold for every answer that the grader takes for it, other answers as they are."""
        parts = grade_answers(self.spec, answer)
        return self.gold if parts and all(part.value == 1 for part in parts) else answer


def annotation_stage() -> Stage[Subject, ProgrammeAnswer, str]:
    """Question in, answer out: the one that the model's steps give."""
    return Stage(
        prompt=load_prompt("annotation"),
        answer=ProgrammeAnswer,
        item_id=lambda subject: subject.candidate.task_id,
        content=_content,
        check=_check,
    )


def _content(subject: Subject, cleaner: Cleaner) -> dict[str, Any]:
    """Question, parts and columns; of the values only the names that the question may use."""
    declaration = subject.declaration
    return {
        "question": cleaner.text(subject.candidate.prompt, 4_000, "question"),
        "guidelines": cleaner.text(subject.candidate.guidelines, 4_000, "guidelines"),
        "parts": [cleaner.text(part.part, 200, "parts") for part in subject.parts],
        "tables": {
            table.name: [
                cleaner.text(f"{c.name} ({c.type}{', ' if c.unit else ''}{c.unit})", 200, "tables")
                for c in table.columns
            ]
            for table in declaration.tables
        },
        "names": {
            slot: [
                cleaner.text(f"{value}: {pair[0]}", 200, "names") for value, pair in names.items()
            ]
            for slot, names in declaration.names.items()
        },
    }


def _check(subject: Subject, answer: ProgrammeAnswer) -> Checked[str] | Fault:
    """The answer that the model's steps give, written as the guidelines ask for it."""
    try:
        programme = _Programme.model_validate(orjson.loads(answer.programme))
    except (orjson.JSONDecodeError, ValidationError):
        return Fault(JudgeReason.WRONG_FORM, "no programme")
    given = {entry.part: entry for entry in programme.answers}
    if set(given) != {part.part for part in subject.parts}:
        return Fault(JudgeReason.NOT_CHECKABLE, "other parts")
    count = len(programme.steps)
    ahead = any(
        used >= number
        for number, step in enumerate(programme.steps, 1)
        for used in reads_steps(step)
    )
    if ahead or any(entry.step > count for entry in programme.answers):
        return Fault(JudgeReason.NOT_CHECKABLE, "a step that is not there")
    parts = [
        part.model_copy(
            update={
                "step": given[part.part].step,
                "column": given[part.part].column or part.column,
            }
        )
        for part in subject.parts
    ]
    try:
        submission = submission_of(programme.steps, parts, subject.tables)
    except StepsDoNotRunError:
        return Fault(JudgeReason.NOT_CHECKABLE, "steps without a result")
    return Checked(submission.answer or "")
