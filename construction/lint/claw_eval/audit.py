"""Foreign graders under attack: nothing, talk alone, and talk with one empty call of each tool.

A grader is a program of somebody else's: it runs in a box of its own, without
network and without a judge. What an attacker says is what an agent could say that knows nothing:
the task in its own words, and that it is done. The reference solution is no part of it; a grader
that accepts a right answer from whoever knows it is not at fault for that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from construction.grading.attacks import DONE
from construction.grading.combine import PASS_THRESHOLD
from construction.grading.programs import Program, Run
from construction.grading.spec import EMPTY_CALLS, NULL, TALK
from construction.lint.claw_eval.reader import GRADER, ForeignTask

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
class Audited:
    """The score of each attack (None: the grader did not return one), and what follows.

    A judge is stood in for by one that gives nothing: what passes then passes every judge.
    """

    task_id: str
    scores: Mapping[str, float | None] = field(default_factory=dict)
    reasons: tuple[AuditReason, ...] = ()


def audit(task: ForeignTask, run: Run, threshold: float = PASS_THRESHOLD) -> Audited:
    """Attack the grader of one task; `run` has a sandbox for it."""
    path = task.folder / GRADER
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_BYTES:
        return Audited(task.task_id, {}, (AuditReason.NOT_RUN,))
    tried = attempts(task)
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
    return Audited(task.task_id, scores, tuple(reasons))


def _score(printed: bytes, name: str) -> float | None:
    try:
        score = float(json.loads(printed)[name])
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
    return score if math.isfinite(score) else None


def attempts(task: ForeignTask) -> dict[str, dict[str, Any]]:
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
