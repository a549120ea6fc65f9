"""The parts of an attempt that only a judge can score, by a model: a verdict on each criterion.

A verdict counts only with evidence: passages that stand in what was delivered, or a page that was
shown. A second request says what these passages show, apart from the rest of what was delivered;
the lower of the two verdicts stands. Which criteria only the whole work can show is asked once for
a task, by a request that holds nothing delivered; for these the second reading sees the files too.

Controls are asked among the criteria (`attempt_case`): where a reply calls one met, none of its
verdicts counts, and the sentences that it quotes for it are said to persuade. What a round leaves
open is asked again, about the open criteria alone and with other controls. Where quotes talk the
judge into controls again and again, the attempt is judged without the lines in which they stand:
then the verdict is the one on what else was delivered. A part that is open in the end has no
verdict but a reason; `PartVerdict.counted` says what it is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field

from construction.judging.calls.contracts import Image, Usage
from construction.judging.contracts import (
    Answer,
    Asker,
    CriterionVerdict,
    Fault,
    Judged,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.evidence.shown import deal, tokens_of
from construction.judging.model.asking import Checked, Stage, ask, require_answers
from construction.judging.model.attempt_case import (
    WORTH,
    AttemptCase,
    AttemptReason,
    JudgedAttempt,
    PartVerdict,
    Passage,
    QuotedText,
    Shown,
    Verdicts,
    empty_claims,
    with_twins,
)
from construction.judging.model.prompt import Cleaner, cleaned, load_prompt
from data.randomness import Key, keyed_hash

EMPTY_CLAIMS = 2  # per request of the second reading
_ROUNDS = 6  # how often a piece of an attempt is judged at most, while sentences persuade the judge
_TRIES = 2  # the same without such sentences
_MOST_CRITERIA = 12  # of one request: a reply to more would be cut off
_PartName = Annotated[str, Field(max_length=120)]


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
    whole: frozenset[str] = frozenset()  # the parts that only the whole work shows

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
    _find_whole(still_open, client, config)
    for number in range(_ROUNDS):
        own_key = keyed_hash(key, "judge-round", str(number))
        made = _rounds(still_open, client, config, own_key)
        pairs = zip(still_open, made, strict=True)
        still_open = [piece for piece, result in pairs if piece.take(result, number)]
    return [
        JudgedAttempt(
            case.attempt_id,
            {part: seen for piece in own for part, seen in piece.verdicts.items()},
            sum((piece.usage for piece in own), Usage()),
        )
        for case, own in zip(cases, pieces, strict=True)
    ]


def _find_whole(pieces: Sequence[_Piece], client: Asker, config: ModelStagesConfig) -> None:
    """Note in each piece which of its criteria only the whole work shows; asked once for a task."""
    alike: dict[tuple[str, ...], list[_Piece]] = {}
    for piece in pieces:
        alike.setdefault((piece.case.task, *piece.case.criteria.values()), []).append(piece)
    firsts = [own[0].case for own in alike.values()]
    results = require_answers(ask(_scope_stage(config), firsts, client))
    for own, result in zip(alike.values(), results, strict=True):
        own[0].usage += result.usage
        for piece in own:
            piece.whole = frozenset(list(piece.case.criteria)[at] for at in result.value or ())


def _rounds(
    pieces: Sequence[_Piece], client: Asker, config: ModelStagesConfig, key: Key
) -> list[_Round]:
    """Both readings of each piece."""
    first = require_answers(ask(_first_stage(config, key), [p.case for p in pieces], client))
    claimed = [
        claims
        for piece, result in zip(pieces, first, strict=True)
        if result.value is not None and not result.value.controls_met
        for claims in _claims(piece, result.value.verdicts, config, key)
    ]
    second: dict[str, list[Judged[_Readings]]] = {}
    readings = require_answers(ask(_second_stage(config), claimed, client))
    for claims, result in zip(claimed, readings, strict=True):
        second.setdefault(claims.attempt_id, []).append(result)
    pairs = zip(pieces, first, strict=True)
    return [_settled(p.case, result, second.get(p.case.attempt_id, [])) for p, result in pairs]


def _claims(
    piece: _Piece, verdicts: Verdicts, config: ModelStagesConfig, key: Key
) -> Iterator[_Claims]:
    """What the second reading is asked: every verdict that is not the lowest.

    Criteria that the whole work shows are asked about twice: with their passages alone, where
    nothing stands that might persuade, and with the files.
    """
    case = piece.case
    claims: dict[str, _Claim] = {}
    for part, seen in verdicts.items():
        if seen.verdict in (CriterionVerdict.MET, CriterionVerdict.PARTLY):
            page = None if seen.passages or seen.page is None else case.pictures[seen.page - 1]
            texts = tuple(passage.shown(config.passage_chars) for passage in seen.passages)
            claims[part] = _Claim(case.criteria[part], texts, page)
    if claims:
        yield _Claims(case.attempt_id, case.task, claims, key)
    if wide := {part: claim for part, claim in claims.items() if part in piece.whole}:
        yield _Claims(case.attempt_id, case.task, wide, key, case)


def _settled(
    case: AttemptCase, first: Judged[_Reading], second: Sequence[Judged[_Readings]]
) -> _Round:
    """The lower of both readings by part; nothing where one of them cannot be used."""
    reading, usage = first.value, sum((result.usage for result in second), first.usage)
    reason: str | None = None
    if reading is None:
        reason = first.reason
    elif reading.controls_met:
        reason = JudgeReason.CONTROL_MET
    else:
        reason = next((result.reason for result in second if result.value is None), None)
    if reading is None or reason is not None:
        persuading = reading.persuading if reading and reading.controls_met else frozenset[str]()
        unusable = dict.fromkeys(case.criteria, PartVerdict(None, reason=reason))
        return _Round(unusable, usage, persuading)
    # What passages show; where the whole work was read too, what that shows. But passages must show
    # something by themselves: a text that persuades may stand in the work.
    readings: dict[str, Shows | None] = {}
    for part, shows in (pair for result in second for pair in (result.value or {}).items()):
        if readings.get(part, Shows.ALL) not in (None, Shows.NOTHING):
            readings[part] = shows
    twins_met = (reading.verdicts[part] for part, shows in readings.items() if shows is None)
    persuading = frozenset(s for seen in twins_met for p in seen.passages for s in p.sentences)
    made = {part: _lower(seen, part, readings) for part, seen in reading.verdicts.items()}
    return _Round(made, usage, persuading)


def _lower(seen: PartVerdict, part: str, readings: _Readings) -> PartVerdict:
    if seen.verdict in (None, CriterionVerdict.NOT_MET):
        return seen
    if part not in readings:
        return replace(seen, verdict=None, reason=AttemptReason.NOT_READ)
    shows = readings[part]
    if shows is None:
        return replace(seen, verdict=None, reason=AttemptReason.TWIN_MET)
    lower = min(seen.verdict, _SHOWN[shows], key=WORTH.__getitem__)
    return replace(seen, verdict=lower, reason=_REASONS[lower])


class _Scope(Answer):
    part: _PartName
    reason: Annotated[str, Field(max_length=300)]
    shown_by: Literal["place", "whole"]


class ScopeAnswer(Answer):
    """Where a judge has to look for each criterion."""

    criteria: Annotated[tuple[_Scope, ...], Field(min_length=1, max_length=40)]


def _scope_stage(config: ModelStagesConfig) -> Stage[AttemptCase, ScopeAnswer, tuple[int, ...]]:
    """Which criteria, by their place in the list, only the whole work shows."""

    def content(case: AttemptCase, cleaner: Cleaner) -> dict[str, Any]:
        return {
            "task": cleaner.text(case.task, config.request_chars, "task"),
            "criteria": [
                {"part": f"part-{at}", "criterion": cleaner.text(text, config.request_chars, "")}
                for at, text in enumerate(case.criteria.values(), 1)
            ],
        }

    def check(case: AttemptCase, answer: ScopeAnswer) -> Checked[tuple[int, ...]] | Fault:
        given = {entry.part: entry.shown_by for entry in answer.criteria}
        names = [f"part-{at}" for at in range(1, len(case.criteria) + 1)]
        if set(given) != set(names):
            return Fault(JudgeReason.DIMENSIONS, f"{len(given)} answers on {len(names)} criteria")
        return Checked(tuple(at for at, name in enumerate(names) if given[name] == "whole"))

    return Stage(
        prompt=load_prompt("scope"),
        answer=ScopeAnswer,
        item_id=lambda case: case.attempt_id,
        content=content,
        check=check,
    )


class _VerdictAnswer(Answer):
    part: _PartName
    finding: Annotated[str, Field(max_length=600)]
    verdict: CriterionVerdict
    quotes: Annotated[tuple[Annotated[str, Field(max_length=600)], ...], Field(max_length=12)]
    page: Annotated[int, Field(ge=1, le=500)] | None = None


class AttemptAnswer(Answer):
    """A verdict for each part."""

    verdicts: Annotated[tuple[_VerdictAnswer, ...], Field(min_length=1, max_length=40)]


@dataclass(frozen=True, slots=True)
class _Reading:
    """A usable reply: verdicts, how many controls it calls met, and sentences that persuaded."""

    verdicts: Verdicts
    controls_met: int
    persuading: frozenset[str] = field(repr=False)


def _first_stage(
    config: ModelStagesConfig, key: Key
) -> Stage[AttemptCase, AttemptAnswer, _Reading]:
    """The first request and what is read of its reply; the private `key` draws the controls."""

    def content(case: AttemptCase, cleaner: Cleaner) -> dict[str, Any]:
        return {
            "task": cleaner.text(case.task, config.request_chars, "task"),
            "criteria": [
                {"part": label, "criterion": cleaner.text(text, config.request_chars, "criteria")}
                for label, text in case.shown_criteria(key).criteria.items()
            ],
            **_work(case, cleaner, config.delivered_tokens),
            "pictures": len(case.pictures),
        }

    return Stage(
        prompt=load_prompt("attempts"),
        answer=AttemptAnswer,
        item_id=lambda case: case.attempt_id,
        content=content,
        check=lambda case, answer: _check_first(case, answer, key),
        images=lambda case: case.pictures,
    )


def _work(case: AttemptCase, cleaner: Cleaner, budget: int) -> dict[str, Any]:
    """Inputs, outputs and the answer within a budget of tokens; the answer has a quarter of it."""
    answer = cleaner.text(case.answer or "", budget, "answer")
    dealt = deal(case.evidence, max(1_000, budget - tokens_of(answer)), outputs_first=True)
    shown = {name: cleaner.tree(value, name) for name, value in dealt.content.items() if value}
    return {"input_files": [], "output_files": [], **shown, "answer": answer,
            "files_not_shown": case.left_out}  # fmt: skip


def _check_first(case: AttemptCase, answer: AttemptAnswer, key: Key) -> Checked[_Reading] | Fault:
    shown = case.shown_criteria(key)
    given = {verdict.part: verdict for verdict in answer.verdicts}
    if len(answer.verdicts) != len(shown.criteria) or set(given) != set(shown.criteria):
        n = len(answer.verdicts)
        return Fault(JudgeReason.DIMENSIONS, f"{n} verdicts on {len(shown.criteria)} parts")
    texts = [(cleaned(head), QuotedText.of(text)) for head, text in case.delivered]

    def around(quote: str) -> Passage | None:
        for head, text in texts:
            if (passage := text.around(quote)) is not None:
                below = head and head not in passage.sentences
                return replace(passage, sentences=(head, *passage.sentences)) if below else passage
        return None

    def passages(label: str) -> dict[str, Passage]:
        """The quotes of a verdict that stand in what was delivered, each with its passage."""
        sought = {quote: around(quote) for quote in given[label].quotes}
        return {quote: passage for quote, passage in sought.items() if passage is not None}

    met = [at for at in shown.controls if given[at].verdict is not CriterionVerdict.NOT_MET]
    persuading = frozenset(s for at in met for p in passages(at).values() for s in p.sentences)
    labels, pages = {part: label for label, part in shown.parts.items()}, len(case.pictures)
    made = {
        part: _supported(given[labels[part]], passages(labels[part]), pages)
        for part in case.criteria
    }
    return Checked(_Reading(made, len(met), persuading))


def _supported(answer: _VerdictAnswer, passages: dict[str, Passage], pages: int) -> PartVerdict:
    """A verdict with its evidence: the quotes that stand there, or without any the page shown."""
    page = answer.page if answer.page is not None and answer.page <= pages else None
    evidence = tuple(passages), page, tuple(passages.values())
    seen = PartVerdict(answer.verdict, *evidence, finding=answer.finding)
    if answer.verdict is CriterionVerdict.NOT_MET:
        return replace(seen, reason=AttemptReason.NOT_MET)
    if passages or (page is not None and not answer.quotes):
        return seen
    return replace(seen, verdict=None, reason=AttemptReason.NO_EVIDENCE)


class Shows(StrEnum):
    """How much of a demand passages show by themselves."""

    ALL = "all"
    PART = "part"
    NOTHING = "nothing"


_SHOWN = dict(zip(Shows, CriterionVerdict, strict=True))
_REASONS = dict(
    zip(CriterionVerdict, (None, AttemptReason.PARTLY_MET, AttemptReason.NOT_SHOWN), strict=True)
)


@dataclass(frozen=True, slots=True)
class _Claim:
    """Passages, or a page, that are said to show what a criterion demands."""

    criterion: str = field(repr=False)
    passages: tuple[str, ...] = field(default=(), repr=False)
    page: Image | None = None


@dataclass(frozen=True)
class _Claims:
    """The claims about an attempt, by part; `key` draws the twins.

    Demands of our own stand among the others. Each criterion has a twin: passages for
    which a twin is called shown talk their reader into it, or he does not look; they count for
    nothing either way. And there are empty claims: a reader who takes one for the thing itself is
    not believed about anything in that reply. `whole`: the claims are about all that was delivered.
    """

    attempt_id: str
    task: str = field(repr=False)
    claims: Mapping[str, _Claim]
    key: Key = field(repr=False)
    whole: AttemptCase | None = field(default=None, repr=False)

    @cached_property
    def empty(self) -> Mapping[str, _Claim]:
        """The empty claims, by names that no part has."""
        drawn = empty_claims(self.key, self.attempt_id, EMPTY_CLAIMS)
        dimension, colon, _ = next(iter(self.claims.values())).criterion.partition(": ")
        prefix = dimension + colon if colon else ""
        return {
            f"empty|{n}": _Claim(prefix + text, (said,)) for n, (text, said) in enumerate(drawn)
        }

    @cached_property
    def shown(self) -> Shown:
        """The demands: every criterion and empty claim, and their twins."""
        claims = {**self.claims, **self.empty}
        criteria = {part: claim.criterion for part, claim in claims.items()}
        texts = [text for claim in claims.values() for text in claim.passages]
        texts += [text for _, text in self.whole.delivered] if self.whole is not None else []
        return with_twins(self.key, self.attempt_id, criteria, (self.task, *texts))

    @property
    def demands(self) -> Iterator[tuple[str, str, str, _Claim]]:
        """Label, wording, part and claim of every demand, in the order in which they are shown."""
        whose = {**self.shown.parts, **self.shown.controls}
        for label, text in self.shown.criteria.items():
            yield label, text, whose[label], {**self.claims, **self.empty}[whose[label]]

    @property
    def pages(self) -> tuple[Image, ...]:
        """The pages that are evidence, each once."""
        return tuple(dict.fromkeys(c.page for *_, c in self.demands if c.page is not None))


class _ShownBy(Answer):
    part: _PartName
    shows: Shows


class EvidenceAnswer(Answer):
    """What the passages of each demand show."""

    demands: Annotated[tuple[_ShownBy, ...], Field(min_length=1, max_length=80)]


_Readings = Mapping[str, Shows | None]  # by part; None where the twin is called shown


def _second_stage(config: ModelStagesConfig) -> Stage[_Claims, EvidenceAnswer, _Readings]:
    """The second request: demands with their passages, and of whole work the work."""

    def content(attempt: _Claims, cleaner: Cleaner) -> dict[str, Any]:
        def shown(part: str, claim: _Claim) -> dict[str, Any]:
            if claim.page is not None:
                return {"picture": attempt.pages.index(claim.page) + 1}
            most = config.passage_chars
            texts = [cleaner.text(text, most, "passages") for text in claim.passages]
            is_whole = attempt.whole is not None and part in attempt.claims
            return {"passages": texts} | ({"whole_work": True} if is_whole else {})

        block: dict[str, Any] = {
            "task": cleaner.text(attempt.task, config.request_chars, "task"),
            "demands": [
                {"part": label, "demand": cleaner.text(text, config.request_chars, "demands")}
                | shown(part, claim)
                for label, text, part, claim in attempt.demands
            ],
        }
        if attempt.whole is not None:
            block["work"] = _work(attempt.whole, cleaner, config.delivered_tokens)
        return block

    return Stage(
        prompt=load_prompt("evidence"),
        answer=EvidenceAnswer,
        item_id=lambda attempt: f"{attempt.attempt_id}{'|whole' if attempt.whole else ''}",
        content=content,
        check=_check_second,
        images=lambda attempt: attempt.pages,
    )


def _check_second(attempt: _Claims, answer: EvidenceAnswer) -> Checked[_Readings] | Fault:
    given = {entry.part: entry.shows for entry in answer.demands}
    shown = attempt.shown
    if len(answer.demands) != len(shown.criteria) or set(given) != set(shown.criteria):
        n = len(answer.demands)
        return Fault(JudgeReason.DIMENSIONS, f"{n} answers on {len(shown.criteria)} demands")
    believed = {label for label, shows in given.items() if shows is not Shows.NOTHING}
    if any(label in believed and part in attempt.empty for label, part in shown.parts.items()):
        return Fault(JudgeReason.CLAIM_BELIEVED)
    persuaded = {part for label, part in shown.controls.items() if label in believed}
    parts = {part: label for label, part in shown.parts.items() if part not in attempt.empty}
    return Checked({p: None if p in persuaded else given[label] for p, label in parts.items()})
