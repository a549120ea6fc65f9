"""Judging a pool: by a model if there is a client, otherwise by the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field

from construction.judging.calls.contracts import LlmConfig, Mode, Prices
from construction.judging.consensus import ConsensusConfig
from construction.judging.contracts import (
    Asker,
    Case,
    Containment,
    Grading,
    Judged,
    ModelStagesConfig,
    Taxonomy,
)
from construction.judging.model.asking import require_answers
from construction.judging.model.containment import (
    judge_containment,
    rules_opinion,
    rules_verdict,
)
from construction.judging.model.grading import write_rubric_by_model
from construction.judging.model.labels import TaskGroup, classify, default_catalogue, name_classes
from construction.judging.rules.classes import (
    ClassesConfig,
    ClassGroup,
    Member,
    induce_classes,
    split_classes,
)
from construction.judging.rules.criteria import GradingConfig
from construction.judging.rules.grading import grade
from construction.judging.rules.labels import TaxonomyConfig
from construction.judging.rules.taxonomy import judge_taxonomies
from construction.judging.self_containment import ContainmentConfig
from data.contracts import Candidate, Count, StageConfig, TaskClass

T = TypeVar("T")


class ModelStage(StrEnum):
    """What a model can do; the rules do what it does not."""

    SELF_CONTAINMENT = "self_containment"
    LABELS = "labels"
    GRADING = "grading"
    TASK_CLASS = "task_class"
    QUESTION_PHRASING = "question_phrasing"
    CANDIDATE_IDEAS = "candidate_ideas"


LABELLING = (ModelStage.LABELS, ModelStage.TASK_CLASS, ModelStage.GRADING)


def _in_order(stages: tuple[ModelStage, ...]) -> tuple[ModelStage, ...]:
    return tuple(stage for stage in ModelStage if stage in stages)


class ModelConfig(StageConfig):
    """Recipe: which model judges what, and how it samples. Without a name the rules judge.

    `temperature` and `seed` are not sent if they are None, for models that do not accept them. With
    `sees_images` the model is shown a picture of the statement that a question is about.
    """

    name: str = ""
    stages: Annotated[tuple[ModelStage, ...], AfterValidator(_in_order)] = tuple(ModelStage)
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    seed: int | None = 0
    sees_images: bool = False
    image_tokens: Annotated[int, Field(gt=0)] = 4096

    @property
    def judge(self) -> str:
        """The judge's name in outputs, whether the model answered now or earlier."""
        return f"model:{self.name}" if self.name else "rules"

    def does(self, stage: ModelStage) -> bool:
        """Whether the model does this stage."""
        return bool(self.name) and stage in self.stages

    def judge_of(self, stage: ModelStage) -> str:
        """The judge's name in outputs of this stage."""
        return self.judge if self.does(stage) else "rules"


class ModelCalls(StageConfig):
    """Runtime: where a model's answers come from, what they cost, and what a run may spend.

    It is not part of the digest: a replay makes the same release as the run that was recorded.
    """

    mode: Literal[Mode.LIVE, Mode.RECORD, Mode.REPLAY, Mode.BATCH] = Mode.RECORD
    prices: Prices = Prices()
    budget_tokens: Count | None = None
    budget_cost: Annotated[float, Field(ge=0)] | None = None


def client_config(model: ModelConfig, calls: ModelCalls) -> LlmConfig:
    """The settings of the model client."""
    return LlmConfig(
        model=model.name,
        temperature=model.temperature,
        seed=model.seed,
        image_tokens=model.image_tokens,
        **calls.model_dump(),
    )


class JudgingConfig(StageConfig):
    """Who judges, and the settings of each stage, by model or by rules."""

    model: ModelConfig = ModelConfig()
    consensus: ConsensusConfig = ConsensusConfig()
    model_stages: ModelStagesConfig = ModelStagesConfig()
    containment: ContainmentConfig = ContainmentConfig()
    taxonomy: TaxonomyConfig = TaxonomyConfig()
    classes: ClassesConfig = ClassesConfig()
    grading: GradingConfig = GradingConfig()

    @property
    def stage_settings(self) -> ModelStagesConfig:
        """`model_stages` with the name of the judge that their labels are marked with."""
        return self.model_stages.model_copy(update={"judge": self.model.judge})

    def with_model(self, name: str) -> JudgingConfig:
        """The same settings with another model."""
        return self.model_copy(update={"model": self.model.model_copy(update={"name": name})})


def contain(
    cases: Sequence[Case], config: JudgingConfig, client: Asker | None
) -> list[Judged[Containment]]:
    """Is each case a task that a newcomer can do and a third person can judge?"""
    if client is not None:
        second = rules_verdict(config.containment)
        return judge_containment(cases, client, config.stage_settings, second)
    rules = rules_opinion(config.containment)
    return _by_rules(cases, [rules(case) for case in cases])


def verdicts(cases: Sequence[Case], config: JudgingConfig) -> list[Judged[Containment]]:
    """The rules' verdict on each case, without rewritten prompts, to compare with a model's."""
    rules = rules_verdict(config.containment)
    return _by_rules(cases, [rules(case) for case in cases])


