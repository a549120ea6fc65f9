"""The gate of the lane as the audit shows it: is a candidate a fair task, and if not, why?

The checks in `gates` are made one after the other, the cheap ones first; the first that finds
something decides, and is what is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from construction.analytics import steps as s
from construction.analytics.config import AnalyticsRecipe
from construction.analytics.contracts import STAGE, AnalyticsReason
from data.contracts import Bound, Gate, Limit

if TYPE_CHECKING:
    from construction.analytics.candidates import Judged


@dataclass(frozen=True, slots=True)
class _Fairness:
    """`fault`: the reason that a check gives, empty if none does; the steps and what they read."""

    fault: str
    steps: int
    tables: int


def fairness_of(judged: Judged | None, fault: AnalyticsReason | None) -> _Fairness:
    """What is recorded of a candidate; None: it was no step programme at all."""
    program = judged.draft.program if judged is not None else ()
    return _Fairness(str(fault or ""), len(program), len(s.tables_of(program)))


def _none(reason: AnalyticsReason) -> Limit:
    """The check that has this reason may find nothing."""
    return Limit(
        reason.value.replace(".", "_"),
        Bound.MAX,
        "faults",
        reason.meaning,
        reason,
        value=lambda measures: int(measures["fault"] == str(reason)),
        at=0,
        movable=False,
    )


FAIR: Gate[_Fairness, AnalyticsRecipe] = Gate(
    name="fair_task",
    stage=STAGE,
    section="analytics",
    meaning="Does it have exactly one answer, which takes the files and every one of its steps?",
    config=AnalyticsRecipe,
    reasons=AnalyticsReason,
    measure=fairness_of,
    limits=tuple(_none(reason) for reason in AnalyticsReason),
)
