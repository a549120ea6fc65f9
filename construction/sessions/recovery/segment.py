"""Where one task ends and the next begins: the scoring table applied to every gap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from construction.sessions.recovery import lexicon
from construction.sessions.recovery.cohesion import cohesions
from construction.sessions.recovery.config import RecoveryConfig
from construction.sessions.recovery.cues import CUES, Cue, Gap
from construction.sessions.recovery.exchanges import Exchange
from construction.sessions.recovery.features import Answer, Speech, hear, read_answer
from data.contracts import CutReason, Scalar
from data.text.lexicon import has_any

_PRIOR_PAUSES = 2
_LONGEST = 2.0


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about the gap before exchange `place` (from 1), and why.

    `evidence` holds the score, the cohesion, the pause in seconds and the names of the cues
    that held, strongest first. `reason` is set exactly if a cut was made.
    """

    place: int
    reason: CutReason | None
    evidence: Mapping[str, Scalar]


def decide(
    exchanges: Sequence[Exchange], asked: Sequence[bool], config: RecoveryConfig
) -> list[Decision]:
    """One decision for each gap between neighbouring exchanges, in order.

    `asked[i]`: did the agent end exchange i by asking back (`features.asks_back`)?
    """
    if len(exchanges) < 2:
        return []
    answers = [read_answer(ex, back, config) for ex, back in zip(exchanges, asked, strict=True)]
    speeches = [hear(exchange, config) for exchange in exchanges]
    requests = _requests(speeches)
    coherence = cohesions([s.terms | a.terms for s, a in zip(speeches, answers, strict=True)])
    pauses = [_pause_seconds(a, b) for a, b in pairwise(exchanges)]
    usual = usual_pause(pauses, config)
    names: set[str] = set()
    seen: set[str] = set()
    waiting = False
    decisions: list[Decision] = []
    for place in range(1, len(exchanges)):
        before, answer = speeches[place - 1], answers[place - 1]
        names |= before.names | answer.names
        seen |= before.terms | answer.terms
        waiting = _waits(waiting, before, answer)
        gap = Gap(
            before=before,
            answer=answer,
            next=speeches[place],
            request=requests[place],
            after_reset=exchanges[place].after_reset,
            waiting=waiting,
            names=names,
            terms=seen,
            next_files=answers[place].files,
            coherence=coherence[place - 1],
            pause=pause_share(pauses[place - 1], usual, config),
        )
        decision = judge(place, gap, pauses[place - 1], config)
        decisions.append(decision)
        if decision.reason is not None:
            names, seen, waiting = set(), set(), False
    return decisions


def judge(place: int, gap: Gap, pause: float | None, config: RecoveryConfig) -> Decision:
    """Add up the cues that hold; the reason is the kind of cut with most evidence for it."""
    held = [(cue, weight) for cue in CUES if (weight := cue.weight * cue.value(gap))]
    held.sort(key=lambda pair: -abs(pair[1]))
    score = round(sum(weight for _, weight in held), 9)
    evidence: dict[str, Scalar] = {
        "score": score,
        "cohesion": round(gap.coherence.value, 9),
        "pause_seconds": None if pause is None else round(pause, 3),
        "cues": " ".join(cue.name for cue, _ in held),
    }
    return Decision(place, _reason(held) if score >= config.threshold else None, evidence)


def _reason(held: Sequence[tuple[Cue, float]]) -> CutReason:
    totals: dict[CutReason, float] = {}
    for cue, weight in held:
        if cue.reason is not None:
            totals[cue.reason] = totals.get(cue.reason, 0.0) + weight
    return max(totals, key=lambda reason: (totals[reason], reason), default=CutReason.TOPIC_SHIFT)


def _waits(waiting: bool, speech: Speech, answer: Answer) -> bool:
    """Is more material announced that has not all come yet?"""
    if has_any(speech.plain, lexicon.WAITS):
        return True
    return waiting and not answer.wrote and not has_any(speech.plain, lexicon.SENT_ALL)


def _requests(speeches: Sequence[Speech]) -> list[Speech]:
    """For each place the speech that says what is wanted: attachments may come before it."""
    found = list(speeches)
    for place in range(len(found) - 2, -1, -1):
        if found[place].bare and not found[place + 1].bare:
            found[place] = found[place + 1]
    return found


def _pause_seconds(before: Exchange, after: Exchange) -> float | None:
    """Seconds from the last turn before the gap to the first after it; None without times."""
    if after.turn.at is None or before.ended_at is None:
        return None
    return max(0.0, after.turn.at - before.ended_at)


def usual_pause(pauses: Sequence[float | None], config: RecoveryConfig) -> float:
    """The median pause of the session in seconds, drawn towards the configured one if few."""
    known = [pause for pause in pauses if pause is not None]
    known += [config.usual_pause_seconds] * _PRIOR_PAUSES
    return max(median(known), 1.0)


def pause_share(pause: float | None, usual: float, config: RecoveryConfig) -> float:
    """How long a pause is by the session's own habit, from 0 (usual) to 1, on a log scale."""
    if pause is None or pause <= usual:
        return 0.0
    return min(_LONGEST, math.log(pause / usual) / math.log(config.long_pause_factor))
