"""The texts of documents, for the excerpts that judges read (`judging.stage_output`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anonymization.documents.contracts import DocumentConfig
from anonymization.documents.dispatch import is_document
from anonymization.documents.document import pieces_in

_HEAD = 8192  # bytes
_TEXT_ONLY = DocumentConfig(caption_model="")  # names in the documents were masked before


def document_texts(file: Path, path: str) -> Iterator[str] | None:
    """The texts of a document, `path` being its name in the task; None if it is none."""
    with file.open("rb") as handle:
        head = handle.read(_HEAD)
    if not is_document(head, path):
        return None
    return (piece.value for piece in pieces_in(file.read_bytes(), path, _TEXT_ONLY))
