"""The second reading: do the passages that a judge quotes show what a criterion demands?

It is a request of its own that holds the task, the criteria and the passages, and nothing else of
what was delivered: a text that talked the first judge into a verdict is not there, unless it is
quoted itself. Each criterion has a twin among the demands (`controls`): passages for which a twin
is called shown talk their reader into it, or he does not look; they count for nothing either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from construction.judging.calls.contracts import Image
from construction.judging.contracts import (
    Answer,
    Asker,
    Fault,
    Judged,
    JudgeReason,
    ModelStagesConfig,
)
from construction.judging.model.asking import Checked, Stage, ask
from construction.judging.model.controls import Shown, with_twins
from construction.judging.model.prompt import Cleaner, load_prompt
from data.randomness import Key

STAGE = "evidence"


class Shows(StrEnum):
    """How much of a demand passages show by themselves."""

    ALL = "all"
    PART = "part"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Claim:
    """Passages, or a page, that are said to show what a criterion demands."""

    criterion: str = field(repr=False)
    passages: tuple[str, ...] = field(default=(), repr=False)
    page: Image | None = None


@dataclass(frozen=True)
class ClaimedAttempt:
    """The claims about an attempt, by part; `key` draws the twins."""

    attempt_id: str
    task: str = field(repr=False)
    claims: Mapping[str, Claim]
    key: Key = field(repr=False)

    @cached_property
    def shown(self) -> Shown:
        """The demands: every criterion and its twin."""
        criteria = {part: claim.criterion for part, claim in self.claims.items()}
        passages = (text for claim in self.claims.values() for text in claim.passages)
        return with_twins(self.key, self.attempt_id, criteria, (self.task, *passages))

    @property
    def demands(self) -> Iterator[tuple[str, str, Claim]]:
        """Label, wording and claim of every demand, in the order in which they are shown."""
        whose = {**self.shown.parts, **self.shown.controls}
        for label, text in self.shown.criteria.items():
            yield label, text, self.claims[whose[label]]

    @property
    def pages(self) -> tuple[Image, ...]:
        """The pages that are evidence, each once."""
        return tuple(dict.fromkeys(c.page for _, _, c in self.demands if c.page is not None))


class _Shown(Answer):
    part: Annotated[str, Field(max_length=120)]
    shows: Shows


class EvidenceAnswer(Answer):
    """What the passages of each demand show."""

    demands: Annotated[tuple[_Shown, ...], Field(min_length=1, max_length=80)]


Readings = Mapping[str, Shows | None]  # by part; None where the twin is called shown


def read_evidence(
    attempts: Sequence[ClaimedAttempt], client: Asker, config: ModelStagesConfig
) -> list[Judged[Readings]]:
    """What the passages of each attempt show by part, in order."""
    return ask(evidence_stage(config), attempts, client)


def evidence_stage(config: ModelStagesConfig) -> Stage[ClaimedAttempt, EvidenceAnswer, Readings]:
    """The stage, for callers that want its requests or checks alone."""

    def content(attempt: ClaimedAttempt, cleaner: Cleaner) -> dict[str, Any]:
        def shown(claim: Claim) -> dict[str, Any]:
            if claim.page is not None:
                return {"picture": attempt.pages.index(claim.page) + 1}
            most = config.passage_chars
            return {"passages": [cleaner.text(text, most, "passages") for text in claim.passages]}

        return {
            "task": cleaner.text(attempt.task, config.request_chars, "task"),
            "demands": [
                {"part": label, "demand": cleaner.text(text, config.request_chars, "demands")}
                | shown(claim)
                for label, text, claim in attempt.demands
            ],
        }

    return Stage(
        prompt=load_prompt(STAGE),
        answer=EvidenceAnswer,
        item_id=lambda attempt: attempt.attempt_id,
        content=content,
        check=_check,
        images=lambda attempt: attempt.pages,
    )


def _check(attempt: ClaimedAttempt, answer: EvidenceAnswer) -> Checked[Readings] | Fault:
    given = {entry.part: entry.shows for entry in answer.demands}
    shown = attempt.shown
    if len(answer.demands) != len(shown.criteria) or set(given) != set(shown.criteria):
        n = len(answer.demands)
        return Fault(JudgeReason.DIMENSIONS, f"{n} answers on {len(shown.criteria)} demands")
    persuaded = {p for label, p in shown.controls.items() if given[label] is not Shows.NOTHING}
    return Checked(
        {part: None if part in persuaded else given[label] for label, part in shown.parts.items()}
    )
