"""Values known from one place, looked for everywhere in the scope."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from anonymization.text.contracts import EntityType
from anonymization.text.spelling.known_values import Known, known
from anonymization.text.spelling.normal_form import Origins, is_whole, skeleton
from data.text.trie import trie_pattern

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
_MIN_LETTERS, _MIN_DIGITS, _MIN_CJK = 4, 6, 2
_STEM, _SKELETON_STEM = 4, 7  # characters, and bytes of a skeleton, by which candidates are found
_BYTES = "latin-1"  # bytes as text, one character each, for regular expressions


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
    """At `start:end` stands a known value, maybe in another spelling; its kind and the value."""

    start: int
    end: int
    type: EntityType
    value: str


class Sweep:
    """The values of a scope, compiled for the search. Time is linear in text and hits."""

    def __init__(self, values: Iterable[tuple[EntityType, str]]) -> None:
        exact = sorted({(v, k) for k, v in values if is_swept(k, v)}, key=lambda p: (-len(p[0]), p))
        self._kinds: dict[str, EntityType] = {}
        self._spelled: dict[str, list[Known]] = {}
        for value, kind in exact:
            self._kinds.setdefault(value, kind)
            one = known(kind, value, is_any_case(kind, value))
            for key in one.keys:
                self._spelled.setdefault(key.decode(_BYTES), []).append(one)
        self._exact = _Index(self._kinds, _STEM)
        self._skeletons = _Index(self._spelled, _SKELETON_STEM)

    def find(self, text: str) -> list[Swept]:
        """Occurrences from left to right, the longest first, without overlap.

        No other spelling takes a part of a value that stands there as it is known.
        """
        exact = list(self._as_known(text))
        starts = [one.start for one in exact]
        other = [one for one in self._other(text) if not _is_cut(one, exact, starts)]
        kept: list[Swept] = []
        for hit in sorted([*exact, *other], key=lambda hit: (hit.start, -hit.end)):
            if not kept or hit.start >= kept[-1].end:
                kept.append(hit)
        return kept

    def _as_known(self, text: str) -> Iterator[Swept]:
        end = 0
        for start, values in self._exact.find(text):
            if start < end:
                continue
            for value in values:
                if is_whole(text, start, start + len(value)):
                    end = start + len(value)
                    yield Swept(start, end, self._kinds[value], value)
                    break

    def _other(self, text: str) -> Iterator[Swept]:
        """Values by the skeleton of the text, spelled otherwise or as they are known."""
        origins: Origins | None = None
        end = 0
        for at, keys in self._skeletons.find(skeleton(text).decode(_BYTES)):
            for key in keys:
                origins = origins or Origins(text)
                start, last = origins.at(at), origins.at(at + len(key) - 1) + 1
                if start < end:
                    break
                hit = self._spelled_at(text, start, last, key)
                if hit is not None:
                    end = hit.end
                    yield hit
                    break

    def _spelled_at(self, text: str, start: int, end: int, key: str) -> Swept | None:
        for one in self._spelled[key]:
            place = one.place(text, start, end)
            if place is not None:
                return Swept(*place, EntityType(one.kind), one.value)
        return None


class _Index:
    """Values by their stem and length: however many share a stem, a place costs few look-ups."""

    def __init__(self, values: Iterable[str], stem: int) -> None:
        self._by_stem: dict[str, dict[int, set[str]]] = {}
        for value in sorted(values, key=lambda value: (-len(value), value)):
            lengths = self._by_stem.setdefault(value[:stem], {})
            lengths.setdefault(len(value), set()).add(value)
        stems = trie_pattern(sorted(self._by_stem))
        self._stems = re.compile(f"(?={stems})") if stems else None
        self._sizes = sorted({len(stem) for stem in self._by_stem}, reverse=True)

    def find(self, text: str) -> Iterator[tuple[int, Iterator[str]]]:
        """Places with the values that stand there, the longest first of each stem."""
        for match in self._stems.finditer(text) if self._stems else ():
            yield match.start(), self._candidates(text, match.start())

    def _candidates(self, text: str, start: int) -> Iterator[str]:
        for size in self._sizes:
            for length, values in self._by_stem.get(text[start : start + size], {}).items():
                value = text[start : start + length]
                if value in values:
                    yield value


def _is_cut(one: Swept, exact: Sequence[Swept], starts: Sequence[int]) -> bool:
    """Does it overlap a value that stands as known without holding all of it?"""
    first = max(0, bisect_left(starts, one.start) - 1)
    across = [hit for hit in exact[first : bisect_left(starts, one.end)] if hit.end > one.start]
    return any(hit.start < one.start or hit.end > one.end for hit in across)
