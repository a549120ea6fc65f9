"""The stages that judge packaged candidates: they are screened, written and graded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from construction.grading.programs_box import run_in_box
from construction.judging.baseline.screen import NAME as SCREEN_STAGE
from construction.judging.calls.contracts import Mode
from construction.judging.checks.stage import PROGRAM, Proving, write_checked
from construction.judging.checks.stage import STAGE as CHECKS_STAGE
from construction.judging.consensus import STAGE as CONSENSUS_STAGE
from construction.judging.consensus import UNIT as CONSENSUS_UNIT
from construction.judging.evidence.views import Pictures
from construction.judging.model.prompt import prompts_digest
from construction.judging.review import Decisions, read_items, recorded, write_items
from construction.judging.rounds import hold_consensus, screen_as_agreed, write_consensus
from construction.judging.settings import JudgingConfig, ModelStage
from construction.judging.stages import GRADE as GRADE_STAGE
from construction.judging.stages import WRITE as WRITE_STAGE
from construction.judging.stages import (
    grade_tasks,
    read_cases,
    read_kept,
    screen_cases,
    write_tasks,
)
from construction.sandbox.presence import Presence
from data.canonical import file_digest
from data.contracts import Candidate, StageKind
from data.pool import read_pool
from data.stages import Folders, Observed, Stage, Unit
from flows.prefect_adapter import keep_table
from flows.run import PLANNED, Run, TrialNeeded, Work, asking

_FILTER = StageKind.FILTER
_PROOFS = "proofs.jsonl"
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


def _pictures(work: Work) -> Pictures | None:
    """What makes the pictures of input files, where models are to see them."""
    sees = work.run.recipe.judging.model.sees_images
    return Pictures(read_pool([work.folder("package")]).fixtures) if sees else None


def _hold_rounds(work: Work) -> Observed:
    """Hold the rounds that are due, and queue what people have to decide."""
    run, cases = work.run, read_cases(work.folder("package"))
    decisions, pictures = _decisions_of(run), _pictures(work)
    consented = hold_consensus(run.judges, run.review, run.release, cases, decisions, pictures)
    ids = [case.candidate.task_id for case in cases]
    return Observed([ids, list(consented.routed.ledger), consented.inputs], consented)


def _write_consensus(work: Work, out: Path) -> None:
    write_consensus(read_cases(work.folder("package")), work.observed, out)


def _keep_rounds(work: Work, _folders: Folders) -> None:
    rounds = [asdict(row) for row in work.observed.routed.funnel]
    keep_table("consensus-rounds", rounds, "How well annotators agreed in each round.")


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


def _screen(work: Work, out: Path) -> None:
    """Keep what the judge of the recipe, the annotators or people find self-contained."""
    run, cases = work.run, read_cases(work.folder("package"))
    if work.folders(CONSENSUS.name):
        screen_as_agreed(cases, work.folder(CONSENSUS.name), run.judges, work.observed, out)
    else:
        screen_cases(cases, run.judges, work.observed, out, _pictures(work))


def _queue_review(work: Work, folders: Folders) -> None:
    """Put the disputes where `benchmint agents review export` looks for them."""
    if not work.folders(CONSENSUS.name):
        (folder,) = folders
        write_items(work.run.review, read_items(folder))


SCREEN = Stage(
    name=SCREEN_STAGE,
    meaning="Is it complete, a single task and checkable?",
    units=(Unit("candidate", _FILTER),),
    settings=_RULES,
    reads=("package", CONSENSUS.name),
    observe=_decisions(ModelStage.SCREEN),
    asks=asking(ModelStage.SCREEN),
    compute=_screen,
    deliver=_queue_review,
)


def _write(work: Work, out: Path) -> None:
    cases, seed = read_kept(work.folder(SCREEN.name)), work.run.recipe.release.seed
    write_tasks(cases, work.run.judges, work.observed, seed, out, _pictures(work))


WRITE = Stage(
    name=WRITE_STAGE,
    meaning="What are its request (as one message), deliverables, role and skill?",
    units=(Unit("candidate", _FILTER),),
    settings=(*_RULES, "release.seed"),
    reads=("package", SCREEN.name),
    observe=_decisions(ModelStage.WRITE),
    asks=asking(ModelStage.WRITE),
    compute=_write,
)


def _grade(work: Work, out: Path) -> None:
    cases = read_kept(work.folder(WRITE.name))
    grade_tasks(cases, work.run.judges, out, _pictures(work))


GRADE = Stage(
    name=GRADE_STAGE,
    meaning="Which rubric, rules and programs judge answers to it?",
    units=(Unit("candidate", _FILTER),),
    settings=_RULES,
    reads=("package", WRITE.name),
    observe=_decisions(ModelStage.GRADE),
    asks=asking(ModelStage.GRADE),
    compute=_grade,
)


def _has_programs(run: Run) -> bool:
    return run.recipe.judging.model.does(ModelStage.GRADE)


def _find_sandbox(work: Work) -> Observed:
    try:
        presence = work.run.sandbox()
    except TrialNeeded:  # a plan tries nothing; it counts the questions that the stage asks
        presence = Presence.ABSENT
    recorded = _recorded_proofs(work.run)
    seen = [prompts_digest(), work.run.judges.of(ModelStage.GRADE), str(presence)]
    return Observed([*seen, file_digest(recorded)] if recorded else seen, presence)


def _recorded_proofs(run: Run) -> Path | None:
    """The proofs beside the recorded replies, if there are any."""
    replies = run.judges.calls.recorded
    proofs = replies.with_name(_PROOFS) if replies is not None else None
    return proofs if proofs is not None and proofs.is_file() else None


def _check(work: Work, out: Path) -> None:
    """Prove the programs that check results, in boxes of this machine."""
    run = work.run
    files = read_pool([work.folder("package")]).fixtures

    def contents(candidate: Candidate) -> dict[str, bytes]:
        return {item.path: files[item.sha256].read_bytes() for item in candidate.fixtures}

    is_run = work.observed is Presence.PRESENT and PLANNED.get() is None
    is_replay = run.judges.config.model.unrecorded == "baseline"  # what was not proven then is not
    is_run &= not (is_replay and run.judges.calls.mode is Mode.REPLAY)
    proving = Proving(
        run.private / "captures" / _PROOFS,
        contents,
        run_in_box if is_run else None,
        _recorded_proofs(run),
        run.runtime.workers,
    )
    folders = work.folder(WRITE.name), work.folder(GRADE.name)
    write_checked(*folders, run.judges, proving, out)


CHECKS = Stage(
    name=CHECKS_STAGE,
    meaning="Are the programs that check its result proven?",
    units=(Unit("candidate", _FILTER), Unit(PROGRAM, _FILTER, CHECKS_STAGE)),
    settings=_RULES,
    reads=("package", WRITE.name, GRADE.name),
    observe=_find_sandbox,
    asks=asking(ModelStage.GRADE),
    compute=_check,
    applies=_has_programs,
)
