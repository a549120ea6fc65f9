"""Judging packaged instances: self-containment and rewriting, labels and grading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from construction.judging.calls.contracts import CallReason
from construction.judging.contracts import Case
from construction.judging.judge import client_config, contain, label, lay_down
from construction.judging.llm import Client
from construction.judging.prompted.containment import STAGE as CONTAINMENT
from construction.judging.prompted.contracts import Judged
from construction.judging.prompted.prompt import prompts_digest
from construction.judging.review import Decisions, recorded, write_items
from data.atomic import private_dir
from data.canonical import digest
from data.contracts import Candidate, Scalar
from data.errors import ReleaseError, guarded
from data.run_store import StageOutput
from flows.judging_stages import (
    LABELS,
    costs,
    for_review,
    read_cases,
    read_kept,
    read_labelled,
    reviewed,
    write_contained,
    write_labelled,
)
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import Run, open_run

T = TypeVar("T")
REVIEW = "review"
_UNSETTLED = frozenset(reason for reason in CallReason if not reason.is_settled)


@dataclass(frozen=True, slots=True)
class JudgedPool:
    """Candidates that passed, the outputs of the stages, what a model cost, and its replies."""

    candidates: tuple[Candidate, ...]
    outputs: list[StageOutput]
    costs: Sequence[Mapping[str, Scalar]] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)


@flow(name="judge-instances", validate_parameters=False)
def judge_instances(recipe: FlowRecipe, runtime: FlowRuntime, packaged: Path) -> JudgedPool:
    """Judge what was packaged into `packaged`, by the model or the rules of the recipe."""
    run = open_run(recipe, runtime)
    decisions = recorded(private_dir(run.private / REVIEW))
    model = recipe.judging.model
    if not model.name:
        contained = contain_by_rules(run, packaged, decisions)
        labelled = label_by_rules(run, contained.path, decisions)
        return JudgedPool(read_labelled(labelled.path), [contained, labelled])
    store = private_dir(run.private / "captures" / "llm")
    asked = client_config(model, runtime.model_calls)
    with Client(asked, runtime.llm, store, masked=True) as client:
        verdicts, contained = contain_by_model(run, packaged, decisions, client)
        labels, labelled = label_by_model(run, contained.path, decisions, client)
        inputs = {"model-replies": client.replies_digest()}
    table = costs(asked, {CONTAINMENT: verdicts, **labels})
    create_table_artifact(table, key="judging-costs")
    return JudgedPool(read_labelled(labelled.path), [contained, labelled], table, inputs)


@task(name="judge-containment")
@guarded("judge-containment")
def contain_by_rules(run: Run, packaged: Path, decisions: Decisions) -> StageOutput:
    """Keep what the rules, or people, find self-contained."""
    config = run.recipe.judging
    cases = read_cases(packaged)

    def write(out: Path) -> None:
        judged = reviewed(contain(cases, config, None), decisions)
        write_contained(cases, judged, decisions, config.model.judge, out)

    write_items(run.private / REVIEW, [])
    return run.store.run(CONTAINMENT, _key(run, CONTAINMENT, cases, decisions), write)


@task(name="label-and-grade")
@guarded("label-and-grade")
def label_by_rules(run: Run, contained: Path, decisions: Decisions) -> StageOutput:
    """Give what was kept its labels, deliverables, rubric and rules."""
    config = run.recipe.judging
    cases = read_kept(contained)

    def write(out: Path) -> None:
        labels, gradings = label(cases, config, None), lay_down(cases, config, None)
        write_labelled(cases, labels, gradings, decisions, out)

    return run.store.run(LABELS, _key(run, LABELS, cases, decisions), write)


@task(name="judge-containment")
@guarded("judge-containment")
def contain_by_model(
    run: Run, packaged: Path, decisions: Decisions, client: Client
) -> tuple[Sequence[Judged[Any]], StageOutput]:
    """As by rules; where the rules differ from the model, people are asked to decide."""
    config = run.recipe.judging
    cases = read_cases(packaged)
    judged = _complete(contain(cases, config, client))
    by_judge = {config.model.judge: judged, "rules": contain(cases, config, None)}
    write_items(run.private / REVIEW, for_review(cases, by_judge))
    final = reviewed(judged, decisions)
    write = partial(write_contained, cases, final, decisions, config.model.judge)
    key = _key(run, CONTAINMENT, cases, decisions, _said(final))
    return judged, run.store.run(CONTAINMENT, key, write)


@task(name="label-and-grade")
@guarded("label-and-grade")
def label_by_model(
    run: Run, contained: Path, decisions: Decisions, client: Client
) -> tuple[dict[str, Sequence[Judged[Any]]], StageOutput]:
    """As by rules; what the model gave no usable answer on is errored."""
    config = run.recipe.judging
    cases = read_kept(contained)
    labels = _complete(label(cases, config, client))
    gradings = _complete(lay_down(cases, config, client))
    write = partial(write_labelled, cases, labels, gradings, decisions)
    key = _key(run, LABELS, cases, decisions, _said([*labels, *gradings]))
    return {LABELS: labels, "grading": gradings}, run.store.run(LABELS, key, write)


def _complete(judged: list[Judged[T]]) -> list[Judged[T]]:
    """Raise ReleaseError where the model was not asked, or not heard, about something.

    What it did not answer in earnest (refused, invalid) is errored instead, now and in any replay.
    """
    reasons = Counter(one.reason for one in judged if one.reason in _UNSETTLED)
    if reasons:
        told = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
        raise ReleaseError(
            f"judging: found {len(judged)} questions with {told}; expected an answer to each. "
            "What was answered is kept: build again to go on from there."
        )
    return judged


def _key(
    run: Run, stage: str, cases: Sequence[Case], decisions: Decisions, said: Sequence[Any] = ()
) -> str:
    """What a stage's output is made of: cases, settings, decisions, and a model's answers."""
    told = sorted((*key, entry.entry) for key, entry in decisions.items())
    made_with = (digest(list(cases)), run.recipe.judging, prompts_digest())
    return run.store.key(stage, *made_with, told, said)


def _said(judged: Sequence[Judged[Any]]) -> list[Any]:
    return [
        (one.item_id, one.value.model_dump(mode="json") if one.value else None, one.reason)
        for one in judged
    ]
