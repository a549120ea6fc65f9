"""What a judge is shown of an attempt, controls among it, where his quotes stand, and his verdicts.

A control criterion is one that nothing delivered can meet. A text that talks a judge into good
verdicts talks it into these as well, and a judge that does not look meets them too. The delivered
text cannot know them: they are composed and drawn for each attempt with a private key
(`controls.toml` has the words). A twin is a control about one criterion: whoever takes that point
for settled, without looking for the thing itself, meets its twin too. An empty claim is a demand
with a passage that only says that it is met (`claims.toml`): a reader who believes it believes any
text.

Text and quote are compared as the judge was shown the text (`prompt.cleaned`), in one plain form:
without blanks, case and hidden characters, letters and their accents apart (NFKD), all quotation
marks and all dashes alike. Lines break where they like, and models straighten what they copy.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import accumulate

import numpy as np

from construction.judging.calls.contracts import Image, Usage
from construction.judging.contracts import CriterionVerdict
from construction.judging.evidence.shown import plain_pieces, plain_text
from construction.judging.evidence.views import Evidence, FileView
from construction.judging.model.prompt import CUT, addresses_judge, cleaned
from data.neutralise import HIDDEN, SHOWN
from data.randomness import Key, keyed_generator, keyed_order
from data.text.lexicon import load_table
from data.text.scripts import sentence_spans

CONTROLS = 2  # per attempt, beside the twins
_LETTERS = "AHKNRTVX"


@dataclass(frozen=True, slots=True)
class Shown:
    """Criteria as a judge is shown them: by a label of their own, controls among them.

    `criteria` maps a label to a criterion, `parts` the label of a real one to its part's name,
    `controls` that of a control to the part whose twin it is, or to nothing.
    """

    criteria: Mapping[str, str] = field(repr=False)
    parts: Mapping[str, str]
    controls: Mapping[str, str]


def _with_controls(
    key: Key, attempt_id: str, criteria: Mapping[str, str], texts: Iterable[str]
) -> Shown:
    """The criteria of an attempt among controls, in an order and with labels that tell nothing.

    `criteria` maps the name of a part to its criterion. No control is met by any of `texts`: the
    value that it wants stands in none of them.
    """
    draw = keyed_generator(key, "controls", attempt_id)
    dimension, colon, _ = _any_of(draw, list(criteria.values())).partition(": ")
    prefix = dimension + colon if colon else ""
    drawn = itertools.islice(_details(draw, texts), CONTROLS)
    form = load_table(__package__, "controls.toml")["sentences"]
    controls = [("", prefix + _any_of(draw, form).format(**detail)) for detail in drawn]
    return _shuffled(key, f"controls|{attempt_id}", criteria, controls)


def with_twins(
    key: Key, attempt_id: str, criteria: Mapping[str, str], texts: Iterable[str]
) -> Shown:
    """The same with one control about each criterion instead."""
    draw = keyed_generator(key, "twins", attempt_id)
    form = load_table(__package__, "controls.toml")["twins"]
    controls = [
        (part, _any_of(draw, form).format(criterion=text, **detail))
        for (part, text), detail in zip(criteria.items(), _details(draw, texts), strict=False)
    ]
    return _shuffled(key, f"twins|{attempt_id}", criteria, controls)


def empty_claims(key: Key, attempt_id: str, number: int) -> list[tuple[str, str]]:
    """Demands, each with a passage that only claims what is demanded."""
    draw = keyed_generator(key, "claims", attempt_id)
    languages = load_table(__package__, "claims.toml")["languages"]
    claims = []
    for _ in range(number):
        language = languages[int(draw.integers(len(languages)))]
        thing, demand = language["things"][int(draw.integers(len(language["things"])))]
        words = {"thing": thing, "Thing": thing[:1].upper() + thing[1:]}
        claims.append((demand, _any_of(draw, language["sentences"]).format(**words)))
    return claims


def _details(draw: np.random.Generator, texts: Iterable[str]) -> Iterator[dict[str, str]]:
    """Things with values that stand in none of the texts, without end."""
    table, known = load_table(__package__, "controls.toml"), "\n".join(texts)
    while True:
        thing, pattern = table["things"][int(draw.integers(len(table["things"])))]
        value = "".join(_character(draw, mark) for mark in pattern)
        if not any(word in known for word in value.split() if any(map(str.isdigit, word))):
            yield {"thing": thing, "value": value, "tail": _any_of(draw, table["tails"])}


def _character(draw: np.random.Generator, mark: str) -> str:
    if mark == "A":
        return _any_of(draw, _LETTERS)
    return str(draw.integers(int(mark == "9"), 10)) if mark in "09" else mark


def _any_of(draw: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(draw.integers(len(choices)))] if choices else ""


def _shuffled(
    key: Key, entity: str, criteria: Mapping[str, str], controls: Sequence[tuple[str, str]]
) -> Shown:
    given = [(name, text, True) for name, text in criteria.items()]
    given += [(name, text, False) for name, text in controls]
    order = keyed_order(key, "control-order", [f"{entity}|{text}" for _, text, _ in given])
    labelled = {f"part-{n}": given[at] for n, at in enumerate(order, start=1)}
    return Shown(
        criteria={label: text for label, (_, text, _) in labelled.items()},
        parts={label: name for label, (name, _, is_real) in labelled.items() if is_real},
        controls={label: name for label, (name, _, is_real) in labelled.items() if not is_real},
    )


_LONGEST = 400_000  # characters of one text that are read
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_LEAST = 8  # characters in plain form: a shorter quote stands anywhere, so it must be a sentence
_MARKS = 80  # characters of both marks of what is left out
_STOPS = ".!?。！？"
_ALIKE = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟«»″「」『』", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
)
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
class AttemptCase:
    """What a judge is shown of an attempt.

    `criteria` maps the name of a part to its criterion. `evidence` holds inputs, outputs and what
    became of inputs; `pages` the pictures of outputs by path. `wants_files`: the task asks for
    files. `left_out` counts delivered files that are not shown; `folder` is where all of them are,
    below the attempts.
    """

    attempt_id: str
    task: str = field(repr=False)
    criteria: Mapping[str, str] = field(repr=False)
    answer: str | None = field(repr=False)
    evidence: Evidence = field(default_factory=Evidence, repr=False)
    pages: Mapping[str, tuple[Image, ...]] = field(default_factory=dict, repr=False)
    wants_files: bool = False
    left_out: int = 0
    folder: str = ""

    @property
    def nothing(self) -> AttemptReason | None:
        """Why there is nothing to judge; None where there is something."""
        outputs = self.evidence.outputs
        if self.pictures or any(plain_text(view) for view in outputs):
            return None
        if not self.wants_files and (self.answer or "").strip():
            return None
        return AttemptReason.NOTHING_READABLE if outputs else AttemptReason.NOTHING_DELIVERED

    @property
    def pictures(self) -> tuple[Image, ...]:
        """All pages in the order of the outputs."""
        return tuple(i for v in self.evidence.outputs for i in self.pages.get(v.path, ()))

    @property
    def delivered(self) -> tuple[tuple[str, str], ...]:
        """All text that can be evidence, that of a table with its header row before it."""
        pieces = [piece for view in self.evidence.outputs for piece in plain_pieces(view)]
        return tuple((head, text[:_LONGEST]) for head, text in (("", self.answer or ""), *pieces))

    @property
    def is_addressed(self) -> bool:
        """Does anything that was delivered address its judge?"""
        names = [view.path for view in self.evidence.outputs]
        return any(addresses_judge(text) for text in (*(t for _, t in self.delivered), *names))

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
        outputs = tuple(_without(view, sentences) for view in self.evidence.outputs)
        same = {
            new.path for new, old in zip(outputs, self.evidence.outputs, strict=True) if new == old
        }
        changes = tuple(change for change in self.evidence.changes if change.path in same)
        return replace(
            self,
            evidence=self.evidence.model_copy(update={"outputs": outputs, "changes": changes}),
            answer=_without_lines(self.answer or "", sentences),
            pages={path: pages for path, pages in self.pages.items() if path in same},
        )

    def shown_criteria(self, key: Key) -> Shown:
        """The criteria as the judge is shown them, with controls that nothing here meets."""
        given = [self.task, *self.criteria.values(), *(text for _, text in self.delivered)]
        for view in (*self.evidence.files, *self.evidence.outputs):
            given.append(view.path)
        given += map(plain_text, self.evidence.files)
        return _with_controls(key, self.attempt_id, self.criteria, given)


def _without(view: FileView, sentences: Set[str]) -> FileView:
    """A view without the lines, rows and notes in which some sentences stand."""

    def is_clean(text: str) -> bool:
        return _without_lines(text, sentences) == text

    sheets = []
    for sheet in view.sheets:
        rows = {
            name: tuple(row if is_clean(" | ".join(row)) else () for row in getattr(sheet, name))
            for name in ("head", "tail")
        }
        notes = {
            "note": _without_lines(sheet.note, sentences),
            "formula_cells": tuple(filter(is_clean, sheet.formula_cells)),
        }
        changed = any(getattr(sheet, name) != value for name, value in rows.items())
        columns = () if changed else sheet.columns  # their examples are cells
        sheets.append(sheet.model_copy(update={**rows, **notes, "columns": columns}))
    parts = tuple(
        part.model_copy(update={"text": _without_lines(part.text, sentences)})
        for part in view.parts
    )
    outline = tuple(filter(is_clean, view.outline))
    update = {"sheets": tuple(sheets), "parts": parts, "outline": outline}
    return view.model_copy(update=update)


class _Forms(dict[int, str]):
    """The plain form of every character, by code point."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
        form = "" if HIDDEN.match(char) else "".join(folded.translate(_ALIKE).split())
        return self.setdefault(code, form)


