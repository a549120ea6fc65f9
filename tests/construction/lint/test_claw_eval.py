"""Foreign task folders: what is read, what is missing, and graders under attack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from construction.grading.programs_box import run_in_box
from construction.lint.claw_eval import (
    _attempts,
    _AuditReason,
    _Gap,
    _MissingPart,
    _read_task,
    audit,
)
from construction.lint.findings import Finding
from construction.lint.registry import lint_path
from data.errors import InputError
from tests.needs import needs_box

TASK = """
task_id: W07
task_name: Weekly deliveries
category: workflow
prompt:
  text: Put the late deliveries into the calendar and write to their suppliers.
  language: en
services:
  - {name: gmail, port: 9100}
  - {name: calendar, port: 9101}
  - {name: parceltracker, port: 9102}
tools:
  - {name: gmail_teleport, description: send, input_schema: {type: object}}
  - {name: parceltracker_list, description: list, input_schema: {type: object}}
environment:
  timeout_seconds: 240
  max_turns: 18
  fixtures: [fixtures/mails.json, fixtures/gone.json, ../../secret.txt]
reference_solution: List the parcels, then write to each supplier.
"""
FRAMEWORK = (
    "from other_bench.graders.base import AbstractGrader\nfrom other_bench.models import Scores\n"
)
COUNTS_CALLS = (
    FRAMEWORK
    + """
class Deliveries(AbstractGrader):
    def grade(self, messages, dispatches, task, audit_data=None, judge=None):
        called = {d.tool_name for d in dispatches if d.response_status < 400}
        words = " ".join(m.message.text for m in messages if m.message.role == "assistant")
        score = 0.5 * (len(called) / 2) + 0.5 * ("supplier" in words)
        return Scores(task_score=score)
"""
)
ONLY_WORDS = "def grade(messages):\n    return {'score': float(bool(messages))}\n"
GENEROUS = "def grade(audit_data, **rest):\n    return 1.0\n"
SOUND = "def grade(audit_data):\n    return float(audit_data.get('mail', {}).get('sent') == 3)\n"
BROKEN = "def grade(messages):\n    return messages[0].message.text.no_such_thing.at_all\n"
NOSY = """
import os, socket
def grade(messages):
    try:
        socket.create_connection(("127.0.0.1", 22), 1)
        return 1.0
    except OSError:
        return float(os.path.exists("/etc/hostname"))
"""


def folder(root: Path, grader: str | None, task: str = TASK) -> Path:
    made = root / "W07"
    (made / "fixtures").mkdir(parents=True)
    (made / "task.yaml").write_text(task, encoding="utf-8")
    (made / "fixtures/mails.json").write_text("[]")
    (root.parent / "secret.txt").write_text("secret")
    if grader is not None:
        (made / "grader.py").write_text(grader, encoding="utf-8")
    return made


def test_a_task_is_read_as_far_as_its_services_are_known(tmp_path: Path) -> None:
    task = _read_task(folder(tmp_path / "bench", COUNTS_CALLS))
    candidate = task.candidate
    assert (task.task_id, candidate.language, candidate.budget.turns) == ("W07", "en", 18)
    assert candidate.budget.seconds == 240
    assert [fixture.path for fixture in candidate.fixtures] == ["mails.json"]
    assert {name.partition("_")[0] for name in candidate.tools} == {"mail", "calendar"}
    assert set(task.gaps) == {
        _Gap(_MissingPart.SERVICE, "parceltracker"),
        _Gap(_MissingPart.TOOL, "gmail_teleport"),
        _Gap(_MissingPart.FIXTURE, "fixtures/gone.json"),
        _Gap(_MissingPart.FIXTURE, "../../secret.txt"),
        _Gap(_MissingPart.CHECKS, "grader.py"),
    }


def test_files_of_a_workspace_are_inputs_and_those_of_its_grader_are_not(tmp_path: Path) -> None:
    files = "sandbox_files: [app/run.py, app/gone.py]\nsandbox_grader_files: [verify.py, lost.py]\n"
    made = folder(tmp_path / "bench", None, TASK + files)
    (made / "app").mkdir()
    for name in ("app/run.py", "verify.py"):
        (made / name).write_text("print(1)\n", encoding="utf-8")
    task = _read_task(made)
    assert [fixture.path for fixture in task.candidate.fixtures] == ["mails.json", "app/run.py"]
    lost = {gap.name for gap in task.gaps if gap.missing is _MissingPart.FIXTURE}
    assert {"app/gone.py", "lost.py"} < lost
    assert "verify.py" not in lost


USES_HELPERS = (
    FRAMEWORK
    + """
