"""Patterns that look first for what every match of theirs contains: most texts have none of it.

A pattern with many alternatives is tried at each character of a text. What its matches need (`user`
or a digit, say) is read from the pattern itself, and looked for in a fraction of the time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import add
from re import _parser  # type: ignore[attr-defined]
from typing import Any

# What patterns need of a text: literals, digits, Eastern script. All are looked for together.
#
# A text is read once for the needs of all patterns, so that a further pattern costs next to nothing
# where it cannot match.

_EASTERN_FROM = 0x2E80  # Han, kana and Hangul, of which none is another case of an ASCII letter
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
    eastern = not text.isascii() and max(text) >= chr(_EASTERN_FROM)
    lowered = text
    if not text.isascii():  # patterns take these for i and s, `lower` does not
        lowered = text.replace("ı", "i").replace("İ", "i").replace("ſ", "s")
    return _Content(lowered.lower(), len(text) - len(_DIGIT.sub("", text)), eastern)


_BITS: dict[Need, int] = {}  # one for each need that a pattern in this process has


def _bits_of(needs: Iterable[Need]) -> int:
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


_MOST = 120  # literals of a need: to look for more costs what it saves
_OFTEN = 0.95  # share of texts that makes a need worthless
_SEARCHES = 3  # needs of a pattern that are looked for
_FEW = 8  # characters of a class that are looked for one by one
_ONE_DIGIT = Need(frozenset(), digits=1)


class Screened:
    """A compiled pattern that is tried only on texts that have what its matches need."""

    def __init__(self, pattern: str, flags: int = 0, *declared: Need) -> None:
        self.pattern = re.compile(pattern, flags)
        self.needs = (*declared, *_needs_of(self.pattern))
        self.bits = _bits_of(self.needs)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As of the pattern."""
        return self.matches(text, met_by(text))

    def matches(self, text: str, met: int) -> Iterator[re.Match[str]]:
        """As `finditer`, where `met_by` of the text is known."""
        return self.pattern.finditer(text) if self.is_met_by(met) else iter(())

    def search(self, text: str) -> re.Match[str] | None:
        """As of the pattern."""
        return self.pattern.search(text) if self.may_match(text) else None

    def may_match(self, text: str) -> bool:
        """Has the text what a match needs?"""
        return self.is_met_by(met_by(text))

    def is_met_by(self, met: int) -> bool:
        """Are the bits of all needs of the pattern among those that a text meets?"""
        return self.bits & met == self.bits


def screened(*alternatives: str, flags: int = 0) -> tuple[Screened, ...]:
    """Each alternative as a pattern of its own, so that one that is rare is tried rarely."""
    return tuple(Screened(alternative, flags) for alternative in alternatives)


def find_each(patterns: Iterable[Screened], text: str) -> Iterator[re.Match[str]]:
    """The matches of each pattern, which may overlap those of another."""
    met = met_by(text)
    for pattern in patterns:
        yield from pattern.matches(text, met)


def _needs_of(pattern: re.Pattern[str]) -> tuple[Need, ...]:
    """The needs of a pattern that fewest texts meet, rarest first; none if all are common."""
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    needs = set(_needs(parsed, bool(pattern.flags & re.IGNORECASE)))
    if digits := _fewest_digits(parsed):
        needs = {*needs - {_ONE_DIGIT}, Need(frozenset(), digits=digits)}
    useful = {need for need in needs if need.share < _OFTEN and need.size <= _MOST}
    return tuple(sorted(useful, key=lambda need: (need.share, need.size, str(need)))[:_SEARCHES])


def _fewest_digits(nodes: Iterable[Any]) -> int:
    """How many digits every match of a sequence has at least; what is looked at does not count."""
    return sum(_digits_of(str(kind), value) for kind, value in nodes)


def _digits_of(name: str, value: Any) -> int:
    if name == "SUBPATTERN":
        return _fewest_digits(value[-1])
    if name.endswith("_REPEAT"):
        least, _, inner = value
        return int(least) * _fewest_digits(inner)
    if name == "BRANCH":
        return min(map(_fewest_digits, value[1]))
    if name == "IN":
        return int(_of_class(value) == [_ONE_DIGIT])
    return int(name == "LITERAL" and chr(value).isdecimal())


