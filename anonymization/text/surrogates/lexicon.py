"""The words of lexicon.toml, read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from data.text.lexicon import load_table


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Fields as in lexicon.toml; lists of words, characters, or sets of words that stay."""

    given: tuple[str, ...]
    given_first: tuple[str, ...]
    given_second: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    zh_families: tuple[str, ...]
    zh_double: tuple[str, ...]
    zh_given: tuple[str, ...]
    zh_first: tuple[str, ...]
    zh_second: tuple[str, ...]
    person_words: frozenset[str]
    person_titles_zh: tuple[str, ...]
    person_lead_zh: tuple[str, ...]
    company_words: frozenset[str]
    company_ends_zh: tuple[str, ...]
    company_lines_zh: tuple[str, ...]
    place_words: frozenset[str]
    place_ends_zh: tuple[str, ...]
    place_lead_zh: tuple[str, ...]
    regions_zh: tuple[str, ...]
    mailboxes: frozenset[str]
    url_words: frozenset[str]
    machine_words: frozenset[str]
    nationalities: tuple[str, ...]
    nationalities_zh: tuple[str, ...]
    ja_families: tuple[str, ...]
    ja_first: tuple[str, ...]
    ja_second: tuple[str, ...]
    ja_given_first: tuple[str, ...]
    ja_given_second: tuple[str, ...]
    ja_titles: tuple[str, ...]
    ja_company_words: tuple[str, ...]
    ja_place_ends: tuple[str, ...]
    number_words: tuple[tuple[str, ...], ...]


_CHARACTERS = ("zh_families", "zh_given")
_SETS = ("person_words", "company_words", "place_words", "mailboxes", "url_words", "machine_words")


@cache
def lexicon() -> Lexicon:
    """The lexicon of this package."""
    raw = load_table(__package__, "lexicon.toml")
    fields: dict[str, object] = {}
    for name, value in raw.items():
        if name == "number_words":
            fields[name] = tuple(tuple(line.split()) for line in value)
        elif name in _CHARACTERS:
            fields[name] = tuple(dict.fromkeys("".join(value.split())))
        elif name in _SETS:
            fields[name] = frozenset(value.split())
        else:
            fields[name] = tuple(dict.fromkeys(value.split()))
    return Lexicon(**fields)  # type: ignore[arg-type]
