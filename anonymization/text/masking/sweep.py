"""Values known from one place, looked for everywhere in the scope."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from anonymization.text.contracts import EntityType
from anonymization.text.secrets.trie import trie_pattern

# Kinds whose words also mean something else: there only the detector's context decides.
_IN_CONTEXT = frozenset(
    {
        EntityType.DATE,
        EntityType.AGE,
        EntityType.NATIONALITY,
        EntityType.TITLE,
        EntityType.QUANTITY,
    }
)
_NAMED = frozenset({EntityType.ORGANIZATION, EntityType.LOCATION, EntityType.ADDRESS})
_ANY_CASE = frozenset({EntityType.EMAIL, EntityType.URL})
_MIN_LETTERS, _MIN_DIGITS, _MIN_CJK, _WHOLE_BELOW = 4, 6, 2, 12
_STEM = 4  # characters by which candidates are found


def is_swept(kind: EntityType, value: str) -> bool:
    """Is every further occurrence of the value masked as well? The leak scan looks for the same.

    Short values, single words that name a company or a place, dates and ages are not: they occur
    by chance.
    """
    if kind in _IN_CONTEXT:
        return False
    plain = value.strip()
    if plain.isdigit():
        return len(plain) >= _MIN_DIGITS
    if not plain.isascii():
        return len(plain) >= _MIN_CJK + (kind in _NAMED)
    return len(plain) >= _MIN_LETTERS and not (kind in _NAMED and plain.isalpha())


def is_any_case(kind: EntityType, value: str) -> bool:
    """Is the value looked for in other cases of letters too?

    Of persons only those with more than one word: `rose` or `will` mean something else.
    """
    return kind in _ANY_CASE or (kind is EntityType.PERSON and " " in value.strip())


@dataclass(frozen=True, slots=True, order=True)
class Swept:
    """A known value at `start:end`: its kind, and the value as it stands there."""

    start: int
    end: int
    type: EntityType
    value: str


class Sweep:
    """The values of a scope, compiled for the search. Time is linear in text and hits."""

    def __init__(self, values: Iterable[tuple[EntityType, str]]) -> None:
        exact = sorted({(v, k) for k, v in values if is_swept(k, v)}, key=lambda p: (-len(p[0]), p))
        self._exact = _Index(exact)
        self._folded = _Index([(v.lower(), k) for v, k in exact if is_any_case(k, v)])

    def find(self, text: str) -> list[Swept]:
        """Occurrences from left to right, the longest first, without overlap."""
        found = list(self._exact.find(text))
        lowered = text.lower()
        if len(lowered) == len(text):
            found += [
                Swept(hit.start, hit.end, hit.type, text[hit.start : hit.end])
                for hit in self._folded.find(lowered)
            ]
        kept: list[Swept] = []
        for hit in sorted(found, key=lambda hit: (hit.start, -hit.end, hit.type, hit.value)):
            if not kept or hit.start >= kept[-1].end:
                kept.append(hit)
        return kept


class _Index:
    """Values by their stem and length: however many share a stem, a place costs few look-ups."""

    def __init__(self, values: list[tuple[str, EntityType]]) -> None:
        self._by_stem: dict[str, dict[int, dict[str, EntityType]]] = {}
        for value, kind in values:
            lengths = self._by_stem.setdefault(value[:_STEM], {})
            lengths.setdefault(len(value), {}).setdefault(value, kind)
        stems = trie_pattern(sorted(self._by_stem))
        self._stems = re.compile(f"(?={stems})") if stems else None
        self._sizes = sorted({len(stem) for stem in self._by_stem}, reverse=True)

    def find(self, text: str) -> Iterator[Swept]:
        if self._stems is None:
            return
        end = 0
        for match in self._stems.finditer(text):
            start = match.start()
            if start < end:
                continue
            for value, kind in self._candidates(text, start):
                if _is_whole(text, start, value):
                    end = start + len(value)
                    yield Swept(start, end, kind, value)
                    break

    def _candidates(self, text: str, start: int) -> Iterator[tuple[str, EntityType]]:
        """The values that stand at `start`, the longest first of each stem."""
        for size in self._sizes:
            for length, values in self._by_stem.get(text[start : start + size], {}).items():
                value = text[start : start + length]
                if value in values:
                    yield value, values[value]


def _is_whole(text: str, start: int, value: str) -> bool:
    """Short words and numbers occur inside longer ones by chance."""
    plain = value.replace(" ", "").replace(".", "").replace("-", "")
    simple = plain.isascii() and (plain.isalpha() or plain.isdigit())
    if not simple or len(value) >= _WHOLE_BELOW:
        return True
    end = start + len(value)
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return not (_joins(before, value[0]) or _joins(after, value[-1]))


def _joins(outside: str, edge: str) -> bool:
    if not outside.isascii():
        return False
    return (outside.isalpha() and edge.isalpha()) or (outside.isdigit() and edge.isdigit())
