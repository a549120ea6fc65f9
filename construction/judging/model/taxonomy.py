"""Taxonomy by a model: labels out of the editable tables, and nothing that is not in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from construction.judging.contracts import Case, Taxonomy
from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.cases import case_content
from construction.judging.model.contracts import (
    Answer,
    Asker,
    Catalogue,
    Fault,
    Judged,
    JudgeReason,
    PromptedConfig,
)
from construction.judging.model.prompt import load_prompt
from data.contracts import Label
from data.contracts.candidate import Confidence

STAGE = "taxonomy"
Reason = Annotated[str, Field(max_length=300)]


class Choice(Answer):
    """A label with how sure the model is, and why."""

    label: Annotated[str, Field(max_length=80)]
    confidence: Confidence
    reason: Reason


class TaxonomyAnswer(Answer):
    business_task: Annotated[str, Field(min_length=1, max_length=200)]
    role: Choice
    skill_subclass: Choice
    task_family: Choice | None


def classify(
    cases: Sequence[Case], client: Asker, config: PromptedConfig, catalogue: Catalogue
) -> list[Judged[Taxonomy]]:
    """The labels of each case, in order. A family that a case has already stays."""
    return ask(taxonomy_stage(config, catalogue), cases, client)


def taxonomy_stage(
    config: PromptedConfig, catalogue: Catalogue
) -> Stage[Case, TaxonomyAnswer, Taxonomy]:
    """The stage, for callers that want its requests or checks alone."""
    return Stage(
        prompt=load_prompt("taxonomy"),
        answer=TaxonomyAnswer,
        item_id=lambda case: case.candidate.task_id,
        content=lambda case, cleaner: case_content(case, cleaner, config),
        check=lambda case, answer: _check(case, answer, config, catalogue),
        tables=_tables(catalogue),
    )


def _tables(catalogue: Catalogue) -> str:
    named = (
        ("role", catalogue.roles),
        ("skill_subclass", catalogue.skills),
        ("task_family", catalogue.families),
    )
    return "\n\n".join(f"{name}:\n{_lines(table)}" for name, table in named if table)


def _lines(table: Mapping[str, str]) -> str:
    return "\n".join(f"- {label}: {table[label]}" for label in sorted(table))


def _check(
    case: Case, answer: TaxonomyAnswer, config: PromptedConfig, catalogue: Catalogue
) -> Checked[Taxonomy] | Fault:
    family = answer.task_family
    strange = [
        name
        for name, choice, table in (
            ("role", answer.role, catalogue.roles),
            ("skill_subclass", answer.skill_subclass, catalogue.skills),
            ("task_family", family, catalogue.families),
        )
        if choice is not None and choice.label not in table
    ]
    if strange:
        return Fault(JudgeReason.UNKNOWN_LABEL, ", ".join(strange))
    skill = answer.skill_subclass
    route = skill.model_copy(update={"label": catalogue.routes.get(skill.label, skill.label)})
    chosen = _label(family, config) if family is not None else None
    return Checked(
        Taxonomy(
            business_task=" ".join(answer.business_task.split()),
            role=_label(answer.role, config),
            skill_subclass=_label(skill, config),
            skill_route=_label(route, config),
            task_family=case.candidate.task_family or chosen,
        )
    )


def _label(choice: Choice, config: PromptedConfig) -> Label:
    return Label(
        value=choice.label,
        confidence=round(choice.confidence, 9),
        reason=" ".join(choice.reason.split()),
        judge=config.judge,
    )
