"""Which characters the shipped font lacks."""

from __future__ import annotations

from functools import cache

from fontTools.ttLib import TTFont

from construction.statements.enrichment import FONT_FILE


@cache
def _mapped() -> frozenset[int]:
    with TTFont(FONT_FILE, lazy=True) as font:
        return frozenset(font.getBestCmap())


def missing_glyphs(text: str) -> str:
    """The printable characters of a text that the font cannot draw, each once."""
    lacking = (char for char in text if char.isprintable() and ord(char) not in _mapped())
    return "".join(dict.fromkeys(lacking))
