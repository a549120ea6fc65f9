"""Texts read in their form, and by what their place says: pages, tables, captions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath

from anonymization.documents.pages import page_edits
from anonymization.documents.tables import table_edits
from anonymization.text.contracts import Edit
from anonymization.text.masking.pieces import Collector, Look, Piece, Visit
from anonymization.text.masking.plain import joined
from anonymization.text.masking.text_files import edits_of, open_text

_PLACES: Mapping[str, Callable[[str, Visit], list[Edit]]] = {
    ".html": page_edits,
    ".htm": page_edits,
    ".xhtml": page_edits,
    ".csv": table_edits,
    ".tsv": table_edits,
}


def text_edits(text: str, name: str, look: Look) -> list[Edit]:
    """Edits of a text in the form that its name tells, and in the places that form has."""
    places = _PLACES.get(PurePath(name).suffix.lower())
    found = edits_of(text, name, look)
    return joined(found, places(text, Visit(look, open_text))) if places else found


def text_pieces(text: str, name: str) -> list[Piece]:
    """The pieces of a text file, in order."""
    seen = Collector()
    text_edits(text, name, seen)
    return list(seen.pieces)