def _needs(nodes: Iterable[Any], ignoring: bool) -> list[Need]:
    """The needs of a sequence, each of which every match meets."""
    needs: list[Need] = []
    run, is_exact = "", True
    for name, value, ignores in [*_flat(nodes, ignoring), ("END", None, False)]:
        char = _character(name, value)
        is_exact = is_exact and ((name == "LITERAL" and not ignores) or not char.isalpha())
        run += char
        if not char:
            needs += [_need_of([run], is_exact)] if run else []
            needs += _needs_of_node(name, value, ignores)
            run, is_exact = "", True
    return needs


def _need_of(literals: Iterable[str], is_exact: bool) -> Need:
    if is_exact:
        return Need(frozenset(literals))
    return Need(frozenset(), frozenset(literal.lower() for literal in literals))


def _flat(nodes: Iterable[Any], ignoring: bool) -> Iterator[tuple[str, Any, bool]]:
    """The nodes, groups replaced by what is in them, and whether case is ignored in each."""
    for kind, value in nodes:
        if str(kind) == "SUBPATTERN":
            _, added, removed, inner = value
            ignores = (ignoring or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
            yield from _flat(inner, ignores)
        else:
            yield str(kind), value, ignoring


def _needs_of_node(name: str, value: Any, ignoring: bool) -> list[Need]:
    if name.endswith("_REPEAT"):
        least, _, inner = value
        return _needs(inner, ignoring) if least else []
    if name == "ASSERT":
        return _needs(value[1], ignoring)
    if name == "BRANCH":
        return _of_branches([_needs(branch, ignoring) for branch in value[1]])
    return _of_class(value) if name == "IN" else []


def _of_branches(branches: Sequence[Sequence[Need]]) -> list[Need]:
    """The rarest need of each branch, together; nothing if a branch needs nothing."""
    if not all(branches):
        return []
    rarest = [min(needs, key=lambda need: need.share) for needs in branches]
    literals = frozenset(literal for need in rarest for literal in need.literals)
    folded = frozenset(literal for need in rarest for literal in need.folded)
    digits = min((need.digits for need in rarest if need.digits), default=0)
    eastern = any(need.eastern for need in rarest)
    return [Need(_shortest(literals), _shortest(folded), digits, eastern)]


def _shortest(literals: frozenset[str]) -> frozenset[str]:
    """The literals without those that contain another one."""
    return frozenset(
        literal
        for literal in literals
        if not any(other != literal and other in literal for other in literals)
    )


def _of_class(members: Sequence[Any]) -> list[Need]:
    """What a class of characters needs: a digit, Eastern script, or one of a few characters."""
    chars: set[str] = set()
    digit = eastern = False
    for kind, value in members:
        name = str(kind)
        first, last = value if name == "RANGE" else (value, value)
        if name == "CATEGORY" and str(value) == "CATEGORY_DIGIT":
            digit = True
        elif name in ("RANGE", "LITERAL") and first >= _EASTERN_FROM:
            eastern = True
        elif name == "RANGE" and ord("0") <= first and last <= ord("9"):
            digit = True
        elif name == "LITERAL" and (char := _character(name, value)):
            chars.add(char.lower())
        else:
            return []
    return [Need(frozenset(), frozenset(chars), int(digit), eastern)] if len(chars) <= _FEW else []


def _character(name: str, value: Any) -> str:
    """The one character that a node matches, perhaps in any case; empty if there are others.

    Letters with cases outside of ASCII are left out: lower case may be more than one of them.
    """
    if name == "LITERAL":
        char = chr(value)
        has_cases = not char.isascii() and char.lower() != char.upper()
        return "" if has_cases else char
    if name == "IN" and all(str(kind) == "LITERAL" and code < 0x80 for kind, code in value):
        chars = {chr(code).lower() for _, code in value}
        return chars.pop() if len(chars) == 1 else ""
    return ""
