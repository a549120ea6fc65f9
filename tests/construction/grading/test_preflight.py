"""The gate over candidates: computed answers, input files, and what is written of each."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from construction.grading.file_look import RuleLimits, look
from construction.grading.file_types import type_of
from construction.grading.findings import FINDINGS
from construction.grading.gate import Attacked, GraderReason, GradingRecipe
from construction.grading.grade import grade
from construction.grading.preflight import (
    ACCEPTED,
    REJECTED,
    PreflightJob,
    _audit,
    _audited_kinds,
    _equivalent_forms,
    _Probe,
    _wrong_answers,
    preflight_shard,
)
from construction.grading.spec import AnswerSpec, TaskSpec
from construction.judging.baseline.grade import grade as grade_by_facts
from data.canonical import canonical_json
from data.contracts import (
    Answer,
    Candidate,
    Check,
    Deliverable,
    Disclosure,
    Fixture,
    Lane,
    Provenance,
    Rule,
    Step,
)
from data.contracts.attempt import Score, Submission
from data.pool import read_pool
from data.snapshot.release import AuditedKind
from data.stage_tables import read_records
from tests.construction.judging.cases import case
from tests.construction.statements.tools.tiny import QUANDELL, REVENUE, tiny_statements

# The audit of graders: what is tried on a task, and that a grader without care is seen through.

GOLD = AnswerSpec("value", "number", "-13166", unit="USD", scale=1000, decimals=0, tolerance=0.0)
SPEC = TaskSpec("t1", "What was net income, in USD thousands?", answers=(GOLD,))
SAFE = Attacked(0.0, 0.0, 0.0, None, None, 1, 1.0)


def held(probes: list[_Probe]) -> dict[str, bool]:
    return {probe.kind: probe.held for probe in probes}


@pytest.mark.parametrize("value", ["-13166", "18", "0.25", "0", "115029"])
def test_the_graders_of_numbers_hold_on_all_probes(value: str) -> None:
    part = replace(GOLD, value=value, decimals=2 if "." in value else 0)
    probes = _audit(replace(SPEC, answers=(part,)), SAFE, grade, None, 0.2)
    assert [kind for kind, ok in held(probes).items() if not ok] == []
    assert {probe.expected for probe in probes} == {ACCEPTED, REJECTED}


def test_zero_has_no_wrong_sign_and_no_wrong_scale() -> None:
    kinds = _wrong_answers(replace(GOLD, value="0")).keys()
    assert "wrong sign" not in kinds and "times 1000" not in kinds
    assert "another value" in kinds


def accepts_digits(spec: TaskSpec, submission: Submission) -> Score:
    """A grader that looks for the digits of the gold anywhere."""
    digits = GOLD.value.strip("-")
    text = (submission.answer or "").replace(",", "")
    return grade(spec, replace(submission, answer=GOLD.value if digits in text else "none"))


def test_a_grader_that_looks_for_digits_anywhere_is_seen_through() -> None:
    seen = held(_audit(SPEC, SAFE, accepts_digits, None, 0.2))
    assert not seen["wrong sign"] and not seen["times 1000"]
    assert not seen["right among others"] and not seen["refusal with the value"]
    assert seen["another value"] and seen["in a sentence"]
    assert not seen["full width"]  # it knows no other digits


def test_what_the_gate_saw_is_counted_with_the_rest() -> None:
    attacked = replace(SAFE, talk=0.5, oracle=0.0)
    seen = held(_audit(SPEC, attacked, grade, None, 0.2))
    assert (seen["null"], seen["talk"], seen["computed answer"]) == (True, False, False)


def test_counts_by_kind_begin_with_what_has_to_be_rejected() -> None:
    probes = [
        _Probe("b", ACCEPTED, True),
        _Probe("a", REJECTED, False),
        _Probe("b", ACCEPTED, False),
    ]
    assert _audited_kinds(probes) == (
        AuditedKind("a", REJECTED, 1, 0), AuditedKind("b", ACCEPTED, 2, 1),
    )  # fmt: skip


def test_forms_differ_from_each_other() -> None:
    forms = _equivalent_forms(GOLD)
    assert len({*forms.values()}) == len(forms)


TOOLS = ("discover_companies", "discover_company_series", "get_company_fundamentals")
DAYS = {"period_start": "2024-01-01", "period_end": "2024-03-31", "months": 3}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("database")
    tables = tiny_statements()
    for name in ("companies", "series", "points"):
        getattr(tables, name).write_parquet(folder / f"{name}.parquet")
    return folder


def candidate(name: str, **parts: Any) -> Candidate:
    source = Provenance(
        source="made", source_format="made", item_id=name, disclosure=Disclosure.PUBLIC
    )
    prompt = "What was the revenue of Quandell Software, Inc. in the first quarter of 2024?"
    return Candidate(
        task_id=name,
        lane=Lane.QUESTIONS,
        prompt=prompt,
        language="en",
        provenance=source,
        **parts,
    )


def question(name: str, value: str, series: str = REVENUE) -> Candidate:
    company = {"company_id": QUANDELL}
    steps = (
        ("Find the company.", TOOLS[0], {"query": "Quandell Software, Inc."}),
        ("Find its series.", TOOLS[1], {**company, "query": "Total revenues"}),
        ("Read its value.", TOOLS[2], {**company, "series_id": series, "period": "2024-Q1"}),
        (
            "Give it in millions.",
            "present",
            {"values": "$3.values", **DAYS, "unit": "USD", "scale": 1_000_000, "decimals": 0},
        ),
    )
    return candidate(
        name,
        tools=TOOLS,
        answers=(
            Answer(
                part="value",
                type="number",
                value=value,
                unit="USD",
                scale=1_000_000,
                decimals=0,
                tolerance=0.0,
            ),
        ),
        steps=tuple(
            Step(index=number, text=text, operation=operation, arguments=arguments)
            for number, (text, operation, arguments) in enumerate(steps, 1)
        ),
    )


REVENUES = b"region,revenue\nnorth,125\nsouth,90\n"
FORM = look(REVENUES, type_of("a.csv"), RuleLimits()).form
NOT_THE_INPUT = Rule(
    rule_id="changed.csv",
    kind="changed",
    params={"extensions": ["csv"], "forms": [FORM]},
    text="Some .csv file is more than an input saved anew.",
)


def judged(
    out: Path, database: Path | None, *tasks: Candidate, files: dict[str, Path] | None = None
) -> dict[str, Any]:
    """The verdict of each task."""
    out.mkdir(exist_ok=True)
    rows = tuple(canonical_json(task).decode() for task in tasks)
    preflight_shard(PreflightJob(rows, files or {}, database, GradingRecipe()), out)
    return dict(read_records([out]).verdicts)


def test_the_answer_computed_on_the_data_tools_decides(database: Path, tmp_path: Path) -> None:
    tasks = (question("right", "125"), question("wrong-gold", "126"))
    missing = question("wrong-series", "125", series=f"{QUANDELL}/Nothing/USD")
    verdicts = judged(tmp_path / "out", database, *tasks, missing)
    reasons = {name: verdict.reason for name, verdict in verdicts.items()}
    assert reasons == {
        "right": None,
        "wrong-gold": GraderReason.ORACLE,
        "wrong-series": GraderReason.ORACLE,
    }
    assert verdicts["right"].measures["oracle"] == 1
    assert [task.task_id for task in read_pool([tmp_path / "out"]).candidates] == ["right"]


def test_without_tables_no_answer_is_computed(tmp_path: Path) -> None:
    verdict = judged(tmp_path / "out", None, question("right", "125"))["right"]
    assert (verdict.reason, verdict.measures["oracle"]) == (None, None)


def test_a_copy_of_the_input_earns_nothing(tmp_path: Path) -> None:
    fixture, path = given(tmp_path)
    words = grade_by_facts(case("Sum the revenue of all regions as result.csv")).rules
    rules = (*words, NOT_THE_INPUT)
    task = candidate("copy", fixtures=(fixture,), rules=rules)
    verdict = judged(tmp_path / "out", None, task, files={fixture.sha256: path})["copy"]
    assert (verdict.measures["null"], verdict.reason) == (0, GraderReason.JUDGE_ONLY)


def given(folder: Path) -> tuple[Fixture, Path]:
    """An input file."""
    digest = hashlib.sha256(REVENUES).hexdigest()
    path = folder / digest
    path.write_bytes(REVENUES)
    size = len(REVENUES)
    return Fixture(path="revenue.csv", sha256=digest, bytes=size, media_type="text/csv"), path


def test_a_file_that_is_edited_in_place_may_be_asked_for(tmp_path: Path) -> None:
    """Its input has its name and its type: what is delivered has to differ from it."""
    fixture, path = given(tmp_path)
    request = (
        "Sort the rows of revenue.csv by revenue, in the file itself, and bring back revenue.csv"
    )
    item = case(request, files=["revenue.csv"], acts=[("wrote", "revenue.csv", 1)])
    named = (Deliverable(file_type="csv", name_hints=("revenue.csv",)),)
    own = item.candidate.model_copy(update={"deliverables": named})
    facts = grade_by_facts(item.model_copy(update={"candidate": own})).rules
    program = Check(
        check_id="computed",
        kind=FINDINGS,
        params={"program": "print([])", "inputs": {}, "findings": ["order"]},
        text="order",
        weight=0.8,
        required=True,
        evidence="accuracy",
    )
    form = tuple(rule for rule in facts if rule.kind != "mentions")
    tasks = [
        candidate("by-words", fixtures=(fixture,), rules=(*facts, NOT_THE_INPUT)),
        candidate("without", fixtures=(fixture,), rules=facts),
        candidate("proven", fixtures=(fixture,), rules=(*form, NOT_THE_INPUT), checks=(program,)),
    ]
    verdicts = judged(tmp_path / "out", None, *tasks, files={fixture.sha256: path})
    assert {name: verdict.reason for name, verdict in verdicts.items()} == {
        "by-words": GraderReason.JUDGE_ONLY,
        "without": GraderReason.PASSED_BY_NULL,
        "proven": None,
    }
    kept = {task.task_id: task.rules for task in read_pool([tmp_path / "out"]).candidates}
    assert kept["proven"] == (*form, NOT_THE_INPUT), "a rule that is broken is still broken"
