"""What judging stages write: ledgers, labels, review decisions, and who judged."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from pydantic import ValidationError

from construction.judging.calls.contracts import CallReason, Usage
from construction.judging.contracts import Case, Containment, ContainmentReason, Judged
from construction.judging.judge import JudgingConfig, ModelCalls, contain, label_and_grade
from construction.judging.model.asking import require_answers
from construction.judging.review import Decision, Topic, record, recorded
from construction.judging.stage_output import (
    for_review,
    read_cases,
    read_kept,
    read_labelled,
    reviewed,
    with_excerpts,
    write_cases,
    write_contained,
    write_labelled,
)
from data.errors import ReleaseError
from tests.construction.judging.model.fakes import Scripted, always
from tests.construction.judging.rules.cases import case

RULES = JudgingConfig()
GOOD = case(
    "Count the errors in gateway.csv by service and save the table as errors.xlsx.",
    files=("gateway.csv",),
    task_id="good",
)
THANKS = case("Thank you so much, that was all!", task_id="thanks")


def by_rules(out: Path, cases: list[Case]) -> list[Judged[Containment]]:
    out.mkdir()
    judged = contain(cases, RULES, None)
    write_contained(cases, judged, {}, "rules", out)
    return judged


def test_by_rules_what_is_no_task_is_rejected_with_its_reason(tmp_path: Path) -> None:
    by_rules(tmp_path / "a", [GOOD, THANKS])
    rows = pl.read_parquet(tmp_path / "a" / "ledger.parquet").sort("item_id")
    assert rows["outcome"].to_list() == ["kept", "rejected"]
    assert rows["gate"].to_list() == [None, "self_containment"]
    assert rows["reason"].to_list()[1] == "self_containment.conversation_only"
    assert rows["observed"].to_list()[1] == "conversation_only"
    assert [one.candidate.task_id for one in read_kept(tmp_path / "a")] == ["good"]


def test_what_is_kept_gets_labels_and_a_rubric(tmp_path: Path) -> None:
    by_rules(tmp_path / "a", [GOOD])
    cases = read_kept(tmp_path / "a")
    (tmp_path / "b").mkdir()
    write_labelled(cases, label_and_grade(cases, RULES, None, 7), {}, tmp_path / "b")
    (done,) = read_labelled(tmp_path / "b")
    assert done.role is not None
    assert (done.role.value, done.role.judge) == ("engineering_it", "rules")
    assert done.rubric is not None
    assert sum(one.weight for one in done.rubric.criteria) == 1.0
    assert done.task_class is not None
    assert done.task_class.big_class == "engineering_it"
    assert done.task_class.split == "in_domain"  # the only class of a big class is not held out
    assert done.provenance.judge == "rules"
    assert done.provenance.detail["judges"] == {
        "labels": "rules",
        "task_class": "rules",
        "grading": "rules",
    }


NAMED = {
    "big_class": "Running of services",
    "name": "Log error counts",
    "definition": "Server logs go in, counts of their errors by service come out as a table.",
    "confidence": 0.9,
    "reason": "all count errors",
}


@pytest.mark.parametrize(
    ("result", "outcome", "reason", "name", "judge"),
    [
        (NAMED, "kept", None, "Log error counts", "model:m"),
        (CallReason.REFUSED, "errored", "call.refused", "No single skill", "rules"),
    ],
)
def test_a_model_may_name_the_classes_and_nothing_else(
    result: dict[str, object] | CallReason,
    outcome: str,
    reason: str | None,
    name: str,
    judge: str,
    tmp_path: Path,
) -> None:
    config = JudgingConfig.model_validate({"model": {"name": "m", "stages": ["task_class"]}})
    given = label_and_grade([GOOD], config, always(result), 7)
    write_labelled([GOOD], given, {}, tmp_path)
    (done,) = read_labelled(tmp_path)
    assert done.task_class is not None and done.role is not None
    assert (done.task_class.name, done.task_class.big_class) == (name, "engineering_it")
    assert done.role.judge == "rules"
    judges = {"labels": "rules", "task_class": judge, "grading": "rules"}
    assert done.provenance.detail["judges"] == judges
    (row,) = pl.read_parquet(tmp_path / "task_class" / "ledger.parquet").iter_rows(named=True)
    assert (row["stage"], row["unit"]) == ("task_class", "group")
    assert (row["outcome"], row["reason"]) == (outcome, reason)


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
    cases = [GOOD, THANKS]
    judged = reviewed(contain(cases, RULES, None), decisions)
    (tmp_path / "a").mkdir()
    write_contained(cases, judged, decisions, "rules", tmp_path / "a")
    kept = {one.candidate.task_id: one.candidate for one in read_kept(tmp_path / "a")}
    assert set(kept) == {"good", "thanks"}
    review = kept["thanks"].provenance.detail["review"]
    assert review["self_containment"]["reviewer"] == "A. Reviewer"
    assert "review" not in kept["good"].provenance.detail


def test_judges_that_differ_leave_the_case_to_people() -> None:
    rules = contain([GOOD, THANKS], RULES, None)
    refusing = Containment(
        self_contained=False,
        reason_code=ContainmentReason.AMBIGUOUS_TASK,
        brief_reason="too open",
    )
    model = [Judged("good", refusing), rules[1]]
    (item,) = for_review([GOOD, THANKS], {"model:m": model, "rules": rules})
    assert item.item_id == "good"
    assert item.answers == {"model:m": "ambiguous_task", "rules": "self_contained"}


def test_a_model_judges_where_there_is_a_client() -> None:
    result = {"self_contained": True, "reason_code": "self_contained", "brief_reason": "all there"}
    config = JudgingConfig.model_validate({"model": {"name": "m"}})
    (judged,) = contain([GOOD], config, always(result))
    assert judged.value is not None
    assert judged.value.brief_reason == "all there"
    assert judged.usage == Usage(5, 3)


def test_a_refusal_is_errored_and_an_unheard_question_stops_the_build(tmp_path: Path) -> None:
    config = JudgingConfig.model_validate({"model": {"name": "m"}})
    refused = contain([GOOD], config, always(CallReason.REFUSED))
    assert require_answers(refused) == refused
    write_contained([GOOD], refused, {}, "model:m", tmp_path)
    (row,) = pl.read_parquet(tmp_path / "ledger.parquet").iter_rows(named=True)
    assert (row["outcome"], row["reason"]) == ("errored", "call.refused")
    script = Scripted(lambda question: CallReason.BUDGET)
    with pytest.raises(ReleaseError, match=r"call\.budget 2.*run it again"):
        require_answers(contain([GOOD, THANKS], config, script))


def test_how_answers_come_is_no_part_of_the_recipe() -> None:
    recipe = JudgingConfig.model_validate({"model": {"name": "m"}})
    assert '"mode"' not in recipe.model_dump_json()
    with pytest.raises(ValidationError):
        ModelCalls.model_validate({"mode": "rules"})


def test_cases_come_back_with_the_beginning_of_their_files(tmp_path: Path) -> None:
    file = tmp_path / "content"
    file.write_text("service,code\ngateway,502\n" * 500)
    files = {GOOD.candidate.fixtures[0].sha256: file}
    result = with_excerpts(GOOD, files, lambda file, path: None)
    write_cases(tmp_path, [result])
    (back,) = read_cases(tmp_path)
    assert back == result
    assert back.excerpts["gateway.csv"].startswith("service,code\ngateway,502")
    assert len(back.excerpts["gateway.csv"]) == 1500
