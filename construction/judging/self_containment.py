"""The self-containment gate: the judgement of rules, a model or people as a verdict."""

from __future__ import annotations

from construction.judging.contracts import Containment, ContainmentReason
from construction.judging.rules.containment import ContainmentConfig, verdict
from data.contracts import Gate, GateReason, Status, Verdict

NAME = "self_containment"


class SelfContainmentReason(GateReason):
    """`ContainmentReason` as reasons of the gate."""

    CONVERSATION_ONLY = (
        "self_containment.conversation_only",
        "Nothing is asked for but conversation.",
    )
    DEPENDS_ON_LIVE_SYSTEM = (
        "self_containment.depends_on_live_system",
        "It needs an account, a system or a moment.",
    )
    MISSING_INPUT = "self_containment.missing_input", "Material that it speaks of is not released."
    MISSING_CONTEXT = "self_containment.missing_context", "It needs what was said before."
    MULTI_TASK = "self_containment.multi_task", "It asks for different pieces of work."
    AMBIGUOUS_TASK = "self_containment.ambiguous_task", "It leaves open what is wanted."
    NOT_VERIFIABLE = "self_containment.not_verifiable", "No third person could judge the result."


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
    limits=(),
    decide=decide,
    replayable=False,
)