def label(
    cases: Sequence[Case], config: JudgingConfig, client: Asker | None
) -> list[Judged[Taxonomy]]:
    """Role, skill and business task of each case; `induce` adds the task class."""
    if client is not None:
        return classify(cases, client, config.stage_settings, default_catalogue())
    return _by_rules(cases, judge_taxonomies(cases, config.taxonomy, {}))


@dataclass(frozen=True, slots=True)
class Classed:
    """Labels with task classes, and the names that the model gave to groups of tasks."""

    labels: list[Judged[Taxonomy]]
    names: list[Judged[TaskClass]]


def induce(
    cases: Sequence[Case],
    judged: Sequence[Judged[Taxonomy]],
    config: JudgingConfig,
    client: Asker | None,
    seed: int,
) -> Classed:
    """The task classes of a pool: grouped by rules, and named by the model where it gives a name.

    The big class of a task stays its role, within which it was grouped. `seed` decides which
    classes are held out.
    """
    induced = induce_classes(_members(cases, judged), config.classes)
    names: list[Judged[TaskClass]] = []
    if client is not None:
        names = name_classes([_group(one) for one in induced.groups], client, config.stage_settings)
    given = {one.item_id: one.value for one in names if one.value is not None}
    split = split_classes(induced.classes.values(), config.classes, seed)
    classes = {
        task_id: _named(one, given).model_copy(update={"split": split[one.subclass_id]})
        for task_id, one in induced.classes.items()
    }
    return Classed([_with_class(one, classes) for one in judged], names)


def write_rubric(
    cases: Sequence[Case], config: JudgingConfig, client: Asker | None
) -> list[Judged[Grading]]:
    """What a good answer to each case is: deliverables, rubric and hard rules."""
    if client is not None:
        return write_rubric_by_model(cases, client, config.stage_settings)
    return _by_rules(cases, [grade(case, config.grading) for case in cases])


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels, names of groups of tasks, and gradings of cases, in the order of the cases.

    `judges` says for each part who judged it: `rules` or `model:NAME`.
    """

    labels: Sequence[Judged[Taxonomy]]
    names: Sequence[Judged[TaskClass]]
    gradings: Sequence[Judged[Grading]]
    judges: Mapping[str, str]


def label_and_grade(
    cases: Sequence[Case], config: JudgingConfig, client: Asker | None, seed: int
) -> Labelled:
    """Labels, task classes and grading, each by the model or by the rules, as the settings say.

    Raises ReleaseError where the model gave no reply about some case.
    """
    model = config.model
    asker = {stage: client if model.does(stage) else None for stage in LABELLING}
    labels = require_answers(label(cases, config, asker[ModelStage.LABELS]))
    classed = induce(cases, labels, config, asker[ModelStage.TASK_CLASS], seed)
    gradings = require_answers(write_rubric(cases, config, asker[ModelStage.GRADING]))
    judges = {str(stage): model.judge_of(stage) for stage in LABELLING}
    return Labelled(classed.labels, require_answers(classed.names), gradings, judges)


def contained(case: Case, verdict: Containment, judge: str) -> Case:
    """The case with the prompt that its judge rewrote, and its judge in the provenance."""
    candidate = case.candidate
    provenance = candidate.provenance.model_copy(update={"judge": judge})
    changes: dict[str, object] = {"provenance": provenance}
    if verdict.rewritten_prompt is not None:
        changes["prompt"] = verdict.rewritten_prompt
    return case.model_copy(update={"candidate": candidate.model_copy(update=changes)})


def completed(candidate: Candidate, taxonomy: Taxonomy, grading: Grading) -> Candidate:
    """The candidate with its labels, deliverables, rubric, rules and kinds of evidence."""
    changes = {name: getattr(taxonomy, name) for name in Taxonomy.model_fields}
    changes |= {name: getattr(grading, name) for name in Grading.model_fields}
    if changes["task_family"] is None:
        del changes["task_family"]
    return candidate.model_copy(update=changes)


def _by_rules(cases: Sequence[Case], values: Sequence[T]) -> list[Judged[T]]:
    pairs = zip(cases, values, strict=True)
    return [Judged(case.candidate.task_id, value) for case, value in pairs]


def _members(cases: Sequence[Case], judged: Sequence[Judged[Taxonomy]]) -> list[Member]:
    return [
        Member(
            one.item_id,
            one.value.role.value,
            one.value.skill_subclass.value,
            one.value.business_task,
            case.request,
        )
        for case, one in zip(cases, judged, strict=True)
        if one.value is not None
    ]


def _group(group: ClassGroup) -> TaskGroup:
    return TaskGroup(
        group_id=group.subclass_id,
        members=tuple(member.request for member in group.members),
        neighbours=tuple(member.request for member in group.neighbours),
        big_classes=(group.big_class,),
    )


def _named(task_class: TaskClass, given: Mapping[str, TaskClass]) -> TaskClass:
    """The class under the name that the model gave its group, if it gave one."""
    given_class = given.get(task_class.subclass_id)
    if given_class is None:
        return task_class
    return given_class.model_copy(update={"big_class": task_class.big_class})


def _with_class(labels: Judged[Taxonomy], classes: Mapping[str, TaskClass]) -> Judged[Taxonomy]:
    if labels.value is None:
        return labels
    value = labels.value.model_copy(update={"task_class": classes[labels.item_id]})
    return Judged(labels.item_id, value, notes=labels.notes, usage=labels.usage)
