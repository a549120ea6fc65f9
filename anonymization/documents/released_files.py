"""The masked files of a scope before they are released: what stayed in them, and who is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath

from anonymization.documents.contracts import DocumentReport, Refusal
from anonymization.documents.remaining_words import words_left
from anonymization.documents.sighting import GONE
from anonymization.documents.survivors import survivors
from anonymization.text.contracts import DetectionConfig, Document
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from anonymization.text.vault import decoded
from anonymization.words_review import Review, WordLeft

Reports = Sequence[DocumentReport]


def without_survivors(
    files: Path, masker: Masker, reports: Reports, key: bytes
) -> list[DocumentReport]:
    """The reports, with a refusal for each file in which a value of the vault still stands."""
    released = {r.path: files / r.path for r in reports if r.refusal is None}
    parts = dict(survivors(masker.vault, released, key))
    return _refusing(files, masker, reports, parts, Refusal.VALUE_REMAINS)


def words_of_files(
    files: Path,
    masker: Masker,
    reports: Reports,
    pieces: Mapping[PurePath, Sequence[Piece]],
    detection: DetectionConfig,
    review: Review | None,
) -> dict[str, dict[str, WordLeft]]:
    """The words worth a look in each file that can be released, by the path of the file."""
    private = review.private_words if review is not None else frozenset()
    vault = masker.vault
    words_in = partial(
        words_left, detection=detection, private=private, undecided_of=masker.undecided
    )
    return {
        report.path: words_in(
            pieces[PurePath(report.original_path)],
            masker.edits,
            whole=unmasked((files / report.path).read_bytes(), vault.documents[report.path]),
        )
        for report in reports
        if report.refusal is None
    }


def without_open_words(
    files: Path,
    masker: Masker,
    reports: Reports,
    words: Mapping[str, Mapping[str, WordLeft]],
    review: Review | None,
) -> list[DocumentReport]:
    """The reports, with a refusal for each file in which a word has no decision of the review."""
    unread = {path: "" for path in words if review and review.leaves_open(words[path])}
    return _refusing(files, masker, reports, unread, Refusal.NOT_REVIEWED)


def unmasked(masked: bytes, document: Document) -> str:
    """A masked text with a gap for each surrogate; nothing of a file that is no plain text."""
    if not document.encoding:
        return ""
    text, parts, end = decoded(masked, document.encoding), [], 0
    for span in document.spans:
        parts += [text[end : span.start], GONE * len(span.surrogate)]
        end = span.start + len(span.surrogate)
    return "".join([*parts, text[end:]])


def _refusing(
    files: Path, masker: Masker, reports: Reports, parts: Mapping[str, str], reason: Refusal
) -> list[DocumentReport]:
    """The reports, with a refusal for each file of `parts`; it is removed from output and vault."""
    for name in parts:
        (files / name).unlink()
        masker.vault.drop_document(name)
    return [
        replace(report, masked_sha256="", rows=(), refusal=reason, part=parts[report.path])
        if report.refusal is None and report.path in parts
        else report
        for report in reports
    ]
