"""The self-containment gate: the judgement of rules, a model or people as a verdict."""

from __future__ import annotations

from construction.judging.contracts import Containment, ContainmentReason, SelfContainmentReason
from construction.judging.rules.containment import ContainmentConfig, verdict
from construction.judging.rules.containment_limits import GROUNDS
from data.contracts import Gate, Status, Verdict

NAME = "self_containment"


def decide(judgement: Containment, _: ContainmentConfig) -> Verdict:
    """The verdict that follows from a judgement; whoever judged, the verdict is the same."""
    observed, limit = str(judgement.reason_code), str(ContainmentReason.SELF_CONTAINED)
    measures = {"confidence": round(judgement.confidence, 9)}
    if judgement.self_contained:
        return Verdict.passing(NAME, observed, limit, measures)
    reason = SelfContainmentReason(f"{NAME}.{observed}")
    return Verdict(NAME, Status.FAILED, str(reason), observed, limit, measures)


GATE = Gate(
    name=NAME,
    stage="self_containment",
    section="judging.containment",
    meaning="Is it whole, one task, and checkable? By rules, a model or people.",
    config=ContainmentConfig,
    reasons=SelfContainmentReason,
    measure=verdict,
    limits=tuple(ground.limit for ground in GROUNDS),
    decide=decide,
    replayable=False,
)
