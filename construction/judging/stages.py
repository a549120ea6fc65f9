"""What the judging stages compute, write and read back: screened, written and graded cases.

Each part is judged by a model if the recipe names one for it, otherwise by the baseline; what
people have decided replaces either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from construction.judging.baseline.grade import grade as grade_by_facts
from construction.judging.baseline.grade import same_rule
from construction.judging.baseline.label import Member, as_said, induce_classes, split_classes
from construction.judging.baseline.screen import GATE, NOBODY, ScreeningConfig
from construction.judging.baseline.screen import NAME as SCREEN
from construction.judging.baseline.screen import screen as screen_by_facts
from construction.judging.contracts import (
    Asker,
    Case,
    ContainmentReason,
    Graded,
    Judged,
    Screened,
    Written,
)
from construction.judging.evidence.views import Pictures
from construction.judging.model.asking import ask, require_answers, rows, write_model_use
from construction.judging.model.grade import grade_stage
from construction.judging.model.screen import screen_stage
from construction.judging.model.write import write_stage
from construction.judging.review import (
    Decisions,
    ReviewItem,
    Topic,
    disputes,
    overridden,
    with_decisions,
    write_items,
)
from construction.judging.settings import ClassesConfig, Judges, JudgingConfig, ModelStage
from construction.prompt_frame import frame, words_of
from data.atomic import write_bytes
from data.canonical import canonical_json
from data.contracts import Candidate, Rule, StageKind, Status
from data.ledger import deciding, gated_row
from data.stage_tables import write_stage_tables

WRITE, GRADE = "write", "grade"
UNIT = "candidate"
_CASES, _KEPT, _PROGRAMS = "cases.jsonl", "kept.jsonl", "programs.jsonl"
_MOST_DETAIL = 3_000  # characters of what speaks against a model's verdict
_BY_FACTS: Mapping[ModelStage, Callable[[Case], Any]] = {
    ModelStage.SCREEN: screen_by_facts,
    ModelStage.WRITE: as_said,
    ModelStage.GRADE: grade_by_facts,
}
_BY_MODEL: Mapping[ModelStage, Callable[..., Any]] = {
    ModelStage.SCREEN: screen_stage,
    ModelStage.WRITE: write_stage,
    ModelStage.GRADE: grade_stage,
}


def judged_cases(
    stage: ModelStage,
    cases: Sequence[Case],
    config: JudgingConfig,
    client: Asker | None,
    pictures: Pictures | None = None,
) -> list[Judged[Any]]:
    """The part of a stage for each case, in order: by the model, without a client by facts."""
    by_facts = _BY_FACTS[stage]
    if client is None:
        return [Judged(case.candidate.task_id, by_facts(case)) for case in cases]
    own = _BY_MODEL[stage](config.stage_settings(stage), by_facts, pictures)
    return require_answers(ask(own, cases, client))


def _judged(
    stage: ModelStage,
    cases: Sequence[Case],
    judges: Judges,
    pictures: Pictures | None,
    out: Path,
) -> list[Judged[Any]]:
    """The same by the judge of the recipe; what a model cost and replied is noted in `out`."""
    if not judges.config.model.does(stage):
        return judged_cases(stage, cases, judges.config, None)
    with judges.client(masked=True) as client:
        judged = judged_cases(stage, cases, judges.config, client, pictures)
        replies = {f"model-replies-{stage}": client.replies_digest()}
    write_model_use(out, judges.costs({str(stage): judged}), replies)
    return judged


def write_cases(out: Path, cases: Sequence[Case]) -> None:
    """Write the cases of packaged candidates, beside them."""
    _write(out / _CASES, cases)


def read_cases(folder: Path) -> list[Case]:
    """The cases that `write_cases` wrote."""
    return _cases(folder / _CASES)


def read_kept(folder: Path) -> list[Case]:
    """The cases that a stage kept."""
    return _cases(folder / _KEPT)


def _cases(path: Path) -> list[Case]:
    return [Case.model_validate_json(line) for line in path.read_bytes().splitlines()]


def _write(path: Path, values: Iterable[BaseModel | Mapping[str, object]]) -> None:
    write_bytes(path, b"".join(canonical_json(value) + b"\n" for value in values))


# Screening


def screen_cases(
    cases: Sequence[Case],
    judges: Judges,
    decisions: Decisions,
    out: Path,
    pictures: Pictures | None = None,
) -> None:
    """Keep what the judge of the recipe, or people, find self-contained.

    Where facts speak against a model, people are asked to decide.
    """
    judge = judges.config.model.judge_of(ModelStage.SCREEN)
    judged = _judged(ModelStage.SCREEN, cases, judges, pictures, out)
    by_model = judges.config.model.does(ModelStage.SCREEN)
    write_items(out, _for_review(cases, judged, judge) if by_model else [])
    write_screened(cases, judged, decisions, judge, judges.config, out)


def write_screened(
    cases: Sequence[Case],
    judged: Sequence[Judged[Screened]],
    decisions: Decisions,
    judge: str,
    config: ScreeningConfig,
    out: Path,
) -> None:
    """Write the cases that pass the gate, and the stage tables of all cases.

    People's decisions, if there are any, replace the judge's.
    """
    kept, ledger, verdicts = [], [], []
    for case, item in zip(cases, judged, strict=True):
        screened = overridden(item.value, decisions.get((item.item_id, Topic.CONTAINMENT)))
        if screened is None:
            ledger += rows(SCREEN, UNIT, [item])
            continue
        verdict = GATE.judge(screened, config)
        verdicts.append((item.item_id, verdict))
        ledger.append(gated_row(SCREEN, UNIT, item.item_id, deciding([verdict]), {}))
        if verdict.status is not Status.FAILED:
            kept.append(_decided(_screened_case(case, screened, _judge_of(item, judge)), decisions))
    _write(out / _KEPT, kept)
    ids = [case.candidate.task_id for case in cases]
    write_stage_tables(
        out, StageKind.FILTER, ids, ledger, verdicts=verdicts, stage=SCREEN, unit=UNIT
    )


def _judge_of(item: Judged[Any], judge: str) -> str:
    """The judge's name, unless it had no recorded reply about the item."""
    return judge if item.is_recorded else "rules"


