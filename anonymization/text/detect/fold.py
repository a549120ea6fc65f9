"""One form for what looks alike, character for character, so that offsets stay valid."""

from __future__ import annotations

import unicodedata

_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63"
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"

# They end a clause, and with it an address or a link, where their ASCII twins would not.
_KEPT = "，；！？"


def _table() -> dict[int, str]:
    wide = (code for code in range(0xFF01, 0xFF5F) if chr(code) not in _KEPT)
    table = {code: chr(code - 0xFEE0) for code in wide}
    table |= {ord(char): "-" for char in _HYPHENS} | {ord(char): " " for char in _SPACES}
    # Decimal digits of other scripts; the basic plane holds those in common use.
    for code in range(0x80, 0x10000):
        if unicodedata.category(chr(code)) == "Nd":
            table[code] = str(unicodedata.digit(chr(code)))
    return table | {ord("’"): "'", ord("∆"): "Δ"}


_TABLE = _table()


def fold(text: str) -> str:
    """Full-width letters, digits and marks, odd hyphens and spaces as ASCII; the same length."""
    return text if text.isascii() else text.translate(_TABLE)
