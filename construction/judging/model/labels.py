"""Labels by a model: roles, skills and families from the editable tables; names of task classes.

The rules use the same tables. An answer with any other label is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import Field

from construction.judging.contracts import (
    Answer,
    Asker,
    Case,
    Catalogue,
    Fault,
    Judged,
    JudgeReason,
    ModelStagesConfig,
    Taxonomy,
)
from construction.judging.lexicon import table
from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.prompt import Cleaner, case_content, load_prompt
from construction.mentions.spans import find_file_spans
from construction.signals.crosswalk import default_crosswalk
from data.contracts import Label, TaskClass
from data.contracts.candidate import Confidence

Reason = Annotated[str, Field(max_length=300)]
TASK_CLASS = "task_class"
_FIGURE = re.compile(r"\d{2,}")
_KEY = re.compile(r"[^a-z0-9]+")


@cache
def default_catalogue() -> Catalogue:
    """Roles and skill subclasses with their definitions, routes, and the task families.

    A skill subclass is called `role.skill`, as the rules call it.
    """
    skills = {
        f"{role}.{name}": entry
        for role in sorted(table("skills"))
        for name, entry in _skills(role).items()
    }
    return Catalogue(
        roles={role: entry["definition"] for role, entry in table("roles").items()},
        skills={name: f"{entry['name']}: {entry['definition']}" for name, entry in skills.items()},
        families=dict(default_crosswalk().task_families),
        routes={name: entry["route"] for name, entry in skills.items()},
    )


def _skills(role: str) -> Mapping[str, Mapping[str, str]]:
    skills: Mapping[str, Mapping[str, str]] = table("skills")[role]
    return skills


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
    cases: Sequence[Case], client: Asker, config: ModelStagesConfig, catalogue: Catalogue
) -> list[Judged[Taxonomy]]:
    """The labels of each case, in order. A case keeps a task family that it has already."""
    return ask(taxonomy_stage(config, catalogue), cases, client)


def taxonomy_stage(
    config: ModelStagesConfig, catalogue: Catalogue
) -> Stage[Case, TaxonomyAnswer, Taxonomy]:
    """The stage, for callers that want its requests or checks alone."""
    return Stage(
        prompt=load_prompt("taxonomy"),
        answer=TaxonomyAnswer,
        item_id=lambda case: case.candidate.task_id,
        content=lambda case, cleaner: case_content(case, cleaner, config),
        check=lambda case, answer: _check_labels(case, answer, config, catalogue),
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


def _check_labels(
    case: Case, answer: TaxonomyAnswer, config: ModelStagesConfig, catalogue: Catalogue
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
    if not skill.label.startswith(f"{answer.role.label}."):
        return Fault(JudgeReason.UNKNOWN_LABEL, "skill_subclass of another role")
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


def _label(choice: Choice, config: ModelStagesConfig) -> Label:
    return Label(
        value=choice.label,
        confidence=round(choice.confidence, 9),
        reason=" ".join(choice.reason.split()),
        judge=config.judge,
    )


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """A group of tasks by their requests; `neighbours` are the nearest tasks outside the group.

    `big_classes` and `names` are in use already, in the recipe or for groups named before.
    """

    group_id: str
    members: tuple[str, ...]
    neighbours: tuple[str, ...] = ()
    big_classes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class ClassAnswer(Answer):
    big_class: Annotated[str, Field(min_length=3, max_length=60)]
    name: Annotated[str, Field(min_length=3, max_length=80)]
    definition: Annotated[str, Field(min_length=20, max_length=400)]
    confidence: Confidence
    reason: Annotated[str, Field(max_length=300)]


def name_classes(
    groups: Sequence[TaskGroup], client: Asker, config: ModelStagesConfig
) -> list[Judged[TaskClass]]:
    """A task class per group, in order; of groups with the same name only the first keeps it.

    The first is the one with the smallest group id, whatever the order of the groups.
    """
    judged = ask(class_stage(config), groups, client)
    taken: set[str] = set()
    unique: dict[str, Judged[TaskClass]] = {}
    for named in sorted(judged, key=lambda named: named.item_id):
        key = _key(named.value.name) if named.value else ""
        if key and key in taken:
            reason = JudgeReason.TAKEN_NAME
            named = Judged(named.item_id, None, reason, named.value.name if named.value else "")
        taken.add(key)
        unique[named.item_id] = named
    return [unique[named.item_id] for named in judged]


def class_stage(config: ModelStagesConfig) -> Stage[TaskGroup, ClassAnswer, TaskClass]:
    """The stage, for callers that want its requests or checks alone."""
    return Stage(
        prompt=load_prompt("task_class"),
        answer=ClassAnswer,
        item_id=lambda group: group.group_id,
        content=lambda group, cleaner: _group_content(group, cleaner, config),
        check=_check_class,
    )


def _group_content(group: TaskGroup, cleaner: Cleaner, config: ModelStagesConfig) -> dict[str, Any]:
    def texts(several: Sequence[str], most: int, name: str) -> list[str]:
        return [cleaner.text(text, config.member_chars, name) for text in sorted(several)[:most]]

    return {
        "group": texts(group.members, config.class_members, "group"),
        "tasks_in_group": len(group.members),
        "outside": texts(group.neighbours, config.class_neighbours, "outside"),
        "big_classes_in_use": sorted(group.big_classes),
        "names_in_use": sorted(group.names),
    }


def _check_class(group: TaskGroup, answer: ClassAnswer) -> Checked[TaskClass] | Fault:
    texts = f"{answer.big_class} {answer.name} {answer.definition}"
    if find_file_spans(texts) or _FIGURE.search(texts):
        return Fault(JudgeReason.NAMES_A_TASK)
    if not _key(answer.name) or not _key(answer.big_class):
        return Fault(JudgeReason.EMPTY)
    if _key(answer.name) in {_key(name) for name in group.names}:
        return Fault(JudgeReason.TAKEN_NAME, answer.name)
    return Checked(
        TaskClass(
            big_class=" ".join(answer.big_class.split()),
            subclass_id=_key(answer.name),
            name=" ".join(answer.name.split()),
            definition=" ".join(answer.definition.split()),
            confidence=round(answer.confidence, 9),
            reason=" ".join(answer.reason.split()),
        )
    )


def _key(name: str) -> str:
    """An identifier made of a name: lower case, words joined by underscores."""
    return _KEY.sub("_", name.lower()).strip("_")
