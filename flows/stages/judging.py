"""The stages that judge packaged candidates: self-containment, labels, rubric and rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from construction.judging.consensus import STAGE as CONSENSUS_STAGE
from construction.judging.consensus import UNIT as CONSENSUS_UNIT
from construction.judging.judge import LABELLING, JudgingConfig, ModelStage
from construction.judging.model.containment import STAGE as CONTAINMENT_STAGE
from construction.judging.model.labels import TASK_CLASS
from construction.judging.model.prompt import prompts_digest
from construction.judging.review import Decisions, read_items, recorded, write_items
from construction.judging.stage_output import LABELS as LABELS_STAGE
from construction.judging.stage_output import read_cases, read_kept
from construction.judging.stages import (
    contain_as_agreed,
    contain_as_judged,
    hold_consensus,
    label_cases,
    write_consensus,
)
from data.contracts import StageKind
from data.stages import Folders, Observed, Stage, Unit
from flows.prefect_adapter import keep_table
from flows.run import Run, Work

_FILTER = StageKind.FILTER
_RULES = tuple(f"judging.{name}" for name in JudgingConfig.model_fields if name != "model")


def _decisions_of(run: Run) -> Decisions:
    """What people have decided so far."""
    return recorded(run.review)


def _decisions(*stages: ModelStage) -> Callable[[Work], Observed]:
    """Observes what people have decided, the prompts, and who judges these stages."""

    def observe(work: Work) -> Observed:
        decisions = _decisions_of(work.run)
        entries = sorted((*key, decision.entry) for key, decision in decisions.items())
        return Observed([prompts_digest(), work.run.judges.of(*stages), entries], decisions)

    return observe


def _has_annotators(run: Run) -> bool:
    return bool(run.recipe.judging.consensus.annotators)


def _hold_rounds(work: Work) -> Observed:
    """Hold the rounds that are due, and queue what people have to decide."""
    run, cases = work.run, read_cases(work.folder("package"))
    consented = hold_consensus(run.judges, run.review, run.release, cases, _decisions_of(run))
    ids = [case.candidate.task_id for case in cases]
    return Observed([ids, list(consented.agreement.routed.ledger), consented.inputs], consented)


def _write_consensus(work: Work, out: Path) -> None:
    write_consensus(read_cases(work.folder("package")), work.observed, out)


def _keep_rounds(work: Work, _folders: Folders) -> None:
    rounds = [asdict(row) for row in work.observed.agreement.routed.funnel]
    keep_table("consensus-rounds", rounds, "How far annotators agreed in each round.")


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
    """Keep what the judge of the recipe, the annotators or people find self-contained."""
    cases = read_cases(work.folder("package"))
    if work.folders(CONSENSUS.name):
        contain_as_agreed(cases, work.folder(CONSENSUS.name), work.observed, out)
    else:
        contain_as_judged(cases, work.run.judges, work.observed, out)


def _queue_review(work: Work, folders: Folders) -> None:
    """Put the disputes where `benchmint review export` looks for them."""
    if not work.folders(CONSENSUS.name):
        (folder,) = folders
        write_items(work.run.review, read_items(folder))


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
    cases = read_kept(work.folder(SELF_CONTAINMENT.name))
    label_cases(cases, work.run.judges, work.observed, work.run.recipe.release.seed, out)


LABELS = Stage(
    name=LABELS_STAGE,
    meaning="Which role, skill, deliverables, rubric and rules does it have?",
    units=(Unit("candidate", _FILTER), Unit("group", _FILTER, TASK_CLASS)),
    settings=(*_RULES, "release.seed"),
    reads=(SELF_CONTAINMENT.name,),
    observe=_decisions(*LABELLING),
    compute=_label,
)
