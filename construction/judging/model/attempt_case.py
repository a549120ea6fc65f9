"""What a judge is shown of an attempt, and his verdicts on its parts."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from construction.judging.calls.contracts import Image
from construction.judging.contracts import CriterionVerdict
from construction.judging.model.controls import Shown, with_controls
from construction.judging.model.no_evidence import ordinary_words, speaks_to_judge
from construction.judging.model.quotes import without_lines
from data.randomness import Key

MOST_FILES = 20
LONGEST = 200_000  # characters of one text that are read

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
    NOT_SHOWN = "judge.not_shown"  # the second reading: the quotes do not show it
    NO_EVIDENCE = "judge.no_evidence"  # unjudged: nothing is quoted that can be evidence
    TWIN_MET = "judge.twin_met"  # unjudged: the quotes are said to show what they cannot


@dataclass(frozen=True, slots=True)
class DeliveredFile:
    """A delivered file: its text, or in one word why it has none, and pictures of its pages."""

    name: str
    text: str = field(default="", repr=False)
    trouble: str = ""
    pages: tuple[Image, ...] = ()


@dataclass(frozen=True)
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

    @property
    def pages(self) -> tuple[Image, ...]:
        """All pictures in order."""
        return tuple(page for file in self.files for page in file.pages)

    @property
    def delivered(self) -> tuple[str, ...]:
        """All text that can be evidence."""
        texts = (self.answer or "", *(file.text for file in self.files[:MOST_FILES]))
        return tuple(text[:LONGEST] for text in texts)

    @property
    def is_addressed(self) -> bool:
        """Does anything that was delivered speak to its judge?"""
        return any(self.speaks(text) for f in self.files for text in (f.name, f.text)) or (
            self.speaks(self.answer or "")
        )

    def speaks(self, text: str) -> bool:
        """Does a delivered text speak to its judge?"""
        ordinary = self.ordinary
        lines = text[:LONGEST].splitlines()
        return any(speaks_to_judge(line, ordinary) for line in lines)

    @cached_property
    def ordinary(self) -> frozenset[str]:
        """Words of judging that the task uses itself."""
        return ordinary_words(
            "\n".join((self.task, *self.criteria.values(), *self.inputs.values()))
        )

    def without(self, sentences: Set[str]) -> AttemptCase:
        """The attempt without the lines of these sentences, and without pages of such files."""
        files = []
        for file in self.files:
            text = without_lines(file.text, sentences)
            files.append(file if text == file.text else replace(file, text=text, pages=()))
        answer = without_lines(self.answer or "", sentences)
        return replace(self, files=tuple(files), answer=answer)

    def shown_criteria(self, key: Key) -> Shown:
        """The criteria as the judge is shown them, with controls that nothing here meets."""
        names = (file.name for file in self.files)
        given = (self.task, *self.criteria.values(), *self.inputs, *self.inputs.values())
        return with_controls(key, self.attempt_id, self.criteria, (*given, *names, *self.delivered))


Passage = tuple[str, ...]  # sentences in a row


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """A verdict with its evidence; `verdict` is None where nothing supports it.

    `passages` are the sentences into which each quote reaches; `is_doubtful`: all of them speak of
    being judged, or of what is not there.
    """

    verdict: CriterionVerdict | None
    quotes: tuple[str, ...] = ()
    page: int | None = None
    passages: tuple[Passage, ...] = field(default=(), repr=False)
    reason: AttemptReason | None = None
    is_doubtful: bool = False


Verdicts = Mapping[str, PartVerdict]
