"""The first reading of an attempt: a verdict on each criterion, with quotes as evidence.

Controls are asked among the criteria (`controls`): where a reply calls one met, none of its
verdicts counts, and the sentences that it quotes for it are said to persuade.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field

from construction.judging.contracts import (
    Answer,
    CriterionVerdict,
    Fault,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.model.asking import Checked, Stage
from construction.judging.model.attempt_case import (
    LONGEST,
    AttemptCase,
    AttemptReason,
    PartVerdict,
    Verdicts,
)
from construction.judging.model.prompt import Cleaner, load_prompt
from construction.judging.model.quotes import Passage, QuotedText
from data.randomness import Key

STAGE = "attempts"
ALL_DELIVERED = 120_000  # characters that the answer and all files share evenly
_NAME_CHARS = 200


class _VerdictAnswer(Answer):
    part: Annotated[str, Field(max_length=120)]
    verdict: CriterionVerdict
    quotes: Annotated[tuple[Annotated[str, Field(max_length=600)], ...], Field(max_length=3)]
    page: Annotated[int, Field(ge=1, le=500)] | None = None


class AttemptAnswer(Answer):
    """A verdict for each part."""

    verdicts: Annotated[tuple[_VerdictAnswer, ...], Field(min_length=1, max_length=40)]


@dataclass(frozen=True, slots=True)
class Reading:
    """A usable reply: verdicts, how many controls it calls met, and sentences that persuaded."""

    verdicts: Verdicts
    controls_met: int
    persuading: frozenset[str] = field(repr=False)


def attempt_stage(
    config: ModelStagesConfig, key: Key
) -> Stage[AttemptCase, AttemptAnswer, Reading]:
    """The first request and what is read of its reply; the private `key` draws the controls."""
    return Stage(
        prompt=load_prompt(STAGE),
        answer=AttemptAnswer,
        item_id=lambda case: case.attempt_id,
        content=lambda case, cleaner: _content(case, cleaner, config, key),
        check=lambda case, answer: _check(case, answer, key),
        images=lambda case: case.pages,
    )


def _content(
    case: AttemptCase, cleaner: Cleaner, config: ModelStagesConfig, key: Key
) -> dict[str, Any]:
    most = min(config.delivered_chars, ALL_DELIVERED // (1 + len(case.files)))

    def shown(text: str) -> str:
        return cleaner.text(text[:LONGEST], most, "delivered")

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
        "answer": shown(case.answer or ""),
        "files": [
            {
                "name": shown(file.name[:_NAME_CHARS]),
                "text": shown(file.text),
                "not_read_because": file.trouble,
            }
            for file in case.files
        ],
        "files_not_shown": case.left_out,
        "pictures": len(case.pages),
    }


def _check(case: AttemptCase, answer: AttemptAnswer, key: Key) -> Checked[Reading] | Fault:
    shown = case.shown_criteria(key)
    given = {verdict.part: verdict for verdict in answer.verdicts}
    if len(answer.verdicts) != len(shown.criteria) or set(given) != set(shown.criteria):
        n = len(answer.verdicts)
        return Fault(JudgeReason.DIMENSIONS, f"{n} verdicts on {len(shown.criteria)} parts")
    texts = [QuotedText.of(text) for text in case.delivered]

    def passages(label: str) -> dict[str, Passage]:
        """The quotes of a verdict that stand in what was delivered, each with its passage."""
        sought = {quote: [text.around(quote) for text in texts] for quote in given[label].quotes}
        return {
            quote: passage
            for quote, places in sought.items()
            if (passage := next(filter(None, places), None)) is not None
        }

    met = [at for at in shown.controls if given[at].verdict is not CriterionVerdict.NOT_MET]
    persuading = frozenset(s for at in met for p in passages(at).values() for s in p.sentences)
    made = {
        part: _supported(given[label], passages(label), len(case.pages))
        for label, part in shown.parts.items()
    }
    return Checked(Reading({part: made[part] for part in case.criteria}, len(met), persuading))


def _supported(answer: _VerdictAnswer, passages: dict[str, Passage], pages: int) -> PartVerdict:
    """A verdict with its evidence: the quotes that stand there, or without any the page shown."""
    page = answer.page if answer.page is not None and answer.page <= pages else None
    evidence = tuple(passages), page, tuple(passages.values())
    seen = PartVerdict(answer.verdict, *evidence)
    if answer.verdict is CriterionVerdict.NOT_MET:
        return replace(seen, reason=AttemptReason.NOT_MET)
    if passages or (page is not None and not answer.quotes):
        return seen
    return replace(seen, verdict=None, reason=AttemptReason.NO_EVIDENCE)
