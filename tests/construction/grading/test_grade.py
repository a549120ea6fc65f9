"""One grade from answers, actions, files and rubric."""

from __future__ import annotations

from pathlib import Path

import pytest

from construction.grading.grade import MOST_UNDONE, RUBRIC_SHARE, grade
from construction.grading.spec import (
    AnswerSpec,
    CheckSpec,
    MilestoneSpec,
    RuleSpec,
    StepSpec,
    TaskSpec,
    _CriterionSpec,
)
from data.contracts.attempt import AuditRow, Progress, ScorePart, StateChange, Submission

ANSWERS = (AnswerSpec("a", "text", "left", weight=3.0), AnswerSpec("b", "number", "5"))
CHECK = CheckSpec("c", "called", {"operation": "send", "where": {"to": "ann"}}, "", 0.4)
CRITERIA = (_CriterionSpec("clarity", 0.25, "?"), _CriterionSpec("clarity", 0.75, "?"))
RIGHT = '{"a": "left", "b": 5}'
SENT = AuditRow("mail", "send", {"to": "ann"}, "ok")


def weights(spec: TaskSpec) -> dict[str, float]:
    return {part.name: round(part.weight, 9) for part in grade(spec, Submission()).parts}


def test_answers_share_what_checks_and_rubric_leave() -> None:
    assert weights(TaskSpec("t", answers=ANSWERS)) == {"answer.a": 0.75, "answer.b": 0.25}
    assert weights(TaskSpec("t", answers=ANSWERS, checks=(CHECK,), criteria=CRITERIA)) == {
        "answer.a": 0.3,
        "answer.b": 0.1,
        "check.c": 0.4,
        "rubric.clarity": 0.05,
        "rubric.clarity.2": 0.15,
    }
    assert weights(TaskSpec("t", checks=(CHECK,), criteria=CRITERIA)) == {
        "check.c": 0.4,
        "rubric.clarity": 0.15,
        "rubric.clarity.2": 0.45,
    }
    assert weights(TaskSpec("t", criteria=CRITERIA)) == {
        "rubric.clarity": 0.25,
        "rubric.clarity.2": 0.75,
    }


def test_right_answers_decide_a_task_that_has_a_rubric_too() -> None:
    spec = TaskSpec("t", answers=ANSWERS, criteria=CRITERIA)
    right = grade(spec, Submission(answer=RIGHT, steps=2))
    assert (right.passed, right.overall, right.acc) == (True, None, 1.0)
    assert right.deterministic_share == 1 - RUBRIC_SHARE
    wrong = grade(spec, Submission(answer='{"a": "left", "b": 6}', steps=2))
    assert (wrong.passed, wrong.acc) == (False, 0.5)
    assert grade(spec, Submission(answer=RIGHT), threshold=0.9).passed is None


def test_a_task_that_only_a_judge_can_score_is_undecided() -> None:
    score = grade(TaskSpec("t", criteria=CRITERIA), Submission(answer="anything"))
    assert (score.passed, score.overall, score.deterministic_share) == (None, None, 0.0)


def test_actions_and_answers_together() -> None:
    spec = TaskSpec("t", answers=ANSWERS, checks=(CHECK,))
    assert grade(spec, Submission(answer=RIGHT, audit=(SENT,))).overall == 1.0
    assert grade(spec, Submission(answer=RIGHT)).overall == pytest.approx(0.6)
    assert grade(spec, Submission(answer=RIGHT)).passed is False


MOVED = CheckSpec("m", "record_equals", {"service": "crm", "record": "a/1", "where": {"x": 2}},
                  "", 0.2, required=True)  # fmt: skip


def test_a_right_report_without_the_wanted_change_is_worth_little() -> None:
    spec = TaskSpec("t", answers=ANSWERS, checks=(MOVED,))
    changed = StateChange("crm", "a/1", {"x": 1}, {"x": 2})
    assert grade(spec, Submission(answer=RIGHT, changes=(changed,))).overall == 1.0
    assert grade(spec, Submission(answer=RIGHT)).overall == MOST_UNDONE
    wrong = StateChange("crm", "a/1", {"x": 1}, {"x": 3})
    assert grade(spec, Submission(answer=RIGHT, changes=(wrong,))).overall == MOST_UNDONE
    starred = StateChange("mail", "messages/1", {"is_flagged": False}, {"is_flagged": True})
    assert grade(spec, Submission(answer=RIGHT, changes=(starred,))).overall == MOST_UNDONE


def test_a_part_of_the_wanted_changes_counts_as_a_part() -> None:
    made = CheckSpec("n", "record_created", {"service": "crm", "where": {}}, "", 0.2, required=True)
    spec = TaskSpec("t", answers=ANSWERS, checks=(MOVED, made))
    changed = StateChange("crm", "a/1", {"x": 1}, {"x": 2})
    score = grade(spec, Submission(answer=RIGHT, changes=(changed,)))
    assert score.overall == pytest.approx(0.8)
    assert score.passed is False


def test_a_refusal_wants_no_change() -> None:
    calm = CheckSpec("u", "unchanged", {"except": []}, "", 0.2, required=True)
    score = grade(TaskSpec("t", answers=ANSWERS, checks=(calm,)), Submission(answer=RIGHT))
    assert score.overall == 1.0


def test_progress_is_that_of_failed_attempts_and_efficiency_that_of_passed_ones() -> None:
    spec = TaskSpec(
        "t",
        answers=ANSWERS,
        steps=(StepSpec(1, "look"), StepSpec(2, "tell")),
        milestones=(MilestoneSpec("m", "x-1", step=1),),
    )
    passed = grade(spec, Submission(answer=RIGHT, steps=4))
    assert (passed.ee, passed.progress) == (0.5, Progress())
    failed = grade(spec, Submission(answer="?", statements=((1, "I saw x-1."),), steps=4))
    assert (failed.ee, failed.progress.gpr_direct, failed.progress.tpe) == (None, 1.0, 1.0)


def test_files_are_looked_at_where_there_are_rules(tmp_path: Path) -> None:
    looked: list[Path | None] = []

    def grader(spec: TaskSpec, outputs: Path | None) -> tuple[ScorePart, ...]:
        looked.append(outputs)
        return (ScorePart("deliverables", "action", 0.0, 0.0, required=True),)

    rule = RuleSpec("r", "count", {"extensions": ["txt"], "min": 1}, "")
    spec = TaskSpec("t", answers=ANSWERS, rules=(rule,))
    submission = Submission(answer=RIGHT, outputs=str(tmp_path))
    assert grade(spec, submission, file_grader=grader).passed is False
    assert grade(TaskSpec("t", answers=ANSWERS), submission, file_grader=grader).passed is True
    assert looked == [tmp_path]
    assert grade(spec, submission).passed is False  # with the grader of files itself
