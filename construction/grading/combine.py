"""From graded parts to one score: weighted mean, passed or undecided, efficiency.

Formulas: overall and the threshold after Claw-Eval-Live, `ee`, `gpr` and `tpe` after DataClawBench.
Imports the standard library and `data.contracts.attempt` alone: the exported bundle takes it along.
"""

from __future__ import annotations

from collections.abc import Sequence

from data.contracts.attempt import Progress, Score, ScorePart

_GRADER = "benchmint-grading/3"  # raised when a grader's verdicts change
PASS_THRESHOLD = 0.8  # reproduces the published all-pass and all-fail tasks of Claw-Eval-Live
_DECAY = 0.9  # of a milestone's worth, per step after the gold number of steps
_DIGITS = 9  # scores that decide something are rounded first


def combine(
    task_id: str,
    parts: Sequence[ScorePart],
    *,
    steps: int,
    gold_steps: int,
    progress: Progress = Progress(),  # noqa: B008 (frozen, so one instance serves all calls)
    threshold: float = PASS_THRESHOLD,
) -> Score:
    """The score of one attempt. `steps` and `gold_steps` count model inferences.

    A task passes if its overall score reaches `threshold` and each required part is 1.
    """
    answers = [part.value for part in parts if part.evidence == "accuracy" and part.weight > 0]
    judged = [value for value in answers if value is not None]
    passed = is_passed(parts, threshold)
    return Score(
        task_id=task_id,
        grader=_GRADER,
        parts=tuple(parts),
        overall=_overall(parts),
        passed=passed,
        acc=round(sum(judged) / len(judged), _DIGITS) if answers and judged == answers else None,
        ee=round(gold_steps / steps, _DIGITS) if passed and steps and gold_steps else None,
        deterministic_share=deterministic_share(parts),
        progress=Progress() if passed else progress,
    )


def _overall(parts: Sequence[ScorePart]) -> float | None:
    """The weighted mean of the parts; None without weight or while one of them is unjudged."""
    weighted = [part for part in parts if part.weight > 0]
    if not weighted or any(part.value is None for part in weighted):
        return None
    return _mean(weighted, 0.0)


def is_passed(parts: Sequence[ScorePart], threshold: float = PASS_THRESHOLD) -> bool | None:
    """Passed or not, where no value of the unjudged parts could change it; else None."""
    required = [part for part in parts if part.required]
    if any(part.value is not None and part.value < 1 for part in required):
        return False
    weighted = [part for part in parts if part.weight > 0]
    if not weighted:
        return None if any(part.value is None for part in required) or not required else True
    if _mean(weighted, 1.0) < threshold:
        return False
    undecided = any(part.value is None for part in required)
    return None if undecided or _mean(weighted, 0.0) < threshold else True


def deterministic_share(parts: Sequence[ScorePart]) -> float:
    """The share of weight in parts that need no judge, from 0 to 1; 0 without weight."""
    total = sum(part.weight for part in parts)
    needs_no_judge = sum(part.weight for part in parts if part.deterministic)
    return round(needs_no_judge / total, _DIGITS) if total else 0.0


def deterministic_score(parts: Sequence[ScorePart]) -> float:
    """The weighted mean of the deterministic parts, from 0 to 1; 0 without any."""
    settled = [part for part in parts if part.deterministic and part.weight > 0]
    return _mean(settled, 0.0) if settled else 0.0


def timely_progress(reached_at: Sequence[int], gold_steps: int) -> float | None:
    """TPE: the mean of DECAY^max(t - N, 0) over reached milestones, None without any.

    `reached_at` are the steps (from 1) in which milestones were first reached.
    """
    if not reached_at:
        return None
    worth = [_DECAY ** max(step - gold_steps, 0) for step in reached_at]
    return round(sum(worth) / len(worth), _DIGITS)


def _mean(parts: Sequence[ScorePart], unjudged: float) -> float:
    """The weighted mean, with the value `unjudged` for parts that have none."""
    total = sum(part.weight for part in parts)
    summed = sum(part.weight * (unjudged if part.value is None else part.value) for part in parts)
    return round(summed / total, _DIGITS)
