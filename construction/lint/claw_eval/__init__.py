"""Task folders in the form of Claw-Eval-Live.

reader.py   a folder (task.yaml, fixtures, tools, grader.py) as a candidate, and what is missing
audit.py    its grader, attacked in a sandbox without a judge
driver.py   the program in the box that calls the grader
known_services.toml   names of services there and here
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from construction.lint.claw_eval.audit import AuditReason, audit
from construction.lint.claw_eval.reader import ForeignTask, Missing, read_task
from construction.lint.findings import Finding, Report, repeated, words_of
from construction.sandbox.box import bubblewrap
from data.errors import InputError

_FAULTS = (Missing.FIXTURE, Missing.GRADER)  # the other gaps are only ours: what is not known here


def lint(folders: Sequence[Path]) -> Report:
    """The faults of task folders, whose graders are attacked without a judge."""
    report, tasks = Report("tasks of Claw-Eval-Live", len(folders)), list[ForeignTask]()
    for folder in folders:
        try:
            tasks.append(read_task(folder))
        except InputError as error:
            report.defects.append(Finding(folder.name, "task.unreadable", str(error)))
    ids = [(task.task_id, task.task_id) for task in tasks]
    report.defects += repeated(ids, "record.repeated_id", "the id")
    wanted = [(task.task_id, words_of(task.prompt)) for task in tasks]
    report.defects += repeated(wanted, "task.duplicate", "the prompt")
    for task in tasks:
        for gap in task.gaps:
            kept = report.defects if gap.missing in _FAULTS else report.portability
            kept.append(Finding(task.task_id, str(gap.missing), gap.name))
        if task.reference and words_of(task.reference) in words_of(task.prompt):
            what = "the prompt holds the reference solution"
            report.defects.append(Finding(task.task_id, "solution.in_instruction", what))
        _attack(task, report)
    what = "services and a judge are not here: no reference solution was carried out"
    report.unchecked.append(Finding("", "oracle", what))
    return report


def _attack(task: ForeignTask, report: Report) -> None:
    from construction.grading.programs_box import ProgramNotRun, run_in_box

    if not any(gap.missing is Missing.CHECKS for gap in task.gaps):
        return
    if bubblewrap() is None:
        report.unchecked.append(Finding(task.task_id, "grader", "no sandbox here (bubblewrap)"))
        return
    try:
        audited = audit(task, run_in_box)
    except ProgramNotRun as error:
        report.unchecked.append(Finding(task.task_id, "grader", str(error)))
        return
    scores = ", ".join(f"{name} {score}" for name, score in audited.scores.items())
    for reason in audited.reasons:
        kept = report.unchecked if reason is AuditReason.NOT_RUN else report.defects
        kept.append(Finding(task.task_id, str(reason), scores))
