"""The masker of one scope: finds, remembers, replaces."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from anonymization.text.contracts import Detector, Edit, EntityType, Finding, Mode
from anonymization.text.masking.pieces import Heed, Piece
from anonymization.text.masking.sweep import Sweep, Swept
from anonymization.text.restore import applied
from anonymization.text.spelling.known_values import respelled
from anonymization.text.surrogates.assignment import ScopeVocabulary
from anonymization.text.surrogates.scope_surrogates import COMMON, Surrogates
from anonymization.text.surrogates.shapes import plain_form
from anonymization.text.vault import Vault

SWEPT = "vault"  # the recognizer of values that were found elsewhere in the scope
FIELD = "field"  # the recognizer of fields that hold nothing but a private value
# Kinds whose form proves them, in whatever place they stand.
_PROVEN = frozenset(
    {
        EntityType.EMAIL,
        EntityType.PHONE,
        EntityType.IP_ADDRESS,
        EntityType.BANK_CARD,
        EntityType.BANK_ACCOUNT,
        EntityType.NATIONAL_ID,
        EntityType.COMPANY_CODE,
        EntityType.PASSPORT,
        EntityType.USER_PATH,
        EntityType.SECRET,
    }
)
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_PLACEHOLDER = re.compile(r"<[A-Z_]{3,20}_\d{1,9}>")


class Masker:
    """Masks the texts of one scope (a session with its files): one vault, one set of surrogates.

    Show all texts to `learn` before the first is masked: then a value found in one of them is
    masked in all, and no surrogate stands in any of them already.
    """

    def __init__(self, detector: Detector, key: bytes, mode: Mode, scope: str) -> None:
        self.vault = Vault(scope, mode)
        self._detector = detector
        self._vocabulary = ScopeVocabulary()
        self._surrogates = Surrogates(key, scope, self._vocabulary)
        self._found: dict[Piece, tuple[Finding, ...]] = {}
        self._values: dict[tuple[EntityType, str], None] = {}
        self._placeholders: dict[tuple[EntityType, str], str] = {}
        self._native: set[str] = set()
        self._counts: dict[EntityType, int] = {}
        self._sweep: Sweep | None = None

    def learn(self, pieces: Iterable[Piece]) -> None:
        """Detect in what is new, and take the values into the vault. Order does not matter."""
        fresh = [piece for piece in dict.fromkeys(pieces) if piece not in self._found]
        clean = [_LONE_SURROGATES.sub("\ufffd", piece.text) for piece in fresh]
        values: set[tuple[EntityType, str]] = set()
        for piece, found in zip(fresh, self._detector.find(clean), strict=True):
            kept = tuple(_clipped(piece, found))
            self._found[piece] = kept
            values |= {(one.type, piece.value[one.start : one.end]) for one in kept}
            self._vocabulary.add(piece.value)
            if "<" in piece.text:
                self._native.update(_PLACEHOLDER.findall(piece.text))
        unknown = sorted(values - self._values.keys())
        if unknown:
            self._values.update(dict.fromkeys(unknown))
            self._replace(unknown)
            self._sweep = None

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
        if piece not in self._found:
            self.learn([piece])
        if self._sweep is None:
            self._sweep = Sweep(self._values)
        text = piece.value
        found, swept = _settled(self._found[piece], self._sweep.find(text))
        told = [self._edit(text, one) for one in found] + [
            self._swept_edit(text, one) for one in swept
        ]
        return sorted(edit for edit in told if edit.new != text[edit.start : edit.end])

    def _edit(self, text: str, found: Finding) -> Edit:
        value = text[found.start : found.end]
        new = self._new(found.type, value)
        return Edit(found.start, found.end, new, found.type, found.recognizer, found.score)

    def _swept_edit(self, text: str, one: Swept) -> Edit:
        new = self._new(one.type, one.value)
        if self.vault.mode is Mode.SURROGATE:
            new = respelled(one.type, one.value, new, text[one.start : one.end])
        return Edit(one.start, one.end, new, one.type, SWEPT, 1.0)

    def _replace(self, values: Sequence[tuple[EntityType, str]]) -> None:
        if self.vault.mode is Mode.SURROGATE:
            self._surrogates.learn(values)
        for kind, value in values:
            new = self._new(kind, value)
            if new != value:
                self.vault.add(kind, value, new)

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
            told = f"<{kind.value}_{number}>"
            if told not in self._native:
                return told


def _clipped(piece: Piece, found: Iterable[Finding]) -> Iterable[Finding]:
    """Findings in the value of a piece, counted from its start; never white space alone."""
    if piece.kind is not None:
        found = [Finding(piece.lead, len(piece.text), piece.kind, FIELD, 1.0)]
    if piece.heed is not Heed.ALL:
        found = [one for one in found if one.type in _PROVEN or _is_whole(piece, one)]
    for one in found:
        start, end = max(one.start, piece.lead), one.end
        if piece.text[start:end].strip():
            yield Finding(start - piece.lead, end - piece.lead, one.type, one.recognizer, one.score)


def _is_whole(piece: Piece, one: Finding) -> bool:
    """Is the whole name a value, and no word such as a program would choose?"""
    if piece.heed is Heed.PROVEN or one.start > piece.lead or one.end < len(piece.text):
        return False
    return " " in piece.value.strip() or not piece.value.isascii()


def _settled(found: Sequence[Finding], swept: Sequence[Swept]) -> tuple[list[Finding], list[Swept]]:
    """Findings and known values without overlap.

    A known value stays where it covers all that was found there and more; elsewhere what the
    detector found stays. Both come sorted and without overlap among themselves.
    """
    starts = [one.start for one in found]
    gone: set[int] = set()
    kept: list[Swept] = []
    for known in swept:
        first = max(0, bisect_left(starts, known.start) - 1)
        across = [
            number
            for number in range(first, bisect_left(starts, known.end))
            if found[number].end > known.start
        ]
        if all(_covers(known, found[number]) for number in across):
            gone.update(across)
            kept.append(known)
    return [one for number, one in enumerate(found) if number not in gone], kept


def _covers(known: Swept, one: Finding) -> bool:
    inside = known.start <= one.start and one.end <= known.end
    return inside and known.end - known.start > one.end - one.start