def _for_review(
    cases: Sequence[Case], judged: Sequence[Judged[Screened]], judge: str
) -> list[ReviewItem]:
    """What people are to decide: a model without an answer, or one that facts speak against."""
    answers = {i.item_id: str(i.value.reason_code) for i in judged if i.value is not None}
    against = {item.item_id: item.detail[:_MOST_DETAIL] for item in judged if item.detail}
    for case in cases:
        task_id, by_facts = case.candidate.task_id, screen_by_facts(case).reason_code
        is_known = by_facts is not ContainmentReason.NEEDS_MODEL
        against.setdefault(task_id, str(by_facts) if is_known else answers.get(task_id, ""))
    texts = {case.candidate.task_id: case.request for case in cases}
    return disputes(Topic.CONTAINMENT, texts, {judge: answers, "facts": against})


def _screened_case(case: Case, verdict: Screened, judge: str) -> Case:
    """The case without results among its inputs, with the day it counts from, and who judged it."""
    candidate, evidence = case.candidate, case.evidence
    is_unread = verdict.reason_code is ContainmentReason.NEEDS_MODEL
    provenance = candidate.provenance.model_copy(update={"judge": NOBODY if is_unread else judge})
    kept = tuple(item for item in candidate.fixtures if item.path not in verdict.results)
    views = tuple(view for view in evidence.files if view.path not in verdict.results)
    return case.model_copy(
        update={
            "candidate": candidate.model_copy(update={"provenance": provenance, "fixtures": kept}),
            "evidence": evidence.model_copy(update={"files": views}),
            "today": verdict.today,
        }
    )


def _decided(case: Case, decisions: Decisions) -> Case:
    return case.model_copy(update={"candidate": with_decisions(case.candidate, decisions)})


# Writing


def write_tasks(
    cases: Sequence[Case],
    judges: Judges,
    decisions: Decisions,
    seed: int,
    out: Path,
    pictures: Pictures | None = None,
) -> None:
    """Give the cases their request, deliverables, labels and difficulty."""
    judged = _judged(ModelStage.WRITE, cases, judges, pictures, out)
    judge = judges.config.model.judge_of(ModelStage.WRITE)
    _write_written(
        cases, _with_classes(cases, judged, judges.config.classes, seed), decisions, judge, out
    )


def _with_classes(
    cases: Sequence[Case], judged: Sequence[Judged[Written]], config: ClassesConfig, seed: int
) -> list[Judged[Written]]:
    """The tasks with the task classes of the pool, whose big class is the role.

    `seed` decides which classes are held out.
    """
    labels = [(case, task.item_id, task.value) for case, task in zip(cases, judged, strict=True)]
    members = [
        Member(
            task_id,
            task.taxonomy.role.value,
            task.taxonomy.skill_subclass.value,
            task.taxonomy.business_task,
            case.request,
        )
        for case, task_id, task in labels
        if task is not None
    ]
    classes = induce_classes(members, config)
    split = split_classes(classes.values(), config, seed)

    def classed(judged: Judged[Written]) -> Judged[Written]:
        if judged.value is None:
            return judged
        own = classes[judged.item_id]
        task_class = own.model_copy(update={"split": split[own.subclass_id]})
        taxonomy = judged.value.taxonomy.model_copy(update={"task_class": task_class})
        return replace(judged, value=judged.value.model_copy(update={"taxonomy": taxonomy}))

    return list(map(classed, judged))


def _write_written(
    cases: Sequence[Case],
    judged: Sequence[Judged[Written]],
    decisions: Decisions,
    judge: str,
    out: Path,
) -> None:
    """Write the cases with request, deliverables and labels, and the stage tables."""
    kept = (
        _decided(_written_case(*answered), decisions)
        for answered in _answered(cases, judged, judge)
    )
    _write(out / _KEPT, kept)
    _write_tables(out, WRITE, judged)


