"""Texts as files: decoded, visited in their form, and kept so that every byte comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from anonymization.text.masking.forms import edits_of, encoding_of
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Collector, Piece
from anonymization.text.vault.contracts import Document, Edit
from anonymization.text.vault.restore import applied, decoded, encoded
from data.canonical import digest


@dataclass(frozen=True, slots=True)
class MaskedText:
    """Masked bytes, the edits (places in code points of the original) and the way back."""

    data: bytes
    edits: tuple[Edit, ...]
    document: Document


def mask_text(data: bytes, path: str, masker: Masker, released: str = "") -> MaskedText:
    """Mask a text file in the form that its name tells; the vault can restore it.

    `released` is the path of the masked file, where it differs. Raises ValueError if `data` is no
    text.
    """
    encoding = encoding_of(data)
    if encoding is None:
        raise ValueError(f"{PurePath(path).suffix or 'a file'}: no text")
    text = decoded(data, encoding)
    masker.learn(pieces_of(text, path))
    return rewritten(data, path, encoding, edits_of(text, path, masker.edits), masker, released)


def rewritten(
    data: bytes,
    path: str,
    encoding: str,
    edits: Sequence[Edit],
    masker: Masker,
    released: str = "",
) -> MaskedText:
    """The text `data` with `edits` applied, and in the vault the way back."""
    told = _encodable(edits, encoding)
    masked, spans = applied(decoded(data, encoding), told)
    raw = encoded(masked, encoding)
    document = Document(released or path, path, digest(raw), digest(data), encoding, spans)
    masker.vault.add_document(document)
    return MaskedText(raw, tuple(told), document)


def pieces_of(text: str, path: str) -> list[Piece]:
    """The pieces of a text file, in order."""
    seen = Collector()
    edits_of(text, path, seen)
    return list(seen.pieces)


def _encodable(edits: Sequence[Edit], encoding: str) -> list[Edit]:
    """Surrogates in characters that the encoding has."""
    if encoding != "latin-1":
        return list(edits)
    return [
        Edit(e.start, e.end, e.new.encode("latin-1", "replace").decode("latin-1"), e.type,
             e.recognizer, e.score)
        for e in edits
    ]  # fmt: skip
