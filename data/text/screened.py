"""Patterns that look first for what every match of theirs contains: most texts have none of it.

A pattern with many alternatives is tried at each character of a text. What its matches need (`user`
or a digit, say) is read from the pattern itself, and looked for in a fraction of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_MOST = 120  # literals of a need: to look for more costs what it saves
_OFTEN = 0.95  # share of texts that makes a need worthless
_FEW_IN_CLASS = 8  # characters of a class that are looked for one by one
_EASTERN_FROM = 0x2E80  # Han, kana and Hangul, of which none is another case of an ASCII letter
_EASTERN = re.compile(rf"[{chr(_EASTERN_FROM)}-\U0010ffff]")
_DIGIT = re.compile(r"\d")
_COMMON = frozenset("abcdefghijklmnopqrstuvwxyz .,\n")
_SHARES = {1: 0.4, 2: 0.2, 3: 0.06}  # of texts with a literal, by its length


@dataclass(frozen=True, slots=True)
class _Content:
    """What is looked for in a text: in small letters; has it a digit, has it Eastern script?"""

    lowered: str
    digit: bool
    eastern: bool


@lru_cache(maxsize=4)
def _content(text: str) -> _Content:
    eastern = not text.isascii() and _EASTERN.search(text) is not None
    lowered = text
    if not text.isascii():  # patterns take these for i and s, `lower` does not
        lowered = text.replace("ı", "i").replace("İ", "i").replace("ſ", "s")
    return _Content(lowered.lower(), _DIGIT.search(text) is not None, eastern)


def has_eastern(text: str) -> bool:
    """Is there Han, kana or Hangul in a text? (Also true of rarer scripts and of emoji.)"""
    return _content(text).eastern


@dataclass(frozen=True, slots=True)
class Need:
    """A match contains one of the `literals` (in small letters), a digit or Eastern script."""

    literals: frozenset[str]
    digit: bool = False
    eastern: bool = False

    def is_met(self, content: _Content) -> bool:
        """Has a text what is needed?"""
        if (self.eastern and content.eastern) or (self.digit and content.digit):
            return True
        for literal in self.literals:
            if literal in content.lowered:
                return True
        return False

    @property
    def share(self) -> float:
        """Roughly the share of texts that meet it."""
        without = (1 - 0.5 * self.digit) * (1 - 0.3 * self.eastern)
        for literal in self.literals:
            without *= 1 - (1.0 if literal in _COMMON else _SHARES.get(len(literal), 0.03))
        return 1 - without


class Screened:
    """A compiled pattern that is tried only on texts that have what its matches need."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = re.compile(pattern, flags)
        self.needs = needs_of(self.pattern)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As of the pattern."""
        return self.pattern.finditer(text) if self.may_match(text) else iter(())

    def search(self, text: str) -> re.Match[str] | None:
        """As of the pattern."""
        return self.pattern.search(text) if self.may_match(text) else None

    def may_match(self, text: str) -> bool:
        """Has the text what a match needs?"""
        content = _content(text)
        for need in self.needs:
            if not need.is_met(content):
                return False
        return True


def screened(*alternatives: str, flags: int = 0) -> tuple[Screened, ...]:
    """Each alternative as a pattern of its own, so that one that is rare is tried rarely."""
    return tuple(Screened(alternative, flags) for alternative in alternatives)


def find_each(patterns: Iterable[Screened], text: str) -> Iterator[re.Match[str]]:
    """The matches of each pattern, which may overlap those of another."""
    for pattern in patterns:
        yield from pattern.finditer(text)


def needs_of(pattern: re.Pattern[str]) -> tuple[Need, ...]:
    """The two needs of a pattern that fewest texts meet; less if it has none worth the search."""
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    needs = _needs(parsed, bool(pattern.flags & re.IGNORECASE))
    useful = {need for need in needs if need.share < _OFTEN and len(need.literals) <= _MOST}
    return tuple(sorted(useful, key=lambda need: (need.share, sorted(need.literals)))[:2])


def _needs(nodes: Iterable[Any], ignoring: bool) -> list[Need]:
    """The needs of a sequence, each of which every match meets."""
    needs: list[Need] = []
    run = ""
    for name, value, ignores in [*_flat(nodes, ignoring), ("END", None, False)]:
        char = _character(name, value, ignores)
        run += char
        if not char:
            needs += [Need(frozenset([run]))] if run else []
            needs += _needs_of_node(name, value, ignores)
            run = ""
    return needs


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
    return _of_class(value, ignoring) if name == "IN" else []


def _of_branches(branches: Sequence[Sequence[Need]]) -> list[Need]:
    """The rarest need of each branch, together; nothing if a branch needs nothing."""
    if not all(branches):
        return []
    rarest = [min(needs, key=lambda need: need.share) for needs in branches]
    literals = frozenset(literal for need in rarest for literal in need.literals)
    digit, eastern = any(need.digit for need in rarest), any(need.eastern for need in rarest)
    return [Need(_shortest(literals), digit, eastern)]


def _shortest(literals: frozenset[str]) -> frozenset[str]:
    """The literals without those that contain another one."""
    return frozenset(
        literal
        for literal in literals
        if not any(other != literal and other in literal for other in literals)
    )


def _of_class(members: Sequence[Any], ignoring: bool) -> list[Need]:
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
        elif name == "LITERAL" and (char := _character(name, value, ignoring)):
            chars.add(char)
        else:
            return []
    return [Need(frozenset(chars), digit, eastern)] if len(chars) <= _FEW_IN_CLASS else []


def _character(name: str, value: Any, ignoring: bool) -> str:
    """The one character, in small letters, that a node matches; empty if it may be another one."""
    if name == "LITERAL" and (value < 0x80 or (value >= _EASTERN_FROM and not ignoring)):
        return chr(value).lower()
    if name == "IN" and all(str(kind) == "LITERAL" and code < 0x80 for kind, code in value):
        chars = {chr(code).lower() for _, code in value}
        return chars.pop() if len(chars) == 1 else ""
    return ""
