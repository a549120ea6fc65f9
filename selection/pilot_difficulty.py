"""Difficulty from pilot runs, which replaces what a lane's rule says of a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from data.contracts import Candidate
from selection.scores import ScoreMatrix

PILOT_RULE = "mean score of {n} pilots: easy from 2/3, medium from 1/3, else hard"
_LEAST_PILOTS = 2


def with_pilot_difficulty(
    candidates: Sequence[Candidate], pilots: ScoreMatrix | None
) -> list[Candidate]:
    """The candidates, those with scores of at least two pilots by their mean score."""
    if pilots is None:
        return list(candidates)
    by_task = dict(zip(pilots.items, pilots.scores, strict=True))
    result: list[Candidate] = []
    for candidate in candidates:
        row = by_task.get(candidate.task_id)
        known = row[~np.isnan(row)] if row is not None else np.empty(0)
        changes = (
            {
                "difficulty": _level(float(known.mean())),
                "difficulty_rule": PILOT_RULE.format(n=len(known)),
            }
            if len(known) >= _LEAST_PILOTS
            else {}
        )
        result.append(candidate.model_copy(update=changes))
    return result


def _level(mean: float) -> Literal["easy", "medium", "hard"]:
    if mean >= 2 / 3:
        return "easy"
    return "medium" if mean >= 1 / 3 else "hard"
