"""The parts of an attempt that only a judge can score, by a model: a verdict on each criterion.

A verdict counts only with evidence: passages that stand in what was delivered, or a page that was
shown. A second request, which holds the criteria and these passages alone, says what they show
(`evidence`); the lower of the two verdicts stands. Sentences that speak of being judged or of what
is not there are no evidence (`no_evidence`). Control criteria are asked among the others
(`controls`): where a reply calls one met, none of its verdicts counts.

Where quotes talk the judge into controls again and again, the attempt is judged without the lines
in which they stand: then the verdict is the one on what else was delivered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field

from construction.judging.calls.contracts import Usage
from construction.judging.contracts import (
    Answer,
    Asker,
    CriterionVerdict,
    Fault,
    Judged,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.attempt_case import (
    LONGEST,
    MOST_FILES,
    WORTH,
    AttemptCase,
    AttemptReason,
    PartVerdict,
    Passage,
    Verdicts,
)
from construction.judging.model.evidence import (
    Claim,
    ClaimedAttempt,
    Readings,
    Shows,
    read_evidence,
)
from construction.judging.model.no_evidence import is_no_evidence
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.judging.model.quotes import QuotedText
from data.randomness import Key, keyed_hash

STAGE = "attempts"
_NAME_CHARS = 200
_SHOWN: Mapping[Shows, CriterionVerdict] = {
    Shows.ALL: CriterionVerdict.MET,
    Shows.PART: CriterionVerdict.PARTLY,
    Shows.NOTHING: CriterionVerdict.NOT_MET,
}


class _VerdictAnswer(Answer):
    part: Annotated[str, Field(max_length=120)]
    verdict: CriterionVerdict
    quotes: Annotated[tuple[Annotated[str, Field(max_length=600)], ...], Field(max_length=3)]
    page: Annotated[int, Field(ge=1, le=500)] | None = None


class AttemptAnswer(Answer):
    """A verdict for each part."""

    verdicts: Annotated[tuple[_VerdictAnswer, ...], Field(min_length=1, max_length=40)]


_ROUNDS = 6  # how often an attempt is judged at most


@dataclass(frozen=True, slots=True)
class _Reading:
    """A usable reply: verdicts, how many controls it calls met, and sentences that persuaded."""

    verdicts: Verdicts
    controls_met: int
    persuading: frozenset[str] = field(repr=False)


def judge_attempts(
    cases: Sequence[AttemptCase], client: Asker, config: ModelStagesConfig, key: Key
) -> list[Judged[Verdicts]]:
    """The verdicts on each attempt by part, in order; the private `key` draws the controls.

    Where sentences persuade the judge of a control, he is asked again with other controls; where
    they do so twice, without their lines.
    """
    results: dict[str, Judged[Verdicts]] = {}
    usage = dict.fromkeys((case.attempt_id for case in cases), Usage())
    suspected: dict[str, frozenset[str]] = dict.fromkeys(usage, frozenset())
    open_cases = list(cases)
    for number in range(_ROUNDS):
        own_key = keyed_hash(key, "judge-round", str(number))
        made = _judged(open_cases, client, config, own_key)
        again = []
        for case, (result, persuading) in zip(open_cases, made, strict=True):
            name = case.attempt_id
            usage[name] += result.usage
            results[name] = replace(result, usage=usage[name])
            if persuading:
                again.append(case.without(persuading & suspected[name]))
                suspected[name] |= persuading
        open_cases = again
    return [results[case.attempt_id] for case in cases]


def _judged(
    cases: Sequence[AttemptCase], client: Asker, config: ModelStagesConfig, key: Key
) -> list[tuple[Judged[Verdicts], frozenset[str]]]:
    """Both readings of each attempt, and the sentences that persuaded the judge."""
    first = ask(attempt_stage(config, key), cases, client)
    claimed = [
        claims
        for case, result in zip(cases, first, strict=True)
        if result.value is not None
        and not result.value.controls_met
        and (claims := _claims(case, result.value.verdicts, key)).claims
    ]
    second = {result.item_id: result for result in read_evidence(claimed, client, config)}
    return [_settled(result, second.get(result.item_id)) for result in first]


def _claims(case: AttemptCase, verdicts: Verdicts, key: Key) -> ClaimedAttempt:
    """What the second reading is asked: every verdict that is not the lowest."""
    claims = {}
    for part, seen in verdicts.items():
        if seen.verdict in (CriterionVerdict.MET, CriterionVerdict.PARTLY):
            page = None if seen.passages or seen.page is None else case.pages[seen.page - 1]
            texts = tuple(" ".join(passage) for passage in seen.passages)
            claims[part] = Claim(case.criteria[part], texts, page)
    return ClaimedAttempt(case.attempt_id, case.task, claims, key)


def _settled(
    first: Judged[_Reading], second: Judged[Readings] | None
) -> tuple[Judged[Verdicts], frozenset[str]]:
    """The lower of both readings by part; nothing where one of them cannot be used."""
    reading, usage = first.value, first.usage + (second.usage if second else Usage())

    def unusable(reason: str | None, detail: str) -> Judged[Verdicts]:
        return Judged(first.item_id, None, reason, detail, usage=usage)

    if reading is None:
        return unusable(first.reason, first.detail), frozenset()
    if reading.controls_met:
        detail = f"{reading.controls_met} controls"
        return unusable(JudgeReason.CONTROL_MET, detail), reading.persuading
    if second is not None and second.value is None:
        return unusable(second.reason, second.detail), frozenset()
    readings = {} if second is None or second.value is None else second.value
    made = {part: _lower(seen, part, readings) for part, seen in reading.verdicts.items()}
    persuading = (
        sentence
        for part, shows in readings.items()
        if shows is None
        for passage in reading.verdicts[part].passages
        for sentence in passage
    )
    return Judged(first.item_id, made, usage=usage), reading.persuading.union(persuading)


def _lower(seen: PartVerdict, part: str, readings: Readings) -> PartVerdict:
    if part not in readings or seen.verdict is None:
        return seen
    shows = readings[part]
    if shows is None:
        return replace(seen, verdict=None, reason=AttemptReason.TWIN_MET)
    if seen.is_doubtful and shows is not Shows.NOTHING:
        return replace(seen, verdict=None, reason=AttemptReason.NO_EVIDENCE)
    lower = min(seen.verdict, _SHOWN[shows], key=WORTH.__getitem__)
    reason = {
        CriterionVerdict.MET: None,
        CriterionVerdict.PARTLY: AttemptReason.PARTLY_MET,
        CriterionVerdict.NOT_MET: AttemptReason.NOT_SHOWN,
    }[lower]
    return replace(seen, verdict=lower, reason=reason)


def attempt_stage(
    config: ModelStagesConfig, key: Key
) -> Stage[AttemptCase, AttemptAnswer, _Reading]:
    """The stage, for callers that want its requests or checks alone."""

    def content(case: AttemptCase, cleaner: Cleaner) -> dict[str, Any]:
        return {
            "task": cleaner.text(case.task, config.request_chars, "task"),
            "criteria": [
                {"part": label, "criterion": cleaner.text(text, config.request_chars, "criteria")}
                for label, text in case.shown_criteria(key).criteria.items()
            ],
            "input_files": {
                cleaner.text(path, config.path_chars, "input_files"): cleaner.text(
                    text, config.excerpt_chars, "input_files"
                )
                for path, text in case.inputs.items()
            },
            "answer": _shown(case.answer or "", config, cleaner),
            "files": [
                {
                    "name": _shown(file.name[:_NAME_CHARS], config, cleaner),
                    "text": _shown(file.text, config, cleaner),
                    "not_read_because": file.trouble,
                }
                for file in case.files[:MOST_FILES]
            ],
            "pictures": len(case.pages),
        }

    return Stage(
        prompt=load_prompt(STAGE),
        answer=AttemptAnswer,
        item_id=lambda case: case.attempt_id,
        content=content,
        check=lambda case, answer: _check(case, answer, key),
        images=lambda case: case.pages,
    )


def _shown(text: str, config: ModelStagesConfig, cleaner: Cleaner) -> str:
    """Delivered text as the judge reads it."""
    return cleaner.text(text[:LONGEST], config.delivered_chars, "delivered")


def _check(case: AttemptCase, answer: AttemptAnswer, key: Key) -> Checked[_Reading] | Fault:
    shown = case.shown_criteria(key)
    given = {verdict.part: verdict for verdict in answer.verdicts}
    if len(answer.verdicts) != len(shown.criteria) or set(given) != set(shown.criteria):
        n = len(answer.verdicts)
        return Fault(JudgeReason.DIMENSIONS, f"{n} verdicts on {len(shown.criteria)} parts")
    texts, ordinary = [QuotedText.of(text) for text in case.delivered], case.ordinary

    def around(quote: str) -> Passage:
        return next(filter(None, (text.around(quote) for text in texts)), ())

    def supported(given: _VerdictAnswer) -> PartVerdict:
        quoted = [around(quote) for quote in given.quotes]
        good = [q for q in quoted if not any(is_no_evidence(s, ordinary) for s in q)]
        return _supported(given, quoted if all(quoted) else (), good, case)

    met = [at for at in shown.controls if given[at].verdict is not CriterionVerdict.NOT_MET]
    persuading = frozenset(s for at in met for quote in given[at].quotes for s in around(quote))
    made = {part: supported(given[label]) for label, part in shown.parts.items()}
    return Checked(_Reading({part: made[part] for part in case.criteria}, len(met), persuading))


def _supported(
    answer: _VerdictAnswer, quoted: Sequence[Passage], good: Sequence[Passage], case: AttemptCase
) -> PartVerdict:
    """A verdict with the passages that can be evidence for it, else with those that cannot."""
    passages = tuple(good if quoted and good else quoted)
    seen = PartVerdict(answer.verdict, answer.quotes, answer.page, passages, is_doubtful=not good)
    if answer.verdict is CriterionVerdict.NOT_MET:
        return replace(seen, reason=AttemptReason.NOT_MET)
    if not answer.quotes and _is_page_seen(answer.page, case):
        return replace(seen, is_doubtful=False)
    return seen if passages else replace(seen, verdict=None, reason=AttemptReason.NO_EVIDENCE)


def _is_page_seen(page: int | None, case: AttemptCase) -> bool:
    """Was the page shown, and is it of a file whose text does not speak to its judge?"""
    files = [file for file in case.files for _ in file.pages]
    return page is not None and page <= len(files) and not case.speaks(files[page - 1].text)
