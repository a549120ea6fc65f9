"""The parts of an attempt that only a judge can score, by a model: a verdict on each criterion.

A verdict counts only with evidence: passages that stand in what was delivered, or a page that was
shown (`verdicts`). A second request, which holds the criteria and these passages alone, says what
they show (`evidence`); the lower of the two verdicts stands.

What a round leaves open is asked again, about the open criteria alone and with other controls.
Where quotes talk the judge into controls again and again, the attempt is judged without the lines
in which they stand: then the verdict is the one on what else was delivered. A part that is open in
the end has no verdict but a reason; `PartVerdict.counted` says what it is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from construction.judging.calls.contracts import Usage
from construction.judging.contracts import (
    Asker,
    CriterionVerdict,
    Judged,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.model.asking import ask, require_answers
from construction.judging.model.attempt_case import (
    WORTH,
    AttemptCase,
    AttemptReason,
    JudgedAttempt,
    PartVerdict,
    Verdicts,
)
from construction.judging.model.evidence import (
    Claim,
    ClaimedAttempt,
    Readings,
    Shows,
    read_evidence,
)
from construction.judging.model.verdicts import Reading, attempt_stage
from data.randomness import Key, keyed_hash

_ROUNDS = 6  # how often a piece of an attempt is judged at most, while sentences persuade the judge
_TRIES = 2  # the same without such sentences
_MOST_CRITERIA = 12  # of one request: a reply to more would be cut off
_SHOWN: Mapping[Shows, CriterionVerdict] = {
    Shows.ALL: CriterionVerdict.MET,
    Shows.PART: CriterionVerdict.PARTLY,
    Shows.NOTHING: CriterionVerdict.NOT_MET,
}


@dataclass(frozen=True, slots=True)
class _Round:
    """What one round says of a piece: all parts that it was asked about, and what persuaded."""

    verdicts: Verdicts
    usage: Usage
    persuading: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Piece:
    """Some criteria of an attempt on their way to a verdict; `case` is what is asked next."""

    case: AttemptCase
    verdicts: dict[str, PartVerdict] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    suspected: frozenset[str] = frozenset()

    def take(self, made: _Round, number: int) -> bool:
        """Note a round, the first has number 0. Is there to be another one?"""
        self.verdicts.update(made.verdicts)
        self.usage += made.usage
        if made.persuading:
            self.case = self.case.without(made.persuading & self.suspected)
            self.suspected |= made.persuading
            return number + 1 < _ROUNDS
        criteria = self.case.criteria
        still_open = {p: text for p, text in criteria.items() if self.verdicts[p].verdict is None}
        self.case = replace(self.case, criteria=still_open)
        return bool(still_open) and number + 1 < _TRIES


def judge_attempts(
    cases: Sequence[AttemptCase], client: Asker, config: ModelStagesConfig, key: Key
) -> list[JudgedAttempt]:
    """The verdicts on each attempt, in order; the private `key` draws the controls.

    Raises UnansweredError where the model gave no reply to some request: no part is without a
    verdict for want of an answer.
    """
    pieces = [[_Piece(piece) for piece in case.pieces(_MOST_CRITERIA)] for case in cases]
    still_open = [piece for own in pieces for piece in own]
    for number in range(_ROUNDS):
        own_key = keyed_hash(key, "judge-round", str(number))
        made = _round([piece.case for piece in still_open], client, config, own_key)
        pairs = zip(still_open, made, strict=True)
        still_open = [piece for piece, result in pairs if piece.take(result, number)]
    return [
        JudgedAttempt(
            case.attempt_id,
            {part: seen for piece in own for part, seen in piece.verdicts.items()},
            sum(map(attrgetter("usage"), own), Usage()),
        )
        for case, own in zip(cases, pieces, strict=True)
    ]


def _round(
    cases: Sequence[AttemptCase], client: Asker, config: ModelStagesConfig, key: Key
) -> list[_Round]:
    """Both readings of each case."""
    first = require_answers(ask(attempt_stage(config, key), cases, client))
    claimed = [
        claims
        for case, result in zip(cases, first, strict=True)
        if result.value is not None
        and not result.value.controls_met
        and (claims := _claims(case, result.value.verdicts, config, key)).claims
    ]
    readings = require_answers(read_evidence(claimed, client, config))
    second = {result.item_id: result for result in readings}
    return [
        _settled(case, result, second.get(result.item_id))
        for case, result in zip(cases, first, strict=True)
    ]


def _claims(
    case: AttemptCase, verdicts: Verdicts, config: ModelStagesConfig, key: Key
) -> ClaimedAttempt:
    """What the second reading is asked: every verdict that is not the lowest."""
    claims = {}
    for part, seen in verdicts.items():
        if seen.verdict in (CriterionVerdict.MET, CriterionVerdict.PARTLY):
            page = None if seen.passages or seen.page is None else case.pages[seen.page - 1]
            texts = tuple(passage.shown(config.passage_chars) for passage in seen.passages)
            claims[part] = Claim(case.criteria[part], texts, page)
    return ClaimedAttempt(case.attempt_id, case.task, claims, key)


def _settled(case: AttemptCase, first: Judged[Reading], second: Judged[Readings] | None) -> _Round:
    """The lower of both readings by part; nothing where one of them cannot be used."""
    reading, usage = first.value, first.usage + (second.usage if second else Usage())

    def unusable(reason: str | None) -> Verdicts:
        return dict.fromkeys(case.criteria, PartVerdict(None, reason=reason))

    if reading is None:
        return _Round(unusable(first.reason), usage)
    if reading.controls_met:
        return _Round(unusable(JudgeReason.CONTROL_MET), usage, reading.persuading)
    if second is not None and second.value is None:
        return _Round(unusable(second.reason), usage)
    readings = second.value if second is not None and second.value is not None else {}
    persuading = frozenset(
        sentence
        for part, shows in readings.items()
        if shows is None
        for passage in reading.verdicts[part].passages
        for sentence in passage.sentences
    )
    made = {part: _lower(seen, part, readings) for part, seen in reading.verdicts.items()}
    return _Round(made, usage, persuading)


def _lower(seen: PartVerdict, part: str, readings: Readings) -> PartVerdict:
    if seen.verdict in (None, CriterionVerdict.NOT_MET):
        return seen
    if part not in readings:
        return replace(seen, verdict=None, reason=AttemptReason.NOT_READ)
    shows = readings[part]
    if shows is None:
        return replace(seen, verdict=None, reason=AttemptReason.TWIN_MET)
    lower = min(seen.verdict, _SHOWN[shows], key=WORTH.__getitem__)
    reason = {
        CriterionVerdict.MET: None,
        CriterionVerdict.PARTLY: AttemptReason.PARTLY_MET,
        CriterionVerdict.NOT_MET: AttemptReason.NOT_SHOWN,
    }[lower]
    return replace(seen, verdict=lower, reason=reason)
