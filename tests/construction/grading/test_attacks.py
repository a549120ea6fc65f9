"""Submissions without work: what each holds, and which graders are too weak for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from construction.grading.attacks import (
    _asked_names,
    _Attack,
    attacks,
    gain,
    look_here,
    reference_text,
)
from construction.grading.combine import combine
from construction.grading.gate import GATE, Attacked, GraderReason, GradingRecipe, measure
from construction.grading.grade import grade
from construction.grading.hard_rules import grade_files
from construction.grading.spec import EMPTY_CALLS, NULL, TALK, RuleSpec, TaskSpec, spec_of
from construction.judging.baseline.grade import _hard_rules
from construction.judging.baseline.grade import grade as grade_by_facts
from data.contracts import Deliverable, Status, Verdict
from data.contracts.attempt import Score, ScorePart, Submission
from tests.construction.judging.cases import case

PROMPT = "Refund order 17 and tell the customer the amount in US dollars. Was it paid by card?"
TOOLS = ("orders.find", "refunds.create")
CHECK = {"check_id": "refund", "text": "A refund of 41.20 is made for order 17.", "weight": 1.0}
STRICT = {"service": "refunds", "operation": "create", "where": {"order": 17, "amount": 41.2}}


def task(**parts: Any) -> TaskSpec:
    return spec_of({"task_id": "t", "prompt": PROMPT, **parts})


def with_check(kind: str, params: dict[str, Any], **more: Any) -> TaskSpec:
    return task(checks=[{**CHECK, "kind": kind, "params": params, **more}])


def with_files(kind: str = "md", *names: str, rules: int | None = None) -> TaskSpec:
    request = Deliverable(file_type=kind, name_hints=names)
    known = case(PROMPT)
    candidate = known.candidate.model_copy(update={"deliverables": (request,), "rules": ()})
    made = grade_by_facts(known.model_copy(update={"candidate": candidate})).rules
    made = (*_hard_rules([request], "a {{ template }}"), *made)
    return task(rules=[rule.model_dump() for rule in made][:rules])


def grader(spec: TaskSpec, submission: Submission) -> Score:
    return grade(spec, submission, file_grader=own_files)


def own_files(spec: TaskSpec, outputs: Path | None) -> tuple[ScorePart, ...]:
    return grade_files(spec, outputs, look=look_here)


def all_of(spec: TaskSpec, folder: Path, inputs: dict[str, Path] | None = None) -> list[_Attack]:
    return list(attacks(spec, TOOLS, inputs or {}, folder))


def attacked(
    spec: TaskSpec,
    folder: Path,
    by: Any = grader,
    *,
    computed: Submission | None = None,
    is_computable: bool = False,
) -> Attacked:
    folder.mkdir(exist_ok=True)
    return measure(spec, TOOLS, {}, folder, by, computed, is_computable=is_computable)


def verdict(
    spec: TaskSpec, folder: Path, config: GradingRecipe | None = None, **more: Any
) -> Verdict:
    return GATE.judge(attacked(spec, folder, **more), config or GradingRecipe())


def test_every_family_attacks_a_task_with_files_and_checks(tmp_path: Path) -> None:
    source = tmp_path / "revenue.csv"
    source.write_text("a,b\n1,2\n")
    spec = with_files("docx", "out/Review.docx")
    made = all_of(spec, tmp_path / "attacks-of-it", {"revenue.csv": source})
    assert [(attack.family, attack.name) for attack in made] == [
        (NULL, "nothing"),
        (NULL, "empty shells"),
        (NULL, "filler"),
        (NULL, "stubs"),
        (NULL, "the prompt"),
        (NULL, "a copy of an input"),
        (TALK, "reference text"),
        (EMPTY_CALLS, "reference text and empty calls"),
    ]
    folders = [Path(attack.submission.outputs) for attack in made if attack.submission.outputs]
    assert [[path.name for path in folder.iterdir()] for folder in folders] == [["Review.docx"]] * 5
    assert (folders[4] / "Review.docx").read_bytes() == source.read_bytes()


def test_only_empty_calls_call_and_each_tool_once(tmp_path: Path) -> None:
    calls = [{"service": "orders", "operation": "find"}, {"operation": "create"}]
    spec = with_check("order", {"calls": calls})
    *others, last = all_of(spec, tmp_path)
    assert not any(attack.submission.calls or attack.submission.audit for attack in others)
    assert [call.name for call in last.submission.calls] == [*TOOLS, "find", "create"]
    assert {tuple(call.arguments) for call in last.submission.calls} == {()}
    rows = [(row.service, row.operation, row.status) for row in last.submission.audit]
    assert rows == [("orders", "find", "ok"), ("", "create", "ok")]


def test_the_reference_text_tells_the_path_without_the_gold_answer() -> None:
    spec = task(
        answers=[{"part": "amount", "type": "number", "value": "41.20", "aliases": ["$41.2"]}],
        steps=[{"index": 1, "text": "Find order 17: it cost 41.20, so give 41.20 (not 141.20)."}],
    )
    text = reference_text(spec)
    assert text.startswith(PROMPT)
    assert "Find order 17: it cost …, so give … (not 141.20)." in text


def test_names_that_no_file_can_have_are_left_out() -> None:
    names = ["../up.md", "a\\b.md", "..", ".hidden.md", "x" * 300 + ".md", "zero\0.md"]
    params = {"extensions": ["md"], "names": names}
    rule = {"rule_id": "named.md", "kind": "named", "params": params, "text": ""}
    count = {"rule_id": "count.md", "kind": "count", "text": ""}
    spec = task(rules=[rule, {**count, "params": {"extensions": ["md"], "min": 3}}])
    assert list(_asked_names(spec.rules)) == ["up.md", "b.md", "output-3.md"]


@pytest.mark.parametrize("kind", ["md", "xlsx", "docx", "pptx", "pdf", "png", "csv", "json", "py"])
def test_deliverables_of_no_type_pass_by_null_files(kind: str, tmp_path: Path) -> None:
    seen = attacked(with_files(kind), tmp_path)
    assert (seen.null, seen.talk, seen.empty_calls, seen.strongest) == (0.0, 0.0, 0.0, None)


def test_rules_on_form_alone_are_passed_by_stubs(tmp_path: Path) -> None:
    form = _hard_rules([Deliverable(file_type="csv", count=4)], "")
    judged = verdict(task(rules=[rule.model_dump() for rule in form]), tmp_path)
    assert judged.reason == GraderReason.PASSED_BY_NULL
    assert judged.measures["strongest"] == "stubs"


@pytest.mark.parametrize("names", [("revenue.csv",), ("result.csv",)])
def test_an_input_saved_anew_is_submitted_for_files_of_its_type(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    files = {"a.csv": tmp_path / "1", "data/revenue.csv": tmp_path / "2", "b.md": tmp_path / "3"}
    for number, path in enumerate(files.values()):
        path.write_text(f"region,revenue\nnorth,{number}\n")
    made = {one.name: one for one in all_of(with_files("csv", *names), tmp_path / "of", files)}
    folder = Path(made["an input saved anew"].submission.outputs or "")
    number = 1 if names == ("revenue.csv",) else 0
    assert (folder / names[0]).read_text() == f"region,revenue\nnorth,{number}\n\n"


def test_where_a_copy_is_the_work_no_input_is_copied(tmp_path: Path) -> None:
    files = {"a.csv": tmp_path / "1"}
    files["a.csv"].write_text("region,revenue\nnorth,1\n")
    spec = with_files("csv", "b.csv")
    assert "a copy of an input" in [one.name for one in all_of(spec, tmp_path / "of", files)]
    same = RuleSpec(rule_id="same.csv", kind="same", params={"forms": [1]}, text="")
    spec = replace(spec, rules=(*spec.rules, same))
    names = [one.name for one in all_of(spec, tmp_path / "again", files)]
    assert "a copy of an input" not in names and "stubs" in names


def by_presence(spec: TaskSpec, submission: Submission) -> Score:
    """A grader that only asks whether a file is there."""
    value = float(submission.outputs is not None)
    return combine(spec.task_id, [ScorePart("file", "action", 1.0, value)], steps=1, gold_steps=0)


def test_a_grader_that_asks_for_any_file_is_passed_by_null(tmp_path: Path) -> None:
    judged = verdict(with_files(), tmp_path, by=by_presence)
    assert (judged.status, judged.reason) == (Status.FAILED, GraderReason.PASSED_BY_NULL)
    assert judged.measures["strongest"] == "empty shells"


def test_a_check_that_only_forbids_is_passed_by_null(tmp_path: Path) -> None:
    spec = with_check("not_called", {"operation": "delete"})
    assert verdict(spec, tmp_path).reason == GraderReason.PASSED_BY_NULL


def by_words(spec: TaskSpec, submission: Submission) -> Score:
    """A grader that looks for a word in the answer."""
    value = float("refund" in (submission.answer or "").lower())
    return combine(spec.task_id, [ScorePart("word", "accuracy", 1.0, value)], steps=1, gold_steps=0)


def test_a_grader_that_looks_for_words_is_passed_by_talk(tmp_path: Path) -> None:
    judged = verdict(task(), tmp_path, by=by_words)
    assert (judged.reason, judged.observed, judged.limit) == (GraderReason.PASSED_BY_TALK, 1.0, 0.2)


def test_an_answer_that_the_prompt_gives_away_is_passed_by_talk(tmp_path: Path) -> None:
    gold = {"part": "order", "type": "number", "value": "17"}
    assert verdict(task(answers=[gold]), tmp_path).reason == GraderReason.PASSED_BY_TALK


def test_a_check_without_constraints_is_passed_by_empty_calls(tmp_path: Path) -> None:
    weak = with_check("called", {"operation": "create"})
    judged = verdict(weak, tmp_path / "weak")
    assert judged.reason == GraderReason.PASSED_BY_EMPTY_CALLS
    assert verdict(with_check("called", STRICT), tmp_path / "strict").status is Status.PASSED


@pytest.mark.parametrize(
    ("weight", "reason"), [(0.2, None), (0.25, "preflight.passed_by_empty_calls")]
)
def test_a_little_may_be_earned_but_no_required_check_met(
    weight: float, reason: str | None, tmp_path: Path
) -> None:
    strict = {**CHECK, "kind": "called", "params": STRICT, "weight": 1 - weight}
    weak = {**CHECK, "check_id": "find", "kind": "called", "params": {"operation": "find"}}
    for required in (False, True):
        spec = task(checks=[strict, {**weak, "weight": weight, "required": required}])
        judged = verdict(spec, tmp_path / f"{required}")
        assert judged.reason == ("preflight.passed_by_empty_calls" if required else reason)


def answer_task() -> TaskSpec:
    return task(answers=[{"part": "amount", "type": "number", "value": "41.20"}])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("41.20", None), ("40.20", "preflight.oracle"), (None, "preflight.oracle")],
)
def test_the_computed_answer_must_be_accepted(
    answer: str | None, reason: str | None, tmp_path: Path
) -> None:
    computed = None if answer is None else Submission(answer=answer, steps=1)
    judged = verdict(answer_task(), tmp_path, computed=computed, is_computable=True)
    assert judged.reason == reason


def test_a_task_of_a_rubric_alone_is_judge_only_and_the_recipe_decides(tmp_path: Path) -> None:
    rubric = {"criteria": [{"dimension": "depth", "weight": 1.0, "text": "It is thorough."}]}
    spec = task(rubric=rubric)
    admitted = verdict(spec, tmp_path / "admitted")
    assert (admitted.status, admitted.reason) == (Status.UNVERIFIED, GraderReason.JUDGE_ONLY)
    refused = verdict(spec, tmp_path / "refused", GradingRecipe(judge_only="refuse"))
    assert (refused.status, refused.reason) == (Status.FAILED, GraderReason.JUDGE_ONLY)


def test_a_rubric_that_needs_a_model_is_refused_unless_the_recipe_admits_it(tmp_path: Path) -> None:
    rubric = {"criteria": [{"dimension": "depth", "weight": 1.0, "text": "It is thorough."}]}

    def reason(name: str, spec: TaskSpec, config: GradingRecipe) -> str | None:
        (tmp_path / name).mkdir()
        seen = measure(
            spec, TOOLS, {}, tmp_path / name, grader, None, is_computable=False, needs_model=True
        )
        return GATE.judge(seen, config).reason

    alone = task(rubric=rubric)
    assert reason("refused", alone, GradingRecipe()) == GraderReason.NEEDS_MODEL
    admitted = reason("admitted", alone, GradingRecipe(needs_model="admit"))
    assert admitted != GraderReason.PASSED_BY_NULL
    answers = [{"part": "amount", "type": "number", "value": "41.20"}]
    assert reason("answered", task(rubric=rubric, answers=answers), GradingRecipe()) is None


def test_an_unjudged_part_earns_nothing() -> None:
    parts = [
        ScorePart("rubric", "semantic", 0.9, None, deterministic=False),
        ScorePart("check", "action", 0.1, 0.0),
    ]
    assert gain(combine("t", parts, steps=1, gold_steps=0)) == 0.0
