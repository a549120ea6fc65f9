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
_SEARCHES = 3  # needs of a pattern that are looked for
_FEW = 8  # characters of a class that are looked for one by one
_EASTERN_FROM = 0x2E80  # Han, kana and Hangul, of which none is another case of an ASCII letter
_EASTERN = re.compile(rf"[{chr(_EASTERN_FROM)}-\U0010ffff]")
_DIGIT = re.compile(r"\d")
_COMMON = frozenset("abcdefghijklmnopqrstuvwxyz .,\n")


@dataclass(frozen=True, slots=True)
class _Content:
    """A text, the same in small letters; has it a digit, has it Eastern script?"""

    text: str
    lowered: str
    digit: bool
    eastern: bool


@lru_cache(maxsize=4)
def _content(text: str) -> _Content:
    eastern = not text.isascii() and _EASTERN.search(text) is not None
    lowered = text
    if not text.isascii():  # patterns take these for i and s, `lower` does not
        lowered = text.replace("ı", "i").replace("İ", "i").replace("ſ", "s")
    return _Content(text, lowered.lower(), _DIGIT.search(text) is not None, eastern)


def has_digit(text: str) -> bool:
    """Is there a digit in a text?"""
    return _content(text).digit


def has_eastern(text: str) -> bool:
    """Is there Han, kana or Hangul in a text? (Also true of rarer scripts and of emoji.)"""
    return _content(text).eastern


@dataclass(frozen=True, slots=True)
class Need:
    """A match contains one of the literals, a digit or Eastern script.

    Those of `folded` are in small letters, and in a match in any.
    """

    literals: frozenset[str]
    folded: frozenset[str] = frozenset()
    digit: bool = False
    eastern: bool = False

    def is_met(self, content: _Content) -> bool:
        """Has a text what is needed?"""
        if (self.eastern and content.eastern) or (self.digit and content.digit):
            return True
        return any(literal in content.text for literal in self.literals) or any(
            literal in content.lowered for literal in self.folded
        )

    @property
    def size(self) -> int:
        """How many literals it has."""
        return len(self.literals) + len(self.folded)

    @property
    def share(self) -> float:
        """Roughly the share of texts that meet it."""
        without = (1 - 0.5 * self.digit) * (1 - 0.3 * self.eastern)
        for literal in (*self.literals, *self.folded):
            rarity = len(literal) + (literal != literal.lower())
            without *= 1 - (1.0 if literal in _COMMON else 0.4**rarity)
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
        return all(need.is_met(content) for need in self.needs)


def screened(*alternatives: str, flags: int = 0) -> tuple[Screened, ...]:
    """Each alternative as a pattern of its own, so that one that is rare is tried rarely."""
    return tuple(Screened(alternative, flags) for alternative in alternatives)


def find_each(patterns: Iterable[Screened], text: str) -> Iterator[re.Match[str]]:
    """The matches of each pattern, which may overlap those of another."""
    for pattern in patterns:
        yield from pattern.finditer(text)


def needs_of(pattern: re.Pattern[str]) -> tuple[Need, ...]:
    """The needs of a pattern that fewest texts meet, rarest first; none if all are common."""
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    needs = _needs(parsed, bool(pattern.flags & re.IGNORECASE))
    useful = {need for need in needs if need.share < _OFTEN and need.size <= _MOST}
    return tuple(sorted(useful, key=lambda need: (need.share, need.size, str(need)))[:_SEARCHES])


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
    digit, eastern = any(need.digit for need in rarest), any(need.eastern for need in rarest)
    return [Need(_shortest(literals), _shortest(folded), digit, eastern)]


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
    return [Need(frozenset(), frozenset(chars), digit, eastern)] if len(chars) <= _FEW else []


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
