"""Task folders in the form of Claw-Eval and Claw-Eval-Live.

reader.py   a folder (task.yaml, fixtures, tools, grader.py) as a candidate, and what is missing
driver.py   the program in the box that calls the grader
known_services.toml   names of services there and here

`audit` attacks a grader with nothing, talk alone, and talk with one empty call of each tool. It is
a program of somebody else's: it runs in a box of its own, without network and without a judge. What
an attacker says is what an agent could say that knows nothing: the task in its own words, and that
it is done. The reference solution is no part of it; a grader that accepts a right answer from
whoever knows it is not at fault for that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

from construction.grading.attacks import DONE
from construction.grading.combine import PASS_THRESHOLD
from construction.grading.programs import Program, Run
from construction.grading.spec import EMPTY_CALLS, NULL, TALK
from construction.lint.claw_eval.reader import GRADER, ForeignTask, read_task
from construction.lint.claw_eval.reader import Missing as Reason
from construction.lint.findings import (
    Finding,
    Missing,
    Report,
    Trials,
    repeated,
    unread,
    words_of,
)
from construction.sandbox.sandbox import bubblewrap
from data.canonical import digest
from data.errors import InputError

_DRIVER = Path(__file__).with_name("driver.py")
_MAX_BYTES = 2 << 20
_SECONDS = 30.0  # for an attempt
_SCORE = "score.json"
# Attempts have folders of their own in one box, and none waits for another that hangs.
_COMMAND = f"""for name in {{names}}; do
  (cd $name; timeout {_SECONDS:.0f} python3 ../driver.py < attempt.json > out && mv out {_SCORE})
