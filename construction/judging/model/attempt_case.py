"""What a judge is shown of an attempt, and his verdicts on its parts."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum

from construction.judging.calls.contracts import Image, Usage
from construction.judging.contracts import CriterionVerdict
from construction.judging.model.controls import Shown, with_controls
from construction.judging.model.injection import addresses_judge
from construction.judging.model.quotes import Passage, without_lines
from data.randomness import Key

LONGEST = 200_000  # characters of one text that are read

WORTH: Mapping[CriterionVerdict, float] = {
    CriterionVerdict.MET: 1.0,
    CriterionVerdict.PARTLY: 0.5,
    CriterionVerdict.NOT_MET: 0.0,
}


class AttemptReason(StrEnum):
    """Why a judged part is below 1. A part without a verdict can also have a reason of a reply."""

    NOTHING_DELIVERED = "judge.nothing_delivered"
    NOTHING_READABLE = "judge.nothing_readable"  # none of the files can be read or seen
    PARTLY_MET = "judge.partly_met"
    NOT_MET = "judge.not_met"
    NOT_SHOWN = "judge.not_shown"  # the second reading: the quotes do not show it
    NOT_READ = "judge.not_read"  # no verdict: there is no second reading of the quotes
    NO_EVIDENCE = "judge.no_evidence"  # no verdict: nothing that was delivered is quoted
    TWIN_MET = "judge.twin_met"  # no verdict: the quotes are said to show what they cannot


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
    `wants_files`: the task asks for files. `left_out` counts delivered files that are not shown;
    `folder` is where all of them are, below the attempts.
    """

    attempt_id: str
    task: str = field(repr=False)
    criteria: Mapping[str, str] = field(repr=False)
    answer: str | None = field(repr=False)
    files: tuple[DeliveredFile, ...]
    inputs: Mapping[str, str] = field(default_factory=dict, repr=False)
    wants_files: bool = False
    left_out: int = 0
    folder: str = ""

    @property
    def nothing(self) -> AttemptReason | None:
        """Why there is nothing to judge; None where there is something."""
        if any(file.text.strip() or file.pages for file in self.files):
            return None
        if not self.wants_files and (self.answer or "").strip():
            return None
        return AttemptReason.NOTHING_READABLE if self.files else AttemptReason.NOTHING_DELIVERED

    @property
    def pages(self) -> tuple[Image, ...]:
        """All pictures in order."""
        return tuple(page for file in self.files for page in file.pages)

    @property
    def delivered(self) -> tuple[str, ...]:
        """All text that can be evidence."""
        texts = (self.answer or "", *(file.text for file in self.files))
        return tuple(text[:LONGEST] for text in texts)

    @property
    def is_addressed(self) -> bool:
        """Does anything that was delivered address its judge?"""
        names = (file.name for file in self.files)
        return any(addresses_judge(text) for text in (*self.delivered, *names))

    def pieces(self, most: int) -> tuple[AttemptCase, ...]:
        """The same attempt with at most so many criteria each, by names of their own.

        No attempt's id has a `#` in it: no name is that of another attempt.
        """
        parts = list(self.criteria)
        return tuple(
            replace(
                self,
                attempt_id=f"{self.attempt_id}#{start}" if start else self.attempt_id,
                criteria={part: self.criteria[part] for part in parts[start : start + most]},
            )
            for start in range(0, len(parts), most)
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


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """A verdict with its evidence; `verdict` is None where no evidence of a reply supports one.

    `quotes` are those that stand in what was delivered, `passages` the sentences of each.
    """

    verdict: CriterionVerdict | None
    quotes: tuple[str, ...] = ()
    page: int | None = None
    passages: tuple[Passage, ...] = field(default=(), repr=False)
    reason: str | None = None

    @property
    def counted(self) -> CriterionVerdict:
        """The verdict that counts: what nothing supports is not met."""
        return self.verdict or CriterionVerdict.NOT_MET


Verdicts = Mapping[str, PartVerdict]


@dataclass(frozen=True, slots=True)
class JudgedAttempt:
    """A verdict, or the reason for having none, on each part of an attempt, and what it cost."""

    attempt_id: str
    verdicts: Verdicts = field(repr=False)
    usage: Usage = field(default_factory=Usage)
