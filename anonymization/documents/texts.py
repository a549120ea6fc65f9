"""Text files: masked as they are read here, and kept so that every byte comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anonymization.documents.readings import text_edits
from anonymization.text.masking.files import MaskedText
from anonymization.text.masking.masker import Masker
from anonymization.text.vault.contracts import Document, Edit
from anonymization.text.vault.restore import applied, decoded, encoded
from data.canonical import digest


def mask_reading(
    data: bytes, path: str, encoding: str, masker: Masker, released: str
) -> MaskedText:
    """Mask a text file whose pieces were learned; the vault can restore it byte for byte."""
    text = decoded(data, encoding)
    edits = _encodable(text_edits(text, path, masker.edits), encoding)
    masked, spans = applied(text, edits)
    raw = encoded(masked, encoding)
    document = Document(released, path, digest(raw), digest(data), encoding, spans)
    masker.vault.add_document(document)
    return MaskedText(raw, tuple(edits), document)


def _encodable(edits: Sequence[Edit], encoding: str) -> list[Edit]:
    """Surrogates in characters that the encoding has."""
    if encoding != "latin-1":
        return list(edits)
    return [replace(e, new=e.new.encode("latin-1", "replace").decode("latin-1")) for e in edits]
