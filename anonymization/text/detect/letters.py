"""Character classes for patterns over Western words that hold beside Han characters as well.

`\\w` and `\\b` count Han characters as part of a word; these do not.
"""

from __future__ import annotations

_BLOCKS = ((0x41, 0x530), (0x1E00, 0x2000))  # Latin, Greek, Cyrillic, Armenian and extensions


def _of(keep: str) -> str:
    chars = (chr(code) for first, last in _BLOCKS for code in range(first, last))
    return "".join(char for char in chars if getattr(char, keep)())


CAPITALS = _of("isupper")
LETTERS = _of("isalpha")
LETTER = f"[{LETTERS}]"
BEFORE = f"(?<![{LETTERS}0-9_])"
AFTER = f"(?![{LETTERS}0-9_])"
