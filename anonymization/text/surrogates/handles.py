"""User names: parts of them that are parts of known names agree with these names."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from types import MappingProxyType

from numpy.random import Generator

from anonymization.text.surrogates.assignment import Draw, SurrogateTable
from anonymization.text.surrogates.identifiers import numbered
from anonymization.text.surrogates.names import (
    FAMILY,
    GIVEN,
    chinese_name,
    given_name,
    initial,
)
from anonymization.text.surrogates.shapes import LETTERS, cased_like, digits, same_shape, stem
from data.text.scripts import has_han, has_kana

UNEXPLAINED = "unexplained"
_NONE: Mapping[str, str] = MappingProxyType({})
_HANDLE_PARTS = re.compile(r"[^\W\d_]+|\d+")
_STRUCTURED = re.compile(r"[A-Z]{1,8}[-_]\d{1,12}(?:[-_]\d{1,12}){0,4}")  # CUS-0047
_LONG_NAME, _SHORTEST_NAME = 4, 3


def handle(
    table: SurrogateTable, value: str, salt: str = "", shared: Mapping[str, str] = _NONE
) -> str:
    """A user name: known parts of names get the same surrogates, all else new ones.

    `shared` are further words, in folded case, with what they become.
    """
    known = ChainMap(table.tokens(FAMILY), table.tokens(GIVEN))

    def part(match: re.Match[str]) -> str:
        word = match.group()
        if word.isdigit():
            return table.token("handle.digits", word, _digits_like(len(word)), salt, fresh=False)
        if has_han(word):
            return chinese_name(table, word, False, salt)
        folded = word.casefold()
        if folded in known:
            return cased_like(known[folded], word)
        if folded in shared:
            return cased_like(shared[folded], word)
        if folded[1:] in known and len(folded) > _LONG_NAME:
            return cased_like(initial(table, folded[0]) + known[folded[1:]], word)
        if len(word) == 1:
            return cased_like(initial(table, folded), word)
        made = _joined(folded, known)
        if made:
            return cased_like(made, word)
        return cased_like(table.token("handle", folded, given_name, salt), word)

    return _HANDLE_PARTS.sub(part, value)


def _joined(login: str, known: Mapping[str, str]) -> str:
    """The login of the surrogates for one that joins two known names, or a name and an initial."""
    for size in range(_SHORTEST_NAME, len(login)):
        first, rest = login[:size], login[size:]
        if first in known and rest in known:
            return known[first] + known[rest]
        if first in known and len(rest) == 1:
            initials = sorted(known[name][0] for name in known if name[0] == rest)
            return known[first] + (initials[0] if initials else rest)
    return ""


def _digits_like(size: int) -> Draw:
    def draw(rng: Generator, _: int) -> str:
        return digits(rng, size)

    return draw


def unexplained(table: SurrogateTable, value: str, salt: str = "") -> str:
    """A word by an invented word in its letter case, a number or code by one of its shape."""
    if _STRUCTURED.fullmatch(value):
        return numbered(table, value, salt)
    if any(map(str.isdigit, value)) or has_han(value) or has_kana(value):
        shape: Draw = lambda rng, _: same_shape(value, rng)  # noqa: E731
        return table.token("code", value, shape, salt)

    def word(match: re.Match[str]) -> str:
        draw: Draw = lambda rng, attempt: stem(rng, attempt).lower()  # noqa: E731
        new = table.token(UNEXPLAINED, match.group().casefold(), draw, salt)
        return cased_like(new.title(), match.group())

    return LETTERS.sub(word, value)
