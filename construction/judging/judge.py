"""Judging a pool: by a model where there is a client, by the rules where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from construction.judging.calls.config import LlmConfig, Mode, Prices
from construction.judging.contracts import Case, Containment, Grading, Taxonomy
from construction.judging.offline.classes import ClassesConfig, Member, induce_classes
from construction.judging.offline.containment import ContainmentConfig
from construction.judging.offline.grading import GradingConfig, grade
from construction.judging.offline.roles import TaxonomyConfig
from construction.judging.offline.taxonomy import judge_taxonomies
from construction.judging.prompted.catalogue import default_catalogue
from construction.judging.prompted.containment import judge_containment, rules_opinion
from construction.judging.prompted.contracts import Asker, Judged, PromptedConfig
from construction.judging.prompted.grading import lay_down_grading
from construction.judging.prompted.taxonomy import classify
from data.contracts import Candidate, StageConfig, TaskClass

T = TypeVar("T")


class ModelConfig(StageConfig):
    """Recipe: which model judges, and how it samples; without a name the rules judge.

    `temperature` and `seed` None: not sent, for models that do not take them.
    """

    name: str = ""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    seed: int | None = 0
    image_tokens: Annotated[int, Field(gt=0)] = 4096

    @property
    def judge(self) -> str:
        """What outputs are marked with, whether the model answered now or earlier."""
        return f"model:{self.name}" if self.name else "rules"


class ModelCalls(StageConfig):
    """Runtime: where answers come from (not rules), what they cost, and what a run may spend.

    None of it is digested: a replay makes the same release as the run that was recorded.
    """

    mode: Literal[Mode.LIVE, Mode.RECORD, Mode.REPLAY, Mode.BATCH] = Mode.RECORD
    prices: Prices = Prices()
    budget_tokens: Annotated[int, Field(ge=0)] | None = None
    budget_cost: Annotated[float, Field(ge=0)] | None = None


def client_config(model: ModelConfig, calls: ModelCalls) -> LlmConfig:
    """What the client takes."""
    return LlmConfig(
        model=model.name,
        temperature=model.temperature,
        seed=model.seed,
        image_tokens=model.image_tokens,
        **calls.model_dump(),
    )


class JudgingConfig(StageConfig):
    """Who judges, and the settings of each stage, asked or by rules."""

    model: ModelConfig = ModelConfig()
    prompted: PromptedConfig = PromptedConfig()
    containment: ContainmentConfig = ContainmentConfig()
    taxonomy: TaxonomyConfig = TaxonomyConfig()
    classes: ClassesConfig = ClassesConfig()
    grading: GradingConfig = GradingConfig()

    @property
    def asked(self) -> PromptedConfig:
        """The settings of the stages that ask, with the judge that marks their labels."""
        return self.prompted.model_copy(update={"judge": self.model.judge})


def contain(
    cases: Sequence[Case], config: JudgingConfig, client: Asker | None
) -> list[Judged[Containment]]:
    """Is each case a task that a newcomer can do and a third person can judge?"""
    rules = rules_opinion(config.containment)
    if client is not None:
        return judge_containment(cases, client, config.asked, rules)
    return _by_rules(cases, [rules(case) for case in cases])


def label(
    cases: Sequence[Case], config: JudgingConfig, client: Asker | None
) -> list[Judged[Taxonomy]]:
    """Role, skill and business task of each case, and the task class within this pool."""
    if client is not None:
        judged = classify(cases, client, config.asked, default_catalogue())
    else:
        judged = _by_rules(cases, judge_taxonomies(cases, config.taxonomy, {}))
    classes = _classes(cases, judged, config.classes)
    return [_with_class(one, classes) for one in judged]


def lay_down(
    cases: Sequence[Case], config: JudgingConfig, client: Asker | None
) -> list[Judged[Grading]]:
    """What a good answer to each case is."""
    if client is not None:
        return lay_down_grading(cases, client, config.asked)
    return _by_rules(cases, [grade(case, config.grading) for case in cases])


def contained(case: Case, verdict: Containment, judge: str) -> Case:
    """The case with the prompt that its judge made of it."""
    candidate = case.candidate
    provenance = candidate.provenance.model_copy(update={"judge": judge})
    told: dict[str, object] = {"provenance": provenance}
    if verdict.rewritten_prompt is not None:
        told["prompt"] = verdict.rewritten_prompt
    return case.model_copy(update={"candidate": candidate.model_copy(update=told)})


def completed(candidate: Candidate, taxonomy: Taxonomy, grading: Grading) -> Candidate:
    """The candidate with its labels, deliverables, rubric, rules and kinds of evidence."""
    told = {name: getattr(taxonomy, name) for name in Taxonomy.model_fields}
    told |= {name: getattr(grading, name) for name in Grading.model_fields}
    if told["task_family"] is None:
        del told["task_family"]
    return candidate.model_copy(update=told)


def _by_rules(cases: Sequence[Case], values: Sequence[T]) -> list[Judged[T]]:
    pairs = zip(cases, values, strict=True)
    return [Judged(case.candidate.task_id, value) for case, value in pairs]


def _classes(
    cases: Sequence[Case], judged: Sequence[Judged[Taxonomy]], config: ClassesConfig
) -> Mapping[str, TaskClass]:
    members = [
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
    return induce_classes(members, config)


def _with_class(one: Judged[Taxonomy], classes: Mapping[str, TaskClass]) -> Judged[Taxonomy]:
    if one.value is None:
        return one
    value = one.value.model_copy(update={"task_class": classes[one.item_id]})
    return Judged(one.item_id, value, notes=one.notes, usage=one.usage)
