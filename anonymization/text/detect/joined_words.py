"""Small signs beside a word: an address that says a name, two words in one, help, age groups."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

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


_IN_HELP = re.compile(r"\n {1,12}[\w<>,-]{2,24} {2,24}\Z")
_POPULATION = re.compile(
    r"(?: or \(?\d\d\)?)?\)? (?:and|or) (?:\d\d )?(?:and |or )?(?:over|older|above)"
)


def is_in_help(text: str, start: int, end: int) -> bool:
    """Does it begin what a program's help says of a command: `  uncordon   Mark node as …`?"""
    is_command = _IN_HELP.search(text, max(0, start - 60), start) is not None
    return is_command and text[end : end + 1] == " " and "a" <= text[end + 1 : end + 2] <= "z"


def of_population(text: str, end: int) -> bool:
    """Is an age that ends there the least of a group: `people aged 65 and over`?"""
    return _POPULATION.match(text, end) is not None


_TITLE = re.compile(
    r"(?i)(?:mr|mrs|ms|miss|mx|dr|prof|professor|sir|madam|herr|frau|monsieur|madame|señora?)\.?"
)
_DOUBLE = re.compile(r"([^\W\d_]+) ([^\W\d_]{3,})-([^\W\d_]{3,})")


def names_itself(
    value: str,
    parts: Sequence[str],
    strange: frozenset[str],
    things: frozenset[str],
    given: frozenset[str],
) -> bool:
    """Is it a title with a name, or a name and a double one (`Ilwen Osmar-Reid`), with a part in
    no dictionary (`strange`)?"""
    titles = [number for number, part in enumerate(parts) if _TITLE.fullmatch(part)]
    behind = parts[titles[-1] + 1 :] if titles else ()
    if behind and all(part.istitle() and part not in things for part in behind):
        return not strange.isdisjoint(behind)
    match = _DOUBLE.fullmatch(value)
    if match is None or not all(map(str.istitle, match.groups())):
        return False
    is_own = match[1] in given or match[1] in strange
    return is_own and not strange.isdisjoint(match.groups()[1:])
