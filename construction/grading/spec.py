"""What a grader knows of a task: the private half, read from its JSON files.

Imports the standard library and `data.contracts.attempt` alone: the exported bundle takes it along.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

_Part = TypeVar("_Part")
REPORT = "report"  # the operation of the step that gives the answer of a workflow task
NULL, TALK, EMPTY_CALLS = "null", "talk", "empty_calls"  # families of submissions without work


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """One part of the gold answer; the fields are those of `data.contracts.Answer`."""

    part: str
    type: str
    value: str
    unit: str | None = None
    scale: int = 1
    decimals: int | None = None
    tolerance: float | None = None
    ordered: bool = True
    aliases: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class StepSpec:
    """One step of the reference path; the fields are those of `data.contracts.Step`."""

    index: int
    text: str
    operation: str = ""
    arguments: Mapping[str, Any] | None = None
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MilestoneSpec:
    """One milestone; the fields are those of `data.contracts.Milestone`."""

    name: str
    value: str
    type: str = "identifier"
    unit: str | None = None
    tolerance: float = 0.01
    step: int | None = None
    context: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """A check on a controlled service; the fields are those of `data.contracts.Check`."""

    check_id: str
    kind: str
    params: Mapping[str, Any]
    text: str
    weight: float = 0.0
    required: bool = False
    evidence: str = "action"


@dataclass(frozen=True, slots=True)
class RuleSpec:
    """A hard rule; the fields are those of `data.contracts.Rule`."""

    rule_id: str
    kind: str
    params: Mapping[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class _CriterionSpec:
    """A criterion of the rubric, which only a judge can score."""

    dimension: str
    weight: float
    text: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """All that grading needs of one task.

    `prompt` is the instruction that the agent was given; `inputs` are the SHA-256 digests of its
    input files. Both are there so that a deliverable that merely repeats them is noticed.
    `guidelines` say in which form the answer is wanted.
    """

    task_id: str
    prompt: str = ""
    guidelines: str = ""
    inputs: tuple[str, ...] = ()
    answers: tuple[AnswerSpec, ...] = ()
    steps: tuple[StepSpec, ...] = ()
    milestones: tuple[MilestoneSpec, ...] = ()
    checks: tuple[CheckSpec, ...] = ()
    rules: tuple[RuleSpec, ...] = ()
    criteria: tuple[_CriterionSpec, ...] = ()


def spec_of(task: Mapping[str, Any]) -> TaskSpec:
    """The specification of a candidate as JSON (`Candidate.model_dump(mode="json")`)."""
    rubric: Mapping[str, Any] = task.get("rubric") or {}
    return TaskSpec(
        task_id=task["task_id"],
        prompt=task.get("prompt", ""),
        guidelines=task.get("guidelines") or "",
        inputs=tuple(fixture["sha256"] for fixture in task.get("fixtures", ())),
        answers=_parts(AnswerSpec, task.get("answers", ())),
        steps=_parts(StepSpec, task.get("steps", ())),
        milestones=_parts(MilestoneSpec, task.get("milestones", ())),
        checks=_parts(CheckSpec, task.get("checks", ())),
        rules=_parts(RuleSpec, task.get("rules", ())),
        criteria=_parts(_CriterionSpec, rubric.get("criteria", ())),
    )


def read_spec(path: Path) -> TaskSpec:
    """The specification in a JSON file. Raises OSError or ValueError."""
    return spec_of(json.loads(path.read_text(encoding="utf-8")))


def _parts(kind: type[_Part], rows: Sequence[Mapping[str, Any]]) -> tuple[_Part, ...]:
    """Rows as records; lists become tuples."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return tuple(
        kind(
            **{
                key: tuple(value) if isinstance(value, list) else value
                for key, value in row.items()
                if key in names
            }
        )
        for row in rows
    )
