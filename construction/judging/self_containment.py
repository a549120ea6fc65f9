"""The self-containment gate: the judgement of a model, people, or facts as a verdict.

What facts do not tell, and nobody has read, is `needs_model`: it is not released, unless the recipe
says so, and then the release says that nobody judged it.
"""

from __future__ import annotations

from construction.judging.baseline.screen import screen
from construction.judging.contracts import ContainmentReason, Screened, SelfContainmentReason
from data.contracts import Bound, Gate, Limit, StageConfig, Status, Verdict

NAME = "self_containment"
NOBODY = "nobody"  # the judge of a task that is released unread; its release counts them


class ScreeningConfig(StageConfig):
    """`release_unjudged`: is a task released that neither a model nor a person has read?"""

    release_unjudged: bool = False


def decide(screened: Screened, config: ScreeningConfig) -> Verdict:
    """The verdict that follows from a judgement, no matter who judged."""
    observed, limit = str(screened.reason_code), str(ContainmentReason.SELF_CONTAINED)
    measures = {"confidence": round(screened.confidence, 9)}
    if screened.self_contained:
        return Verdict.passing(NAME, observed, limit, measures)
    reason = SelfContainmentReason(f"{NAME}.{observed}")
    is_unread = reason is SelfContainmentReason.NEEDS_MODEL and config.release_unjudged
    status = Status.UNVERIFIED if is_unread else Status.FAILED
    return Verdict(NAME, status, str(reason), observed, limit, measures, missing=screened.missing)


GATE = Gate(
    name=NAME,
    stage=NAME,
    section="judging",
    meaning="Is it complete, one task, and checkable? A model or people decide, else facts.",
    config=ScreeningConfig,
    reasons=SelfContainmentReason,
    measure=screen,
    limits=(
        Limit(
            "unread",
            Bound.MAX,
            "tasks",
            "A model or a person has read it, or facts alone show that it is a task.",
            SelfContainmentReason.NEEDS_MODEL,
            at=0,
            movable=False,
            policy=("release_unjudged", False),
        ),
        Limit(
            "grounds",
            Bound.MAX,
            "grounds",
            "Who read it found no ground against handing it to a newcomer.",
            None,
            at=0,
            movable=False,
        ),
    ),
    decide=decide,
    replayable=False,
)