_FORMS = _Forms()


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote in plain form, and the sentences into which it reaches."""

    plain: str = field(repr=False)
    sentences: tuple[str, ...] = field(repr=False)

    def shown(self, most: int) -> str:
        """The sentences as one text; of a longer one `most` characters around the quote."""
        text = " ".join(self.sentences)
        if len(text) <= most:
            return text
        text = " ".join(SHOWN.sub("", text).split())
        ends = tuple(accumulate(len(_FORMS[ord(char)]) for char in text))
        at = text.translate(_FORMS).find(self.plain)
        first, last = bisect_right(ends, at), bisect_left(ends, at + len(self.plain)) + 1
        room = max(0, most - _MARKS - (last - first)) // 2
        start, stop = max(0, first - room), min(len(text), last + room)
        before = CUT.format(start) if start else ""
        behind = CUT.format(len(text) - stop) if stop < len(text) else ""
        return f"{before}{text[start:stop]}{behind}"


@dataclass(frozen=True, slots=True)
class QuotedText:
    """The sentences of a text, and where each ends in the plain form of the text."""

    sentences: tuple[str, ...] = field(repr=False)
    plain: str = field(repr=False)
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> QuotedText:
        """The text split into sentences."""
        sentences = tuple(_sentences(cleaned(text)))
        plain = [_plain(sentence) for sentence in sentences]
        return cls(sentences, "".join(plain), tuple(accumulate(map(len, plain))))

    def around(self, quote: str) -> Passage | None:
        """The sentences into which a quote reaches; None where it does not stand in the text.

        A quote of fewer than eight characters must be a whole sentence.
        """
        wanted = _plain(cleaned(quote))
        if len(wanted) < _LEAST:
            wanted = wanted.rstrip(_STOPS)
            equal = (s for s in self.sentences if wanted and _plain(s).rstrip(_STOPS) == wanted)
            sentence = next(equal, None)
            return None if sentence is None else Passage(_plain(sentence), (sentence,))
        at = self.plain.find(wanted)
        if at < 0:
            return None
        first, last = bisect_right(self.ends, at), bisect_left(self.ends, at + len(wanted))
        return Passage(wanted, self.sentences[first : last + 1])


def _without_lines(text: str, sentences: Set[str]) -> str:
    """A text without the lines in which some sentences stand; cleaned, if there are such."""
    lines = cleaned(text).split("\n")
    kept = [line for line in lines if sentences.isdisjoint(_sentences(line))]
    return text if len(kept) == len(lines) else _BLANK_LINES.sub("\n\n", "\n".join(kept).strip())


def _sentences(text: str) -> list[str]:
    """Without those of blanks only, such as the end of a line that ends in two characters."""
    parts = (text[start:end].strip() for start, end in sentence_spans(text))
    return [part for part in parts if part]


def _plain(text: str) -> str:
    return SHOWN.sub("", text).translate(_FORMS)


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """A verdict with its evidence; `verdict` is None where no evidence of a reply supports one.

    `finding` says what is there and what is wrong; `quotes` are those that stand in what was
    delivered, `passages` the sentences of each.
    """

    verdict: CriterionVerdict | None
    quotes: tuple[str, ...] = ()
    page: int | None = None
    passages: tuple[Passage, ...] = field(default=(), repr=False)
    reason: str | None = None
    finding: str = field(default="", repr=False)

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
