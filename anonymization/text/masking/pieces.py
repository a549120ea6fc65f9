"""Pieces of text and how edits found in them are carried back to where they stood.

How the parts of a text are visited: which look, and what to do with files inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from anonymization.text.contracts import Edit, EntityType


class Heed(StrEnum):
    """Which findings count in a piece; values known from elsewhere always do.

    WHOLE is for names that a person or a program chose (a key, an attribute): what its form
    proves, and several words that are a value as a whole. PROVEN leaves the latter out: fonts and
    styles are named by programs.
    """

    ALL = "all"
    WHOLE = "whole"
    PROVEN = "proven"


@dataclass(frozen=True, slots=True)
class Piece:
    """A text to look at; its first `lead` characters only say what it is (a column, a key).

    `kind` marks what is private as a whole, whatever it looks like: the author of a document.
    """

    text: str
    lead: int = 0
    kind: EntityType | None = None
    heed: Heed = Heed.ALL

    @property
    def value(self) -> str:
        """The text without its lead."""
        return self.text[self.lead :]


# Edits for the value of a piece, sorted, without overlap. The first visit of a document collects
# its pieces and gets no edits; the second one gets them.
Look = Callable[[Piece], Sequence[Edit]]
Spell = Callable[[str], str]


def labelled(label: str, value: str, heed: Heed = Heed.ALL) -> Piece:
    """A value with the words that stand before it for a reader."""
    if not label:
        return Piece(value, heed=heed)
    return Piece(f"{label}: {value}", len(label) + 2, heed=heed)


def shifted(edits: Iterable[Edit], by: int, spell: Spell | None = None) -> list[Edit]:
    """Edits of a text that stands `by` characters into another, spelled as it has to be there."""
    return [
        replace(e, start=e.start + by, end=e.end + by, new=spell(e.new) if spell else e.new)
        for e in edits
    ]


def carried(
    edits: Iterable[Edit], starts: Sequence[int], ends: Sequence[int], spell: Spell
) -> list[Edit]:
    """Edits of a text whose character i stood at `starts[i]:ends[i]` of another.

    Where an edit spans several runs of the other text, the first takes the replacement and the
    rest are emptied; what stands between runs (tags, say) is left alone.
    """
    told: list[Edit] = []
    for edit in edits:
        new = spell(edit.new)
        place = edit.start
        while place < edit.end:
            run = place + 1
            while run < edit.end and starts[run] == ends[run - 1]:
                run += 1
            told.append(replace(edit, start=starts[place], end=ends[run - 1], new=new))
            new, place = "", run
    return told


class Collector:
    """A look that finds nothing and remembers what it was shown, in order."""

    def __init__(self) -> None:
        self.pieces: dict[Piece, None] = {}

    def __call__(self, piece: Piece) -> Sequence[Edit]:
        self.pieces.setdefault(piece)
        return ()


MAX_DEPTH = 4  # JSON in JSON in base64 in JSON

# A file inside a text, and the visit: its masked bytes and what was found, or None if it is of a
# kind that cannot be opened.
OpenBlob = Callable[[bytes, "Visit"], tuple[bytes, Sequence[Edit]] | None]


@dataclass(frozen=True, slots=True)
class Visit:
    """`depth` counts how deep forms are nested in forms."""

    look: Look
    open_blob: OpenBlob
    depth: int = 0

    def deeper(self) -> Visit:
        """The visit of what lies inside."""
        return replace(self, depth=self.depth + 1)
