"""The stages that judge packaged candidates: self-containment, labels, rubric and rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from construction.judging.consensus import STAGE as CONSENSUS_STAGE
from construction.judging.consensus import UNIT as CONSENSUS_UNIT
from construction.judging.contracts import Case, Containment, Judged
from construction.judging.judge import (
    LABELLING,
    JudgingConfig,
    ModelStage,
    contain,
    label_and_grade,
    verdicts,
)
from construction.judging.model.asking import cost_rows, require_answers, write_model_use
from construction.judging.model.containment import STAGE as CONTAINMENT_STAGE
from construction.judging.model.labels import TASK_CLASS
from construction.judging.model.prompt import prompts_digest
from construction.judging.review import Decisions, read_items, recorded, write_items
from construction.judging.stage_output import LABELS as LABELS_STAGE
from construction.judging.stage_output import (
    for_review,
    read_cases,
    read_kept,
    reviewed,
    write_contained,
    write_labelled,
)
from data.atomic import private_dir, write_bytes
from data.canonical import canonical_json
from data.contracts import StageKind
from data.stage_tables import write_stage_tables
from data.stages import Folders, Observed, Stage, Unit
from flows.consensus import REVIEW, Consented, hold_consensus
from flows.model_calls import asked_with, judges_of, open_client
from flows.prefect_adapter import keep_table
from flows.run import Run, Work

_FILTER = StageKind.FILTER
_AGREED = "agreed.json"
_RULES = tuple(f"judging.{name}" for name in JudgingConfig.model_fields if name != "model")


def decisions_of(run: Run) -> Decisions:
    """What people have decided so far."""
    return recorded(private_dir(run.private / REVIEW))


def _decisions(*stages: ModelStage) -> Callable[[Work], Observed]:
    """Observes what people have decided, the prompts, and who judges these stages."""

    def observe(work: Work) -> Observed:
        decisions = decisions_of(work.run)
        entries = sorted((*key, decision.entry) for key, decision in decisions.items())
        judges = judges_of(work.run.recipe.judging, *stages)
        return Observed([prompts_digest(), judges, entries], decisions)

    return observe


def _has_annotators(run: Run) -> bool:
    return bool(run.recipe.judging.consensus.annotators)


def _hold_rounds(work: Work) -> Observed:
    """Hold the rounds that are due, and queue what people have to decide."""
    cases = read_cases(work.folder("package"))
    consented = hold_consensus(work.run, cases, decisions_of(work.run))
    ids = [case.candidate.task_id for case in cases]
    return Observed([ids, list(consented.agreement.routed.ledger), consented.inputs], consented)


def _write_consensus(work: Work, out: Path) -> None:
    consented: Consented = work.observed
    ids = [case.candidate.task_id for case in read_cases(work.folder("package"))]
    write_stage_tables(
        out,
        _FILTER,
        ids,
        consented.agreement.routed.ledger,
        stage=CONSENSUS_STAGE,
        unit=CONSENSUS_UNIT,
    )
    verdicts_by_id = {judged.item_id: judged.value for judged in consented.agreement.judged}
    agreed = {"judge": consented.agreement.judge, "verdicts": verdicts_by_id}
    write_bytes(out / _AGREED, canonical_json(agreed))
    write_model_use(out, consented.costs)


def _keep_rounds(work: Work, _folders: Folders) -> None:
    keep_table("consensus-rounds", [asdict(row) for row in work.observed.agreement.routed.funnel])


def _consensus_inputs(work: Work) -> Mapping[str, str]:
    inputs: Mapping[str, str] = work.observed.inputs
    return inputs


CONSENSUS = Stage(
    name=CONSENSUS_STAGE,
    meaning="Do the annotators agree on it, or has a person decided?",
    units=(Unit(CONSENSUS_UNIT, _FILTER),),
    settings=("judging",),
    reads=("package",),
    observe=_hold_rounds,
    inputs=_consensus_inputs,
    compute=_write_consensus,
    deliver=_keep_rounds,
    applies=_has_annotators,
)


def _contain(work: Work, out: Path) -> None:
    """Keep what the judge of the recipe, or people, find self-contained."""
    run, decisions = work.run, work.observed
    cases = read_cases(work.folder("package"))
    if work.folders(CONSENSUS.name):
        _contain_as_agreed(work, cases, out)
    elif run.recipe.judging.model.does(ModelStage.SELF_CONTAINMENT):
        _contain_by_model(work, cases, out)
    else:
        judged = reviewed(contain(cases, run.recipe.judging, None), decisions)
        write_contained(cases, judged, decisions, "rules", out)
        write_items(out, [])


def _contain_by_model(work: Work, cases: Sequence[Case], out: Path) -> None:
    """Where the rules differ from the model, people are asked to decide."""
    run, decisions, config = work.run, work.observed, work.run.recipe.judging
    with open_client(run, masked=True) as client:
        judged = require_answers(contain(cases, config, client))
        replies = {"model-replies-containment": client.replies_digest()}
    by_judge = {config.model.judge: judged, "rules": verdicts(cases, config)}
    write_items(out, for_review(cases, by_judge))
    write_contained(cases, reviewed(judged, decisions), decisions, config.model.judge, out)
    costs = cost_rows(asked_with(run), {CONTAINMENT_STAGE: judged})
    write_model_use(out, costs, replies)


def _contain_as_agreed(work: Work, cases: Sequence[Case], out: Path) -> None:
    agreed = orjson.loads((work.folder(CONSENSUS.name) / _AGREED).read_bytes())
    admitted = [case for case in cases if case.candidate.task_id in agreed["verdicts"]]
    judged = [
        Judged(task_id, Containment.model_validate(agreed["verdicts"][task_id]))
        for task_id in (case.candidate.task_id for case in admitted)
    ]
    final = reviewed(judged, work.observed)
    write_contained(admitted, final, work.observed, agreed["judge"], out)


def _queue_review(work: Work, folders: Folders) -> None:
    """Put the disputes where `benchmint review export` looks for them."""
    if not work.folders(CONSENSUS.name):
        (folder,) = folders
        write_items(private_dir(work.run.private / REVIEW), read_items(folder))


SELF_CONTAINMENT = Stage(
    name=CONTAINMENT_STAGE,
    meaning="Is it complete, one task, and checkable?",
    units=(Unit("candidate", _FILTER),),
    settings=_RULES,
    reads=("package", CONSENSUS.name),
    observe=_decisions(ModelStage.SELF_CONTAINMENT),
    compute=_contain,
    deliver=_queue_review,
)


def _label(work: Work, out: Path) -> None:
    """Give what was kept its labels, task class, deliverables, rubric and rules.

    A candidate on which the model gave no usable answer is errored.
    """
    run, config = work.run, work.run.recipe.judging
    cases = read_kept(work.folder(SELF_CONTAINMENT.name))
    by_model = [stage for stage in LABELLING if config.model.does(stage)]
    with open_client(run, masked=True) if by_model else nullcontext() as client:
        result = label_and_grade(cases, config, client, run.recipe.release.seed)
        replies = {"model-replies-labels": client.replies_digest()} if client is not None else {}
    write_labelled(cases, result, work.observed, out)
    judged: dict[ModelStage, Sequence[Judged[Any]]] = {
        ModelStage.LABELS: result.labels,
        ModelStage.TASK_CLASS: result.names,
        ModelStage.GRADING: result.gradings,
    }
    costs = cost_rows(asked_with(run), {str(stage): judged[stage] for stage in by_model})
    write_model_use(out, costs, replies)


LABELS = Stage(
    name=LABELS_STAGE,
    meaning="Which role, skill, deliverables, rubric and rules does it have?",
    units=(Unit("candidate", _FILTER), Unit("group", _FILTER, TASK_CLASS)),
    settings=(*_RULES, "release.seed"),
    reads=(SELF_CONTAINMENT.name,),
    observe=_decisions(*LABELLING),
    compute=_label,
)
