"""Consensus routing: unanimous answers are admitted, others wait (DataClawBench, stage 3).

Several annotators, models or people, answer each item. Where all annotators of a round agree, the
item is admitted with their answer. Otherwise it waits in the review queue for the next round, in
which the same or other annotators answer again. A review decision endorses an item at any time.
Pure: rounds are values, and their order does not change the outcome.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from data.contracts import LedgerRow, Outcome, StageConfig, StageKind, StageTally
from data.errors import InputError
from data.ledger import tally
from data.text.folding import fold_spaces

STAGE, UNIT = "consensus", "candidate"
RULES = "rules"


class ConsensusReason(StrEnum):
    """Why an item is not admitted; a queued item may be admitted in a later round."""

    DISPUTED = "consensus.disputed"  # queued: the last round was not unanimous
    TOO_FEW = "consensus.too_few"  # queued: not enough annotators in the last round
    GIVEN_UP = "consensus.given_up"  # out: no agreement after the last round that is allowed
    REVIEWED_OUT = "consensus.reviewed_out"  # out: rejected by the review
    REPEATED = "consensus.repeated"  # errored: one annotator gave two answers in a round


class ConsensusConfig(StageConfig):
    """Who decides instead of a single judge: `rules` (or `executor`), and models by name.

    Without annotators, a single judge decides. A round needs `min_annotators` answers to count;
    each release may add one round, up to `max_rounds`. People decide with `benchmint agents
    review`.
    """

    annotators: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    min_annotators: Annotated[int, Field(ge=2)] = 2
    max_rounds: Annotated[int, Field(ge=1)] = 3

    @model_validator(mode="after")
    def _enough(self) -> ConsensusConfig:
        if len(set(self.annotators)) != len(self.annotators):
            raise ValueError("annotators must differ")
        if self.annotators and len(self.annotators) < self.min_annotators:
            raise ValueError("annotators must be at least as many as min_annotators")
        return self


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one annotator answered about one item in one round (from 1)."""

    item_id: str
    annotator: str
    answer: str
    round: int = 1


@dataclass(frozen=True, slots=True)
class _RoundCount:
    """The funnel of one round: items answered in it, admitted by it, and open after it."""

    round: int
    answered: int
    admitted: int
    open: int


@dataclass(frozen=True, slots=True)
class Endorsed:
    """An admitted item: its answer, the round that agreed on it (0: the review), and by whom."""

    item_id: str
    answer: str
    round: int
    annotators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Queued:
    """An item that waits, with the answers of its last round by annotator."""

    item_id: str
    round: int
    answers: tuple[tuple[str, str], ...]
    reason: ConsensusReason


@dataclass(frozen=True, slots=True)
class Routed:
    """The outcome of all items, sorted by id; the funnel by round; the stage's ledger and tally."""

    admitted: tuple[Endorsed, ...]
    queue: tuple[_Queued, ...]
    funnel: tuple[_RoundCount, ...]
    ledger: tuple[LedgerRow, ...]
    tally: StageTally


def _plain_answer(answer: str) -> str:
    """The form in which answers are compared, without upper case and extra white space."""
    return fold_spaces(answer.casefold())


def route(
    items: Sequence[str],
    opinions: Iterable[Opinion],
    config: ConsensusConfig,
    *,
    decided: Mapping[str, str | None] | None = None,
    same: Callable[[str], str] = _plain_answer,
) -> Routed:
    """Route every item. `decided` are answers of the review, None where it rejected the item.

    Answers agree if `same` makes them equal; the first annotator's wording is admitted. Raises
    InputError for a repeated item, an opinion about an unknown item, or a round below 1.
    """
    rounds = _by_item(items, opinions)
    decisions, ledger = decided or {}, []
    outcomes: list[_ItemOutcome] = []
    for item_id in sorted(items):
        outcome = _outcome(item_id, rounds[item_id], config, same)
        if item_id in decisions:
            answer = decisions[item_id]
            outcome = Endorsed(item_id, answer or "", 0, ("review",))
            outcome = ConsensusReason.REVIEWED_OUT if answer is None else outcome
        ledger.append(_row(item_id, outcome, rounds[item_id], same))
        outcomes.append(outcome)
    closed = tally(STAGE, StageKind.FILTER, UNIT, items, ledger)
    admitted = tuple(one for one in outcomes if isinstance(one, Endorsed))
    queue = tuple(one for one in outcomes if isinstance(one, _Queued))
    funnel = _funnel(rounds, admitted, decisions)
    return Routed(admitted, queue, funnel, tuple(ledger), closed)


