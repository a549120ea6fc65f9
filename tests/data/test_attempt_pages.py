"""Pages of attempts: why one failed, what was expected and seen; hostile text stays text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from data.attempt_pages import AttemptView, Links, _why, attempt_page, checks_of
from data.attempts import AttemptRecord
from data.contracts.attempt import (
    Attempt,
    AttemptStatus,
    AuditRow,
    Call,
    Configuration,
    Progress,
    Score,
    ScorePart,
    StateChange,
    Submission,
    Termination,
    Usage,
)
from data.neutralise import visible
from data.snapshot.task_pages import Preview

HOSTILE = "</pre><script>alert(1)</script> <img src=x onerror=y> \x1b[31m\u202e"
GRADING: dict[str, Any] = {
    "answers": [{"part": "value", "value": "125", "unit": "USD", "scale": 1_000_000}],
    "checks": [{"check_id": "made", "text": "One task was written down.", "params": {"max": 1}}],
    "rules": [{"rule_id": "r1", "text": "There is a table.", "params": {"extensions": ["xlsx"]}}],
    "rubric": {"criteria": [{"dimension": "depth", "text": "It says why."}] * 2},
    "milestones": [{"name": "rank_4", "step": 4}],
    "steps": [{"index": 4, "operation": "rank", "text": "Rank the regions."}],
}
PARTS = (
    ScorePart("check.made", "action", 0.2, 1.0),
    ScorePart(
        "answer.value", "accuracy", 0.5, 0.0, required=True, reason="answer.wrong_value",
        detail={"reading": "126000000 USD"},
    ),
    ScorePart("rule.r1", "accuracy", 0.0, 0.5, reason="rules.too_few_files",
              detail={"observed": 1, "limit": 2}),
    ScorePart("rubric.depth.2", "semantic", 0.3, None, deterministic=False),
)  # fmt: skip
SCORE = Score(
    "t-1", "g", PARTS, 0.2, False, 0.0, None, 0.7,
    Progress(first_unreached="rank_4", operation="rank"),
)  # fmt: skip


def view(score: Score | None = SCORE, **attempt: Any) -> AttemptView:
    made = Attempt(
        "id", "d", "t-1", Configuration("mine", "react", HOSTILE, runner="harbor"), 1,
        AttemptStatus.COMPLETED, Termination.WRONG_ANSWER, 2, Usage(), 1.0, 0, "log",
    )  # fmt: skip
    submission = Submission(
        answer=HOSTILE,
        statements=((1, HOSTILE),),
        calls=(Call("c", 1, HOSTILE, {"command": HOSTILE}, HOSTILE, is_error=True),),
        audit=(AuditRow("mail", "send", {"to": HOSTILE}, "ok", 1),),
        changes=(StateChange("mail", HOSTILE, None, {"a": HOSTILE}),),
    )
    return AttemptView(
        AttemptRecord(replace(made, **attempt), submission), score, "failed", HOSTILE, HOSTILE,
        GRADING,
        [
            Preview(HOSTILE, 3, HOSTILE, text=visible(HOSTILE)),
            Preview("t.csv", 3, "", [[HOSTILE], ["=1"]]),
        ],
        Links("board.html", "task.html", None, [(HOSTILE, "passed", "other.html")]),
        "wrong_answer",
    )  # fmt: skip


def test_checks_say_what_they_expected_and_what_was_seen() -> None:
    shown = [
        (check.name, check.state, check.words, check.expected, check.observed, check.reason)
        for check in checks_of(SCORE, GRADING)
    ]
    assert shown == [
        ("answer.value", "failed", "The answer", "125 million USD",
         "126 million USD", "The value is wrong."),
        ("rule.r1", "partly met", "There is a table.", "xlsx", "1; worth 50.0 %",
         "There are fewer files than requested."),
        ("rubric.depth.2", "no verdict", "It says why.", "", "", ""),
        ("check.made", "passed", "One task was written down.", "max: 1", "", ""),
    ]  # fmt: skip


def test_what_was_not_delivered_and_what_was_recomputed_have_words() -> None:
    wanted = [
        {"file_type": "xlsx", "name_hints": ["a.xlsx"]},
        {"file_type": "md", "name_hints": []},
    ]
    nothing = replace(view(), outputs=(), grading=GRADING | {"deliverables": wanted})
    lines = _why(replace(nothing, ended="delivered_nothing"), [])
    assert lines[:2] == [
        "The agent delivered none of the requested files.",
        "Requested files: a.xlsx, .md. None was delivered.",
    ]
    part = ScorePart("check.made.days left", "accuracy", 1.0, 0.0, reason="finding.missing")
    (check,) = checks_of(replace(SCORE, parts=(part,)), GRADING)
    assert check.words == "Recomputed from the inputs: days left"


def test_what_a_judge_saw_is_told_in_words() -> None:
    detail = {
        "judge": "model:m", "addressed": False, "finding": "Both said.", "quotes": ["A, B", "C"],
        "page": 2, "supported": True, "files_not_shown": 3,
    }  # fmt: skip
    part = ScorePart("rubric.depth", "semantic", 1.0, 0.5, deterministic=False, detail=detail)
    (check,) = checks_of(replace(SCORE, parts=(part,)), GRADING)
    assert (
        check.observed
        == "Judge's remark: Both said; “A, B”; “C”; page 2; files not shown: 3; worth 50.0 %"
    )


def test_checks_of_files_that_are_not_there_were_not_made() -> None:
    parts = (
        ScorePart("rule.r1", "action", 0.0, 0.0, reason="rules.missing_file"),
        ScorePart("rubric.depth", "semantic", 0.5, 0.0, reason="judge.nothing_delivered"),
        ScorePart("check.made.days", "accuracy", 0.5, 0.0, reason="finding.missing"),
        ScorePart("deliverables", "action", 0.0, 0.0, required=True, reason="rules.missing_file"),
    )
    score = replace(SCORE, parts=parts)
    checks = checks_of(score, GRADING)
    assert [check.state for check in checks] == ["failed", *["not made"] * 3]
    lines = _why(replace(view(score), outputs=()), checks)
    assert lines[1:3] == [
        "The files that were asked for: not met. The file does not exist.",
        "3 checks were not made: the file to check is missing.",
    ]


def test_what_a_passed_attempt_lacks_is_told_and_marks_are_not_shown() -> None:
    mark = "<!-- Benchmark text of demo: keep out of training data. Canary GUID 1 -->"
    passed = replace(
        view(), result="passed", title="Do it.", prompt=f"Do `it`.\n\n{mark}\n", has_skill=True
    )
    html = attempt_page(passed, "demo")
    assert "All deciding checks passed. 2 others did not pass, or only partly" in html
    assert "The agent had a skill for this task." in html
    assert "Canary" not in html and ">Do it.</a></h1>" in html


@pytest.mark.parametrize(
    ("answer", "reading"),
    [
        ("126", "“126”, read as 126 million USD"),
        ("126 million USD", "126 million USD"),
        ("It is 126, as the table of regions says in its second column.", "126 million USD"),
        (None, "126 million USD"),
    ],
)
def test_an_answer_stands_beside_what_it_was_read_as(answer: str | None, reading: str) -> None:
    (check, *_) = checks_of(SCORE, GRADING, answer)
    assert check.observed == reading


def test_a_year_that_was_read_as_a_number_is_shown_as_it_was_given() -> None:
    part = ScorePart("answer.value", "accuracy", 1.0, 0.0, detail={"reading": "2023 count"})
    grading = {"answers": [{"part": "value", "value": "281190", "unit": "count", "scale": 1}]}
    score = replace(SCORE, parts=(part,))
    assert checks_of(score, grading, "2023")[0].observed == "“2023”, read as 2,023"
    assert checks_of(score, grading, "2,023")[0].observed == "2,023"


def test_an_answer_without_a_value_is_quoted() -> None:
    part = ScorePart("answer.value", "accuracy", 1.0, 0.0, reason="answer.no_value")
    score = replace(SCORE, parts=(part,))
    assert [checks_of(score, GRADING, said)[0].finding for said in ("All done.", None)] == [
        "“All done.”",
        "no answer",
    ]


def test_checks_without_findings_say_why_and_without_files_were_not_made() -> None:
    shown = {check.state: (check.finding, check.because) for check in checks_of(SCORE, GRADING)}
    assert shown["no verdict"] == ("no verdict", "Only a judge can decide this, and none did.")
    assert shown["passed"] == ("as expected", "The check was met.")
    states = [check.state for check in checks_of(SCORE, GRADING, lacks_files=True)]
    assert states == ["failed", "partly met", "not made", "passed"]


def test_a_step_names_the_steps_whose_results_it_takes() -> None:
    steps = [
        {
            "index": 4, "operation": "rank", "text": "Divide $1 by $12, at $5 each.",
            "arguments": {"first": "$1", "more": {"second": ["$12.values"]}},
        }
    ]  # fmt: skip
    (last,) = _why(view(), [])[1:]
    assert last.endswith("Rank the regions.")
    (last,) = _why(replace(view(), grading=GRADING | {"steps": steps}), [])[1:]
    assert last.endswith("Divide the result of step 1 by the result of step 12, at $5 each.")


def test_an_agent_without_a_model_has_none() -> None:
    scripted = view(configuration=Configuration("mine", "talk", "mockllm/model"))
    assert "mockllm" not in attempt_page(scripted, "demo")


def test_many_checks_are_folded() -> None:
    many = replace(SCORE, parts=tuple(replace(PARTS[0], name=f"check.{n}") for n in range(30)))
    assert "<summary>20 more</summary>" in attempt_page(view(many), "demo")


def test_the_first_sentence_names_what_decides() -> None:
    lines = _why(view(), checks_of(SCORE, GRADING))
    assert lines == [
        "The agent's answer is wrong.",
        "The answer: not met. The value is wrong. Expected 125 million USD. Found 126 million USD.",
        "There is a table: partly met. There are fewer files than requested. Expected xlsx. "
        "Found 1; worth 50.0 %.",
        "1 check has no verdict: only a judge can decide.",
        "The first reference step that was not reached: Rank the regions.",
    ]


def test_what_the_infrastructure_ended_is_not_called_graded() -> None:
    broken = view(
        None, status=AttemptStatus.INFRA_ERROR, termination=None, error=f"it broke {HOSTILE}"
    )
    lines = _why(broken, [])
    assert (
        lines[0]
        == "The attempt was cut off: the infrastructure failed, so the attempt is not graded."
    )
    assert lines[1].startswith("It ended with this error: it broke </pre>")
    assert "This attempt was not graded." in attempt_page(broken, "demo")


def test_hostile_text_stays_text() -> None:
    conversation = {
        "steps": [
            {"source": HOSTILE, "message": [{"type": HOSTILE}], "reasoning_content": HOSTILE,
             "tool_calls": [{"tool_call_id": 1, "function_name": HOSTILE, "arguments": HOSTILE}],
             "observation": {"results": [{"source_call_id": 1, "content": HOSTILE}]}},
            "no step",
        ]
    }  # fmt: skip
    for shown in (view(), replace(view(), trajectory=conversation)):
        html = attempt_page(shown, "demo")
        assert html.count("<script") == 0
        assert "<img" not in html
        assert "\x1b" not in html and "\u202e" not in html
        assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 8
        assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
