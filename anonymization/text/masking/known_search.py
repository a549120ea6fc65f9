"""Values found in one place of a scope, or listed by the owner, searched for in all its texts.

A listed value is found wherever it stands, as a whole word, without detection; it takes precedence
over what detection says about the same words, unless it is a part of something longer that is
private as a whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TypeAlias, TypeVar

from anonymization.text.contracts import PROVEN_BY_FORM, EntityType, Finding, kinds
from anonymization.text.known_values import KnownValue, known_value
from anonymization.text.normal_form import (
    PLANTED,
    WHOLE_BELOW,
    Origins,
    is_whole,
    skeleton,
)
from data.text.lexicon import trie_pattern

# Kinds whose words also mean something else: for them only the detector decides, by context.
_IN_CONTEXT = kinds("DATE AGE NATIONALITY TITLE QUANTITY")
_NAMED = frozenset({EntityType.ORGANIZATION, EntityType.LOCATION, EntityType.ADDRESS})
# Kinds whose form distinguishes them from other words.
FORMAL = PROVEN_BY_FORM | {
    EntityType.PLATE,
    EntityType.ACCOUNT,
    EntityType.CASE_NUMBER,
    EntityType.PERSON_NUMBER,
}
_LOGINS = frozenset({EntityType.ACCOUNT, EntityType.USER_PATH})
NAMES = frozenset({EntityType.PERSON, EntityType.ORGANIZATION, EntityType.ADDRESS})
_MIN_HAN_NAME = 3
_MIN_LOGIN = 12  # letters of an account that is letters alone; a shorter one may be a word
_MIN_DRAWN, _LONG_SECRET = 6, 16  # different characters, and characters
_ANY_CASE = frozenset({EntityType.EMAIL, EntityType.URL})
_MIN_LETTERS, _MIN_DIGITS, _MIN_CJK = 4, 6, 2
_MIN_PLAIN_DIGITS = 9  # of a number without any mark in it; tables are full of shorter ones
_STEM, _SKELETON_STEM = 4, 7  # characters, and bytes of a skeleton, by which candidates are found
_OF_SOMEBODY = kinds("PERSON ORGANIZATION")
_GENITIVE, _SIBILANTS, _SHORTEST_NAME = re.compile(r"s(?![^\W_])"), ("s", "x", "z", "ß"), 3
_BYTES = "latin-1"  # bytes as text, one character each, for regular expressions


def is_masked_everywhere(kind: EntityType, value: str) -> bool:
    """Is every further occurrence of the value masked too? The leak scan searches the same values.

    Not so short values, single words that name a company or a place, dates and ages: they occur
    by chance.
    """
    if kind in _IN_CONTEXT:
        return False
    plain = value.strip()
    if kind is EntityType.SECRET and not _is_drawn(plain):
        return False
    if kind is EntityType.UNEXPLAINED and not plain.isascii():
        return False
    if plain.isdigit():
        return len(plain) >= _MIN_DIGITS
    if not plain.isascii():
        return len(plain) >= _MIN_CJK + (kind in _NAMED)
    return len(plain) >= _MIN_LETTERS and not (kind in _NAMED and plain.isalpha())


def _is_drawn(secret: str) -> bool:
    """Is a secret long or mixed enough to be nothing else: no `123456`, no product's name?"""
    classes = sum(any(map(of, secret)) for of in (str.islower, str.isupper, str.isdigit))
    classes += any(not char.isalnum() for char in secret)
    is_mixed = classes > 1 or (secret.isdigit() and len(secret) > _MIN_DIGITS)
    return (len(set(secret)) >= _MIN_DRAWN and is_mixed) or len(secret) >= _LONG_SECRET


