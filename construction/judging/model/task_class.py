"""Names for task classes: groups of tasks that were found alike get a big class and a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.block import Cleaner
from construction.judging.model.contracts import (
    Answer,
    Asker,
    Fault,
    Judged,
    JudgeReason,
    PromptedConfig,
)
from construction.judging.model.prompt import load_prompt
from construction.sessions.mentions.spans import find_file_spans
from data.contracts import TaskClass
from data.contracts.candidate import Confidence

STAGE = "task_class"
_FIGURE = re.compile(r"\d{2,}")
_KEY = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """A group of tasks by their requests; `neighbours` are the nearest that do not belong.

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
    groups: Sequence[TaskGroup], client: Asker, config: PromptedConfig
) -> list[Judged[TaskClass]]:
    """A task class per group, in order; of groups that got one name only the first keeps it.

    Which is first goes by group id, whatever the order of the groups.
    """
    judged = ask(class_stage(config), groups, client)
    taken: set[str] = set()
    unique: dict[str, Judged[TaskClass]] = {}
    for one in sorted(judged, key=lambda one: one.item_id):
        key = _key(one.value.name) if one.value else ""
        if key and key in taken:
            reason = JudgeReason.TAKEN_NAME
            one = Judged(one.item_id, None, reason, one.value.name if one.value else "")
        taken.add(key)
        unique[one.item_id] = one
    return [unique[one.item_id] for one in judged]


def class_stage(config: PromptedConfig) -> Stage[TaskGroup, ClassAnswer, TaskClass]:
    """The stage, for callers that want its requests or checks alone."""
    return Stage(
        prompt=load_prompt("task_class"),
        answer=ClassAnswer,
        item_id=lambda group: group.group_id,
        content=lambda group, cleaner: _content(group, cleaner, config),
        check=_check,
    )


def _content(group: TaskGroup, cleaner: Cleaner, config: PromptedConfig) -> dict[str, Any]:
    def texts(several: Sequence[str], most: int, place: str) -> list[str]:
        return [cleaner.text(text, config.member_chars, place) for text in sorted(several)[:most]]

    return {
        "group": texts(group.members, config.class_members, "group"),
        "tasks_in_group": len(group.members),
        "outside": texts(group.neighbours, config.class_neighbours, "outside"),
        "big_classes_in_use": sorted(group.big_classes),
        "names_in_use": sorted(group.names),
    }


def _check(group: TaskGroup, answer: ClassAnswer) -> Checked[TaskClass] | Fault:
    told = f"{answer.big_class} {answer.name} {answer.definition}"
    if find_file_spans(told) or _FIGURE.search(told):
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
    """An identifier out of a name: lower case, words joined by underscores."""
    return _KEY.sub("_", name.lower()).strip("_")
