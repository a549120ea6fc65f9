"""The parts of an attempt that only a judge can score, by a model: a verdict on each criterion.

A verdict counts only with evidence: a passage that stands in what was delivered, or a page that was
shown. Text that addresses the judge is taken out of what it reads, without a trace in the request:
the request about a deliverable with such a text is the request about the one without it. What is
not recognised as such meets control criteria: where a reply says that one is met, none of its
verdicts counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field

from construction.judging.calls.contracts import Image
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
from construction.judging.model.controls import Shown, with_controls
from construction.judging.model.injection import addresses_judge, without_addressed
from construction.judging.model.judging_words import judging_words, speaks_of_judging
from construction.judging.model.prompt import HIDDEN, Cleaner, load_prompt

STAGE = "attempts"
_LEAST_QUOTE = 8  # characters without blanks: shorter ones stand anywhere
_NAME_CHARS = 200
_MOST_FILES = 20
_LONGEST = 200_000  # characters of one text that are read
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


WORTH: Mapping[CriterionVerdict, float] = {
    CriterionVerdict.MET: 1.0,
    CriterionVerdict.PARTLY: 0.5,
    CriterionVerdict.NOT_MET: 0.0,
}


class AttemptReason(StrEnum):
    """Why a judged part is below 1, or unjudged."""

    NOTHING_DELIVERED = "judge.nothing_delivered"
    PARTLY_MET = "judge.partly_met"
    NOT_MET = "judge.not_met"
    NO_EVIDENCE = "judge.no_evidence"  # the verdict quotes nothing that was delivered


@dataclass(frozen=True, slots=True)
class Bared:
    """A delivered text as a judge reads it, and whether anything was removed from it."""

    text: str = field(repr=False)
    removed: bool


@lru_cache(maxsize=256)
def without_orders(text: str, ordinary: frozenset[str] = frozenset()) -> Bared:
    """A text without the lines that speak to its judge; without paragraphs where lines do not do.

    `ordinary` are words of judging that the task itself uses (`judging_words`): they say nothing.
    Blank lines are evened out, so that a line that was put in leaves no trace.
    """
    text = _BLANK_LINES.sub("\n\n", HIDDEN.sub("", text[:_LONGEST]).strip())
    lines = text.split("\n")
    kept = [
        line
        for line in lines
        if not addresses_judge(line) and not speaks_of_judging(line, ordinary)
    ]
    made = _BLANK_LINES.sub("\n\n", "\n".join(kept).strip())
    if addresses_judge(made):
        made = without_addressed(made)
    return Bared(made, made != text)


@dataclass(frozen=True, slots=True)
class DeliveredFile:
    """A delivered file: its text, or in one word why it has none, and pictures of its pages."""

    name: str
    text: str = field(default="", repr=False)
    trouble: str = ""
    pages: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class AttemptCase:
    """What a judge is shown of an attempt.

    `criteria` maps the name of a part to its criterion, `inputs` an input file's path to its text.
    """

    attempt_id: str
    task: str = field(repr=False)
    criteria: Mapping[str, str] = field(repr=False)
    answer: str | None = field(repr=False)
    files: tuple[DeliveredFile, ...]
    inputs: Mapping[str, str] = field(default_factory=dict, repr=False)

    def bared(self, text: str) -> Bared:
        """A delivered text as the judge reads it."""
        said = (self.task, *self.criteria.values(), *self.inputs.values())
        return without_orders(text, frozenset().union(*map(judging_words, said)))

    @property
    def pages(self) -> tuple[Image, ...]:
        """All pictures in order. None of a file whose text addresses the judge: it is read only."""
        shown = (file for file in self.files if not self.bared(file.text).removed)
        return tuple(page for file in shown for page in file.pages)

    @property
    def shown_criteria(self) -> Shown:
        """The criteria as the judge is shown them, with controls that nothing here meets."""
        delivered = (text for file in self.files for text in (file.name, file.text))
        given = (self.task, self.answer or "", *self.inputs, *self.inputs.values())
        texts = (*given, *self.criteria.values(), *delivered)
        return with_controls(self.attempt_id, self.criteria, texts)

    @property
    def is_addressed(self) -> bool:
        """Does anything that was delivered address its judge?"""
        texts = [text for file in self.files for text in (file.name, file.text)]
        return any(self.bared(text).removed for text in (self.answer or "", *texts))


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """A verdict with its evidence; `verdict` is None where nothing supports it."""

    verdict: CriterionVerdict | None
    quotes: tuple[str, ...] = ()
    page: int | None = None


class _VerdictAnswer(Answer):
    part: Annotated[str, Field(max_length=120)]
    verdict: CriterionVerdict
    quotes: Annotated[tuple[Annotated[str, Field(max_length=600)], ...], Field(max_length=3)]
    page: Annotated[int, Field(ge=1, le=500)] | None = None


class AttemptAnswer(Answer):
    """A verdict for each part."""

    verdicts: Annotated[tuple[_VerdictAnswer, ...], Field(min_length=1, max_length=40)]


Verdicts = Mapping[str, PartVerdict]


def judge_attempts(
    cases: Sequence[AttemptCase], client: Asker, config: ModelStagesConfig
) -> list[Judged[Verdicts]]:
    """The verdicts on each attempt by part, in order."""
    return ask(attempt_stage(config), cases, client)


def attempt_stage(config: ModelStagesConfig) -> Stage[AttemptCase, AttemptAnswer, Verdicts]:
    """The stage, for callers that want its requests or checks alone."""

    def content(case: AttemptCase, cleaner: Cleaner) -> dict[str, Any]:
        return {
            "task": cleaner.text(case.task, config.request_chars, "task"),
            "criteria": [
                {"part": label, "criterion": cleaner.text(text, config.request_chars, "criteria")}
                for label, text in case.shown_criteria.criteria.items()
            ],
            "input_files": {
                cleaner.text(path, config.path_chars, "input_files"): cleaner.text(
                    text, config.excerpt_chars, "input_files"
                )
                for path, text in case.inputs.items()
            },
            "answer": _shown(case, case.answer or "", config, cleaner),
            "files": [
                {
                    "name": _shown(case, file.name[:_NAME_CHARS], config, cleaner),
                    "text": _shown(case, file.text, config, cleaner),
                    "not_read_because": file.trouble,
                }
                for file in case.files[:_MOST_FILES]
            ],
            "pictures": len(case.pages),
        }

    return Stage(
        prompt=load_prompt(STAGE),
        answer=AttemptAnswer,
        item_id=lambda case: case.attempt_id,
        content=content,
        check=_check,
        images=lambda case: case.pages,
    )


def _shown(case: AttemptCase, text: str, config: ModelStagesConfig, cleaner: Cleaner) -> str:
    """Delivered text as the judge reads it."""
    return cleaner.text(case.bared(text).text, config.delivered_chars, "delivered")


def _check(case: AttemptCase, answer: AttemptAnswer) -> Checked[Verdicts] | Fault:
    shown = case.shown_criteria
    given = {verdict.part: verdict for verdict in answer.verdicts}
    if len(answer.verdicts) != len(shown.criteria) or set(given) != set(shown.criteria):
        n = len(answer.verdicts)
        return Fault(JudgeReason.DIMENSIONS, f"{n} verdicts on {len(shown.criteria)} parts")
    met = [at for at in shown.controls if given[at].verdict is not CriterionVerdict.NOT_MET]
    if met:
        return Fault(JudgeReason.CONTROL_MET, f"{len(met)} of {len(shown.controls)} controls")
    passages = [_folded(text) for text in _delivered(case)]
    made = {part: _supported(given[label], passages, case) for label, part in shown.parts.items()}
    return Checked({part: made[part] for part in case.criteria})


def _delivered(case: AttemptCase) -> Iterator[str]:
    """All text that counts as evidence: nothing that addresses the judge does."""
    yield case.bared(case.answer or "").text
    yield from (case.bared(file.text).text for file in case.files[:_MOST_FILES])


def _supported(verdict: _VerdictAnswer, passages: Sequence[str], case: AttemptCase) -> PartVerdict:
    if verdict.verdict is CriterionVerdict.NOT_MET:
        return PartVerdict(verdict.verdict, verdict.quotes, verdict.page)
    quotes = [_folded(quote) for quote in verdict.quotes]
    is_seen = verdict.page is not None and verdict.page <= len(case.pages)
    is_read = bool(quotes) and all(
        len(quote.replace(" ", "")) >= _LEAST_QUOTE and any(quote in text for text in passages)
        for quote in quotes
    )
    stands = is_read or (is_seen and not quotes)
    return PartVerdict(verdict.verdict if stands else None, verdict.quotes, verdict.page)


def _folded(text: str) -> str:
    """A text without differences of blanks and case: lines of files break where they like."""
    return " ".join(text.casefold().split())
