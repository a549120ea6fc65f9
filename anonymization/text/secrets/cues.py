"""Words near a value that announce a secret, or that clear it."""

from __future__ import annotations

import re

from anonymization.text.secrets.table import load
from data.text.trie import trie_pattern

_WORDS = load("words.toml")
_REACH = 80  # characters before a value in which its name is looked for
_AFTER = 40
_NAME = 24  # characters of a name before the word that gives it away

PASSWORDS: tuple[str, ...] = (*_WORDS["passwords"], *_WORDS["passwords_zh"])
NAMES = re.compile(trie_pattern((*PASSWORDS, *_WORDS["names"], *_WORDS["names_zh"])))
PROVIDERS = re.compile(r"(?<![a-z])" + trie_pattern(_WORDS["providers"]))
_PUBLIC = re.compile(trie_pattern(_WORDS["public_names"]))
_HASHES = re.compile(trie_pattern(_WORDS["hash_cues"]) + r"|(?<![a-z])ids?(?![a-z])|_id\b")
_HANDED = re.compile(
    rf"(?<![a-z_])(?:{'|'.join(_WORDS['handed'])})(?![a-z_])|{trie_pattern(_WORDS['handed_zh'])}"
)
_EXAMPLE = re.compile(r"(?:e\.g\.|example|such as|例如|比如|示例)[\s,:：(\"'`]{0,4}$")


def is_public_name(name: str) -> bool:
    """Is what bears this name public: a hash, a count, a URL, a sort key?"""
    return _PUBLIC.search(name) is not None


def line_before(folded: str, start: int) -> str:
    """What stands before `start` on its line, as far as a name is looked for."""
    before = folded[max(0, start - _REACH) : start]
    return before[before.rfind("\n") + 1 :]


def line_after(folded: str, end: int) -> str:
    """What stands after `end` on its line, as far as a name is looked for."""
    return folded[end : end + _AFTER].partition("\n")[0]


def has_name_before(folded: str, start: int) -> bool:
    """Does a word for a secret, or a provider, stand on the line, with no hash named after it?"""
    before = line_before(folded, start)
    last = max(_last(NAMES, before), _last(PROVIDERS, before))
    return (
        last >= 0
        and _last(_HASHES, before) < last
        and not is_public_name(before[max(0, last - _NAME) :])
    )


def has_name_after(folded: str, end: int) -> bool:
    """As `has_name_before`, for `ghp_… is my token`."""
    after = line_after(folded, end)
    found = NAMES.search(after)
    return found is not None and _HASHES.search(after[: found.start()]) is None


def names_a_hash(folded: str, start: int, end: int) -> bool:
    """Does the line around speak of hashes, commits or identifiers?"""
    near = line_before(folded, start) + " " + line_after(folded, end)
    return _HASHES.search(near) is not None


def hands_over(folded: str, start: int, end: int) -> bool:
    """Does the line around speak of giving, getting, using, as of a key?"""
    near = line_before(folded, start) + " " + line_after(folded, end)
    return _HANDED.search(near) is not None


def is_example(folded: str, start: int) -> bool:
    """Do the words just before say that what follows is an example?"""
    return _EXAMPLE.search(folded, max(0, start - 20), start) is not None


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match begins, -1 if none."""
    place = -1
    for hit in pattern.finditer(text):
        place = hit.start()
    return place
