"""Deliverables and rubric by a model; the hard rules are then made from the deliverables."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import fsum
from typing import Annotated, Any, Literal

from pydantic import Field

from construction.grading.file_types import TYPES
from construction.grading.routes import VISUAL
from construction.judging.computed_rules import computed_rules
from construction.judging.contracts import (
    Answer,
    Asker,
    Case,
    Fault,
    Grading,
    Judged,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.hard_rules import hard_rules
from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.prompt import Cleaner, case_content, load_prompt
from data.contracts import Criterion, Deliverable, Evidence, Rubric

STAGE = "grading"
_ROUNDING = 1e-6  # how far the sum of the weights may be from 1
_Name = Annotated[str, Field(min_length=1, max_length=120)]


class Dimension(StrEnum):
    """The dimensions of a rubric (EnterpriseClawBench, app. B)."""

    GROUNDED_ACCURACY = "grounded_accuracy"
    TASK_RELEVANCE = "task_relevance"
    SUBSTANTIVE_DEPTH = "substantive_depth"
    PRACTICAL_UTILITY = "practical_utility"
    COMMUNICATION_QUALITY = "communication_quality"


class FileAnswer(Answer):
    file_type: Annotated[str, Field(max_length=12)]
    count: Annotated[int, Field(ge=1, le=50)]
    name_hints: Annotated[tuple[_Name, ...], Field(max_length=20)]


class CriterionAnswer(Answer):
    dimension: Dimension
    weight: Annotated[float, Field(gt=0, le=1)]
    text: Annotated[str, Field(min_length=10, max_length=400)]
    evidence: Annotated[tuple[_Name, ...], Field(max_length=10)]


class GradingAnswer(Answer):
    deliverables: Annotated[tuple[FileAnswer, ...], Field(min_length=1, max_length=12)]
    criteria: Annotated[tuple[CriterionAnswer, ...], Field(min_length=5, max_length=15)]
    route: Literal["text", "visual"]
    retrieval: bool
    accuracy: bool
    action: bool
    semantic: bool


def write_rubric_by_model(
    cases: Sequence[Case], client: Asker, config: ModelStagesConfig
) -> list[Judged[Grading]]:
    """Deliverables, rubric, hard rules and kinds of evidence of each case, in order."""
    return ask(grading_stage(config), cases, client)


def grading_stage(config: ModelStagesConfig) -> Stage[Case, GradingAnswer, Grading]:
    """The stage, for callers that want its requests or checks alone."""

    def content(case: Case, cleaner: Cleaner) -> dict[str, Any]:
        material = case_content(case, cleaner, config)
        return material | {
            "task": cleaner.text(case.candidate.prompt, config.request_chars, "task")
        }

    return Stage(
        prompt=load_prompt("grading"),
        answer=GradingAnswer,
        item_id=lambda case: case.candidate.task_id,
        content=content,
        check=_check,
    )


def _check(case: Case, answer: GradingAnswer) -> Checked[Grading] | Fault:
    fault = _file_fault(answer) or _rubric_fault(case, answer)
    if fault is not None:
        return fault
    deliverables, notes = _deliverables(case, answer)
    rubric = Rubric(route=_route(answer, deliverables), criteria=_criteria(answer))
    if rubric.route != answer.route:
        notes = (*notes, "route set to text: nothing to look at")
    evidence = Evidence(
        retrieval=answer.retrieval,
        accuracy=answer.accuracy,
        action=answer.action,
        semantic=answer.semantic,
    )
    rules = (*hard_rules(deliverables, case.request), *computed_rules(case, deliverables))
    graded = Grading(deliverables=deliverables, rubric=rubric, rules=rules, evidence=evidence)
    return Checked(graded, notes)


def _file_fault(answer: GradingAnswer) -> Fault | None:
    strange = sorted({item.file_type for item in answer.deliverables} - TYPES.keys())
    return Fault(JudgeReason.UNKNOWN_FILE_TYPE, ", ".join(strange)) if strange else None


def _rubric_fault(case: Case, answer: GradingAnswer) -> Fault | None:
    lacking = set(Dimension) - {one.dimension for one in answer.criteria}
    if lacking:
        return Fault(JudgeReason.DIMENSIONS, ", ".join(sorted(lacking)))
    whole = fsum(one.weight for one in answer.criteria)
    if abs(whole - 1) > _ROUNDING:
        return Fault(JudgeReason.WEIGHTS, f"sum {whole:.6f}")
    there = {fixture.path for fixture in case.candidate.fixtures}
    pointers = {pointer for one in answer.criteria for pointer in one.evidence}
    strange = sorted(one for one in pointers if one.partition("#")[0] not in there)
    return Fault(JudgeReason.UNKNOWN_EVIDENCE, ", ".join(strange)) if strange else None


def _criteria(answer: GradingAnswer) -> tuple[Criterion, ...]:
    """The criteria by dimension, their weights scaled so that they sum to 1."""
    whole = fsum(criterion.weight for criterion in answer.criteria)
    order = list(Dimension)
    ordered = sorted(answer.criteria, key=lambda criterion: order.index(criterion.dimension))
    return tuple(
        Criterion(
            dimension=criterion.dimension,
            weight=round(criterion.weight / whole, 9),
            text=" ".join(criterion.text.split()),
            evidence=tuple(dict.fromkeys(criterion.evidence)),
        )
        for criterion in ordered
    )


def _deliverables(
    case: Case, answer: GradingAnswer
) -> tuple[tuple[Deliverable, ...], tuple[str, ...]]:
    """The files that the request asks for, all of them, and those that the model adds.

    File names come from the request only: nobody asked for a name that the model invents.
    """
    requested = {item.file_type: item for item in case.candidate.deliverables}
    words = f"{case.request}\n{case.candidate.prompt}".casefold()
    merged = {kind: item for kind, item in requested.items() if item.source != "produced"}
    for file in answer.deliverables:
        hints = tuple(name for name in file.name_hints if name.casefold() in words)
        known = merged.get(file.file_type)
        if known is None:
            merged[file.file_type] = Deliverable(
                file_type=file.file_type,
                count=max(file.count, len(hints)),
                name_hints=hints,
                source="both" if file.file_type in requested else "request",
            )
        elif hints and not known.name_hints:
            merged[file.file_type] = known.model_copy(update={"name_hints": hints})
    answered = {file.file_type for file in answer.deliverables}
    kept = sorted(merged.keys() - answered)
    notes = (f"deliverables kept from the request: {', '.join(kept)}",) if kept else ()
    return tuple(merged[kind] for kind in sorted(merged)), notes


def _route(answer: GradingAnswer, deliverables: Sequence[Deliverable]) -> Literal["text", "visual"]:
    """Visual only if some deliverable has an appearance to judge."""
    seen = any(item.file_type in VISUAL for item in deliverables)
    return "visual" if answer.route == "visual" and seen else "text"
