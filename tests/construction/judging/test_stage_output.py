"""What judging stages write: ledgers, tasks in their frame, review decisions, and who judged."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from construction.judging.baseline.label import _difficulty_of, as_said
from construction.judging.baseline.screen import screen as by_facts
from construction.judging.contracts import Case, ContainmentReason, Judged, Screened, Written
from construction.judging.review import Decision, Topic, record, recorded
from construction.judging.settings import JudgingConfig, ModelStage
from construction.judging.stages import (
    _for_review,
    _screened_case,
    _with_classes,
    _write_graded,
    _write_written,
    _written_case,
    graded_candidate,
    judged_cases,
    read_cases,
    read_graded,
    read_kept,
    read_programs,
    write_cases,
    write_screened,
)
from data.contracts import Fixture, MissingInput, MissingKind
from tests.construction.judging.model.answers import graded, screened, written
from tests.construction.judging.model.fakes import Scripted, always, case

RULES, MODEL = JudgingConfig(), JudgingConfig.model_validate({"model": {"name": "m"}})
GATEWAY = {"gateway.csv": "service,code\ngateway,502\n"}
GOOD = case("Count the errors in gateway.csv by service.", GATEWAY, item_id="good")
THANKS = case("Thank you so much, that was all!", item_id="thanks")
NO_FILE = Screened(
    reason_code=ContainmentReason.MISSING_INPUT,
    missing=(MissingInput(MissingKind.FILE, "named in the request", "annex.pdf", "pdf"),),
)


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    table = pl.read_parquet(folder / "ledger.parquet")
    return {row["item_id"]: row for row in table.iter_rows(named=True)}


def verdicts(*values: Screened) -> list[Judged[Screened]]:
    return [Judged(name, value) for name, value in zip(("good", "thanks"), values, strict=True)]


def test_what_passes_is_kept_and_what_is_missing_is_told(tmp_path: Path) -> None:
    judged = verdicts(Screened(reason_code=ContainmentReason.SELF_CONTAINED), NO_FILE)
    write_screened([GOOD, THANKS], judged, {}, "model:m", RULES, tmp_path)
    rows = rows_of(tmp_path)
    assert (rows["good"]["outcome"], rows["thanks"]["outcome"]) == ("kept", "rejected")
    assert rows["thanks"]["reason"] == "self_containment.missing_input"
    assert "a file .pdf, named in the request" in rows["thanks"]["evidence"]
    (kept,) = read_kept(tmp_path)
    assert (kept.candidate.task_id, kept.candidate.provenance.judge) == ("good", "model:m")


@pytest.mark.parametrize(
    ("allowed", "outcome", "status"), [(False, "rejected", "failed"), (True, "kept", "unverified")]
)
def test_what_nobody_has_read_goes_out_only_where_the_recipe_says_so(
    allowed: bool, outcome: str, status: str, tmp_path: Path
) -> None:
    config = JudgingConfig(release_unjudged=allowed)
    unread = Screened(reason_code=ContainmentReason.NEEDS_MODEL)
    judged = verdicts(Screened(reason_code=ContainmentReason.SELF_CONTAINED), unread)
    write_screened([GOOD, THANKS], judged, {}, "rules", config, tmp_path)
    assert rows_of(tmp_path)["thanks"]["outcome"] == outcome
    stated = pl.read_parquet(tmp_path / "verdicts.parquet").filter(pl.col("item_id") == "thanks")
    assert stated["status"].to_list() == [status]
    assert stated["reason"].to_list() == ["self_containment.needs_model"]
    judges = {
        single.candidate.task_id: single.candidate.provenance.judge
        for single in read_kept(tmp_path)
    }
    assert judges == {"good": "rules"} | ({"thanks": "nobody"} if allowed else {})


def test_without_a_model_the_facts_judge_and_leave_the_rest_open() -> None:
    judged = judged_cases(ModelStage.SCREEN, [GOOD, THANKS], RULES, None)
    assert [single.value for single in judged] == [by_facts(GOOD), by_facts(THANKS)]
    assert judged[1].value is not None and judged[1].value.reason_code == "needs_model"


def test_a_person_overrules_and_is_recorded(tmp_path: Path) -> None:
    decision = Decision(
        item_id="thanks",
        topic=Topic.CONTAINMENT,
        decision="self_contained",
        reviewer="A. Reviewer",
        date=dt.date(2026, 1, 15),
    )
    record(tmp_path, [decision])
    decisions = recorded(tmp_path)
    judged = verdicts(NO_FILE, NO_FILE)
    write_screened([GOOD, THANKS], judged, decisions, "model:m", RULES, tmp_path / "a")
    (kept,) = read_kept(tmp_path / "a")
    assert kept.candidate.task_id == "thanks"
    assert (
        kept.candidate.provenance.detail["review"]["self_containment"]["reviewer"] == "A. Reviewer"
    )


def test_a_screened_case_loses_results_and_knows_its_day() -> None:
    verdict = Screened(
        reason_code=ContainmentReason.SELF_CONTAINED, today="2026-03-12", results=("gateway.csv",)
    )
    item = _screened_case(GOOD, verdict, "model:m")
    assert (item.candidate.fixtures, item.evidence.files, item.today) == ((), (), "2026-03-12")


def test_the_request_is_the_models_and_the_frame_is_codes() -> None:
    file = {"path": "errors.xlsx", "unchanged": False, "what": "counts"}
    words = "Count the errors in gateway.csv, by service, into errors.xlsx."
    rewritten = written(words, deliverables=[file])
    item = GOOD.model_copy(update={"today": "2026-03-12"})
    item = case([item.request, "into errors.xlsx"], GATEWAY, item_id="good", today="2026-03-12")
    tasks = judged_cases(ModelStage.WRITE, [item], MODEL, always(rewritten))
    (single,) = _with_classes([item], tasks, MODEL.classes, 7)
    assert single.value is not None
    candidate = _written_case(item, single.value, "model:m").candidate
    assert candidate.prompt == (
        "Count the errors in gateway.csv, by service, into errors.xlsx.\n\nToday is 2026-03-12.\n\n"
        "If something you need is neither stated above nor in the input files, say so and continue "
        "with what is available.\n\n"
        "Input files:\n- inputs/gateway.csv\n\nDeliver into outputs/:\n- outputs/errors.xlsx"
    )
    assert candidate.provenance.detail["judges"] == {"write": "model:m"}
    assert candidate.task_class is not None and candidate.task_class.split == "in_domain"
    as_told = _written_case(item, as_said(item), "rules").candidate
    assert "Take all of the above together as one request" in as_told.prompt


def test_what_is_written_and_graded_is_read_back(tmp_path: Path) -> None:
    tasks: list[Judged[Written]] = judged_cases(ModelStage.WRITE, [GOOD], RULES, None)
    _write_written([GOOD], tasks, {}, "rules", tmp_path / "w")
    cases = read_kept(tmp_path / "w")
    answer = graded(computable=True, reference="x = 1", checks="print([])", why="counts")
    grades = judged_cases(ModelStage.GRADE, cases, MODEL, always(answer))
    _write_graded(cases, grades, "model:m", tmp_path / "g")
    (done,) = read_graded(tmp_path / "g")
    assert done.rubric is not None and not done.rubric.needs_model
    assert sum(single.weight for single in done.rubric.criteria) == pytest.approx(1)
    assert done.provenance.detail["judges"] == {"write": "rules", "grade": "model:m"}
    assert read_programs(tmp_path / "g")["good"]["checks"] == "print([])\n"
    assert [row["outcome"] for row in rows_of(tmp_path / "g").values()] == ["kept"]


def test_an_unanswered_case_is_errored(tmp_path: Path) -> None:
    judged: list[Judged[Written]] = [Judged("good", None, "call.truncated")]
    _write_written([GOOD], judged, {}, "model:m", tmp_path)
    row = rows_of(tmp_path)["good"]
    assert (row["outcome"], row["reason"]) == ("errored", "call.truncated")
    assert read_kept(tmp_path) == []


def test_people_decide_where_facts_speak_against_a_model() -> None:
    lost = screened(verdict="missing_input", missing=[
        {"what": "gateway.csv", "kind": "file", "quote": "gateway.csv"}])  # fmt: skip
    client = Scripted(lambda question: lost if question.item_id == "good" else screened())
    cases = [GOOD, THANKS]
    judged = judged_cases(ModelStage.SCREEN, cases, MODEL, client)
    (item,) = _for_review(cases, judged, "model:m")
    assert (item.item_id, item.answers["model:m"]) == ("good", "self_contained")
    assert "is not missing: gateway.csv is an input file" in item.answers["facts"]


def test_cases_are_read_back(tmp_path: Path) -> None:
    write_cases(tmp_path, [GOOD, THANKS])
    assert read_cases(tmp_path) == [GOOD, THANKS]


def with_inputs(count: int, item: Case) -> Case:
    files = tuple(
        Fixture(path=f"{n}.txt", sha256="0" * 64, bytes=1, media_type="text/plain")
        for n in range(count)
    )
    return item.model_copy(
        update={"candidate": item.candidate.model_copy(update={"fixtures": files})}
    )


def test_difficulty_counts_files_and_what_tables_hold() -> None:
    assert _difficulty_of(GOOD) == "easy"
    assert _difficulty_of(with_inputs(4, THANKS)) == "medium"
    many = case("Sum.", {"a.csv": "x\n" + "1\n" * 300}, outputs=[f"{n}.md" for n in range(4)])
    assert _difficulty_of(many) == "medium"
    assert _difficulty_of(with_inputs(4, many)) == "hard"


def test_a_grading_replaces_rules_and_rubric_alone() -> None:
    (single,) = judged_cases(ModelStage.GRADE, [GOOD], RULES, None)
    assert single.value is not None
    done = graded_candidate(GOOD, single.value, "rules")
    assert (done.prompt, done.rules) == (GOOD.candidate.prompt, single.value.rules)
