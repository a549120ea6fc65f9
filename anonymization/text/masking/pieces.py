"""Pieces of text to look at, and how edits found in them are carried back to the whole text.

A form of text (JSON, HTML, a table) visits its parts: it hands pieces to a look and says what
happens with files found inside the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from anonymization.text.contracts import PROVEN_BY_FORM, Edit, EntityType, Finding

_SEPARATOR = ": "  # between a label and its value
# Kinds whose form proves them, wherever they occur.
_PROVEN = PROVEN_BY_FORM | {EntityType.USER_PATH}
FIELD = "field"  # the recognizer of fields that hold only a private value


class FindingFilter(StrEnum):
    """Which findings count in a piece; values known from elsewhere always do.

    WHOLE is for names that a person or a program chose (a key, an attribute): it accepts findings
    whose form proves them, and several words that are a value as a whole. PROVEN accepts only the
    former: programs name fonts and styles.
    """

    ALL = "all"
    WHOLE = "whole"
    PROVEN = "proven"


@dataclass(frozen=True, slots=True)
class Piece:
    """A text to look at; its first `lead` characters only say what it is (a column, a key).

    `kind` marks a text that is private as a whole, whatever it looks like: a document's author.
    `fixed` are spans, in order, of what a program reads by its place: keywords, names and keys.
    """

    text: str
    lead: int = 0
    kind: EntityType | None = None
    accepts: FindingFilter = FindingFilter.ALL
    fixed: tuple[tuple[int, int], ...] = ()

    def __hash__(self) -> int:  # a table has many texts: that of all fields takes thrice as long
        return hash((self.text, self.lead))

    @property
    def value(self) -> str:
        """The text without its lead."""
        return self.text[self.lead :]

    @property
    def label(self) -> str:
        """What a reader sees before the value, without the separator; empty without a lead."""
        return self.text[: max(0, self.lead - len(_SEPARATOR))]


def is_whole_name(piece: Piece, finding: Finding) -> bool:
    """Is the whole name a value, and not a word that a program would choose?"""
    if (
        piece.accepts is FindingFilter.PROVEN
        or finding.start > piece.lead
        or finding.end < len(piece.text)
    ):
        return False
    return " " in piece.value.strip() or not piece.value.isascii()


def clipped(piece: Piece, findings: Iterable[Finding]) -> Iterable[Finding]:
    """Findings in the value of a piece, with offsets in the value; never only white space."""
    if piece.kind is not None:
        findings = [Finding(piece.lead, len(piece.text), piece.kind, FIELD, 1.0)]
    if piece.accepts is not FindingFilter.ALL:
        proven = _PROVEN | ({EntityType.DATE} if piece.accepts is FindingFilter.WHOLE else set())
        findings = [
            finding
            for finding in findings
            if finding.type in proven or is_whole_name(piece, finding)
        ]
    for finding in findings:
        start, end = max(finding.start, piece.lead), finding.end
        if piece.text[start:end].strip():
            yield Finding(
                start - piece.lead,
                end - piece.lead,
                finding.type,
                finding.recognizer,
                finding.score,
            )


# Edits for the value of a piece, sorted, without overlap. The first visit of a document collects
# its pieces and gets no edits; the second one gets them.
Look = Callable[[Piece], Sequence[Edit]]
Escape = Callable[[str], str]


def labelled(label: str, value: str, accepts: FindingFilter = FindingFilter.ALL) -> Piece:
    """A value with the label that a reader sees before it."""
    if not label:
        return Piece(value, accepts=accepts)
    lead = label + _SEPARATOR
    return Piece(lead + value, len(lead), accepts=accepts)


def shifted(edits: Iterable[Edit], by: int, escape: Escape | None = None) -> list[Edit]:
    """Edits of a text that starts `by` characters into another, escaped as that text needs it."""
    return [
        replace(e, start=e.start + by, end=e.end + by, new=escape(e.new) if escape else e.new)
        for e in edits
    ]


def carried(
    edits: Iterable[Edit], starts: Sequence[int], ends: Sequence[int], escape: Escape
) -> list[Edit]:
    """Edits of a text whose character i was at `starts[i]:ends[i]` of another.

    Where an edit spans several runs of the other text, the first run takes the replacement and
    the others are emptied; what lies between runs (tags, say) is left alone.
    """
    moved: list[Edit] = []
    for edit in edits:
        new = escape(edit.new)
        offset = edit.start
        while offset < edit.end:
            run = offset + 1
            while run < edit.end and starts[run] == ends[run - 1]:
                run += 1
            moved.append(replace(edit, start=starts[offset], end=ends[run - 1], new=new))
            new, offset = "", run
    return moved


class Collector:
    """A look that finds nothing and remembers the pieces that it was shown, in order."""

    def __init__(self) -> None:
        self.pieces: dict[Piece, None] = {}

    def __call__(self, piece: Piece) -> Sequence[Edit]:
        self.pieces.setdefault(piece)
        return ()


MAX_DEPTH = 4  # JSON in JSON in base64 in JSON

# Takes a file found inside a text, and the visit: returns its masked bytes and its edits, or None
# if it is of a kind that cannot be opened.
OpenBlob = Callable[[bytes, "Visit"], tuple[bytes, Sequence[Edit]] | None]


@dataclass(frozen=True, slots=True)
class Visit:
    """How the parts of a text are visited; `depth` counts how deep forms are nested in forms."""

    look: Look
    open_blob: OpenBlob
    depth: int = 0

    def deeper(self) -> Visit:
        """The visit of a form nested in this one."""
        return replace(self, depth=self.depth + 1)


_IDS = frozenset({EntityType.PERSON_NUMBER, EntityType.CASE_NUMBER, EntityType.ACCOUNT})
_FEWEST_SERIALS, _SPARSE = 5, 1.5  # numbers of a column, and the last of a counter per number


def whole_columns(
    pieces: Sequence[Piece], findings: Sequence[Sequence[Finding]]
) -> list[Sequence[Finding]]:
    """The findings with columns of serial numbers masked wholly, or left if they only count."""
    columns: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        if piece.lead and piece.value.isascii() and piece.value.isdigit():
            columns.setdefault(piece.label, []).append(number)
    whole = list(findings)
    for rows in columns.values():
        kinds = {finding.type for row in rows for finding in findings[row] if finding.type in _IDS}
        if not kinds or len(rows) < _FEWEST_SERIALS:
            continue
        serials = {int(pieces[row].value) for row in rows}
        is_counter = min(serials) <= 1 and max(serials) <= _SPARSE * len(serials)
        for row in rows:
            others = [finding for finding in findings[row] if finding.type not in _IDS]
            span = pieces[row].lead, len(pieces[row].text)
            serial = Finding(*span, min(kinds), FIELD, 1.0)
            whole[row] = others if is_counter or others else [serial]
    return whole
