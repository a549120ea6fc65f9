"""The masker of one scope: detects private values, remembers them, and replaces them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from anonymization.text.contracts import (
    PROVEN_BY_FORM,
    Detector,
    Edit,
    EntityType,
    Entry,
    Finding,
    Lexical,
    Mode,
)
from anonymization.text.detect.explained_words import is_ordinary_login
from anonymization.text.masking.known_search import KnownValueSearch, Occurrence
from anonymization.text.masking.pieces import FindingFilter, Piece
from anonymization.text.restore import applied
from anonymization.text.spelling.known_values import respelled
from anonymization.text.spelling.short_forms import short_forms
from anonymization.text.surrogates.assignment import ScopeVocabulary
from anonymization.text.surrogates.scope_surrogates import COMMON, Surrogates
from anonymization.text.vault import Vault
from data.text.folding import plain_form

FROM_VAULT = "vault"  # the recognizer of values that were found elsewhere in the scope
FIELD = "field"  # the recognizer of fields that hold only a private value
# Kinds whose form proves them, wherever they occur.
_PROVEN = PROVEN_BY_FORM | {EntityType.USER_PATH}
_LOGINS = frozenset({EntityType.ACCOUNT, EntityType.USER_PATH})
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_PLACEHOLDER = re.compile(r"<[A-Z_]{3,20}_\d{1,9}>")


class Masker:
    """Masks the texts of one scope (a session with its files): one vault, one set of surrogates.

    Pass all texts to `learn` before the first is masked: then a value found in one of them is
    masked in all, and no surrogate already occurs in any of them.
    """

    def __init__(self, detector: Detector, key: bytes, mode: Mode, scope: str) -> None:
        self.vault = Vault(scope, mode)
        self._detector = detector
        self._dictionary = detector.dictionary if isinstance(detector, Lexical) else frozenset()
        self._vocabulary = ScopeVocabulary()
        self._surrogates = Surrogates(key, scope, self._vocabulary)
        self._findings: dict[Piece, tuple[Finding, ...]] = {}
        self._values: dict[tuple[EntityType, str], None] = {}
        self._placeholders: dict[tuple[EntityType, str], str] = {}
        self._native: set[str] = set()
        self._counts: dict[EntityType, int] = {}
        self._forms: set[tuple[EntityType, str]] = set()  # short forms of the people so far
        self._search: KnownValueSearch | None = None

    def learn(self, pieces: Iterable[Piece]) -> None:
        """Detect values in new pieces, and add them to the vault. Order does not matter."""
        fresh = [piece for piece in dict.fromkeys(pieces) if piece not in self._findings]
        clean = [_LONE_SURROGATES.sub("\ufffd", piece.text) for piece in fresh]
        values: set[tuple[EntityType, str]] = set()
        for piece, findings in zip(fresh, self._detector.find(clean), strict=True):
            kept = tuple(_clipped(piece, findings))
            self._findings[piece] = kept
            values |= {(finding.type, piece.value[finding.start : finding.end]) for finding in kept}
            self._vocabulary.add(piece.value)
            if "<" in piece.text:
                self._native.update(_PLACEHOLDER.findall(piece.text))
        values |= self._short_forms(values, fresh)
        unknown = sorted(values - self._values.keys())
        if unknown:
            self._values.update(dict.fromkeys(unknown))
            self._replace(unknown)
            self._search = None

    def _short_forms(
        self, values: Iterable[tuple[EntityType, str]], fresh: Sequence[Piece]
    ) -> set[tuple[EntityType, str]]:
        """Short forms of known people that occur: of new people in all texts, else in new ones."""
        new = {
            form
            for kind, value in values
            if kind is EntityType.PERSON and (kind, value) not in self._values
            for form in short_forms(value, self._dictionary)
        } - self._forms
        everywhere = [piece.text for piece in self._findings] if new else []
        seen = _occurring(new, everywhere, self._vocabulary)
        seen |= _occurring(self._forms, [piece.text for piece in fresh], self._vocabulary)
        self._forms |= new
        return seen

    def mask_texts(self, texts: Sequence[str]) -> list[str]:
        """The texts masked, in their order."""
        pieces = [Piece(text) for text in texts]
        self.learn(pieces)
        known = {
            piece: applied(piece.text, self.edits(piece))[0] for piece in dict.fromkeys(pieces)
        }
        return [known[piece] for piece in pieces]

    def edits(self, piece: Piece) -> list[Edit]:
        """What has to change in the value of a piece; sorted, without overlap."""
        if piece not in self._findings:
            self.learn([piece])
        if self._search is None:
            carried = (pair for pair in self._values if not self._is_ordinary(*pair))
            self._search = KnownValueSearch(carried)
        text = piece.value
        findings, occurrences = _settled(self._findings[piece], self._search.find(text))
        edits = [self._edit(text, finding) for finding in findings]
        edits += [self._occurrence_edit(text, occurrence) for occurrence in occurrences]
        return sorted(edit for edit in edits if edit.new != text[edit.start : edit.end])

    def _edit(self, text: str, finding: Finding) -> Edit:
        value = text[finding.start : finding.end]
        new = self._new(finding.type, value)
        return Edit(
            finding.start, finding.end, new, finding.type, finding.recognizer, finding.score
        )

    def _occurrence_edit(self, text: str, occurrence: Occurrence) -> Edit:
        new = self._new(occurrence.type, occurrence.value)
        if self.vault.mode is Mode.SURROGATE:
            new = respelled(
                occurrence.type, occurrence.value, new, text[occurrence.start : occurrence.end]
            )
        return Edit(occurrence.start, occurrence.end, new, occurrence.type, FROM_VAULT, 1.0)

    def _replace(self, values: Sequence[tuple[EntityType, str]]) -> None:
        if self.vault.mode is Mode.SURROGATE:
            self._surrogates.learn(values)
        for kind, value in values:
            new = self._new(kind, value)
            if new != value:
                self.vault.add(Entry(kind, value, new, self._is_ordinary(kind, value)))

    def _is_ordinary(self, kind: EntityType, value: str) -> bool:
        return kind in _LOGINS and is_ordinary_login(value, self._dictionary)

    def _new(self, kind: EntityType, value: str) -> str:
        if self.vault.mode is Mode.SURROGATE:
            return self._surrogates.of(kind, value)
        same = (kind, value if kind in COMMON else plain_form(value))
        if same not in self._placeholders:
            self._placeholders[same] = self._placeholder(kind)
        return self._placeholders[same]

    def _placeholder(self, kind: EntityType) -> str:
        while True:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            placeholder = f"<{kind.value}_{number}>"
            if placeholder not in self._native:
                return placeholder


def _occurring(
    forms: Iterable[tuple[EntityType, str]], texts: Sequence[str], vocabulary: ScopeVocabulary
) -> set[tuple[EntityType, str]]:
    possible = [(kind, form) for kind, form in forms if vocabulary.may_contain(form)]
    whole = "\0".join(texts) if possible else ""  # no name holds this character
    return {(kind, form) for kind, form in possible if form in whole}


def _clipped(piece: Piece, findings: Iterable[Finding]) -> Iterable[Finding]:
    """Findings in the value of a piece, with offsets in the value; never only white space."""
    if piece.kind is not None:
        findings = [Finding(piece.lead, len(piece.text), piece.kind, FIELD, 1.0)]
    if piece.accepts is not FindingFilter.ALL:
        findings = [
            finding for finding in findings if finding.type in _PROVEN or _is_whole(piece, finding)
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


def _is_whole(piece: Piece, finding: Finding) -> bool:
    """Is the whole name a value, and not a word that a program would choose?"""
    if (
        piece.accepts is FindingFilter.PROVEN
        or finding.start > piece.lead
        or finding.end < len(piece.text)
    ):
        return False
    return " " in piece.value.strip() or not piece.value.isascii()


def _settled(
    findings: Sequence[Finding], occurrences: Sequence[Occurrence]
) -> tuple[list[Finding], list[Occurrence]]:
    """Findings and known values without overlap between the two.

    A known value stays where it covers more than all findings that it overlaps; otherwise those
    findings stay. Both are given sorted and without overlap among themselves.
    """
    starts = [finding.start for finding in findings]
    replaced: set[int] = set()
    kept: list[Occurrence] = []
    for occurrence in occurrences:
        first = max(0, bisect_left(starts, occurrence.start) - 1)
        overlapping = [
            number
            for number in range(first, bisect_left(starts, occurrence.end))
            if findings[number].end > occurrence.start
        ]
        if all(_covers(occurrence, findings[number]) for number in overlapping):
            replaced.update(overlapping)
            kept.append(occurrence)
    return [finding for number, finding in enumerate(findings) if number not in replaced], kept


def _covers(occurrence: Occurrence, finding: Finding) -> bool:
    inside = occurrence.start <= finding.start and finding.end <= occurrence.end
    return inside and occurrence.end - occurrence.start > finding.end - finding.start
