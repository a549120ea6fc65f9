"""The context of rewriting a document: the look, the limits, and the rows for the audit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anonymization.documents.contracts import DocumentConfig, Refusal, Refused, Row
from anonymization.documents.text_forms import show_double_name, text_edits
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.forms import open_text
from anonymization.text.masking.known_search import LISTED
from anonymization.text.masking.pieces import (
    FindingFilter,
    Look,
    Piece,
    Visit,
    carried,
    labelled,
    shifted,
)
from anonymization.text.masking.plain import joined, plain_edits
from anonymization.text.vault import applied

_SEPARATORS = "_-+. "
AS_SPACES = {ord(char): " " for char in "_-+"}
_UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]')
_LITERAL = re.compile(r'"((?:[^"]|"")*)"')
_ENDING = 5
_INDEX = re.compile(r"\d{1,3}_(?=[^\W\d])")
_NAMED = frozenset({EntityType.ORGANIZATION, EntityType.LOCATION})

Rewrite = Callable[["Visitor", bytes, str], bytes]


@dataclass(slots=True)
class Visitor:
    """Shared by all parts of one document. `rewrite` masks a file found inside another."""

    look: Look
    config: DocumentConfig
    rewrite: Rewrite
    rows: list[Row] = field(default_factory=list)
    depth: int = 0
    words: dict[tuple[FindingFilter, str], list[Edit]] = field(default_factory=dict)

    def word(self, text: str, accepts: FindingFilter) -> list[Edit]:
        """Edits of a name that a program or a person chose, cached because names recur."""
        if (accepts, text) not in self.words:
            self.words[accepts, text] = plain_edits(text, self.visit(), accepts=accepts)
        return self.words[accepts, text]

    def visit(self) -> Visit:
        """The visit for forms of text."""
        return Visit(self.look, open_text)

    def masked(self, part: str, text: str, edits: Iterable[Edit]) -> str:
        """`text` with the edits applied and recorded for the audit."""
        applied_edits = list(edits)
        self.record(part, applied_edits)
        return applied(text, applied_edits)[0]

    def record(self, part: str, edits: Sequence[Edit]) -> None:
        """Record edits for the audit."""
        self.rows += [Row(part, e.start, e.type, e.recognizer, e.score) for e in edits]

    def text(self, part: str, text: str, name: str = "") -> str:
        """A text masked in the form that its name implies."""
        return self.masked(part, text, text_edits(text, name, self.look))

    def inner(self, part: str, data: bytes, name: str = "") -> bytes:
        """A file inside the document, masked. Raises Refused if that cannot be done.

        `name` determines its form if `part`, which the audit shows, does not.
        """
        if self.depth >= self.config.max_depth:
            raise Refused(Refusal.EMBEDDED_UNKNOWN, part)
        deeper = Visitor(self.look, self.config, self.rewrite, depth=self.depth + 1)
        try:
            masked = self.rewrite(deeper, data, name or part)
        except Refused as refused:
            raise Refused(
                refused.reason, f"{part}!{refused.part}" if refused.part else part
            ) from None
        self.rows += [
            Row(f"{part}!{row.part}", row.offset, row.type, row.recognizer, row.score)
            for row in deeper.rows
        ]
        return masked


def name_edits(name: str, look: Look, *, is_chosen: bool = True) -> list[Edit]:
    """Edits of a file name: separators are read as spaces, and the ending stays.

    One that a person chose is a title too.
    """
    stem, dot, ending = name.rpartition(".")
    stem = stem if dot and len(ending) <= _ENDING else name
    index = _INDEX.match(stem)
    if index is not None:  # `07_harbour_run`: its place in a list, and no house number
        kept = len(index.group())
        return [
            replace(edit, start=edit.start + kept, end=edit.end + kept)
            for edit in name_edits(name[kept:], look, is_chosen=is_chosen)
        ]
    for word in stem.translate(AS_SPACES).split():
        show_double_name(look, word)
    if is_chosen:
        look(labelled("Title", stem.translate(AS_SPACES)))
    proven = look(Piece(stem, accepts=FindingFilter.PROVEN))  # an e-mail may hold separators
    edits = []
    for edit in joined(look(Piece(stem.translate(AS_SPACES))), proven, first=True):
        value = stem[edit.start : edit.end]
        is_listed = edit.recognizer == LISTED
        is_word = value.isascii() and value.isalpha() and value.islower()
        if edit.type in _NAMED and is_word and not is_listed:
            continue  # a word that is usual in file names (`gateway_log`)
        between = next((char for char in stem[edit.start : edit.end] if char in _SEPARATORS), "_")
        new = _UNSAFE.sub("-", edit.new.replace(" ", between))
        edits.append(Edit(edit.start, edit.end, new, edit.type, edit.recognizer, edit.score))
    return edits


def refuse_names(edits: Sequence[Edit]) -> None:
    """Raise Refused if a name that must not change would have to be edited."""
    if edits:
        is_private = any(edit.type is not EntityType.UNEXPLAINED for edit in edits)
        raise Refused(Refusal.PRIVATE_PART_NAME if is_private else Refusal.UNEXPLAINED)


def literal_edits(visitor: Visitor, text: str) -> list[Edit]:
    """Edits of the quoted literals in a formula, read one by one and joined."""
    edits: list[Edit] = []
    starts: list[int] = []
    ends: list[int] = []
    literals = list(_LITERAL.finditer(text))
    for match in literals:
        starts += range(match.start(1), match.end(1))
        ends += range(match.start(1) + 1, match.end(1) + 1)
    if len(literals) > 1:
        whole = "".join(match[1] for match in literals)
        edits = carried(plain_edits(whole, visitor.visit()), starts, ends, _doubled)
    for match in literals:
        inner = plain_edits(match[1], visitor.visit())
        edits = joined(edits, shifted(inner, match.start(1), _doubled))
    return edits


def _doubled(new: str) -> str:
    return new.replace('"', '""')


def dumped(value: Any) -> bytes:
    """JSON in ASCII; lone surrogates are accepted."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def pieces_to(pieces: Iterable[Piece]) -> list[list[Any]]:
    """Pieces as lists."""
    return [[p.text, p.lead, p.kind.value if p.kind else None, p.accepts.value] for p in pieces]


def piece_from(fields: Sequence[Any]) -> Piece:
    """The piece of a list."""
    text, lead, kind, accepts = fields
    return Piece(str(text), int(lead), EntityType(kind) if kind else None, FindingFilter(accepts))


def edits_to(edits: Iterable[Edit]) -> list[list[Any]]:
    """Edits as lists."""
    return [[e.start, e.end, e.new, e.type.value, e.recognizer, e.score] for e in edits]


def edits_from(rows: Iterable[Sequence[Any]]) -> list[Edit]:
    """The edits of lists."""
    return [Edit(s, e, new, EntityType(k), by, score) for s, e, new, k, by, score in rows]