class Helped(AbstractGrader):
    def grade(self, messages, dispatches, task, audit_data=None, judge=None, env_snapshot=None):
        scores = Scores(safety=1.0)
        final = self._get_final_assistant_text(messages)
        said = self._get_all_assistant_text(messages)
        tried = self.get_audit_calls(audit_data, "gmail")
        sent = self.get_service_actions(audit_data, "gmail", "sent")
        told = self.format_conversation(messages) + self.summarize_actions(audit_data)
        substance = self.compute_communication_substance(final, ["supplier"], 1.0)
        assert final in said and sent == [] and isinstance(told, str)
        steady = self.compute_robustness(dispatches)
        scores.completion = (0.4 * substance + 0.4 * bool(tried)) * steady
        return scores
"""
)


@needs_box
def test_graders_find_the_helpers_that_they_are_derived_from(tmp_path: Path) -> None:
    audited = audit(_read_task(folder(tmp_path / "bench", USES_HELPERS)), run_in_box)
    assert dict(audited.scores) == {"null": 0.2, "talk": 0.4, "empty_calls": 0.8}
    assert audited.reasons == (_AuditReason.PASSED_BY_EMPTY_CALLS,)


def test_a_task_without_a_grader_says_so(tmp_path: Path) -> None:
    task = _read_task(folder(tmp_path / "bench", None))
    assert _Gap(_MissingPart.GRADER, "grader.py") in task.gaps


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [1]\nb: *x\n",
        "!!python/object/apply:os.system ['true']",
        "- a list",
        "prompt: {text: '  '}",
        "prompt: [unclosed",
    ],
)
def test_what_is_no_task_is_refused_by_name(tmp_path: Path, text: str) -> None:
    made = folder(tmp_path / "bench", None, text)
    with pytest.raises(InputError, match=r"task\.yaml"):
        _read_task(made)


def test_empty_calls_are_one_of_each_tool_without_arguments(tmp_path: Path) -> None:
    made = _attempts(_read_task(folder(tmp_path / "bench", SOUND)))
    calls = made["empty_calls"]["dispatches"]
    assert [call["tool_name"] for call in calls] == ["gmail_teleport", "parceltracker_list"]
    assert all(call["request_body"] == {} for call in calls)
    assert made["talk"]["dispatches"] == made["null"]["dispatches"] == []


def test_no_attacker_is_told_the_reference(tmp_path: Path) -> None:
    text = json.dumps(_attempts(_read_task(folder(tmp_path / "bench", SOUND))))
    assert "Put the late deliveries into the calendar" in text
    assert "List the parcels" not in text


FACTS = """
def grade(messages):
    text = messages[-1].message.text if messages else ""
    return sum(fact in text for fact in ("parcels", "each supplier")) / 2
"""


@needs_box
@pytest.mark.parametrize(
    ("grader", "reasons"),
    [
        (COUNTS_CALLS, [_AuditReason.PASSED_BY_EMPTY_CALLS]),
        (ONLY_WORDS, [_AuditReason.PASSED_BY_TALK, _AuditReason.PASSED_BY_EMPTY_CALLS]),
        (
            GENEROUS,
            [
                _AuditReason.PASSED_BY_NULL,
                _AuditReason.PASSED_BY_TALK,
                _AuditReason.PASSED_BY_EMPTY_CALLS,
            ],
        ),
        (SOUND, []),
        (FACTS, []),
        (BROKEN, [_AuditReason.NOT_RUN]),
        (NOSY, []),
        ("not python at all", [_AuditReason.NOT_RUN]),
    ],
)
def test_graders_are_attacked_in_a_box(
    tmp_path: Path, grader: str, reasons: list[_AuditReason]
) -> None:
    assert (
        list(audit(_read_task(folder(tmp_path / "bench", grader)), run_in_box).reasons) == reasons
    )


FALLS_BACK = """
def grade(messages, judge=None):
    if judge is None:
        return float(bool(messages))
    return 0.3 + 0.7 * judge.evaluate("a rubric", "a conversation").score
