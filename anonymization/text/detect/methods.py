"""Methods, tests and curves that are called after people: `the Cox model`, `Mann-Whitney`.

Who gave them their names is nobody of the text. A name before them makes them somebody's again:
`Ms Holt-Winters` and `John Cox model` are left to those who look for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.detect.capital_places import is_plain_capital
from anonymization.text.detect.wording import words
from data.text.lexicon import trie_pattern

_TABLE = "known_words.toml"
_JOINED = trie_pattern(
    name.replace("-", dash) for name in words(_TABLE, "methods") for dash in "-–"
)
_IN_FULL = trie_pattern(words(_TABLE, "methods_in_full"))
_NAMES = trie_pattern(words(_TABLE, "methods_with_kind"))
_KINDS = trie_pattern(words(_TABLE, "method_kinds"))
_METHOD = re.compile(
    rf"(?<![\w.-])(?:(?:{_JOINED})(?![\w-]|['’]s? [A-Z])|(?:{_IN_FULL})(?![\w-])"
    rf"|(?:{_NAMES})(?=(?:['’]s)? (?:[a-z]{{3,12}} )?(?:{_KINDS})(?![\w-])))"
)
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "lady"})
_BEFORE = re.compile(r"(?P<word>[A-Z][\w’']*)\.? $")
_REACH = 24  # characters in which the word before stands


def find_methods(text: str) -> Iterator[tuple[int, int]]:
    """The spans of their names, sorted; a kind of method behind a name is outside, or inside."""
    for match in _METHOD.finditer(text):
        before = _BEFORE.search(text, max(0, match.start() - _REACH), match.start())
        if before is None or _is_plain(before["word"]):
            yield match.span()


def _is_plain(word: str) -> bool:
    return word.lower() not in _TITLES and is_plain_capital(word)