def is_distinctive(kind: EntityType, value: str) -> bool:
    """Is the value distinct enough from other words to be searched for outside its own texts?"""
    plain = value.strip()
    if kind in _LOGINS and plain.isalpha() and len(plain) < _MIN_LOGIN:
        return False
    if kind in FORMAL:
        return is_masked_everywhere(kind, value)
    if kind not in NAMES:
        return False
    return " " in plain if plain.isascii() else len(plain) >= _MIN_HAN_NAME


def identifies_alone(kind: EntityType, value: str) -> bool:
    """Can the value, even in a text that has nothing to do with its own, be nothing else?

    A short plain number cannot: among the figures of a long table one is equal to it by chance.
    """
    digits = value.strip().removeprefix("+")
    is_plain = digits.isdigit() and kind is not EntityType.SECRET
    return is_distinctive(kind, value) and not (is_plain and len(digits) < _MIN_PLAIN_DIGITS)


def _is_any_case(kind: EntityType, value: str) -> bool:
    """Is the value searched for in other letter cases too?

    Of persons only those with more than one word: `rose` or `will` mean something else.
    """
    return kind in _ANY_CASE or (kind is EntityType.PERSON and " " in value.strip())


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """A known value at `start:end`, perhaps in another spelling; its kind and the value itself."""

    start: int
    end: int
    type: EntityType
    value: str


class KnownValueSearch:
    """The values of a scope, compiled for the search. Time is linear in text and hits."""

    def __init__(self, values: Iterable[tuple[EntityType, str]]) -> None:
        exact = sorted(
            {(v, k) for k, v in values if self._is_searched(k, v)}, key=lambda p: (-len(p[0]), p)
        )
        self._kinds: dict[str, EntityType] = {}
        self._spelled: dict[str, list[KnownValue]] = {}
        for value, kind in exact:
            self._kinds.setdefault(value, kind)
            for spelling in self._spellings(kind, value):
                for key in spelling.keys:
                    self._spelled.setdefault(key.decode(_BYTES), []).append(spelling)
        self._exact = _Index(self._kinds, _STEM)
        self._skeletons = _Index(self._spelled, _SKELETON_STEM)

    def _is_searched(self, kind: EntityType, value: str) -> bool:
        return is_masked_everywhere(kind, value)

    def _spellings(self, kind: EntityType, value: str) -> Iterator[KnownValue]:
        yield known_value(kind, value, _is_any_case(kind, value))

    def _is_whole(self, text: str, start: int, end: int) -> bool:
        return is_whole(text, start, end) or self._is_genitive(text, start, end)

    def _is_genitive(self, text: str, start: int, end: int) -> bool:
        """Is it somebody's name with the ending by which German, Dutch and Scandinavian texts say
        whose: Hennings?"""
        value = text[start:end]
        name = value.rpartition(" ")[2]
        is_name = self._kinds.get(value) in _OF_SOMEBODY and name.istitle()
        is_begun = start > 0 and text[start - 1].isalnum()
        is_long = len(name) >= _SHORTEST_NAME and not name.endswith(_SIBILANTS)
        return is_name and is_long and not is_begun and _GENITIVE.match(text, end) is not None

    def _fits(self, _spelling: KnownValue, _text: str, _start: int, _end: int) -> bool:
        """Is a spelling of a value, at its span, apart enough from the words around it?"""
        return True

    def find(self, text: str) -> list[Occurrence]:
        """Occurrences from left to right, the longest first, without overlap.

        An exact match takes precedence over a spelling variant of another value.
        """
        exact = list(self._exact_matches(text))
        starts = [one.start for one in exact]
        other = [one for one in self._variants(text) if not _is_cut(one, exact, starts)]
        kept: list[Occurrence] = []
        for hit in sorted([*exact, *other], key=lambda hit: (hit.start, -hit.end)):
            if not kept or hit.start >= kept[-1].end:
                kept.append(hit)
        return kept

    def _exact_matches(self, text: str) -> Iterator[Occurrence]:
        end = 0
        for start, values in self._exact.find(text):
            if start < end:
                continue
            for value in values:
                if self._is_whole(text, start, start + len(value)):
                    end = start + len(value)
                    yield Occurrence(start, end, self._kinds[value], value)
                    break

    def _variants(self, text: str) -> Iterator[Occurrence]:
        """Values found by the skeleton of the text, in any spelling."""
        origins: Origins | None = None
        end = 0
        for at, keys in self._skeletons.find(skeleton(text).decode(_BYTES)):
            for key in keys:
                origins = origins or Origins(text)
                start, last = origins.at(at), origins.at(at + len(key) - 1) + 1
                if start < end:
                    break
                hit = self._variant_at(text, start, last, key)
                if hit is not None:
                    end = hit.end
                    yield hit
                    break

    def _variant_at(self, text: str, start: int, end: int, key: str) -> Occurrence | None:
        for spelling in self._spelled[key]:
            span = spelling.locate(text, start, end)
            if span is not None and self._fits(spelling, text, *span):
                is_kind = spelling.kind != PLANTED
                kind = EntityType(spelling.kind) if is_kind else self._kinds[spelling.value]
                return Occurrence(*span, kind, spelling.value)
        return None


