"""Patterns that look first for what every match of theirs contains: most texts have none of it.

A pattern with many alternatives is tried at each character of a text. What its matches need (`user`
or a digit, say) is read from the pattern itself, and looked for in a fraction of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from data.text.needs import EASTERN_FROM, Need, bits_of, met_by

_MOST = 120  # literals of a need: to look for more costs what it saves
_OFTEN = 0.95  # share of texts that makes a need worthless
_SEARCHES = 3  # needs of a pattern that are looked for
_FEW = 8  # characters of a class that are looked for one by one
_ONE_DIGIT = Need(frozenset(), digits=1)


class Screened:
    """A compiled pattern that is tried only on texts that have what its matches need."""

    def __init__(self, pattern: str, flags: int = 0, *declared: Need) -> None:
        self.pattern = re.compile(pattern, flags)
        self.needs = (*declared, *needs_of(self.pattern))
        self.bits = bits_of(self.needs)

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


def needs_of(pattern: re.Pattern[str]) -> tuple[Need, ...]:
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
        elif name in ("RANGE", "LITERAL") and first >= EASTERN_FROM:
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
