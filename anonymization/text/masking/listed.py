"""Values that the owner of the material listed: found wherever they stand, as whole words.

Nothing is detected here. A listed value takes precedence over what detection says about the same
words, unless it is a part of something longer that is private as a whole.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TypeAlias, TypeVar

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.masking.known_search import KnownValueSearch, Occurrence, is_any_case
from anonymization.text.spelling.known_values import KnownValue, known_value
from anonymization.text.spelling.normal_form import PLANTED, WHOLE_BELOW

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
    and in capitals.
    """

    def find(self, text: str) -> list[Occurrence]:
        """As for other known values. Without a list no text is read."""
        return super().find(text) if self._kinds else []

    def _is_searched(self, _kind: EntityType, _value: str) -> bool:
        return True

    def _spellings(self, kind: EntityType, value: str) -> Iterator[KnownValue]:
        any_case = is_any_case(kind, value) or " " in value or value == value.lower()
        spelling = known_value(spelled_as(kind), value, any_case, _SHORTEST)
        yield spelling
        if not any_case:
            yield replace(spelling, plain=spelling.plain.upper())

    def _is_whole(self, text: str, start: int, end: int) -> bool:
        if end - start >= WHOLE_BELOW:
            return True
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        return not (_is_joined(before, text[start]) or _is_joined(after, text[end - 1]))

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


def _is_joined(outer: str, edge: str) -> bool:
    """Do two characters belong to one word or number? Not where words have no blanks between."""
    if outer >= _NO_WORDS or edge >= _NO_WORDS:
        return False
    return (outer.isalpha() and edge.isalpha()) or (outer.isdigit() and edge.isdigit())
