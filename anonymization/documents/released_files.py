"""The masked files of a scope before they are released: what stayed in them, and who is refused."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath

from anonymization.documents.contracts import DocumentReport, Refusal
from anonymization.documents.remaining_words import words_left
from anonymization.documents.sighting import GONE
from anonymization.leaks.contracts import LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns
from anonymization.leaks.matcher import Matcher
from anonymization.leaks.scan import scan_bytes
from anonymization.text.contracts import DetectionConfig, Document, EntityType
from anonymization.text.masking.known_search import is_distinctive, is_sought
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from anonymization.text.spelling.known_values import known_value
from anonymization.text.spelling.normal_form import Origins, skeleton
from anonymization.text.vault import Vault, days_that_moved, decoded, holds_day
from anonymization.words_review import Review, WordLeft

# The last search of a run: does a value of its vault still stand in one of its masked files?
#
# Masking replaces what its forms of text can reach. The search for leaks reads more: base64,
# escapes, other spellings, parts of archives. A file in which it still finds a value is not
# released, nor is one that holds a day of the originals beside days that have moved.


def survivors(
    vault: Vault, files: Mapping[str, Path], key: bytes, dated: Container[str] = ()
) -> Iterator[tuple[str, str]]:
    """The names of files that hold a value of the vault, each with the part where it stands.

    The files of the names in `dated` keep their dates on purpose: no day in them tells the shift.

    Values that a surrogate contains do not count: masking itself put them there.
    """
    distinctive = [
        PrivateValue(entry.value, entry.type)
        for entry in vault.entries
        if not entry.is_ordinary
        and (
            is_distinctive(entry.type, entry.value) or (entry.is_listed and is_sought(entry.value))
        )
    ]
    made = _occurring(distinctive, "\0".join(entry.surrogate for entry in vault.entries))
    sought = [private for private in distinctive if private not in made]
    config = LeakConfig()
    patterns = LeakPatterns(sought, key, config)
    unmoved = days_that_moved(vault.entries)
    if not patterns.values and not unmoved:
        return
    for name, path in sorted(files.items()):
        data = path.read_bytes()
        leaks = scan_bytes(name, data, patterns, config) if patterns.values else []
        if leaks:
            yield name, leaks[0].file.partition("!")[2] or leaks[0].kind
        elif name not in dated and holds_day(data, unmoved):
            yield name, EntityType.DATE


def _occurring(values: Iterable[PrivateValue], text: str) -> set[PrivateValue]:
    """The values that stand anywhere in a text, in some spelling. All are looked for at once."""
    spellings = [
        (key, private, known)
        for private in values
        for known in (known_value(private.kind, private.value, True),)
        for key in known.keys
    ]
    hits = sorted(Matcher([key for key, _, _ in spellings]).find(skeleton(text)))
    origins, seen = Origins(text), set[PrivateValue]()
    for at, number in hits:
        key, private, known = spellings[number]
        if private in seen:
            continue
        start, end = origins.at(at), origins.at(at + len(key) - 1) + 1
        if known.locate(text, start, end) is not None:
            seen.add(private)
    return seen


Reports = Sequence[DocumentReport]


def without_survivors(
    files: Path, masker: Masker, reports: Reports, key: bytes
) -> list[DocumentReport]:
    """The reports, with a refusal for each file in which a value of the vault still stands.

    The reports are in the order in which the masker learnt the files.
    """
    released = {r.path: files / r.path for r in reports if r.refusal is None}
    dated = {r.path for n, r in enumerate(reports) if masker.spreading.keeps_dates(n)}
    parts = dict(survivors(masker.vault, released, key, dated))
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