done"""


class AuditReason(StrEnum):
    """What is wrong with a foreign grader; renaming one is a breaking change."""

    PASSED_BY_NULL = "grader.passed_by_null"
    PASSED_BY_TALK = "grader.passed_by_talk_only"
    PASSED_BY_EMPTY_CALLS = "grader.passed_by_empty_calls"
    WITHOUT_JUDGE = "grader.passed_without_judge"  # by what it does where no judge is there
    NOT_RUN = "grader.not_run"  # it ended with an error, took too long, or returned no score


_REASONS = {
    NULL: AuditReason.PASSED_BY_NULL,
    TALK: AuditReason.PASSED_BY_TALK,
    EMPTY_CALLS: AuditReason.PASSED_BY_EMPTY_CALLS,
}


@dataclass(frozen=True, slots=True)
class _Audited:
    """The score of each attack (None: the grader did not return one), and what follows.

    A judge is stood in for by one that gives nothing: what passes then passes every judge.
    """

    task_id: str
    scores: Mapping[str, float | None] = field(default_factory=dict)
    reasons: tuple[AuditReason, ...] = ()


def audit(task: ForeignTask, run: Run, threshold: float = PASS_THRESHOLD) -> _Audited:
    """Attack the grader of one task; `run` has a sandbox for it."""
    path = task.folder / GRADER
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_BYTES:
        return _Audited(task.task_id, {}, (AuditReason.NOT_RUN,))
    tried = _attempts(task)
    files = {"driver.py": _DRIVER.read_bytes()}
    for name, attempt in tried.items():
        files[f"{name}/grader.py"] = path.read_bytes()
        files[f"{name}/attempt.json"] = json.dumps(attempt).encode()
    wanted = {name: f"{name}/{_SCORE}" for name in tried}
    ran = run(Program(files, _COMMAND.format(names=" ".join(tried)), _SECONDS * len(tried),
                      wanted=tuple(wanted.values())))  # fmt: skip
    printed = {name: ran.files.get(score, b"") for name, score in wanted.items()}
    scores = {name: _score(text, "score") for name, text in printed.items()}
    reasons = [
        _REASONS[name] for name, score in scores.items() if score is not None and score >= threshold
    ]
    alone = [_score(text, "without_judge") for text in printed.values()]
    if not reasons and any(score is not None and score >= threshold for score in alone):
        reasons.append(AuditReason.WITHOUT_JUDGE)
    if None in scores.values():
        reasons.append(AuditReason.NOT_RUN)
    return _Audited(task.task_id, scores, tuple(reasons))


def _score(printed: bytes, name: str) -> float | None:
    try:
        score = float(json.loads(printed)[name])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
    return score if math.isfinite(score) else None


def _attempts(task: ForeignTask) -> dict[str, dict[str, Any]]:
    """What each attack hands in, in the words of the framework: messages, dispatches, audit."""
    talk = [_message("user", task.prompt), _message("assistant", f"{task.prompt}\n{DONE}")]
    calls = [
        {
            "tool_name": name,
            "request_body": {},
            "response_status": 200,
            "response_body": {},
            "endpoint_url": "",
        }
        for name in task.tools
    ]
    described = {"task_id": task.task_id, "prompt": {"text": task.prompt}}
    nothing: dict[str, Any] = {"messages": [], "dispatches": [], "audit_data": {}}
    return {
        NULL: {**nothing, "task": described},
        TALK: {**nothing, "messages": talk, "task": described},
        EMPTY_CALLS: {
            "messages": talk,
            "dispatches": calls,
            "audit_data": _audit(task),
            "task": described,
        },
    }


def _message(role: str, text: str) -> dict[str, Any]:
    body = {"role": role, "content": [{"type": "text", "text": text}], "text": text}
    return {"message": body, "role": role, "content": text, "text": text}


def _audit(task: ForeignTask) -> dict[str, Any]:
    """The log of each service: its tools, called once without arguments."""
    logs: dict[str, Any] = {}
    for name in task.tools:
        log = logs.setdefault(name.partition("_")[0], {"calls": []})
        log["calls"].append({"endpoint": name, "request_body": {}, "response_status": 200})
    return logs


def lint(folders: Sequence[Path], root: Path, trials: Trials) -> Report:
    """The faults of task folders below `root`; graders are attacked without a judge, as far as
    `trials` go.
    """
    report, tasks = Report("Claw-Eval-Live tasks", len(folders)), list[ForeignTask]()
    for folder in folders:
        try:
            tasks.append(read_task(folder, root))
        except InputError as error:
            report.defects.append(Finding(folder.name, "task.unreadable", str(error)))
        except OSError as error:
            report.unchecked.append(unread(folder.name, error))
    ids = [(task.task_id, task.task_id) for task in tasks]
    report.defects += repeated(ids, "record.repeated_id", "the id")
    report.defects += repeated(map(_request, tasks), "task.duplicate", "the prompt and files")
    missing = Missing()
    for task in tasks:
        _gaps(task, report, missing)
        if task.reference and words_of(task.reference) in words_of(task.prompt):
            what = "the prompt contains the reference solution"
            report.defects.append(Finding(task.task_id, "solution.in_instruction", what))
    missing.settle(report)
    for task in sorted(tasks, key=lambda each: digest(each.task_id)):
        _attack(task, report, trials)
    report.unchecked += trials.left_out("grader")
    what = "services and a judge are not available, so no reference solutions were run"
    report.unchecked.append(Finding("", "oracle", what))
    return report


def _request(task: ForeignTask) -> tuple[str, str]:
    files = sorted(fixture.sha256 for fixture in task.candidate.fixtures)
    return task.task_id, "\n".join((words_of(task.prompt), *files))


def _gaps(task: ForeignTask, report: Report, missing: Missing) -> None:
    missing.there |= {_kind(fixture.path) for fixture in task.candidate.fixtures}
    for gap in task.gaps:
        finding = Finding(task.task_id, str(gap.missing), gap.name)
        if gap.missing is Reason.FIXTURE:
            missing.lost.append((_kind(gap.name), finding))
        elif gap.missing is Reason.GRADER:
            missing.lost.append((gap.name, finding))
        else:
            report.portability.append(finding)
        if gap.missing is Reason.CHECKS:
            missing.there.add(gap.name)


def _kind(name: str) -> str:
    """What is left out of a copy together: files of one ending."""
    path = PurePosixPath(name)
    return f"*{path.suffix}" if path.suffix else path.name


def _attack(task: ForeignTask, report: Report, trials: Trials) -> None:
    from construction.grading.programs_box import ProgramNotRun, run_in_box

    if not any(gap.missing is Reason.CHECKS for gap in task.gaps):
        return
    if bubblewrap() is None:
        report.unchecked.append(
            Finding(task.task_id, "grader", "no sandbox on this machine (bubblewrap)")
        )
        return
    if not trials.allow():
        return
    try:
        audited = audit(task, run_in_box)
    except ProgramNotRun as error:
        report.unchecked.append(Finding(task.task_id, "grader", str(error)))
        return
    scores = ", ".join(f"{name} {score}" for name, score in audited.scores.items())
    lists = {AuditReason.NOT_RUN: report.unchecked, AuditReason.WITHOUT_JUDGE: report.portability}
    for reason in audited.reasons:
        lists.get(reason, report.defects).append(Finding(task.task_id, str(reason), scores))
