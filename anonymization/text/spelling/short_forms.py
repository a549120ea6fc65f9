"""Short forms of the name of a person that a session knows: M. Ellsworth, mellsworth."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import COMMON, characters, words
from anonymization.text.surrogates.lexicon import lexicon
from data.text.scripts import HAN

_NAME = re.compile(r"[^\W\d_]{2,24}(?:[ -][^\W\d_]\.?)?(?: [^\W\d_]{2,24}){1,2}")
_TURNED = re.compile(r"(?P<family>[^\W\d_]{2,24}), (?P<given>[^\W\d_]{2,24})")
_HAN_NAME = re.compile(f"[{HAN}]{{2,4}}")
_DOUBLE = words("names.toml", "chinese_double")
_GIVEN_WORDS = words("names.toml", "chinese_given_words")
_PAIR = 2  # characters of a given name; one alone is a word
_NOT_OLD, _NOT_SMALL = (
    characters("names.toml", "not_friends"),
    characters("names.toml", "not_small"),
)
_PLACES = (
    words("places.toml", "countries")
    | words("places.toml", "towns")
    | words("places.toml", "people")
)
_SHORTEST = 4  # letters of a family name; shorter ones occur inside other words


def short_forms(
    name: str, dictionary: frozenset[str] = frozenset()
) -> Iterator[tuple[EntityType, str]]:
    """Initial and family name, each name alone, logins made of both; 老 or 小 and a family name.

    No form is an everyday word or a place. `dictionary` holds English words in small letters:
    without one there are no names alone.
    """
    if _HAN_NAME.fullmatch(name):
        family = name[:2] if name[:2] in _DOUBLE else name[:1]
        yield from ((EntityType.PERSON, f"老{family}") for _ in range(family not in _NOT_OLD))
        yield from ((EntityType.PERSON, f"小{family}") for _ in range(family not in _NOT_SMALL))
        given = name[len(family) :]
        if len(given) == _PAIR and given not in _GIVEN_WORDS:
            yield EntityType.PERSON, given
        return
    turned = _TURNED.fullmatch(name)
    if turned:
        name = f"{turned['given']} {turned['family']}"
    if not _NAME.fullmatch(name):
        return
    parts = [part for part in name.split() if part.casefold() not in lexicon().person_words]
    if len(parts) < 2 or len(parts[-1]) < _SHORTEST or parts[-1].title() in COMMON:
        return
    given, family = parts[0], parts[-1]
    yield EntityType.PERSON, f"{given[0]}. {family}"
    yield EntityType.PERSON, f"{given[0]} {family}"
    yield EntityType.PERSON, f"{given[0]} {family}".upper()
    for alone in (given, family) if dictionary else ():
        if len(alone) >= _SHORTEST and alone.istitle() and not _is_word(alone, dictionary):
            yield EntityType.PERSON, alone
    login, first = family.lower(), given.lower()
    if login not in words("words.toml", "function_words"):
        yield EntityType.ACCOUNT, f"{first[0]}{login}"
        yield EntityType.ACCOUNT, f"{first}{login}"
        yield EntityType.ACCOUNT, f"{login}{first[0]}"
        yield EntityType.ACCOUNT, f"{first}_{login}"


def _is_word(name: str, dictionary: frozenset[str]) -> bool:
    small = name.lower()
    return (
        small in dictionary
        or small in words("words.toml", "function_words")
        or small in words("words.toml", "small_words_too")
        or name in COMMON
        or name in _PLACES
    )