_Rounds = dict[int, list[Opinion]]
_ItemOutcome = Endorsed | _Queued | ConsensusReason


def _by_item(items: Sequence[str], opinions: Iterable[Opinion]) -> Mapping[str, _Rounds]:
    if len(set(items)) != len(items):
        raise InputError("items", "a duplicate ID", "one entry per item", "Merge them.")
    rounds: dict[str, _Rounds] = {item_id: defaultdict(list) for item_id in items}
    for opinion in opinions:
        if opinion.item_id not in rounds or opinion.round < 1:
            is_low = opinion.round < 1
            problem = "a round below 1" if is_low else "an opinion about an unknown item"
            raise InputError("opinions", problem, "opinions on the items", "Check the IDs.")
        rounds[opinion.item_id][opinion.round].append(opinion)
    return rounds


def _outcome(
    item_id: str, rounds: _Rounds, config: ConsensusConfig, same: Callable[[str], str]
) -> _ItemOutcome:
    """The first unanimous round admits the item; without one the last round decides its state."""
    held = sorted(rounds)
    for number in held:
        voices = sorted(rounds[number], key=lambda opinion: (opinion.annotator, opinion.answer))
        names = tuple(opinion.annotator for opinion in voices)
        if len(set(names)) != len(names):
            return ConsensusReason.REPEATED
        answers = {same(opinion.answer) for opinion in voices}
        if len(names) >= config.min_annotators and len(answers) == 1:
            return Endorsed(item_id, voices[0].answer, number, names)
    last = sorted(rounds[held[-1]], key=lambda opinion: opinion.annotator) if held else []
    last_answers = tuple((opinion.annotator, opinion.answer) for opinion in last)
    if len(last_answers) < config.min_annotators:
        return _Queued(item_id, held[-1] if held else 0, last_answers, ConsensusReason.TOO_FEW)
    if held[-1] >= config.max_rounds:
        return ConsensusReason.GIVEN_UP
    return _Queued(item_id, held[-1], last_answers, ConsensusReason.DISPUTED)


def _row(
    item_id: str, outcome: _ItemOutcome, rounds: _Rounds, same: Callable[[str], str]
) -> LedgerRow:
    """The ledger row of an item, with the round that decided it as stratum (0: review or none)."""
    last = max(rounds, default=0)
    if isinstance(outcome, Endorsed):
        return LedgerRow(STAGE, UNIT, item_id, Outcome.KEPT, stratum=f"round_{outcome.round}")
    reason = outcome.reason if isinstance(outcome, _Queued) else outcome
    errored = reason is ConsensusReason.REPEATED
    if reason is ConsensusReason.REVIEWED_OUT:
        last = 0
    return LedgerRow(
        STAGE,
        UNIT,
        item_id,
        Outcome.ERRORED if errored else Outcome.REJECTED,
        reason=reason,
        observed=len({same(one.answer) for one in rounds.get(last, ())}) or None,
        limit=1,
        stratum=f"round_{last}",
    )


def _funnel(
    rounds: Mapping[str, _Rounds], admitted: Sequence[Endorsed], decided: Mapping[str, str | None]
) -> tuple[_RoundCount, ...]:
    """One count per round with any answer; round 0 is the review."""
    by_round = Counter(one.round for one in admitted)
    answered = Counter(number for held in rounds.values() for number in held)
    answered[0] = sum(item_id in rounds for item_id in decided)
    remaining, counts = len(rounds), []
    for number in sorted(number for number in answered if answered[number]):
        remaining -= by_round[number]
        counts.append(_RoundCount(number, answered[number], by_round[number], remaining))
    return tuple(counts)
