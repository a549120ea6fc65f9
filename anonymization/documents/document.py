"""Masking one file of any kind: texts in place, documents in a child process.

Also the texts of documents, for the excerpts that judges read (`judging.stage_output`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from anonymization.documents.child import dumped, edits_to, is_document, piece_from, pieces_to
from anonymization.documents.contracts import DocumentConfig, DocumentReport, Refusal, Row
from anonymization.documents.labels import caption_names, column_people
from anonymization.documents.text_forms import text_edits, text_pieces
from anonymization.documents.utility import damage
from anonymization.documents.visitor import name_edits
from anonymization.text.contracts import Document, Edit, EntityType, Mode
from anonymization.text.encodings import encoding_of, writable
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Collector, Piece
from anonymization.text.vault import applied, decoded, encoded
from data.canonical import digest
from data.child import Child, ChildFailed, ChildLimits

_CHILD = "anonymization.documents.child"


@dataclass(frozen=True, slots=True)
class MaskedText:
    """Masked bytes, the edits (offsets in code points of the original), and how to restore it."""

    data: bytes
    edits: tuple[Edit, ...]
    document: Document


@dataclass(frozen=True, slots=True)
class MaskedDocument:
    """Masked bytes (empty if refused) and the report."""

    data: bytes
    report: DocumentReport


def mask_bytes(
    data: bytes,
    path: str,
    masker: Masker,
    config: DocumentConfig | None = None,
    released: str = "",
) -> MaskedDocument:
    """Mask a file that is in memory. `released` is the path of the masked file."""
    config = config or DocumentConfig()
    released = released or path
    if len(data) > config.max_file_bytes:
        return _refused(path, data, Refusal.TOO_LARGE)
    if not is_document(data, path):
        text = mask_text(data, path, masker, config, released)
        changed = _damage(data, text, path) if masker.vault.mode is Mode.SURROGATE else ""
        if changed:
            masker.vault.drop_document(released)
            return _refused(path, data, Refusal.DAMAGED, changed)
        rows = tuple(Row("", e.start, e.type, e.recognizer, e.score) for e in text.edits)
        sums = digest(data), digest(text.data)
        return MaskedDocument(text.data, DocumentReport(released, *sums, rows))
    outcome, masked = _in_child(data, path, config, masker)
    if outcome.get("refusal"):
        return _refused(path, data, Refusal(outcome["refusal"]), outcome["part"], _rows(outcome))
    masker.vault.add_document(Document(released, path, digest(masked), digest(data), "", ()))
    return MaskedDocument(
        masked, DocumentReport(released, digest(data), digest(masked), _rows(outcome))
    )


def mask_text(
    data: bytes,
    path: str,
    masker: Masker,
    config: DocumentConfig | None = None,
    released: str = "",
) -> MaskedText:
    """Mask a text file in the form that its name implies; the vault can restore it exactly.

    `released` is the path of the masked file, where it differs. Raises ValueError if `data` is no
    text.
    """
    encoding = encoding_of(data)
    if encoding is None:
        raise ValueError(f"{PurePath(path).suffix or 'a file'}: no text")
    text = decoded(data, encoding)
    learn([_with_names(text_pieces(text, path), config or DocumentConfig())], masker)
    edits = [
        replace(edit, new=writable(edit.new, encoding))
        for edit in text_edits(text, path, masker.edits)
    ]
    masked, spans = applied(text, edits)
    raw = encoded(masked, encoding)
    document = Document(released or path, path, digest(raw), digest(data), encoding, spans)
    masker.vault.add_document(document)
    return MaskedText(raw, tuple(edits), document)


def _damage(data: bytes, masked: MaskedText, path: str) -> str:
    encoding = masked.document.encoding
    return damage(decoded(data, encoding), decoded(masked.data, encoding), path)


def learn(files: Sequence[Sequence[Piece]], masker: Masker, *, are_apart: bool = False) -> None:
    """Add the values of files to the vault, and then the names in their columns.

    Of files that `are_apart` nothing but what can be nothing else spreads to the others.
    """
    for number, pieces in enumerate(files if are_apart else ()):
        masker.spreading.add_file(number, pieces)
    masker.learn(piece for pieces in files for piece in pieces)
    names = [column_people(pieces, masker.edits) for pieces in files]
    for number, pieces in enumerate(names if are_apart else ()):
        masker.spreading.add_file(number, pieces)
    if any(names):
        masker.learn(piece for pieces in names for piece in pieces)


def pieces_in(data: bytes, path: str, config: DocumentConfig | None = None) -> list[Piece]:
    """All texts of a file and its name, for a masker to learn; if unreadable, its name only."""
    config = config or DocumentConfig()
    name_pieces = Collector()
    for part in PurePath(path).parts:
        name_edits(part, name_pieces)
    if len(data) > config.max_file_bytes:
        return list(name_pieces.pieces)
    if not is_document(data, path):
        encoding = encoding_of(data)
        texts = text_pieces(decoded(data, encoding), path) if encoding else []
        return [*name_pieces.pieces, *_with_names(texts, config)]
    try:
        with Child(_CHILD, _limits(config)) as child:
            return [*name_pieces.pieces, *_with_names(_opened(child, data, path, config), config)]
    except ChildFailed:
        return list(name_pieces.pieces)


def masked_path(path: PurePath, masker: Masker) -> PurePath:
    """A relative path with private names of files and folders replaced."""
    return PurePath(*(applied(part, name_edits(part, masker.edits))[0] for part in path.parts))


def _opened(child: Child, data: bytes, path: str, config: DocumentConfig) -> list[Piece]:
    child.send(dumped({"name": PurePath(path).name, "config": config.model_dump(mode="json")}))
    child.send(data)
    return [piece_from(fields) for fields in json.loads(child.receive())]


def _in_child(
    data: bytes, path: str, config: DocumentConfig, masker: Masker
) -> tuple[dict[str, Any], bytes]:
    try:
        with Child(_CHILD, _limits(config)) as child:
            pieces = _opened(child, data, path, config)
            learn([_with_names(pieces, config)], masker)
            child.send(dumped(list(_edits_by_piece(pieces, masker))))
            return json.loads(child.receive()), child.receive()
    except (ChildFailed, ValueError):
        return {"refusal": Refusal.CRASHED.value, "part": "", "rows": []}, b""


def _with_names(pieces: list[Piece], config: DocumentConfig) -> list[Piece]:
    return [*pieces, *caption_names(pieces, config.caption_model)]


def _edits_by_piece(pieces: Iterable[Piece], masker: Masker) -> Iterable[list[Any]]:
    for piece in pieces:
        edits = masker.edits(piece)
        if edits:
            yield [pieces_to([piece])[0], edits_to(edits)]


def _rows(outcome: dict[str, Any]) -> tuple[Row, ...]:
    return tuple(Row(p, o, EntityType(k), by, score) for p, o, k, by, score in outcome["rows"])


def _refused(
    path: str, data: bytes, reason: Refusal, part: str = "", rows: tuple[Row, ...] = ()
) -> MaskedDocument:
    report = DocumentReport(path, digest(data), rows=rows, refusal=reason, part=part)
    return MaskedDocument(b"", report)


def _limits(config: DocumentConfig) -> ChildLimits:
    return ChildLimits(config.seconds, config.memory_bytes)
