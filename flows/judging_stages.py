"""What the stages of judging write: verdicts, labels, books, and what people have to decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from construction.judging.consensus import RULES
from construction.judging.contracts import Case, Containment, ContainmentReason, Grading, Taxonomy
from construction.judging.judge import (
    JudgingConfig,
    ModelStage,
    completed,
    contained,
    induce,
    label,
    write_rubric,
)
from construction.judging.model.asking import rows
from construction.judging.model.containment import STAGE as CONTAINMENT
from construction.judging.model.contracts import Asker, Judged
from construction.judging.model.labels import TASK_CLASS
from construction.judging.review import Decisions, ReviewItem, Topic, disputes, overridden
from construction.judging.review import with_decisions as decided
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import (
    Candidate,
    LedgerRow,
    Outcome,
    StageKind,
    Status,
    TaskClass,
    Verdict,
)
from data.stage_tables import write_stage_tables
from flows.model_calls import settled

LABELS = "labels"
LABELLING = (ModelStage.LABELS, ModelStage.TASK_CLASS, ModelStage.GRADING)
_CASES, _KEPT = "cases.jsonl", "kept.jsonl"


def write_cases(out: Path, cases: Sequence[Case]) -> None:
    """The cases of packaged candidates, beside them."""
    _write(out / _CASES, cases)


def read_cases(folder: Path) -> list[Case]:
    """What `write_cases` wrote."""
    return [Case.model_validate_json(line) for line in (folder / _CASES).read_bytes().splitlines()]


def reviewed(
    judged: Sequence[Judged[Containment]], decisions: Decisions
) -> list[Judged[Containment]]:
    """The verdicts as people decided them, where they did."""
    return [_reviewed(one, decisions) for one in judged]


def _reviewed(one: Judged[Containment], decisions: Decisions) -> Judged[Containment]:
    told = decisions.get((one.item_id, Topic.CONTAINMENT))
    if told is None:
        return one
    return Judged(one.item_id, overridden(one.value, told), notes=one.notes, usage=one.usage)


def write_contained(
    cases: Sequence[Case],
    judged: Sequence[Judged[Containment]],
    decisions: Decisions,
    judge: str,
    out: Path,
) -> None:
    """The cases that are self-contained, with the books of all."""
    kept = [
        _with_candidate(case, decided(contained(case, one.value, judge).candidate, decisions))
        for case, one in zip(cases, judged, strict=True)
        if one.value is not None and one.value.self_contained
    ]
    _write(out / _KEPT, kept)
    write_stage_tables(
        out,
        StageKind.FILTER,
        [case.candidate.task_id for case in cases],
        [_row(one) for one in judged],
        verdicts=[(one.item_id, _verdict(one.value)) for one in judged if one.value is not None],
        stage=CONTAINMENT,
        unit="candidate",
    )


def read_kept(folder: Path) -> list[Case]:
    """The cases that `write_contained` kept."""
    return [Case.model_validate_json(line) for line in (folder / _KEPT).read_bytes().splitlines()]


@dataclass(frozen=True, slots=True)
class Labelled:
    """What judges told of cases, in their order; `names` of groups of tasks, `judges` by part."""

    labels: Sequence[Judged[Taxonomy]]
    names: Sequence[Judged[TaskClass]]
    gradings: Sequence[Judged[Grading]]
    judges: Mapping[str, str]


def labelled(
    cases: Sequence[Case], config: JudgingConfig, client: Asker | None, seed: int
) -> Labelled:
    """Labels, task classes and grading: by the model where the recipe says so, else by rules."""
    model = config.model
    asker = {stage: client if model.does(stage) else None for stage in LABELLING}
    labels = settled(label(cases, config, asker[ModelStage.LABELS]))
    classed = induce(cases, labels, config, asker[ModelStage.TASK_CLASS], seed)
    gradings = settled(write_rubric(cases, config, asker[ModelStage.GRADING]))
    judges = {str(stage): model.judge_of(stage) for stage in LABELLING}
    return Labelled(classed.labels, settled(classed.names), gradings, judges)


def write_labelled(cases: Sequence[Case], told: Labelled, decisions: Decisions, out: Path) -> None:
    """The candidates with labels and grading; those without either are errored."""
    done: list[Candidate] = []
    books: list[LedgerRow] = []
    for case, taxonomy, grading in zip(cases, told.labels, told.gradings, strict=True):
        task_id = case.candidate.task_id
        if taxonomy.value is None or grading.value is None:
            reason = str(taxonomy.reason or grading.reason)
            books.append(LedgerRow(LABELS, "candidate", task_id, Outcome.ERRORED, reason=reason))
            continue
        whole = completed(case.candidate, taxonomy.value, grading.value)
        done.append(decided(_marked(whole, told), decisions))
        books.append(LedgerRow(LABELS, "candidate", task_id, Outcome.KEPT))
    _write(out / _KEPT, done)
    _write_names(out, told.names)
    ids = [case.candidate.task_id for case in cases]
    write_stage_tables(out, StageKind.FILTER, ids, books, stage=LABELS, unit="candidate")


def _marked(candidate: Candidate, told: Labelled) -> Candidate:
    """The candidate with who judged which part of it, in the private provenance."""
    named = {one.value.subclass_id for one in told.names if one.value is not None}
    task_class = candidate.task_class
    by_model = task_class is not None and task_class.subclass_id in named
    judges = {**told.judges} if by_model else {**told.judges, TASK_CLASS: RULES}
    source = candidate.provenance
    provenance = source.model_copy(update={"detail": {**source.detail, "judges": judges}})
    return candidate.model_copy(update={"provenance": provenance})


def _write_names(out: Path, names: Sequence[Judged[TaskClass]]) -> None:
    """The books of naming task classes; an errored group keeps the name that the rules gave it."""
    if not names:
        return
    folder = out / TASK_CLASS
    folder.mkdir()
    # In parentheses, as names of groups: where the rules named a class, its id is public.
    groups = [replace(one, item_id=f"({one.item_id})") for one in names]
    ids, told = [one.item_id for one in groups], rows(TASK_CLASS, "group", groups)
    write_stage_tables(folder, StageKind.FILTER, ids, told, stage=TASK_CLASS, unit="group")


def read_labelled(folder: Path) -> tuple[Candidate, ...]:
    """The candidates that `write_labelled` completed."""
    lines = (folder / _KEPT).read_bytes().splitlines()
    return tuple(Candidate.model_validate_json(line) for line in lines)


def for_review(
    cases: Sequence[Case], by_judge: Mapping[str, Sequence[Judged[Containment]]]
) -> list[ReviewItem]:
    """The cases on whose self-containment the judges differ."""
    texts = {case.candidate.task_id: case.candidate.prompt for case in cases}
    told = {
        judge: {one.item_id: str(one.value.reason_code) for one in judged if one.value is not None}
        for judge, judged in by_judge.items()
    }
    return disputes(Topic.CONTAINMENT, texts, told)


def _row(one: Judged[Containment]) -> LedgerRow:
    if one.value is None:
        return LedgerRow(
            CONTAINMENT, "candidate", one.item_id, Outcome.ERRORED, reason=str(one.reason)
        )
    verdict = _verdict(one.value)
    outcome = Outcome.KEPT if one.value.self_contained else Outcome.REJECTED
    gate = None if one.value.self_contained else CONTAINMENT
    told = (verdict.observed, verdict.limit) if gate else (None, None)
    return LedgerRow(
        CONTAINMENT,
        "candidate",
        one.item_id,
        outcome,
        gate=gate,
        reason=verdict.reason,
        observed=told[0],
        limit=told[1],
    )


def _verdict(value: Containment) -> Verdict:
    observed, limit = str(value.reason_code), str(ContainmentReason.SELF_CONTAINED)
    measures = {"confidence": round(value.confidence, 9)}
    if value.self_contained:
        return Verdict.passing(CONTAINMENT, observed, limit, measures)
    reason = f"{CONTAINMENT}.{observed}"
    return Verdict(CONTAINMENT, Status.FAILED, reason, observed, limit, measures)


def _with_candidate(case: Case, candidate: Candidate) -> Case:
    return case.model_copy(update={"candidate": candidate})


def _write(path: Path, values: Sequence[Case] | Sequence[Candidate]) -> None:
    write_bytes(path, b"".join(canonical_json(value) + b"\n" for value in values))
