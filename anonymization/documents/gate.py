"""The masking gate: could every file of a task be masked, or was it approved by a person?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymization.documents.contracts import DocumentConfig, DocumentReport, Refusal
from data.contracts import Bound, Gate, Limit


@dataclass(frozen=True, slots=True)
class MaskedFiles:
    """The files of one instance: how many, how many spans in them were masked, and how many were
    refused; `reason` is that of the first refused file. What was said in it counts as a file if
    that is refused.
    """

    files: int
    spans: int
    refused: int
    reason: Refusal | None


def measure(reports: Sequence[DocumentReport], said: Refusal | None = None) -> MaskedFiles:
    """Count what became of the files of one instance, and of what was `said` in it."""
    refusals = [report.refusal for report in reports if report.refusal is not None]
    refusals += [said] if said is not None else []
    return MaskedFiles(
        files=len(reports) + (said is not None),
        spans=sum(len(report.rows) for report in reports),
        refused=len(refusals),
        reason=refusals[0] if refusals else None,
    )


GATE = Gate(
    name="masking",
    stage="masking",
    section="masking.documents",
    meaning="Can every file in the task be masked, or has a person approved it?",
    config=DocumentConfig,
    reasons=Refusal,
    measure=measure,
    limits=(
        Limit(
            "refused files",
            Bound.MAX,
            "files",
            "Every file in the task can be masked or has been approved.",
            None,
            lambda seen: seen["refused"],
            at=0,
            movable=False,
        ),
    ),
)
