"""What the judging stages write and read back: cases, verdicts, candidates, programs, ledgers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import BaseModel

from construction.judging.contracts import (
    Case,
    ContainmentReason,
    Graded,
    Judged,
    Screened,
    Written,
)
from construction.judging.judge import graded_candidate, screened_case, written_case
from construction.judging.model.asking import rows
from construction.judging.review import (
    Decisions,
    ReviewItem,
    Topic,
    disputes,
    overridden,
    with_decisions,
)
from construction.judging.self_containment import GATE, ScreeningConfig
from construction.judging.self_containment import NAME as SCREEN
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Candidate, StageKind, Status
from data.ledger import deciding, gated_row
from data.stage_tables import write_stage_tables

T = TypeVar("T")
WRITE, GRADE = "write", "grade"
_CASES, _KEPT, _PROGRAMS = "cases.jsonl", "kept.jsonl", "programs.jsonl"


def write_cases(out: Path, cases: Sequence[Case]) -> None:
    """Write the cases of packaged candidates, beside them."""
    _write(out / _CASES, cases)


def read_cases(folder: Path) -> list[Case]:
    """The cases that `write_cases` wrote."""
    return _cases(folder / _CASES)


def reviewed(judged: Sequence[Judged[Screened]], decisions: Decisions) -> list[Judged[Screened]]:
    """The verdicts; people's decisions, if there are any, replace the judge's."""
    return [_reviewed(item, decisions) for item in judged]


def _reviewed(judged: Judged[Screened], decisions: Decisions) -> Judged[Screened]:
    decision = decisions.get((judged.item_id, Topic.CONTAINMENT))
    if decision is None:
        return judged
    value = overridden(judged.value, decision)
    return Judged(judged.item_id, value, notes=judged.notes, usage=judged.usage)


def write_screened(
    cases: Sequence[Case],
    judged: Sequence[Judged[Screened]],
    decisions: Decisions,
    judge: str,
    config: ScreeningConfig,
    out: Path,
) -> None:
    """Write the cases that pass the gate, and the stage tables of all cases."""
    kept, ledger, verdicts = [], [], []
    for case, item in zip(cases, judged, strict=True):
        if item.value is None:
            ledger += rows(SCREEN, "candidate", [item])
            continue
        verdict = GATE.judge(item.value, config)
        verdicts.append((item.item_id, verdict))
        ledger.append(gated_row(SCREEN, "candidate", item.item_id, deciding([verdict]), {}))
        if verdict.status is not Status.FAILED:
            kept.append(_decided(screened_case(case, item.value, judge), decisions))
    _write(out / _KEPT, kept)
    ids = [case.candidate.task_id for case in cases]
    write_stage_tables(
        out, StageKind.FILTER, ids, ledger, verdicts=verdicts, stage=SCREEN, unit="candidate"
    )


def read_kept(folder: Path) -> list[Case]:
    """The cases that a stage kept."""
    return _cases(folder / _KEPT)


def write_written(
    cases: Sequence[Case],
    judged: Sequence[Judged[Written]],
    decisions: Decisions,
    judge: str,
    out: Path,
) -> None:
    """Write the cases with request, deliverables and labels, and the stage tables."""
    kept = [
        _decided(written_case(case, item.value, judge), decisions)
        for case, item in zip(cases, judged, strict=True)
        if item.value is not None
    ]
    _write(out / _KEPT, kept)
    _write_tables(out, WRITE, judged)


def write_graded(
    cases: Sequence[Case], judged: Sequence[Judged[Graded]], judge: str, out: Path
) -> None:
    """Write the candidates with rubric and rules, their programs, and the stage tables."""
    pairs = [(c, i.value) for c, i in zip(cases, judged, strict=True) if i.value is not None]
    _write(out / _KEPT, [graded_candidate(case, graded, judge) for case, graded in pairs])
    programs = [
        {
            "task_id": case.candidate.task_id,
            "reference": graded.reference,
            "checks": graded.checks,
            "why": graded.why,
        }
        for case, graded in pairs
        if graded.computable
    ]
    write_bytes(out / _PROGRAMS, b"".join(canonical_json(one) + b"\n" for one in programs))
    _write_tables(out, GRADE, judged)


def read_graded(folder: Path) -> tuple[Candidate, ...]:
    """The candidates that `write_graded` completed."""
    lines = (folder / _KEPT).read_bytes().splitlines()
    return tuple(Candidate.model_validate_json(line) for line in lines)


def read_programs(folder: Path) -> dict[str, Mapping[str, str]]:
    """By task id: the reference solution and the check program, not proven yet."""
    lines = map(orjson.loads, (folder / _PROGRAMS).read_bytes().splitlines())
    return {line["task_id"]: line for line in lines}


def for_review(
    cases: Sequence[Case],
    judged: Sequence[Judged[Screened]],
    facts: Sequence[Judged[Screened]],
    judge: str,
) -> list[ReviewItem]:
    """What people are to decide: a model without an answer, or one that facts speak against."""
    texts = {case.candidate.task_id: case.request for case in cases}
    answers = {i.item_id: str(i.value.reason_code) for i in judged if i.value is not None}
    known = {
        item.item_id: str(item.value.reason_code)
        for item in facts
        if item.value is not None and item.value.reason_code is not ContainmentReason.NEEDS_MODEL
    }
    against = {item.item_id: item.detail[:_MOST_DETAIL] for item in judged if item.detail}
    against_it = {
        task_id: against.get(task_id) or known.get(task_id) or answers.get(task_id, "")
        for task_id in texts
    }
    return disputes(Topic.CONTAINMENT, texts, {judge: answers, "facts": against_it})


_MOST_DETAIL = 3_000  # characters


def _decided(case: Case, decisions: Decisions) -> Case:
    return case.model_copy(update={"candidate": with_decisions(case.candidate, decisions)})


def _write_tables(out: Path, stage: str, judged: Sequence[Judged[T]]) -> None:
    ids, ledger = [item.item_id for item in judged], rows(stage, "candidate", judged)
    write_stage_tables(out, StageKind.FILTER, ids, ledger, stage=stage, unit="candidate")


def _cases(path: Path) -> list[Case]:
    return [Case.model_validate_json(line) for line in path.read_bytes().splitlines()]


def _write(path: Path, values: Sequence[BaseModel]) -> None:
    write_bytes(path, b"".join(canonical_json(value) + b"\n" for value in values))
