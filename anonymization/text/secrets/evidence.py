"""Evidence for or against a secret: known families of tokens, the value's form, and words nearby.

The families are read from `families.toml`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import log2
from typing import Any

from data.text.lexicon import load_table, pattern_of, trie_pattern

_ENTROPY = 2.6  # bits per character that random text of 16 or more characters exceeds


@dataclass(frozen=True, slots=True)
class Family:
    """Tokens of one form; the head of `families.toml` explains the fields."""

    name: str
    provider: str
    prefixes: tuple[str, ...]
    infix: str
    pattern: re.Pattern[str]
    entropy: float
    random: bool
    named: bool
    ignore_case: bool
    near: re.Pattern[str] | None

    @property
    def group(self) -> str:
        """The name as a group of a regular expression."""
        return self.name.replace("-", "_")


def _family(row: dict[str, Any]) -> Family:
    ignore_case = bool(row.get("ignore_case", False))
    return Family(
        name=row["name"],
        provider=row["provider"],
        prefixes=tuple(row["prefixes"]),
        infix=row.get("infix", ""),
        pattern=pattern_of(row["pattern"], re.IGNORECASE if ignore_case else 0),
        entropy=float(row.get("entropy", _ENTROPY)),
        random=bool(row.get("random", False)),
        named=bool(row.get("named", False)),
        ignore_case=ignore_case,
        near=_near(row),
    )


def _near(row: dict[str, Any]) -> re.Pattern[str] | None:
    if row.get("exact", False):
        return pattern_of("|".join(map(re.escape, row["prefixes"])))
    return pattern_of(row["near"]) if "near" in row else None


def _by_prefix(families: Iterable[Family]) -> dict[str, tuple[tuple[str, Family], ...]]:
    """Per prefix in lower case the families that may begin with it, the longest prefix first."""
    pairs = [(prefix, family) for family in families for prefix in family.prefixes]
    return {
        start: tuple(
            sorted(
                (pair for pair in pairs if start.startswith(pair[0].lower())),
                key=lambda pair: -len(pair[0]),
            )
        )
        for start in sorted({prefix.lower() for prefix, _ in pairs})
    }


FAMILIES = tuple(_family(row) for row in load_table(__package__, "families.toml")["family"])
INFIXED = tuple(family for family in FAMILIES if family.infix)
BY_PREFIX = _by_prefix(FAMILIES)
_NEAR = tuple(family.near for family in FAMILIES if family.near)


def claims_a_family(value: str) -> bool:
    """Does it begin like tokens of an exactly known form?"""
    return any(near.match(value) for near in _NEAR)


# Where a token may begin: no letter or digit before it, unless those belong to an escape such as
# `\\n`, `%3D` or `\\u003d`.
WORD_BEGINS = r"(?<![A-Za-z0-9])"
BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
# For texts without and with escapes, the latter four times slower; searched in lower case.
STARTS = tuple(pattern_of(begins + trie_pattern(BY_PREFIX)) for begins in (WORD_BEGINS, BEGINS))


_WORDS = load_table(__package__, "words.toml")
_COMMON = frozenset(_WORDS["common_values"])
_STAND_INS = pattern_of(
    trie_pattern(_WORDS["placeholders"])
    + "|(?<![a-z0-9])"
    + trie_pattern(_WORDS["placeholder_words"])
)
_STAND_IN_LENGTH = 80  # in longer values any short word occurs by chance
# ${VAR}, $VAR, $(cmd), %VAR%, {{ x }}, <x>, [x], @param, {x}: to be filled in later.
_REFERENCE = pattern_of(
    r"\$[A-Za-z_{(\[]|%[A-Za-z_({]|\{\{|\{%|<[^<>]*>?|\[[^\]]*\]|@[A-Za-z_]|\{[A-Za-z_. ]*\}?$"
)
_ENDS = pattern_of(r"(?:example|sample)(?:key|token)?[\"']?$")
_CHUNK = pattern_of(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_HEX = pattern_of(r"[0-9a-f]+|[0-9A-F]+")
_DIGITS = pattern_of(r"[0-9]+")
_SEPARATED = pattern_of(r"[-_.~/+]")
_UUID = pattern_of(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_NO_VOWELS = pattern_of(r"[bcdfghjklmnpqrstvwxz]{4}", re.IGNORECASE)
_MEAN_CHUNK = 3.0  # characters; random base 62 has 1.7, base 36 has 2.6, words and camels have 5
_LOOK = 80  # characters, enough to decide
_MEAN_LETTERS = 2.4  # letters only: nothing but an erratic letter case tells chance from words
_MEAN_SCATTERED, _MIN_SCATTERED = 2.1, 14
_MEAN_WILD = 3.4  # of a short password of letters alone, in both cases


def entropy(value: str) -> float:
    """Shannon entropy of the characters of `value`, bits per character."""
    total = len(value)
    return -sum(n / total * log2(n / total) for n in Counter(value).values())


def is_placeholder(value: str) -> bool:
    """Is it a placeholder for a secret: `xxxx`, `<token>`, `${VAR}`, `changeme`, `****`?"""
    lowered = value.lower()
    if lowered in _COMMON or _REFERENCE.match(value) or _ENDS.search(lowered):
        return True
    if is_blanked(value):
        return True
    if len(value) >= 12 and len(set(value)) < 4:
        return True
    return len(value) <= _STAND_IN_LENGTH and _STAND_INS.search(lowered) is not None


_WORD = pattern_of(r"[a-z]+")


def repeats_label(label: str, value: str) -> bool:
    """Does a value of several words only say what its label says: `SMTP_PASS=smtp-pass`?"""
    words = _WORD.findall(value.lower())
    is_plain = len(words) > 1 and not any(map(str.isdigit, value))
    return is_plain and set(words) <= set(_WORD.findall(label.lower()))


_BLANKED = pattern_of(r"(?i)[x*•●×＊某]{2,}|.*(?:x{5,}|[*•●×＊]{3,}).*")


def is_blanked(value: str) -> bool:
    """Has somebody blanked it, or the middle of it: `xxxx`, `d63e2xxxxxxxx72ec`?"""
    return _BLANKED.fullmatch(value) is not None


def is_hexadecimal(value: str) -> bool:
    """Is it hexadecimal digits in one letter case, as hashes are written?"""
    return _HEX.fullmatch(value) is not None


def is_uuid(value: str) -> bool:
    """Does it have the form 8-4-4-4-12?"""
    return _UUID.fullmatch(value) is not None


def has_uuid(value: str) -> bool:
    """Does the form 8-4-4-4-12 occur in it?"""
    return _UUID.search(value) is not None


def is_random(value: str) -> bool:
    """Does it look random: digits and letters mixed in short chunks?"""
    chunks = _CHUNK.findall(value, 0, _LOOK)
    letters = sum(chunk[0].isalpha() for chunk in chunks)
    if letters == 0:
        return False
    mean = sum(map(len, chunks)) / len(chunks)
    if letters == len(chunks):
        return len(value) >= 16 and (mean <= _MEAN_LETTERS or is_gibberish(value))
    few_numbers = len(chunks) - letters < 2  # one number is how identifiers end
    return letters > 1 and mean <= (_MEAN_LETTERS if few_numbers else _MEAN_CHUNK)


def is_scattered(value: str) -> bool:
    """Is it so random that its separators mean nothing: `aB-3x_Q9…`, base64 with slashes?"""
    chunks = _CHUNK.findall(value, 0, _LOOK)
    if sum(map(len, chunks)) < _MIN_SCATTERED:
        return False
    if not is_mixed(value) and (value.islower() or value.isupper() or _SEPARATED.search(value)):
        return False
    letters = sum(chunk[0].isalpha() for chunk in chunks)
    return letters > 1 and sum(map(len, chunks)) / len(chunks) <= _MEAN_SCATTERED


def is_wild(value: str) -> bool:
    """Is it letters only, with a letter case unlike any sequence of words: `VgWPwjRw`?"""
    if not value.isascii() or not value.isalpha() or value.islower() or value.isupper():
        return False
    chunks = _CHUNK.findall(value)
    return len(chunks) > 2 and len(value) / len(chunks) <= _MEAN_WILD


def has_inner_numbers(value: str) -> bool:
    """Has it digits in two places or more, or not at the end, where a word may carry a year?"""
    return len(_DIGITS.findall(value)) > 1 or not value[-1:].isdigit()


def is_gibberish(value: str) -> bool:
    """Has it four consonants in a row, which words rarely have and random letters mostly do?"""
    return _NO_VOWELS.search(value) is not None


def is_mixed(value: str) -> bool:
    """Has it letters and digits, as a secret that a person may have chosen?"""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


_REACH = 80  # characters before a value in which its name is looked for
_AFTER = 40
_NAME = 24  # characters of a name before the word that gives it away

PASSWORDS: tuple[str, ...] = (*_WORDS["passwords"], *_WORDS["passwords_zh"])
NAMES = pattern_of(trie_pattern((*PASSWORDS, *_WORDS["names"], *_WORDS["names_zh"])))
_PROVIDERS = pattern_of(r"(?<![a-z])" + trie_pattern(_WORDS["providers"]))
_PUBLIC = pattern_of(trie_pattern(_WORDS["public_names"]))
_HASHES = pattern_of(trie_pattern(_WORDS["hash_cues"]) + r"|(?<![a-z])ids?(?![a-z])|_id\b")
_HANDED = pattern_of(
    rf"(?<![a-z_])(?:{'|'.join(_WORDS['handed'])})(?![a-z_])|{trie_pattern(_WORDS['handed_zh'])}"
)
_EXAMPLE = pattern_of(r"(?:e\.g\.|example|such as|例如|比如|示例)[\s,:：(\"'`]{0,4}$")


def is_public_name(name: str) -> bool:
    """Is a value of this name public: a hash, a count, a URL, a sort key?"""
    return _PUBLIC.search(name.replace("keysecret", "key_secret")) is not None  # no `keys`


def line_before(folded: str, start: int) -> str:
    """The text before `start` on its line, as far as a name is looked for."""
    before = folded[max(0, start - _REACH) : start]
    return before[before.rfind("\n") + 1 :]


def line_after(folded: str, end: int) -> str:
    """The text after `end` on its line, as far as a name is looked for."""
    return folded[end : end + _AFTER].partition("\n")[0]


def has_name_before(folded: str, start: int) -> bool:
    """Does the line name a secret or a provider before `start`, and no hash after that name?"""
    before = line_before(folded, start)
    last = max(_last(NAMES, before), _last(_PROVIDERS, before))
    return (
        last >= 0
        and _last(_HASHES, before) < last
        and not is_public_name(before[max(0, last - _NAME) :])
    )


def names_a_hash(folded: str, start: int, end: int) -> bool:
    """Does the line mention hashes, commits or identifiers?"""
    near = line_before(folded, start) + " " + line_after(folded, end)
    return _HASHES.search(near) is not None


def hands_over(folded: str, start: int, end: int) -> bool:
    """Does the line mention giving, getting or using something, as one does with a key?"""
    near = line_before(folded, start) + " " + line_after(folded, end)
    return _HANDED.search(near) is not None


def is_example(folded: str, start: int) -> bool:
    """Do the preceding words introduce an example?"""
    return _EXAMPLE.search(folded, max(0, start - 20), start) is not None


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match begins, -1 if none."""
    start = -1
    for hit in pattern.finditer(text):
        start = hit.start()
    return start
