"""The self-containment gate: the judgement of rules, a model or people as a verdict.

The rules answer the codebook's questions from phrases and counts. The sentences of a request are
read once (`signals`): those that want something are counted, and so is what prevents each.
The first broken limit in the codebook's order gives the reason (EnterpriseClawBench, app. B.1). An
agent that asked back makes the limits stricter.
"""

from __future__ import annotations

from construction.judging.contracts import (
    Case,
    Containment,
    ContainmentReason,
    SelfContainmentReason,
)
from construction.judging.rules.containment_limits import GROUNDS
from construction.judging.rules.rewriting import rewrite
from construction.judging.signals import Signals, measure
from data.contracts import Count, Gate, Scalar, Share, StageConfig, Status, Verdict
from data.contracts.gate import breaks

_OPENING = 2  # sentences in which a reference to an earlier talk makes the rest hang in the air


class ContainmentConfig(StageConfig):
    """Limits of the judge; shares are of the demands of a request, 0 to 1."""

    min_words: Count = 2
    max_addressed_share: Share = 0.5
    max_account: Count = 0
    max_live_share: Share = 0.34
    max_missing_files: Count = 0
    max_pointing_share: Share = 0.34
    max_leaning_share: Share = 0.34
    max_mentions_share: Share = 0.15
    max_reacting_share: Share = 0.5
    min_specific_words: Count = 25
    untold_words: Count = 10  # with fewer words beside the demands, "should we" asks insiders
    pasted_words: Count = 60  # words beside the demands from which material counts as given
    brought_words: Count = 20  # the same of a text that the request announces
    asked_back_factor: Share = 0.5  # times every limit, if the agent asked back


def judge_containment(case: Case, config: ContainmentConfig) -> Containment:
    """Judge one case; the rewritten prompt is given where it is self-contained."""
    judgement = verdict(case, config)
    if not judgement.self_contained:
        return judgement
    return judgement.model_copy(update={"rewritten_prompt": rewrite(case)})


def verdict(case: Case, config: ContainmentConfig) -> Containment:
    """As `judge_containment`, without a rewritten prompt: that is most of the work."""
    seen = counts(measure(case), config)
    for ground in GROUNDS:
        limit = ground.limit
        if breaks(limit.bound, limit.compared(seen), limit.allowed(config)):
            return Containment(
                self_contained=False,
                reason_code=ContainmentReason(str(limit.reason).partition(".")[2]),
                brief_reason=ground.sentence.format(**seen),
                confidence=round(0.6 + 0.35 * ground.strength(seen), 9),
            )
    return Containment(
        self_contained=True,
        reason_code=ContainmentReason.SELF_CONTAINED,
        brief_reason=f"{seen['demands']} demands, and nothing that a newcomer lacks",
        confidence=0.7 if case.asked_back or not seen["demands"] else 0.9,
    )


def counts(signals: Signals, config: ContainmentConfig) -> dict[str, Scalar]:
    """What the limits compare. Files, code, or much text beside the wishes are material at hand.

    `ease` multiplies the limits on live, pointing and leaning wishes.
    """
    opening, wishes = signals.opening, signals.wishes
    has_files = signals.has_files
    at_hand = _is_at_hand(signals, config)
    leaning = wishes.leaning
    if not has_files:
        is_short = wishes.words_beside <= config.untold_words
        leaning += wishes.assuming + (is_short and wishes.insiders)
        leaning += 0 if at_hand else wishes.dangling
    return {
        "words": signals.words,
        "sentences": signals.sentences,
        "telling": signals.sentences - signals.idle,
        "demands": wishes.count,
        "orders": wishes.orders,
        "addressed": signals.addressed,
        # With material at hand it is the material that tells how work stands.
        "standing": 0 if at_hand else wishes.standing,
        "exchange": signals.exchange,
        "account": signals.account,
        "live": wishes.live,
        "missing_files": signals.missing_files,
        "elsewhere": 0 if has_files else signals.elsewhere,
        "pointing": 0 if at_hand else wishes.pointing,
        "leaning": leaning,
        "more_mentions": signals.mentions - 1,
        "opens_midway": opening.begins_midway(_OPENING, dangling=not at_hand),
        "later": signals.later_parts,
        "reacting": signals.reacting,
        "unrelated": signals.unrelated,
        "vague": wishes.vague,
        "unjudged": wishes.unjudged,
        "at_hand": at_hand,
        "ease": config.asked_back_factor if signals.asked_back else 1.0,
    }


def _is_at_hand(signals: Signals, config: ContainmentConfig) -> bool:
    """Does the request bring files, code, output of a program, or much text beside the wishes?"""
    wishes = signals.wishes
    is_pasted = wishes.words_beside >= config.pasted_words
    is_brought = wishes.brought >= config.brought_words
    return signals.has_files or signals.has_material or is_brought or is_pasted


NAME = "self_containment"


def decide(judgement: Containment, _: ContainmentConfig) -> Verdict:
    """The verdict that follows from a judgement, no matter who judged."""
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
    meaning="Is it complete, one task, and checkable? Rules, a model or people decide.",
    config=ContainmentConfig,
    reasons=SelfContainmentReason,
    measure=verdict,
    limits=tuple(ground.limit for ground in GROUNDS),
    decide=decide,
    replayable=False,
)
