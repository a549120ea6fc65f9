"""A plugin of pytest that writes down what the tests of the graders let them grade.

Loaded with `-p` before the tests are: they then import the recording functions. Each case is a line
of JSON, a task and a submission; folders of output files are copied as they are at that moment.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from construction.grading import actions, grade, hard_rules
from construction.grading.answers import parts as answers
from construction.grading.spec import TaskSpec
from data.contracts.attempt import Submission

FOLDER = "BENCHMINT_RECORDED_CASES"
LONGEST = 20_000  # characters of an answer; megabytes are tested where the graders are
_seen: set[str] = set()


def _record(spec: TaskSpec, submission: Submission) -> None:
    folder = Path(os.environ[FOLDER])
    if submission.outputs is not None and Path(submission.outputs).is_dir():
        copy = folder / f"outputs-{len(_seen)}"
        shutil.copytree(submission.outputs, copy, symlinks=True, ignore=_special)
        submission = Submission(**{**vars_of(submission), "outputs": str(copy)})
    task = {**asdict(spec), "fixtures": [{"sha256": name} for name in spec.inputs]}
    task["rubric"] = {"criteria": task.pop("criteria")}
    try:
        line = json.dumps({"task": task, "submission": asdict(submission)})
    except TypeError:  # a value that no JSON can hold
        return
    if line not in _seen and len(submission.answer or "") <= LONGEST:
        _seen.add(line)
        with (folder / "cases.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def vars_of(submission: Submission) -> dict[str, Any]:
    return {name: getattr(submission, name) for name in submission.__slots__}


def _special(folder: str, names: list[str]) -> list[str]:
    """Pipes and devices, which cannot be copied."""
    paths = {name: Path(folder) / name for name in names}
    return [
        name
        for name, path in paths.items()
        if not (path.is_symlink() or path.is_file() or path.is_dir())
    ]


def _recording(
    function: Callable[..., Any], submission: Callable[[Any], Submission]
) -> Callable[..., Any]:
    def recorded(spec: TaskSpec, given: Any, *rest: Any, **more: Any) -> Any:
        _record(spec, submission(given))
        return function(spec, given, *rest, **more)

    return recorded


def _delivered(outputs: Path | None) -> Submission:
    return Submission(outputs=None if outputs is None else str(outputs))


def _same(submission: Submission) -> Submission:
    return submission


if FOLDER in os.environ:
    answers.grade_answers = _recording(
        answers.grade_answers, lambda answer: Submission(answer=answer)
    )
    actions.grade_actions = _recording(actions.grade_actions, _same)
    grade.progress = _recording(grade.progress, _same)
    grade._reached = _recording(grade._reached, _same)
    hard_rules.grade_files = _recording(hard_rules.grade_files, _delivered)
    grade.grade = _recording(grade.grade, _same)
