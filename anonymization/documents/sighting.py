"""Where a word worth a look stands in what masking left of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymization.text.contracts import Edit
from anonymization.words_review import Why

GONE = "\0"  # stands for each character that masking has replaced


@dataclass(frozen=True, slots=True)
class Sighting:
    """A word or run of words, where it stands in a text, and why it is worth a look."""

    word: str
    start: int
    end: int
    why: Why


def whole_sighting(text: str, why: Why) -> Sighting:
    """A text as a whole, without the blanks around it."""
    word = text.strip()
    start = text.index(word)
    return Sighting(word, start, start + len(word), why)


def without(value: str, edits: Sequence[Edit]) -> str:
    """A text in which each character that masking replaces is GONE; offsets stay."""
    parts, at = [], 0
    for edit in edits:
        parts += [value[at : edit.start], GONE * (edit.end - edit.start)]
        at = edit.end
    return "".join([*parts, value[at:]])
