"""Small signs beside a word: an address that says a name, two words in one, age groups."""

from __future__ import annotations

import re
from collections.abc import Collection

from anonymization.text.detect.wording import in_dictionary, is_program_word
from data.text.scripts import LETTERS

_WORD = re.compile(rf"[{LETTERS}]+")
_SHORTEST = 3  # letters of a word in a login
_ADDRESS_BEHIND = re.compile(r"[\"']? ?[<(](?:mailto:)?([\w.+-]{2,64})@")
_SHORTEST_IN_ADDRESS = 3  # letters


def has_own_address(text: str, end: int, value: str) -> bool:
    """Does an address of mail that says a word of a name stand behind it, in brackets?"""
    address = _ADDRESS_BEHIND.match(text, end)
    local = address[1].casefold() if address else ""
    names = [word.casefold() for word in _WORD.findall(value)]
    return len(names) > 1 and any(
        len(name) >= _SHORTEST_IN_ADDRESS and name in local for name in names
    )


def is_joined(login: str, dictionary: frozenset[str], names: Collection[str]) -> bool:
    """Is a login two words of a dictionary or of programs in one: `bootenv`?"""
    small = login.casefold()
    halves = ((small[:at], small[at:]) for at in range(_SHORTEST, len(small) - _SHORTEST + 1))
    return login.isalpha() and any(
        all(is_program_word(half) or in_dictionary(half, dictionary) for half in pair)
        and not any(half.title() in names for half in pair)
        for pair in halves
    )


_POPULATION = re.compile(
    r"(?: or \(?\d\d\)?)?\)? (?:and|or) (?:\d\d )?(?:and |or )?(?:over|older|above)"
)


def of_population(text: str, end: int) -> bool:
    """Is an age that ends there the least of a group: `people aged 65 and over`?"""
    return _POPULATION.match(text, end) is not None
