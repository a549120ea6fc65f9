"""Names and codes inside text: found in one pass, the longest first, and replaced."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

_LEAST_LATIN = 4  # letters of a name without its legal form; shorter ones are words too often
_LEAST_HAN = 2


def findable(core: str) -> bool:
    """Is a name without its legal form long enough to be looked for in text?"""
    return len(core) >= (_LEAST_LATIN if core.isascii() else _LEAST_HAN)


def findable_code(code: str) -> bool:
    """Bare numbers of a few digits are years and amounts; codes with letters, or long, are not."""
    return len(code) >= 4 and (not code.isdigit() or len(code) >= 8)


def replaced(texts: pl.Series, new: Mapping[str, str]) -> tuple[pl.Series, int]:
    """`texts` with every key of `new` replaced, and the number of replacements.

    Leftmost, then longest, in a single pass: what was put in is not searched again. Case does
    not count for Latin letters; a Latin name must not continue on either side.
    """
    if not new or texts.dtype != pl.String:
        return texts, 0
    patterns = sorted(new, key=lambda name: (-len(name), name))
    found = texts.str.extract_many(patterns, ascii_case_insensitive=True, overlapping=True)
    hit = found.list.len().fill_null(0).to_numpy() > 0
    if not hit.any():
        return texts, 0
    starts = texts.str.find_many(patterns, ascii_case_insensitive=True, overlapping=True)
    folded = {_folded(name): text for name, text in new.items()}
    out, count = texts.to_list(), 0
    for at in hit.nonzero()[0].tolist():
        out[at], moved = _substituted(
            out[at].encode(), list(zip(starts[at], found[at], strict=True)), folded
        )
        count += moved
    return pl.Series(texts.name, out, dtype=pl.String), count


def _folded(name: str) -> str:
    """ASCII letters in lower case, as the search folds them."""
    return "".join(char.lower() if char.isascii() else char for char in name)


def _substituted(
    raw: bytes, hits: list[tuple[int, str]], new: Mapping[str, str]
) -> tuple[str, int]:
    spans = sorted((start, -len(word.encode()), word) for start, word in hits)
    parts: list[bytes] = []
    done = moved = 0
    for start, negative, word in spans:
        stop = start - negative
        if start < done or not _whole(raw, start, stop):
            continue
        parts += [raw[done:start], new[_folded(word)].encode()]
        done, moved = stop, moved + 1
    return b"".join([*parts, raw[done:]]).decode(), moved


def _whole(raw: bytes, start: int, stop: int) -> bool:
    """A Latin letter or digit must not stand beside one: `Sun` is not in `Sunday`."""
    left = raw[start - 1 : start].isalnum() and raw[start : start + 1].isalnum()
    right = raw[stop - 1 : stop].isalnum() and raw[stop : stop + 1].isalnum()
    return not left and not right