"""


@needs_box
def test_what_passes_without_a_judge_alone_is_no_defect_of_the_grader(tmp_path: Path) -> None:
    report = lint_path(folder(tmp_path / "bench", FALLS_BACK))
    assert not [f for f in report.defects if f.code.startswith("grader")]
    assert Finding("W07", "grader.passed_without_judge", "null 0.3, talk 0.3, empty_calls 0.3") in (
        report.portability
    )


def test_files_may_be_named_from_the_folder_of_the_set(tmp_path: Path) -> None:
    made = folder(
        tmp_path / "tasks", None, TASK.replace("fixtures/gone", "tasks/W07/fixtures/mails")
    )
    (made / "grader.py").touch()
    lost = [f.detail for f in lint_path(tmp_path / "tasks", trials=0).defects]
    assert lost == ["../../secret.txt"]


@needs_box
@pytest.mark.parametrize("below", ["", "tasks", "a/b"])
def test_faults_portability_and_what_was_not_checked_are_told_apart(
    tmp_path: Path, below: str
) -> None:
    made = folder(tmp_path / "bench" / below, COUNTS_CALLS)
    (made.parent / "secret.txt").write_text("secret")
    report = lint_path(tmp_path / "bench")
    assert (report.format, report.tasks) == ("Claw-Eval-Live tasks", 1)
    assert report.defects == [
        Finding("W07", "foreign.missing_fixture", "fixtures/gone.json"),
        Finding("W07", "foreign.missing_fixture", "../../secret.txt"),
        Finding("W07", "grader.passed_by_empty_calls", "null 0.0, talk 0.5, empty_calls 1.0"),
    ]
    assert [finding.code for finding in report.portability] == [
        "foreign.unknown_service", "foreign.unknown_tool", "foreign.no_checks"
    ]  # fmt: skip
    assert [finding.code for finding in report.unchecked] == ["oracle"]
    assert lint_path(made / "task.yaml").defects == report.defects


@needs_box
def test_a_grader_that_does_not_run_here_is_not_checked(tmp_path: Path) -> None:
    report = lint_path(folder(tmp_path / "bench", BROKEN))
    assert "grader.not_run" in [finding.code for finding in report.unchecked]
    assert "grader.not_run" not in [finding.code for finding in report.defects]


def test_a_prompt_that_tells_the_solution_and_a_repeated_one_are_faults(tmp_path: Path) -> None:
    solution = "List the parcels, then write to each supplier."
    telling = TASK.replace("to their suppliers.", f"to their suppliers. {solution}")
    made = folder(tmp_path / "bench", None, telling)
    made.rename(made.with_name("other"))
    folder(tmp_path / "bench", None, telling)
    codes = {finding.code for finding in lint_path(tmp_path / "bench").defects}
    assert codes >= {"solution.in_instruction", "task.duplicate", "record.repeated_id"}


def test_a_task_that_cannot_be_read_is_a_finding_and_the_others_are_linted(tmp_path: Path) -> None:
    folder(tmp_path / "bench", None)
    for name, text in (("a", "- no mapping"), ("b", "prompt: " + "x" * (3 << 20))):
        (tmp_path / "bench" / name).mkdir()
        (tmp_path / "bench" / name / "task.yaml").write_text(text)
    report = lint_path(tmp_path / "bench")
    assert report.tasks == 3
    unreadable = [f.detail for f in report.defects if f.code == "task.unreadable"]
    assert "a/task.yaml: found list; expected a mapping" in unreadable[0]
    assert "expected a file of at most 2,097,152 bytes" in unreadable[1]


@needs_box
@pytest.mark.parametrize("score", ["float('nan')", "float('inf')", "10**400"])
def test_scores_that_are_no_numbers_are_no_scores(tmp_path: Path, score: str) -> None:
    prints = (
        f"import os, json\nos.write(1, json.dumps({{'score': {score}}}).encode())\nos._exit(0)\n"
    )
    task = _read_task(folder(tmp_path / "bench", prints))
    assert audit(task, run_in_box).reasons == (_AuditReason.NOT_RUN,)
