"""A spelling as a reader sees it: nothing invisible, one form for what looks alike."""

from __future__ import annotations

import re
import unicodedata

from anonymization.text.detect.fold import fold
from anonymization.text.spelling.skeleton import is_invisible

PLANTED = "tripwire"  # the kind of values of which nothing else is known
EDGES = " \t\r\n.,_-/()[]+\u00b7"
_WHOLE_BELOW = 12  # characters; a longer word or number hardly stands inside another by chance
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_PLAIN = str.maketrans("", "", " .-")


def visible(text: str) -> str:
    """Without invisible characters."""
    return text if text.isascii() else "".join(char for char in text if not is_invisible(char))


def clean(text: str) -> str:
    """Visible, in compatibility form (NFKC), with plain hyphens and spaces."""
    return text if text.isascii() else fold(unicodedata.normalize("NFKC", visible(text)))


def is_whole(text: str, start: int, end: int) -> bool:
    """Short words and numbers occur inside longer ones by chance."""
    plain = text[start:end].translate(_PLAIN)
    simple = plain.isascii() and (plain.isalpha() or plain.isdigit())
    return not simple or end - start >= _WHOLE_BELOW or is_apart(text, start, end)


def is_apart(text: str, start: int, end: int) -> bool:
    """Does no letter or digit beside it make a longer word or number of `text[start:end]`?"""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return not (_joins(before, text[start]) or _joins(after, text[end - 1]))


def trimmed(text: str) -> str:
    """Without the separators at its ends, which no skeleton holds."""
    return text.strip(EDGES)


def _joins(outside: str, edge: str) -> bool:
    if not outside.isascii():
        return False
    return (outside.isalpha() and edge.isalpha()) or (outside.isdigit() and edge.isdigit())


def is_han(text: str) -> bool:
    """Chinese characters and nothing else?"""
    return _HAN.fullmatch(text) is not None
