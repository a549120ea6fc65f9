"""The grade of one attempt: answers, actions, files and rubric, weighed in one way.

Imports nothing that the exported bundle does not have; files are looked at only where a task has
hard rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from construction.grading.actions import CHANGES, grade_actions
from construction.grading.answers.parts import grade_answers
from construction.grading.combine import PASS_THRESHOLD, combine
from construction.grading.findings import grade_findings, without_findings
from construction.grading.milestones import progress
from construction.grading.programs import Run
from construction.grading.spec import TaskSpec
from construction.grading.state import (
    grade_state,
    read_outputs,
    state_checks,
    without_state_checks,
)
from data.contracts.attempt import Score, ScorePart, Submission

_FileGrader = Callable[[TaskSpec, Path | None], Sequence[ScorePart]]
# Of an attempt that makes none of the wanted changes: a right report alone is not the work.
MOST_UNDONE = 0.2
RUBRIC_SHARE = 0.2  # of a task that has gold answers too: right answers pass it by themselves


def grade(
    spec: TaskSpec,
    submission: Submission,
    *,
    threshold: float = PASS_THRESHOLD,
    file_grader: _FileGrader | None = None,
    run: Run | None = None,
) -> Score:
    """The score of a submission; parts that need a judge stay unjudged.

    `file_grader` looks at the output files in place of `files.grade_files`; `run` runs delivered
    programs, without it the checks that need it stay unjudged. Never raises for anything that an
    agent made, except what `run` raises; raises ValueError for a gold value that is not of its
    type.
    """
    outputs = None if submission.outputs is None else Path(submission.outputs)
    parts = _weighed(
        grade_answers(spec, submission.answer),
        (
            *grade_actions(without_state_checks(without_findings(spec)), submission),
            *_state(spec, outputs, run),
            *grade_findings(spec, outputs, run),
        ),
        criteria(spec),
    )
    score = combine(
        spec.task_id,
        (*parts, *_files(spec, outputs, file_grader)),
        steps=submission.steps,
        gold_steps=len(spec.steps),
        progress=progress(spec, submission),
        threshold=threshold,
    )
    if score.overall is not None and _is_left_undone(spec, score.parts):
        return replace(score, overall=min(score.overall, MOST_UNDONE))
    return score


def _is_left_undone(spec: TaskSpec, parts: Sequence[ScorePart]) -> bool:
    """Did an attempt make none of the wanted changes, whatever it reports or changes besides?"""
    wanted = {f"check.{check.check_id}" for check in spec.checks if check.kind in CHANGES}
    values = [part.value for part in parts if part.name in wanted]
    return bool(values) and not any(values)


def _weighed(
    answers: Sequence[ScorePart], checks: Sequence[ScorePart], rubric: Sequence[ScorePart]
) -> tuple[ScorePart, ...]:
    """All parts with their weights in the whole task; this is the one rule for mixing them.

    Checks carry the weights that they state. What they leave goes to the answers where there are
    any, less `RUBRIC_SHARE` if the task has a rubric too: with the default threshold, right answers
    then decide the task, and no judge can turn wrong ones. Without answers the rubric carries what
    the checks leave. Within answers and within the rubric the shares stay as they are.
    """
    rest = max(0.0, 1.0 - sum(part.weight for part in checks))
    for_rubric = 0.0 if not rubric else min(RUBRIC_SHARE, rest) if answers else rest
    return (
        *_shared(answers, rest - for_rubric),
        *checks,
        *_shared(rubric, for_rubric),
    )


def _shared(parts: Sequence[ScorePart], share: float) -> list[ScorePart]:
    total = sum(part.weight for part in parts)
    return [replace(part, weight=part.weight / total * share if total else 0.0) for part in parts]


def criteria(spec: TaskSpec) -> tuple[ScorePart, ...]:
    """The criteria of the rubric as unjudged parts, `rubric.<dimension>`, numbered if repeated."""
    seen: Counter[str] = Counter()
    parts = []
    for criterion in spec.criteria:
        seen[criterion.dimension] += 1
        number = seen[criterion.dimension]
        suffix = f".{number}" if number > 1 else ""
        parts.append(
            ScorePart(
                name=f"rubric.{criterion.dimension}{suffix}",
                evidence="semantic",
                weight=criterion.weight,
                value=None,
                deterministic=False,
            )
        )
    return tuple(parts)


def _state(spec: TaskSpec, outputs: Path | None, run: Run | None) -> Sequence[ScorePart]:
    if not state_checks(spec):
        return ()
    return grade_state(spec, read_outputs(spec, outputs), run)


def _files(
    spec: TaskSpec, outputs: Path | None, file_grader: _FileGrader | None
) -> Sequence[ScorePart]:
    if not spec.rules:
        return ()
    if file_grader is not None:
        return file_grader(spec, outputs)
    # The libraries that open files are needed for tasks with files alone.
    from construction.grading.hard_rules import grade_files

    return grade_files(spec, outputs)
