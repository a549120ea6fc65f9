"""Short forms of the name of a person that a session knows: M. Ellsworth, mellsworth."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import COMMON, words
from anonymization.text.surrogates.lexicon import lexicon

_NAME = re.compile(r"[^\W\d_]{2,24}(?:[ -][^\W\d_]\.?)?(?: [^\W\d_]{2,24}){1,2}")
_TURNED = re.compile(r"(?P<family>[^\W\d_]{2,24}), (?P<given>[^\W\d_]{2,24})")
_SHORTEST = 4  # letters of a family name; shorter ones occur inside other words


def short_forms(name: str) -> Iterator[tuple[EntityType, str]]:
    """Initial and family name, and logins made of both; none of a name that is an everyday word."""
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
    login, first = family.lower(), given.lower()
    if login not in words("words.toml", "function_words"):
        yield EntityType.ACCOUNT, f"{first[0]}{login}"
        yield EntityType.ACCOUNT, f"{first}{login}"
        yield EntityType.ACCOUNT, f"{login}{first[0]}"
        yield EntityType.ACCOUNT, f"{first}_{login}"