def _answered(
    cases: Sequence[Case], judged: Sequence[Judged[Any]], judge: str
) -> Iterator[tuple[Case, Any, str]]:
    """The cases with a value, that value, and who judged."""
    for case, item in zip(cases, judged, strict=True):
        if item.value is not None:
            yield case, item.value, _judge_of(item, judge)


def _write_tables(out: Path, stage: str, judged: Sequence[Judged[Any]]) -> None:
    ids, ledger = [item.item_id for item in judged], rows(stage, UNIT, judged)
    write_stage_tables(out, StageKind.FILTER, ids, ledger, stage=stage, unit=UNIT)


def _written_case(case: Case, written: Written, judge: str) -> Case:
    """The case with its request in the frame of code, its deliverables, labels and difficulty."""
    candidate = _with_judge(case.candidate, ModelStage.WRITE, judge)
    words = words_of(candidate.language, written.request)
    people = [said for said in case.evidence.said if said.speaker != "agent"]
    guidelines = [words.as_one] if written.request == case.request and len(people) > 1 else []
    guidelines += [words.today.format(day=case.today)] if case.today else []
    guidelines += [words.gaps] if candidate.fixtures else []
    prompt = frame(
        written.request,
        candidate.fixtures,
        written.deliverables,
        candidate.language,
        guidelines=guidelines,
    )
    labels = {name: getattr(written.taxonomy, name) for name in type(written.taxonomy).model_fields}
    labels["task_family"] = labels["task_family"] or candidate.task_family
    changes = labels | {
        "prompt": prompt,
        "deliverables": written.deliverables,
        "rules": tuple(_on_inputs(candidate.rules, written)),
        "difficulty": written.difficulty,
        "difficulty_rule": written.difficulty_reason,
    }
    own = {"candidate": candidate.model_copy(update=changes), "request": written.request}
    return case.model_copy(update=own)


def _on_inputs(rules: Sequence[Rule], written: Written) -> Iterator[Rule]:
    """Of the rules on files of an input's type what the task says of the files to deliver.

    Some are inputs as they were, or else something is changed in them. Files that are only said by
    a pattern may be either.
    """
    types = {item.file_type: bool(item.patterns) for item in written.deliverables}
    for rule in rules:
        kind = rule.rule_id.partition(".")[2]
        if kind in written.kept_types:
            yield same_rule(kind, rule.params["forms"])
        elif not types.get(kind, True):
            yield rule


def _with_judge(candidate: Candidate, stage: ModelStage, judge: str) -> Candidate:
    """The candidate with who judged a part of it, in its private provenance."""
    source = candidate.provenance
    judges = {**source.detail.get("judges", {}), str(stage): judge}
    provenance = source.model_copy(update={"detail": {**source.detail, "judges": judges}})
    return candidate.model_copy(update={"provenance": provenance})


# Grading


def grade_tasks(
    cases: Sequence[Case], judges: Judges, out: Path, pictures: Pictures | None = None
) -> None:
    """Give the candidates of the cases their rubric and rules, and keep the programs."""
    judged = _judged(ModelStage.GRADE, cases, judges, pictures, out)
    _write_graded(cases, judged, judges.config.model.judge_of(ModelStage.GRADE), out)


def _write_graded(
    cases: Sequence[Case], judged: Sequence[Judged[Graded]], judge: str, out: Path
) -> None:
    """Write the candidates with rubric and rules, their programs, and the stage tables."""
    answered = list(_answered(cases, judged, judge))
    _write(out / _KEPT, (graded_candidate(*one) for one in answered))
    programs = (
        {
            "task_id": case.candidate.task_id,
            "reference": graded.reference,
            "checks": graded.checks,
            "why": graded.why,
        }
        for case, graded, _ in answered
        if graded.computable
    )
    _write(out / _PROGRAMS, programs)
    _write_tables(out, GRADE, judged)


def graded_candidate(case: Case, graded: Graded, judge: str) -> Candidate:
    """The candidate with rubric, hard rules and kinds of evidence."""
    changes = {"rubric": graded.rubric, "rules": graded.rules, "evidence": graded.evidence}
    return _with_judge(case.candidate, ModelStage.GRADE, judge).model_copy(update=changes)


def read_graded(folder: Path) -> tuple[Candidate, ...]:
    """The candidates that `_write_graded` completed."""
    lines = (folder / _KEPT).read_bytes().splitlines()
    return tuple(Candidate.model_validate_json(line) for line in lines)


def read_programs(folder: Path) -> dict[str, Mapping[str, str]]:
    """By task id: the reference solution and the check program, not proven yet."""
    lines = map(orjson.loads, (folder / _PROGRAMS).read_bytes().splitlines())
    return {line["task_id"]: line for line in lines}
