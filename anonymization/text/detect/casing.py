"""Capitals for prose written without any, so that names in it can be told; the same length.

Only words that are likely names get one: listed given names and places, the word behind a given
name, words after `my name is`, words no dictionary holds beside a number (streets) or with letters
outside ASCII. Code, commands and data stay as they are, and so does every line that has a capital.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.detect.english import in_dictionary
from anonymization.text.detect.letters import CAPITALS, LETTERS
from anonymization.text.detect.lexicon import words
from anonymization.text.detect.machine import is_machine
from anonymization.text.detect.wording import COMMON

_LINE = re.compile(r"[^\n]{6,2000}")
_CAPITAL = re.compile(f"[{CAPITALS}]")
_WORD = re.compile(
    rf"(?<![{LETTERS}0-9_@/\\.#$=~'-])[{LETTERS}]{{2,30}}(?![{LETTERS}0-9_@/\\=(]|\.[{LETTERS}0-9])"
)
_GIVEN = frozenset(name.lower() for name in words("names.toml", "given"))
_PLACE_LISTS = words("places.toml", "countries") | words("places.toml", "towns")
_PLACES = frozenset(name.lower() for name in _PLACE_LISTS if " " not in name)
# Places that are everyday words too when written small.
_WORDS_TOO = frozenset(words("words.toml", "small_words_too"))
_EVERYDAY = frozenset(word.lower() for word in COMMON) | words("words.toml", "function_words")
_CUE = re.compile(
    r"(?:name(?:'s| is)|call(?:s|ed)? (?:me|him|her)|this is|i am|i'm|named|met|dear|contact"
    r"|hi|hello|account to|name to) $"
)
_BEFORE_NUMBER = re.compile(r"(?:[^\W\d]\w{0,24}\.? ){0,2}\d{1,6}(?![\w%/-]|[.:]\d)")
_AFTER_NUMBER = re.compile(r"(?<![\w./:-])\d{1,6},? (?:[^\W\d]\w{0,24}\.? ){0,2}$")
_STREETS = frozenset(
    word.lower() for key in ("suffixes", "units", "types") for word in words("streets.toml", key)
)
_FEW = 3  # words that make a line prose


def with_capitals(text: str, dictionary: frozenset[str]) -> str:
    """The text, with capitals where a line of prose has none and a name is likely."""
    if not dictionary:
        return text
    chars: list[str] | None = None
    for place in _places(text, dictionary):
        upper = text[place].upper()
        if len(upper) == 1:
            chars = chars or list(text)
            chars[place] = upper
    return text if chars is None else "".join(chars)


def _places(text: str, dictionary: frozenset[str]) -> Iterator[int]:
    whole = not _CAPITAL.search(text)
    for line in _LINE.finditer(text):
        if not whole and _CAPITAL.search(line.group()):
            continue
        found = list(_WORD.finditer(text, line.start(), line.end()))
        if (len(found) < _FEW and not whole) or is_machine(line.group()):
            continue
        yield from _named(text, found, dictionary)


def _named(text: str, found: list[re.Match[str]], dictionary: frozenset[str]) -> Iterator[int]:
    behind = False  # a given name stands just before
    for word in found:
        value, start, end = word.group(), word.start(), word.end()
        if value in _EVERYDAY:
            behind = False
            continue
        unknown = not in_dictionary(value, dictionary)
        given = value in _GIVEN and value not in _WORDS_TOO
        place = value in _PLACES and value not in _WORDS_TOO
        near = text[max(0, start - 24) : start]
        cued = (behind and text[start - 1] == " ") or _CUE.search(near) is not None
        street = (unknown or value in _STREETS) and _by_a_number(text, near, end)
        foreign = unknown and not value.isascii()
        if given or place or foreign or street or (cued and (unknown or behind)):
            yield start
        behind = given or (unknown and cued and not behind)


def _by_a_number(text: str, near: str, end: int) -> bool:
    before = _BEFORE_NUMBER.match(text, end + 1)
    return before is not None or _AFTER_NUMBER.search(near) is not None
