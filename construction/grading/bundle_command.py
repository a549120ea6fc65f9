"""The command of the exported graders: a task's specification and what was delivered, to a score.

    python -I grader --spec spec.json --work FOLDER [--record record.json] [--reward reward.json]
    python -I grader --cases < cases.jsonl > scores.jsonl

Imports nothing that the exported bundle does not have.
"""

from __future__ import annotations

import argparse
import json
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from construction.grading.combine import PASS_THRESHOLD, deterministic_score
from construction.grading.grade import grade
from construction.grading.programs import run_here
from construction.grading.spec import TaskSpec, read_spec, spec_of
from data.contracts.attempt import AuditRow, Call, Score, StateChange, Submission

OUTPUTS = "outputs"
ANSWER = "answer.txt"
_MAX_ANSWER = 1 << 20  # bytes; of a longer answer the end is read, as the graders do


def answer_path(has_rules: bool) -> str:
    """Where an agent writes its answer, relative to its work folder.

    A task with rules for its files has the answer beside `outputs/`, so that the answer's own file
    is never taken for a file that the task asks for.
    """
    return ANSWER if has_rules else f"{OUTPUTS}/{ANSWER}"


def submission_of(row: Mapping[str, Any]) -> Submission:
    """A submission from its JSON form (`dataclasses.asdict`); absent fields are empty."""
    return Submission(
        answer=row.get("answer"),
        statements=tuple((int(step), str(text)) for step, text in row.get("statements", ())),
        calls=tuple(Call(**call) for call in row.get("calls", ())),
        audit=tuple(AuditRow(**item) for item in row.get("audit", ())),
        changes=tuple(StateChange(**item) for item in row.get("changes", ())),
        outputs=row.get("outputs"),
        steps=int(row.get("steps", 0)),
    )


def read_work(spec: TaskSpec, work: Path) -> Submission:
    """What an agent left in its work folder; links are not followed."""
    outputs = work / OUTPUTS
    is_folder = outputs.is_dir() and not outputs.is_symlink()
    answer = None if spec.rules or not is_folder else _end_of(outputs / ANSWER)
    if answer is None:
        answer = _end_of(work / ANSWER)
    return Submission(answer=answer, outputs=str(outputs) if is_folder else None)


def reward(score: Score) -> dict[str, float]:
    """The score as flat numbers. An undecided task earns 0, and `undecided` says so."""
    return {
        "reward": float(score.passed is True),
        "undecided": float(score.passed is None),
        "deterministic": deterministic_score(score.parts),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade one work folder, or a stream of cases."""
    parser = argparse.ArgumentParser(prog="grader", description="Grade an agent's deliverables.")
    parser.add_argument("--spec", type=Path, help="the task's specification (JSON)")
    parser.add_argument("--work", type=Path, help="the agent's work folder, containing outputs/")
    parser.add_argument("--record", type=Path, help="requests made to services (JSON)")
    parser.add_argument("--reward", type=Path, help="write the reward to this file (JSON)")
    parser.add_argument("--threshold", type=float, default=PASS_THRESHOLD)
    parser.add_argument(
        "--run",
        action="store_true",
        help="run delivered programs here; only in a container made for this",
    )
    parser.add_argument("--cases", action="store_true", help="cases from standard input")
    options = parser.parse_args(arguments)
    if options.cases:
        _grade_stream(options.threshold)
        return 0
    if options.spec is None or options.work is None:
        parser.error("--spec and --work are needed")
    spec = read_spec(options.spec)
    run = run_here if options.run else None
    if options.run and os.geteuid() == 0:
        options.spec.chmod(0o600)  # delivered programs run as another user, and must not read it
    submission = read_work(spec, options.work)
    if options.record is not None:
        record = submission_of(json.loads(options.record.read_text(encoding="utf-8")))
        submission = replace(submission, audit=record.audit, changes=record.changes)
    score = grade(spec, submission, threshold=options.threshold, run=run)
    release = json.loads(options.spec.read_text(encoding="utf-8")).get("release_digest")
    print(json.dumps({**asdict(score), "release_digest": release}))
    if options.reward is not None:
        options.reward.write_text(json.dumps(reward(score)), encoding="utf-8")
    return 0


def _grade_stream(threshold: float) -> None:
    """One score or `{"error": ...}` per line `{"task": ..., "submission": ...}`."""
    for line in sys.stdin:
        case = json.loads(line)
        try:
            spec = spec_of(case["task"])
            score = grade(spec, submission_of(case["submission"]), threshold=threshold)
            result = asdict(score)
        except ValueError as error:  # a gold value that is not of its type
            result = {"error": str(error)}
        print(json.dumps(result), flush=True)


def _end_of(path: Path) -> str | None:
    """The text of a regular file, or of its end; None if there is none."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            state = os.fstat(handle)
            if stat.S_ISREG(state.st_mode):
                file.seek(max(0, state.st_size - _MAX_ANSWER))
                return file.read(_MAX_ANSWER).decode("utf-8", "replace")
    return None
