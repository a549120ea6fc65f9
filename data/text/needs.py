"""What patterns need of a text: literals, digits, Eastern script. All are looked for together.

A text is read once for the needs of all patterns, so that a further pattern costs next to nothing
where it cannot match.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import add

EASTERN_FROM = 0x2E80  # Han, kana and Hangul, of which none is another case of an ASCII letter
_EASTERN = re.compile(rf"[{chr(EASTERN_FROM)}-\U0010ffff]")
_DIGIT = re.compile(r"\d")
_TEXTS = 512  # whose needs are remembered: rules read them in several passes
_COMMON = frozenset("abcdefghijklmnopqrstuvwxyz .,\n")


@dataclass(frozen=True, slots=True)
class Need:
    """A match contains one of the literals, so many digits (if not 0) or Eastern script.

    Those of `folded` are in small letters, and in a match in any.
    """

    literals: frozenset[str]
    folded: frozenset[str] = frozenset()
    digits: int = 0
    eastern: bool = False

    @property
    def size(self) -> int:
        """How many literals it has."""
        return len(self.literals) + len(self.folded)

    @property
    def share(self) -> float:
        """Roughly the share of texts that meet it."""
        with_digits = 0.5 * 0.9 ** (self.digits - 1) if self.digits else 0
        without = (1 - with_digits) * (1 - 0.3 * self.eastern)
        for literal in (*self.literals, *self.folded):
            rarity = len(literal) + (literal != literal.lower())
            without *= 1 - (1.0 if literal in _COMMON else 0.4**rarity)
        return 1 - without


@dataclass(frozen=True, slots=True)
class _Content:
    """A text in small letters, how many digits it has, and whether it has Eastern script."""

    lowered: str
    digits: int
    eastern: bool


@lru_cache(maxsize=4)
def _content(text: str) -> _Content:
    eastern = not text.isascii() and _EASTERN.search(text) is not None
    lowered = text
    if not text.isascii():  # patterns take these for i and s, `lower` does not
        lowered = text.replace("ı", "i").replace("İ", "i").replace("ſ", "s")
    return _Content(lowered.lower(), len(text) - len(_DIGIT.sub("", text)), eastern)


def has_eastern(text: str) -> bool:
    """Is there Han, kana or Hangul in a text? (Also true of rarer scripts and of emoji.)"""
    return _content(text).eastern


_BITS: dict[Need, int] = {}  # one for each need that a pattern in this process has


def bits_of(needs: Iterable[Need]) -> int:
    """The bits of needs together; a need that is new gets the next one."""
    together = 0
    for need in needs:
        together |= _BITS.setdefault(need, 1 << len(_BITS))
    return together


def met_by(text: str) -> int:
    """The bits of all needs that a text meets."""
    return _met_by(text, len(_BITS))


@dataclass(frozen=True, slots=True)
class _Index:
    """The bits of the needs that something meets: so many digits, Eastern script, a literal.

    Literals are listed under a part of theirs, with whether they are in small letters.
    """

    digits: Sequence[tuple[int, int]]
    eastern: int
    literals: Mapping[str, Sequence[tuple[str, bool, int]]]
    parts: frozenset[str]


@lru_cache(maxsize=_TEXTS)
def _met_by(text: str, known: int) -> int:
    index, content = _index(known), _content(text)
    met = index.eastern * content.eastern
    for count, bits in index.digits:
        if count <= content.digits:
            met |= bits
    lowered, literals = content.lowered, index.literals
    for part in index.parts & _parts(lowered):
        for literal, is_folded, bits in literals[part]:
            if literal in (lowered if is_folded else text):
                met |= bits
    return met


def _parts(text: str) -> set[str]:
    """All characters of a text and all pairs of neighbours."""
    return {*text, *map(add, text, text[1:])}


@lru_cache(maxsize=1)
def _index(known: int) -> _Index:
    """The index of the first `known` needs: each literal under its pair that fewest others have."""
    digits: dict[int, int] = defaultdict(int)
    eastern = 0
    bits_by_literal: dict[tuple[str, bool], int] = defaultdict(int)
    for need, bit in list(_BITS.items())[:known]:
        digits[need.digits] |= bit
        eastern |= bit * need.eastern
        for literal in need.folded:
            bits_by_literal[literal, True] |= bit
        for literal in need.literals:
            bits_by_literal[literal, False] |= bit
    digits.pop(0, None)
    common = Counter(part for literal, _ in bits_by_literal for part in _parts(literal.lower()))
    literals: dict[str, list[tuple[str, bool, int]]] = defaultdict(list)
    for (literal, is_folded), bits in bits_by_literal.items():
        own = [part for part in _parts(literal.lower()) if len(part) == min(len(literal), 2)]
        rarest = min(own, key=lambda part: (common[part], part))
        literals[rarest].append((literal, is_folded, bits))
    return _Index(tuple(digits.items()), eastern, literals, frozenset(literals))
