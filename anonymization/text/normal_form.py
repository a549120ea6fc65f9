"""The two forms in which spellings of a value are compared: the skeleton and the clean text.

The skeleton is the text without separators, marks, invisible characters and letter case: what all
spellings share. It is made character by character, so the skeleton of a text is that of its parts
joined, and offsets can be traced back. The clean text is what a reader sees: no invisible
characters, one form for characters that look alike.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from data.text.folding import fold_characters, fold_width
from data.text.scripts import UNIFIED_HAN

_ASCII_SEPARATORS = " \t\n\r\v\f.,_-/()[]+"
_MORE = "\u2212\u00b7\u2022\u2027\u2219\u22c5\u30fb\uff65"
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
_VARIATIONS = ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF), (0x180B, 0x180F))
_GONE = frozenset({"Mn", "Me", "Cf", "Pd", "Zs", "Zl", "Zp"})
_LOWER = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")
_DROPPED = _ASCII_SEPARATORS.encode()
_ODD = re.compile(f"[^\x00-\x7f{UNIFIED_HAN}]+")
_BLOCK = 512  # characters
_KEPT = 8  # blocks that are kept: one value may begin in one and end in another


def _is_invisible(char: str) -> bool:
    """Is it invisible: zero width, soft hyphen, bidi mark, variation selector, filler?"""
    code = ord(char)
    if unicodedata.category(char) == "Cf" or char in _FILLERS:
        return True
    return any(first <= code <= last for first, last in _VARIATIONS)


class _Table(dict[int, str]):
    """The skeleton of each character, by its code point; filled as characters occur."""

    def __missing__(self, code: int) -> str:
        kept = self[code] = _skeleton_of_char(chr(code))
        return kept


def _skeleton_of_char(char: str) -> str:
    if _is_invisible(char):
        return ""
    folded = unicodedata.normalize("NFKD", fold_characters(char)).casefold()
    plain = unicodedata.normalize("NFKD", folded)
    return "".join(part for part in plain if not _is_dropped(part))


def _is_dropped(char: str) -> bool:
    gone = unicodedata.category(char) in _GONE
    return gone or char in _ASCII_SEPARATORS or char in _MORE or char in _FILLERS


_TABLE = _Table()


def skeleton(text: str) -> bytes:
    """The letters and digits of a text (and all else that is not a separator) as UTF-8."""
    if not text.isascii():
        text = _ODD.sub(lambda run: run.group().translate(_TABLE), text)
    return text.encode("utf-8", "surrogatepass").translate(_LOWER, _DROPPED)


class Origins:
    """Traces the bytes of a text's skeleton back. Built in linear time; a look-up costs little."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        for start in range(0, len(text), _BLOCK):
            size = len(skeleton(text[start : start + _BLOCK]))
            self._starts.append(self._starts[-1] + size)
        self._blocks: dict[int, list[int]] = {}

    def at(self, offset: int) -> int:
        """The offset in the text of the character from which the skeleton's byte at `offset` is."""
        block = bisect_right(self._starts, offset) - 1
        if block not in self._blocks:
            if len(self._blocks) == _KEPT:
                del self._blocks[next(iter(self._blocks))]
            self._blocks[block] = self._origins_of(block)
        return self._blocks[block][offset - self._starts[block]]

    def _origins_of(self, block: int) -> list[int]:
        start = block * _BLOCK
        sizes = enumerate(map(_skeleton_size, self._text[start : start + _BLOCK]), start)
        return [origin for origin, size in sizes for _ in range(size)]


def _skeleton_size(char: str) -> int:
    """Bytes of a character's skeleton."""
    return len(_TABLE[ord(char)].encode("utf-8", "surrogatepass"))


PLANTED = "tripwire"  # the kind of planted values, which may have any form
EDGES = " \t\r\n.,_-/()[]+\u00b7"
WHOLE_BELOW = 12  # characters; longer words and numbers hardly occur in others by chance
_PLAIN = str.maketrans("", "", " .-")
_KATAKANA = re.compile("[ァ-ヺー]{2}")


def visible(text: str) -> str:
    """The text without invisible characters."""
    return text if text.isascii() else "".join(char for char in text if not _is_invisible(char))


def clean(text: str) -> str:
    """The visible text in compatibility form (NFKC), with plain hyphens and spaces."""
    return text if text.isascii() else fold_characters(fold_width(visible(text)))


def is_whole(text: str, start: int, end: int) -> bool:
    """Is `text[start:end]` a whole token, or too long to be part of another by chance?"""
    if _is_in_kana(text, start, end):
        return False
    plain = text[start:end].translate(_PLAIN)
    simple = plain.isascii() and plain.isalnum()  # `Guest 1` is no part of `Guest 10`
    return not simple or end - start >= WHOLE_BELOW or is_apart(text, start, end)


def _is_in_kana(text: str, start: int, end: int) -> bool:
    """Is it a part of a longer word in katakana?"""
    seams = (text[start - 1 : start + 1] if start else "", text[end - 1 : end + 1])
    return any(map(joins_kana, seams))


def joins_kana(seam: str) -> bool:
    """Are the two characters at a seam of one word in katakana?"""
    return _KATAKANA.fullmatch(seam) is not None


def is_apart(text: str, start: int, end: int) -> bool:
    """Is `text[start:end]` not part of a longer word or number?"""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return not (_joins(before, text[start]) or _joins(after, text[end - 1]))


def trimmed(text: str) -> str:
    """The text without the separators at its ends, which skeletons leave out."""
    return text.strip(EDGES)


def _joins(outside: str, edge: str) -> bool:
    if not outside.isascii():
        return False
    return (outside.isalpha() and edge.isalpha()) or (outside.isdigit() and edge.isdigit())
