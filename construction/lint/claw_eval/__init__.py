"""Task folders in the form of Claw-Eval and Claw-Eval-Live.

reader.py   a folder (task.yaml, fixtures, tools, grader.py) as a candidate, and what is missing
audit.py    its grader, attacked in a sandbox without a judge
driver.py   the program in the box that calls the grader
known_services.toml   names of services there and here
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from construction.lint.claw_eval.audit import AuditReason, audit
from construction.lint.claw_eval.reader import ForeignTask, read_task
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
from construction.sandbox.box import bubblewrap
from data.canonical import digest
from data.errors import InputError


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
