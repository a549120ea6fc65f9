"""What the judging stages write and read back: cases, verdicts, labels, ledgers, review items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from construction.judging.consensus import RULES
from construction.judging.contracts import Case, Containment, Judged
from construction.judging.difficulty import with_difficulty
from construction.judging.judge import Labelled, completed, contained
from construction.judging.missing import missing_in_case
from construction.judging.model.asking import rows
from construction.judging.model.containment import STAGE as CONTAINMENT
from construction.judging.model.labels import TASK_CLASS
from construction.judging.review import (
    Decisions,
    ReviewItem,
    Topic,
    disputes,
    overridden,
    with_decisions,
)
from construction.judging.self_containment import GATE
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import (
    Candidate,
    LedgerRow,
    Outcome,
    StageKind,
    TaskClass,
    Verdict,
)
from data.ledger import deciding, gated_row
from data.stage_tables import write_stage_tables

LABELS = "labels"
_CASES, _KEPT = "cases.jsonl", "kept.jsonl"
_EXCERPT = 1500  # characters
_HEAD = 8192  # bytes
DocumentTexts = Callable[[Path, str], Iterable[str] | None]


def write_cases(out: Path, cases: Sequence[Case]) -> None:
    """Write the cases of packaged candidates, beside them."""
    _write(out / _CASES, cases)


def read_cases(folder: Path) -> list[Case]:
    """The cases that `write_cases` wrote."""
    return [Case.model_validate_json(line) for line in (folder / _CASES).read_bytes().splitlines()]


def with_excerpts(case: Case, files: Mapping[str, Path], document_texts: DocumentTexts) -> Case:
    """The case with the first 1,500 characters of each fixture that has text.

    `files` are the contents by SHA-256. `document_texts` gives the texts of an office file or PDF,
    from its content and its path in the task; None for any other file, which is read as UTF-8.
    """
    excerpts = {
        item.path: _excerpt(item.path, files[item.sha256], document_texts)
        for item in case.candidate.fixtures
    }
    with_text = {path: text for path, text in excerpts.items() if text}
    return case.model_copy(update={"excerpts": with_text})


def _excerpt(path: str, file: Path, document_texts: DocumentTexts) -> str:
    texts = document_texts(file, path)
    if texts is not None:
        return "\n".join(text for text in texts if text.strip())[:_EXCERPT]
    with file.open("rb") as handle:
        head = handle.read(_HEAD)
    return "" if b"\0" in head else head.decode("utf-8", "ignore")[:_EXCERPT]


def reviewed(
    judged: Sequence[Judged[Containment]], decisions: Decisions
) -> list[Judged[Containment]]:
    """The verdicts; people's decisions, if there are any, replace the judge's."""
    return [_reviewed(item, decisions) for item in judged]


def _reviewed(judged: Judged[Containment], decisions: Decisions) -> Judged[Containment]:
    decision = decisions.get((judged.item_id, Topic.CONTAINMENT))
    if decision is None:
        return judged
    value = overridden(judged.value, decision)
    return Judged(judged.item_id, value, notes=judged.notes, usage=judged.usage)


def write_contained(
    cases: Sequence[Case],
    judged: Sequence[Judged[Containment]],
    decisions: Decisions,
    judge: str,
    out: Path,
) -> None:
    """Write the self-contained cases, and the stage tables of all cases."""
    kept = [
        _decided(contained(case, item.value, judge), decisions)
        for case, item in zip(cases, judged, strict=True)
        if item.value is not None and item.value.self_contained
    ]
    _write(out / _KEPT, kept)
    write_stage_tables(
        out,
        StageKind.FILTER,
        [case.candidate.task_id for case in cases],
        [_row(case, item) for case, item in zip(cases, judged, strict=True)],
        verdicts=[
            (item.item_id, _verdict(item.value)) for item in judged if item.value is not None
        ],
        stage=CONTAINMENT,
        unit="candidate",
    )


def read_kept(folder: Path) -> list[Case]:
    """The cases that `write_contained` kept."""
    return [Case.model_validate_json(line) for line in (folder / _KEPT).read_bytes().splitlines()]


def write_labelled(
    cases: Sequence[Case], labelled: Labelled, decisions: Decisions, out: Path
) -> None:
    """Write the candidates with labels and grading; a case that lacks either is errored."""
    candidates: list[Candidate] = []
    ledger: list[LedgerRow] = []
    for case, taxonomy, grading in zip(cases, labelled.labels, labelled.gradings, strict=True):
        task_id = case.candidate.task_id
        if taxonomy.value is None or grading.value is None:
            reason = str(taxonomy.reason or grading.reason)
            ledger.append(LedgerRow(LABELS, "candidate", task_id, Outcome.ERRORED, reason=reason))
            continue
        complete = completed(case.candidate, taxonomy.value, grading.value)
        candidate = with_difficulty(case, complete)
        candidates.append(with_decisions(_with_judges(candidate, labelled), decisions))
        ledger.append(LedgerRow(LABELS, "candidate", task_id, Outcome.KEPT))
    _write(out / _KEPT, candidates)
    _write_names(out, labelled.names)
    ids = [case.candidate.task_id for case in cases]
    write_stage_tables(out, StageKind.FILTER, ids, ledger, stage=LABELS, unit="candidate")


def _with_judges(candidate: Candidate, labelled: Labelled) -> Candidate:
    """The candidate with who judged which part of it, in the private provenance."""
    named = {name.value.subclass_id for name in labelled.names if name.value is not None}
    task_class = candidate.task_class
    by_model = task_class is not None and task_class.subclass_id in named
    judges = {**labelled.judges} if by_model else {**labelled.judges, TASK_CLASS: RULES}
    source = candidate.provenance
    provenance = source.model_copy(update={"detail": {**source.detail, "judges": judges}})
    return candidate.model_copy(update={"provenance": provenance})


def _write_names(out: Path, names: Sequence[Judged[TaskClass]]) -> None:
    """Write the stage tables of naming task classes.

    An errored group keeps the name that the rules gave it.
    """
    if not names:
        return
    folder = out / TASK_CLASS
    folder.mkdir()
    # In parentheses, as names of groups: where the rules named a class, its id is public.
    groups = [replace(name, item_id=f"({name.item_id})") for name in names]
    ids, ledger = [group.item_id for group in groups], rows(TASK_CLASS, "group", groups)
    write_stage_tables(folder, StageKind.FILTER, ids, ledger, stage=TASK_CLASS, unit="group")


def read_labelled(folder: Path) -> tuple[Candidate, ...]:
    """The candidates that `write_labelled` completed."""
    lines = (folder / _KEPT).read_bytes().splitlines()
    return tuple(Candidate.model_validate_json(line) for line in lines)


def for_review(
    cases: Sequence[Case], by_judge: Mapping[str, Sequence[Judged[Containment]]]
) -> list[ReviewItem]:
    """The cases on whose self-containment the judges differ."""
    texts = {case.candidate.task_id: case.candidate.prompt for case in cases}
    answers = {
        judge: {
            item.item_id: str(item.value.reason_code) for item in judged if item.value is not None
        }
        for judge, judged in by_judge.items()
    }
    return disputes(Topic.CONTAINMENT, texts, answers)


def _row(case: Case, judged: Judged[Containment]) -> LedgerRow:
    unit, item_id = "candidate", judged.item_id
    if judged.value is None:
        return LedgerRow(CONTAINMENT, unit, item_id, Outcome.ERRORED, reason=str(judged.reason))
    row = gated_row(CONTAINMENT, unit, item_id, deciding([_verdict(judged.value)]), {})
    return replace(row, missing=missing_in_case(case, row.reason))


def _verdict(judgement: Containment) -> Verdict:
    return GATE.judge(judgement, GATE.config())


def _decided(case: Case, decisions: Decisions) -> Case:
    return case.model_copy(update={"candidate": with_decisions(case.candidate, decisions)})


def _write(path: Path, values: Sequence[Case] | Sequence[Candidate]) -> None:
    write_bytes(path, b"".join(canonical_json(value) + b"\n" for value in values))
