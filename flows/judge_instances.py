"""Judging packaged instances: self-containment and rewriting, labels and grading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from construction.judging.contracts import Case
from construction.judging.judge import (
    LABELLING,
    ModelStage,
    contain,
    verdicts,
)
from construction.judging.judge import (
    label_and_grade as label_cases,
)
from construction.judging.model.containment import STAGE as CONTAINMENT
from construction.judging.model.contracts import Judged
from construction.judging.model.prompt import prompts_digest
from construction.judging.model_calls import answers_of, cost_rows, require_answers
from construction.judging.review import Decisions, recorded, write_items
from construction.judging.stage_output import (
    LABELS,
    for_review,
    read_cases,
    read_kept,
    read_labelled,
    reviewed,
    write_contained,
    write_labelled,
)
from data.atomic import private_dir
from data.canonical import digest
from data.contracts import Candidate, Scalar
from data.run_store import StageOutput
from flows.consensus import REVIEW, Consented, ask_annotators
from flows.model_calls import asked_with, one_budget, open_client
from flows.prefect_adapter import keep_table, lane, stage
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import Run, open_run

if TYPE_CHECKING:
    from construction.judging.llm import Client

Told = Mapping[str, Sequence[Judged[Any]]]


@dataclass(frozen=True, slots=True)
class JudgedPool:
    """The outputs of the stages, the labels last, what a model cost, and its replies."""

    outputs: list[StageOutput]
    costs: Sequence[Mapping[str, Scalar]] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates that passed; read when asked for, since Prefect walks through what a
        flow returns."""
        return read_labelled(self.outputs[-1].path)


@lane("judge-instances")
def judge_instances(recipe: FlowRecipe, runtime: FlowRuntime, packaged: Path) -> JudgedPool:
    """Judge what was packaged into `packaged`, by the annotators, model and rules of the recipe."""
    run = open_run(recipe, runtime)
    decisions = recorded(private_dir(run.private / REVIEW))
    with one_budget(recipe, runtime):
        agreed = None
        if recipe.judging.consensus.annotators:
            agreed = ask_annotators(run, read_cases(packaged), decisions)
        judged = _judge(run, packaged, decisions, agreed)
    keep_table("judging-costs", judged.costs)
    return judged


def _judge(run: Run, packaged: Path, decisions: Decisions, agreed: Consented | None) -> JudgedPool:
    """The stages with one client of the recipe's model, if there is anything to ask it."""
    stages = LABELLING if agreed else (ModelStage.SELF_CONTAINMENT, *LABELLING)
    asks = any(run.recipe.judging.model.does(stage) for stage in stages)
    with open_client(run, masked=True) if asks else nullcontext() as client:
        told: Told = {}
        if agreed is not None:
            contained = contain_as_agreed(run, agreed, decisions)
        elif run.recipe.judging.model.does(ModelStage.SELF_CONTAINMENT) and client is not None:
            told, contained = contain_by_model(run, packaged, decisions, client)
        else:
            contained = contain_by_rules(run, packaged, decisions)
        labels, labelled = label_and_grade(run, contained.path, decisions, client)
        replies = {"model-replies": client.replies_digest()} if client is not None else {}
    costs = cost_rows(asked_with(run), {**told, **labels})
    outputs = [contained, labelled]
    if agreed is not None:
        inputs = {**replies, **agreed.inputs}
        return JudgedPool([agreed.output, *outputs], [*agreed.costs, *costs], inputs)
    return JudgedPool(outputs, costs, replies)


@stage("judge-containment")
def contain_by_rules(run: Run, packaged: Path, decisions: Decisions) -> StageOutput:
    """Keep what the rules, or people, find self-contained."""
    config = run.recipe.judging
    cases = read_cases(packaged)

    def write(out: Path) -> None:
        judged = reviewed(contain(cases, config, None), decisions)
        write_contained(cases, judged, decisions, "rules", out)

    write_items(run.private / REVIEW, [])
    return run.store.run(CONTAINMENT, _key(run, CONTAINMENT, cases, decisions), write)


@stage("judge-containment")
def contain_by_model(
    run: Run, packaged: Path, decisions: Decisions, client: Client
) -> tuple[Told, StageOutput]:
    """As by rules; where the rules differ from the model, people are asked to decide."""
    config = run.recipe.judging
    cases = read_cases(packaged)
    judged = require_answers(contain(cases, config, client))
    by_judge = {config.model.judge: judged, "rules": verdicts(cases, config)}
    write_items(run.private / REVIEW, for_review(cases, by_judge))
    final = reviewed(judged, decisions)
    write = partial(write_contained, cases, final, decisions, config.model.judge)
    key = _key(run, CONTAINMENT, cases, decisions, answers_of(final))
    return {CONTAINMENT: judged}, run.store.run(CONTAINMENT, key, write)


@stage("judge-containment")
def contain_as_agreed(run: Run, agreed: Consented, decisions: Decisions) -> StageOutput:
    """Keep what the annotators, or people, agreed on as self-contained."""
    agreement = agreed.agreement
    final = reviewed(agreement.judged, decisions)
    write = partial(write_contained, agreement.cases, final, decisions, agreement.judge)
    key = _key(run, CONTAINMENT, agreement.cases, decisions, answers_of(final))
    return run.store.run(CONTAINMENT, key, write)


@stage("label-and-grade")
def label_and_grade(
    run: Run, contained: Path, decisions: Decisions, client: Client | None
) -> tuple[Told, StageOutput]:
    """Give what was kept its labels, task class, deliverables, rubric and rules.

    What the model gave no usable answer on is errored.
    """
    config, seed = run.recipe.judging, run.recipe.release.seed
    cases = read_kept(contained)
    if not any(config.model.does(stage) for stage in LABELLING):
        key = _key(run, LABELS, cases, decisions, [seed])

        def write(out: Path) -> None:
            write_labelled(cases, label_cases(cases, config, None, seed), decisions, out)

        return {}, run.store.run(LABELS, key, write)
    told = label_cases(cases, config, client, seed)
    everything = [
        seed,
        *answers_of(told.labels),
        *answers_of(told.names),
        *answers_of(told.gradings),
    ]
    key = _key(run, LABELS, cases, decisions, everything)
    judged: Told = {
        ModelStage.LABELS: told.labels,
        ModelStage.TASK_CLASS: told.names,
        ModelStage.GRADING: told.gradings,
    }
    asked: Told = {str(name): judged[name] for name in LABELLING if config.model.does(name)}
    return asked, run.store.run(LABELS, key, partial(write_labelled, cases, told, decisions))


def _key(
    run: Run, stage: str, cases: Sequence[Case], decisions: Decisions, told: Sequence[Any] = ()
) -> str:
    """What a stage's output is made of: cases, settings, decisions, and a model's answers."""
    decided = sorted((*key, entry.entry) for key, entry in decisions.items())
    made_with = (digest(list(cases)), run.recipe.judging, prompts_digest())
    return run.store.key(stage, *made_with, decided, told)
