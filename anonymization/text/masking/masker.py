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
from anonymization.text.masking.listed import (
    LISTED,
    Listed,
    ListedValues,
    around,
    containing,
    outside,
    spelled_as,
)
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
    masked in all, and no surrogate already occurs in any of them. Values that are `listed` are
    masked wherever they stand, without detection; those that stand nowhere are in no vault.
    Surrogates of addresses go on showing `open_names`, in folded case.
    """

    def __init__(
        self,
        detector: Detector,
        key: bytes,
        mode: Mode,
        scope: str,
        listed: Listed = (),
        open_names: frozenset[str] = frozenset(),
    ) -> None:
        self.vault = Vault(scope, mode)
        self._detector = detector
        self._dictionary = detector.dictionary if isinstance(detector, Lexical) else frozenset()
        self._vocabulary = ScopeVocabulary()
        self._surrogates = Surrogates(key, scope, self._vocabulary, open_names)
        self._findings: dict[Piece, tuple[Finding, ...]] = {}
        self._values: dict[tuple[EntityType, str], None] = {}
        self._placeholders: dict[tuple[EntityType, str], str] = {}
        self._native: set[str] = set()
        self._counts: dict[EntityType, int] = {}
        self._listed, self._is_listed = ListedValues(listed), frozenset(listed)
        self._hits: dict[Piece, tuple[Occurrence, ...]] = {}
        # Short forms of the people so far.
        self._forms = {form for pair in listed for form in self._forms_of(*pair)}
        self._search: KnownValueSearch | None = None

    def learn(self, pieces: Iterable[Piece]) -> None:
        """Detect values in new pieces, and add them to the vault. Order does not matter."""
        fresh = [piece for piece in dict.fromkeys(pieces) if piece not in self._findings]
        clean = [_LONE_SURROGATES.sub("\ufffd", piece.text) for piece in fresh]
        values: set[tuple[EntityType, str]] = set()
        for piece, findings in zip(fresh, self._detector.find(clean), strict=True):
            listed = self._listed.find(piece.value)
            kept, hits = around(list(_clipped(piece, findings)), listed, piece.value)
            self._findings[piece], self._hits[piece] = tuple(kept), tuple(hits)
            values |= {(hit.type, hit.value) for hit in listed}
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
            if (kind, value) not in self._values
            for form in self._forms_of(kind, value)
        } - self._forms
        everywhere = [piece.text for piece in self._findings] if new else []
        seen = _occurring(new, everywhere, self._vocabulary)
        seen |= _occurring(self._forms, [piece.text for piece in fresh], self._vocabulary)
        self._forms |= new
        return seen

    def _forms_of(self, kind: EntityType, value: str) -> Iterable[tuple[EntityType, str]]:
        return short_forms(value, self._dictionary) if kind is EntityType.PERSON else ()

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
            carried = (
                pair
                for pair in self._values
                if pair not in self._is_listed and not self._is_ordinary(*pair)
            )
            self._search = KnownValueSearch(carried)
        text = piece.value
        hits = self._hits[piece]
        known = containing(self._search.find(text), hits)
        findings, occurrences = _settled(self._findings[piece], known)
        edits = [self._edit(text, finding) for finding in findings]
        edits += [self._occurrence_edit(text, occurrence) for occurrence in occurrences]
        edits += [self._occurrence_edit(text, hit) for hit in outside(hits, occurrences)]
        return sorted(edit for edit in edits if edit.new != text[edit.start : edit.end])

    def _edit(self, text: str, finding: Finding) -> Edit:
        value = text[finding.start : finding.end]
        new = self._new(finding.type, value)
        return Edit(
            finding.start, finding.end, new, finding.type, finding.recognizer, finding.score
        )

    def _occurrence_edit(self, text: str, occurrence: Occurrence) -> Edit:
        kind, value = occurrence.type, occurrence.value
        is_listed = (kind, value) in self._is_listed
        new = self._new(kind, value)
        if self.vault.mode is Mode.SURROGATE:
            spelling = spelled_as(kind) if is_listed else kind
            new = respelled(spelling, value, new, text[occurrence.start : occurrence.end])
        recognizer = LISTED if is_listed else FROM_VAULT
        return Edit(occurrence.start, occurrence.end, new, kind, recognizer, 1.0)

    def _replace(self, values: Sequence[tuple[EntityType, str]]) -> None:
        if self.vault.mode is Mode.SURROGATE:
            self._surrogates.learn(values)
        for kind, value in values:
            new = self._new(kind, value)
            if new != value:
                is_listed = (kind, value) in self._is_listed
                is_ordinary = not is_listed and self._is_ordinary(kind, value)
                self.vault.add(Entry(kind, value, new, is_ordinary, is_listed))

    def _is_ordinary(self, kind: EntityType, value: str) -> bool:
        return kind in _LOGINS and is_ordinary_login(value, self._dictionary)

    def _new(self, kind: EntityType, value: str) -> str:
        if self.vault.mode is Mode.SURROGATE:
            new = self._surrogates.of(kind, value)
            return new if (kind, value) in self._is_listed else self._without_listed(new)
        same = (kind, value if kind in COMMON else plain_form(value))
        if same not in self._placeholders:
            self._placeholders[same] = self._placeholder(kind)
        return self._placeholders[same]

    def _without_listed(self, surrogate: str) -> str:
        """The surrogate without listed words that it has kept of its value (a title, a path)."""
        hits = [
            hit for hit in self._listed.find(surrogate) if (hit.type, hit.value) in self._values
        ]
        return applied(surrogate, [self._occurrence_edit(surrogate, hit) for hit in hits])[0]

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
