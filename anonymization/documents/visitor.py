"""What a rewriter of documents works with: the look, the limits, and the rows for the audit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from anonymization.documents.contracts import DocumentConfig, Refusal, Refused, Row
from anonymization.text.masking.forms import edits_of, open_text
from anonymization.text.masking.pieces import Look, Piece
from anonymization.text.masking.visit import Visit
from anonymization.text.vault.contracts import Edit
from anonymization.text.vault.restore import applied

_SEPARATORS = "_-+. "
_AS_SPACES = {ord(char): " " for char in "_-+"}
_UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]')
_ENDING = 5

Rewrite = Callable[["Visitor", bytes, str], bytes]


@dataclass(slots=True)
class Visitor:
    """Shared by all parts of one document. `rewrite` masks a file found inside another."""

    look: Look
    config: DocumentConfig
    rewrite: Rewrite
    rows: list[Row] = field(default_factory=list)
    depth: int = 0

    def visit(self) -> Visit:
        """The visit for forms of text."""
        return Visit(self.look, open_text)

    def masked(self, part: str, text: str, edits: Iterable[Edit]) -> str:
        """`text` with the edits applied, told to the audit."""
        told = list(edits)
        self.tell(part, told)
        return applied(text, told)[0]

    def tell(self, part: str, edits: Sequence[Edit]) -> None:
        """Take the edits into the audit."""
        self.rows += [Row(part, e.start, e.type, e.recognizer, e.score) for e in edits]

    def text(self, part: str, text: str, name: str = "") -> str:
        """A text masked in the form that its name tells."""
        return self.masked(part, text, edits_of(text, name, self.look))

    def inner(self, part: str, data: bytes) -> bytes:
        """A file inside the document, masked. Raises Refused if that cannot be done."""
        if self.depth >= self.config.max_depth:
            raise Refused(Refusal.EMBEDDED_UNKNOWN, part)
        deeper = Visitor(self.look, self.config, self.rewrite, depth=self.depth + 1)
        try:
            masked = self.rewrite(deeper, data, part)
        except Refused as refused:
            raise Refused(
                refused.reason, f"{part}!{refused.part}" if refused.part else part
            ) from None
        self.rows += [
            Row(f"{part}!{row.part}", row.offset, row.type, row.recognizer, row.score)
            for row in deeper.rows
        ]
        return masked


def name_edits(name: str, look: Look) -> list[Edit]:
    """Edits of a file name: separators read as spaces, and its ending stays."""
    stem, dot, ending = name.rpartition(".")
    stem = stem if dot and len(ending) <= _ENDING else name
    spaced = stem.translate(_AS_SPACES)
    told = []
    for edit in look(Piece(spaced)):
        between = next((char for char in stem[edit.start : edit.end] if char in _SEPARATORS), "_")
        new = _UNSAFE.sub("-", edit.new.replace(" ", between))
        told.append(Edit(edit.start, edit.end, new, edit.type, edit.recognizer, edit.score))
    return told
