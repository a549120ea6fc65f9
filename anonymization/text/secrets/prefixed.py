"""Tokens whose form alone gives them away: a provider's prefix, or a literal inside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from zlib import crc32

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.secrets.cues import has_name_before
from anonymization.text.secrets.table import (
    BEGINS,
    BY_PREFIX,
    INFIXED,
    STARTS,
    WORD_BEGINS,
    Family,
    has_escapes,
)
from anonymization.text.secrets.values import entropy, is_placeholder, is_random

_PROVEN, _BY_FORM = 1.0, 0.95
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECK_DIGITS = 6
_GOES_ON = re.compile(r"/\Z|[a-z0-9]_\Z")  # a weak prefix in a path or a longer name
_CUT = ("*", "#", "…")  # what a token continues with when its rest was blotted out


def _branch(family: Family) -> str:
    flag = "(?i:" if family.ignore_case else "(?:"
    return f"(?P<{family.group}>{flag}{family.pattern.pattern}))"


# All forms without a prefix in one scan; each begins at the start of a word.
_INFIXED = tuple(
    re.compile(begins + "(?:" + "|".join(_branch(family) for family in INFIXED) + ")")
    for begins in (WORD_BEGINS, BEGINS)
)
_BY_GROUP = {family.group: family for family in INFIXED}


def find_prefixed(text: str, folded: str) -> Iterator[Finding]:
    """Tokens that begin with a known prefix; `folded` is the text with A-Z in lower case."""
    done = 0
    for hit in STARTS[has_escapes(text)].finditer(folded):
        if hit.start() < done:
            continue
        for prefix, family in BY_PREFIX[hit.group()]:
            end = _match(text, folded, hit.start(), prefix, family)
            if end:
                yield _finding(text, hit.start(), end, len(prefix), family)
                done = end
                break


def find_infixed(text: str, folded: str) -> Iterator[Finding]:
    """Tokens of a known form without a prefix."""
    for hit in _INFIXED[has_escapes(text)].finditer(text):
        family = _BY_GROUP[hit.lastgroup or ""]
        if _accepts(family, hit.group(), folded, hit.start()):
            yield _finding(text, hit.start(), hit.end(), 0, family)


def _match(text: str, folded: str, start: int, prefix: str, family: Family) -> int:
    """Where the token of this family ends, 0 if none begins at `start`."""
    if not family.ignore_case and not text.startswith(prefix, start):
        return 0
    rest = family.pattern.match(text, start + len(prefix))
    if rest is None or text[rest.end() : rest.end() + 1] in _CUT:
        return 0
    return rest.end() if _accepts(family, rest.group(), folded, start) else 0


def _accepts(family: Family, body: str, folded: str, start: int) -> bool:
    if family.named and not has_name_before(folded, start):
        return False
    if family.random and _GOES_ON.search(folded, max(0, start - 2), start):
        return False
    if family.entropy == 0:
        return True
    if entropy(body) < family.entropy or is_placeholder(body):
        return False
    return not family.random or is_random(body)


def _finding(text: str, start: int, end: int, prefix: int, family: Family) -> Finding:
    proven = family.checksum == "crc32-base62" and _checks(text[start + prefix : end])
    score = _PROVEN if proven else _BY_FORM
    return Finding(start, end, EntityType.SECRET, f"secret.{family.name}", score)


def _checks(body: str) -> bool:
    """Are the last six characters the CRC-32 of the others in base 62?"""
    value, digits = crc32(body[:-_CHECK_DIGITS].encode()), ""
    for _ in range(_CHECK_DIGITS):
        value, digit = divmod(value, 62)
        digits = _BASE62[digit] + digits
    return body[-_CHECK_DIGITS:] == digits