class _Index:
    """Values by stem and length: few look-ups per position, however many values share a stem."""

    def __init__(self, values: Iterable[str], stem: int) -> None:
        self._by_stem: dict[str, dict[int, set[str]]] = {}
        for value in sorted(values, key=lambda value: (-len(value), value)):
            lengths = self._by_stem.setdefault(value[:stem], {})
            lengths.setdefault(len(value), set()).add(value)
        stems = trie_pattern(sorted(self._by_stem))
        self._stems = re.compile(f"(?={stems})") if stems else None
        self._sizes = sorted({len(stem) for stem in self._by_stem}, reverse=True)

    def find(self, text: str) -> Iterator[tuple[int, Iterator[str]]]:
        """Offsets with the values that occur there, the longest first of each stem."""
        for match in self._stems.finditer(text) if self._stems else ():
            yield match.start(), self._candidates(text, match.start())

    def _candidates(self, text: str, start: int) -> Iterator[str]:
        for size in self._sizes:
            for length, values in self._by_stem.get(text[start : start + size], {}).items():
                value = text[start : start + length]
                if value in values:
                    yield value


def times_in(text: str, values: Iterable[str]) -> Counter[str]:
    """How often each of the values occurs, without overlap with itself: one pass for all."""
    times, ends = Counter[str](), dict[str, int]()
    for start, candidates in _Index(values, _STEM).find(text):
        for value in candidates:
            if start >= ends.get(value, 0):
                times[value] += 1
                ends[value] = start + len(value)
    return times


def _is_cut(variant: Occurrence, exact: Sequence[Occurrence], starts: Sequence[int]) -> bool:
    """Does it overlap an exact match without containing all of it?"""
    first = max(0, bisect_left(starts, variant.start) - 1)
    across = [
        hit for hit in exact[first : bisect_left(starts, variant.end)] if hit.end > variant.start
    ]
    return any(hit.start < variant.start or hit.end > variant.end for hit in across)


Listed: TypeAlias = tuple[tuple[EntityType, str], ...]
Spanned = TypeVar("Spanned", Finding, Occurrence)
LISTED = "listed"  # the recognizer of listed values
_NO_WORDS = "\u2e80"  # from here on scripts are written without blanks between words
_SHORTEST = 2  # bytes of a skeleton; a value of one character is not listed


def spelled_as(kind: EntityType) -> str:
    """By the spellings of which kind it is found; without a kind, by those of all it looks like."""
    return PLANTED if kind is EntityType.UNEXPLAINED else kind


