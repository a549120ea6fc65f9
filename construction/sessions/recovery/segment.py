"""Finds where one task ends and the next begins: applies the scoring table to every gap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from construction.sessions.recovery import lexicon
from construction.sessions.recovery.cues import CUES, Cue, Gap, cohesions
from construction.sessions.recovery.exchanges import Exchange
from construction.sessions.recovery.features import (
    Answer,
    RecoveryConfig,
    Speech,
    read_answer,
    read_speech,
)
from data.contracts import CutReason, Scalar
from data.text.lexicon import has_any

_PRIOR_PAUSES = 2
_LONGEST = 2.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about the gap before exchange `position` (from 1).

    `reason` is the kind of cut, None without a cut. `evidence` holds the score, the cohesion, the
    pause in seconds and the names of the cues that held, strongest first.
    """

    position: int
    reason: CutReason | None
    evidence: Mapping[str, Scalar]


@dataclass(slots=True)
class _InstanceSoFar:
    """Names and topic terms of the instance so far; `waiting` for material that is announced."""

    names: set[str] = field(default_factory=set)
    terms: set[str] = field(default_factory=set)
    waiting: bool = False

    def add(self, speech: Speech, answer: Answer) -> None:
        """Add an exchange; it may announce material, or end the wait for it."""
        self.names |= speech.names | answer.names
        self.terms |= speech.terms | answer.terms
        has_ended = answer.wrote or has_any(speech.plain, lexicon.SENT_ALL)
        self.waiting = has_any(speech.plain, lexicon.WAITS) or (self.waiting and not has_ended)


def decide(
    exchanges: Sequence[Exchange], asks_back: Sequence[bool], config: RecoveryConfig
) -> list[Decision]:
    """One decision for each gap between neighbouring exchanges, in order.

    `asks_back[i]`: the agent ended exchange i with a question (`features.asks_back`).
    """
    if len(exchanges) < 2:
        return []
    answers = [read_answer(ex, back, config) for ex, back in zip(exchanges, asks_back, strict=True)]
    speeches = [read_speech(exchange, config) for exchange in exchanges]
    requests = _requests(speeches)
    coherence = cohesions([s.terms | a.terms for s, a in zip(speeches, answers, strict=True)])
    pauses = [_pause_seconds(a, b) for a, b in pairwise(exchanges)]
    usual = usual_pause(pauses, config)
    instance = _InstanceSoFar()
    decisions: list[Decision] = []
    for position in range(1, len(exchanges)):
        before, answer = speeches[position - 1], answers[position - 1]
        instance.add(before, answer)
        gap = Gap(
            before=before,
            answer=answer,
            next=speeches[position],
            request=requests[position],
            after_reset=exchanges[position].after_reset,
            waiting=instance.waiting,
            names=instance.names,
            terms=instance.terms,
            next_files=answers[position].files,
            coherence=coherence[position - 1],
            pause=pause_share(pauses[position - 1], usual, config),
        )
        decision = judge(position, gap, pauses[position - 1], config)
        decisions.append(decision)
        if decision.reason is not None:
            instance = _InstanceSoFar()
    return decisions


def judge(position: int, gap: Gap, pause: float | None, config: RecoveryConfig) -> Decision:
    """Sum the cues that hold; the reason is the kind of cut with the most evidence."""
    held = [(cue, weight) for cue in CUES if (weight := cue.weight * cue.value(gap))]
    held.sort(key=lambda pair: -abs(pair[1]))
    score = round(sum(weight for _, weight in held), 9)
    evidence: dict[str, Scalar] = {
        "score": score,
        "cohesion": round(gap.coherence.value, 9),
        "pause_seconds": None if pause is None else round(pause, 3),
        "cues": " ".join(cue.name for cue, _ in held),
    }
    return Decision(position, _reason(held) if score >= config.threshold else None, evidence)


def _reason(held: Sequence[tuple[Cue, float]]) -> CutReason:
    totals: dict[CutReason, float] = {}
    for cue, weight in held:
        if cue.reason is not None:
            totals[cue.reason] = totals.get(cue.reason, 0.0) + weight
    return max(totals, key=lambda reason: (totals[reason], reason), default=CutReason.TOPIC_SHIFT)


def _requests(speeches: Sequence[Speech]) -> list[Speech]:
    """For each position the turn with the request, which may follow bare attachments."""
    requests = list(speeches)
    for position in range(len(requests) - 2, -1, -1):
        if requests[position].bare and not requests[position + 1].bare:
            requests[position] = requests[position + 1]
    return requests


def _pause_seconds(before: Exchange, after: Exchange) -> float | None:
    """Seconds from the last turn before the gap to the first after it; None if not recorded."""
    if after.turn.at is None or before.ended_at is None:
        return None
    return max(0.0, after.turn.at - before.ended_at)


def usual_pause(pauses: Sequence[float | None], config: RecoveryConfig) -> float:
    """The session's median pause in seconds, with the configured pause as two more observations."""
    known = [pause for pause in pauses if pause is not None]
    known += [config.usual_pause_seconds] * _PRIOR_PAUSES
    return max(median(known), 1.0)


def pause_share(pause: float | None, usual: float, config: RecoveryConfig) -> float:
    """A pause relative to the session's usual one: 0 if usual, 1 if long, at most 2; log scale."""
    if pause is None or pause <= usual:
        return 0.0
    return min(_LONGEST, math.log(pause / usual) / math.log(config.long_pause_factor))