class ListedValues(KnownValueSearch):
    """Listed values, compiled for the search: all of them, however short or usual they are.

    One in small letters or of several words is found in any letter case, another as it is written
    and in capitals. With `genitives`, so are those of names (Hennings).
    """

    def __init__(
        self, values: Iterable[tuple[EntityType, str]], *, genitives: bool = False
    ) -> None:
        super().__init__(values)
        self._has_genitives = genitives

    def find(self, text: str) -> list[Occurrence]:
        """As for other known values. Without a list no text is read."""
        return super().find(text) if self._kinds else []

    def _is_searched(self, _kind: EntityType, _value: str) -> bool:
        return True

    def _spellings(self, kind: EntityType, value: str) -> Iterator[KnownValue]:
        any_case = _is_any_case(kind, value) or " " in value or value == value.lower()
        spelling = known_value(spelled_as(kind), value, any_case, _SHORTEST)
        yield spelling
        if not any_case:
            yield replace(spelling, plain=spelling.plain.upper())

    def _is_whole(self, text: str, start: int, end: int) -> bool:
        if end - start >= WHOLE_BELOW:
            return True
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        if _are_joined(before, text[start]):
            return False
        if self._has_genitives and self._is_genitive(text, start, end):
            return True
        return not _are_joined(after, text[end - 1])

    def _fits(self, spelling: KnownValue, text: str, start: int, end: int) -> bool:
        is_whole = self._is_whole(text, start, end)
        return is_whole or any(form.matches(text, start, end) for form in spelling.forms)


def is_sought(value: str) -> bool:
    """Does the search for leaks see the same words in a text as the search for listed values?

    It takes letters with accents for the ends of words.
    """
    return len(value) >= WHOLE_BELOW or not any(
        char.isalpha() and not char.isascii() and char < _NO_WORDS for char in value
    )


def around(
    findings: Sequence[Finding], hits: Sequence[Occurrence], text: str
) -> tuple[list[Finding], list[Occurrence]]:
    """Findings and listed values without overlap; both are given sorted.

    A finding that is longer than all listed values in it stays, another is cut around them.
    """
    kept = [part for finding in findings for part in _cut(finding, hits, text)]
    return kept, outside(hits, kept)


def containing(occurrences: Iterable[Occurrence], hits: Sequence[Occurrence]) -> list[Occurrence]:
    """The known values that touch no listed value, or are longer than all in them."""
    return [known for known in occurrences if _is_longer(known, _overlapping(known, hits))]


def outside(hits: Sequence[Occurrence], spans: Sequence[Spanned]) -> list[Occurrence]:
    """The listed values that lie in none of the spans, which are sorted."""
    return [hit for hit in hits if not _overlapping(hit, spans)]


def _cut(finding: Finding, hits: Sequence[Occurrence], text: str) -> Iterator[Finding]:
    across = _overlapping(finding, hits)
    if _is_longer(finding, across):
        yield finding
        return
    starts = [finding.start, *(hit.end for hit in across)]
    ends = [*(hit.start for hit in across), finding.end]
    for start, end in zip(starts, ends, strict=True):
        rest = text[start:end]
        if any(map(str.isalnum, rest)):
            start += len(rest) - len(rest.lstrip())
            yield replace(finding, start=start, end=start + len(rest.strip()))


def _is_longer(span: Finding | Occurrence, hits: Sequence[Occurrence]) -> bool:
    inside = all(span.start <= hit.start and hit.end <= span.end for hit in hits)
    return inside and all(span.end - span.start > hit.end - hit.start for hit in hits)


def _overlapping(span: Finding | Occurrence, others: Sequence[Spanned]) -> list[Spanned]:
    """Those of `others`, sorted and without overlap, that overlap a span."""
    first = bisect_right(others, span.start, key=attrgetter("end"))
    last = first
    while last < len(others) and others[last].start < span.end:
        last += 1
    return list(others[first:last])


def _are_joined(outer: str, edge: str) -> bool:
    """Do two characters belong to one word or number? Not where words have no blanks between."""
    if outer >= _NO_WORDS or edge >= _NO_WORDS:
        return False
    return (outer.isalpha() and edge.isalpha()) or (outer.isdigit() and edge.isdigit())


def settled(
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
