"""One form for what reads the same: width, case, look-alikes, white space, script of Chinese.

The functions that keep the length of a text (`fold_characters`, `lower_in_place`,
`narrow_in_place`) serve patterns whose offsets have to be valid in the original text; the others
serve comparison. Elsewhere, a bare `casefold()` compares texts whose width has been folded already
or has to count, as in file names; `unicodedata` is used for the kind of single characters.
"""

from __future__ import annotations

import re
import unicodedata

_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63"
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"
# They end a clause, and with it an address or a link, where their ASCII twins would not.
_WIDE_KEPT = "，；！？"
_SILENT = re.compile(r"[.'’`´]")
_BREAKS = re.compile(r"[\W_]+")


def _look_alikes() -> dict[int, str]:
    wide = (code for code in range(0xFF01, 0xFF5F) if chr(code) not in _WIDE_KEPT)
    table = {code: chr(code - 0xFEE0) for code in wide}
    table |= {ord(char): "-" for char in _HYPHENS} | {ord(char): " " for char in _SPACES}
    # Decimal digits of other scripts; the basic plane holds those in common use.
    for code in range(0x80, 0x10000):
        if unicodedata.category(chr(code)) == "Nd":
            table[code] = str(unicodedata.digit(chr(code)))
    return table | {ord("’"): "'", ord("∆"): "Δ"}


_LOOK_ALIKES = _look_alikes()


def fold_characters(text: str) -> str:
    """Full-width letters, digits and marks, odd hyphens and spaces as ASCII; the same length."""
    return text if text.isascii() else text.translate(_LOOK_ALIKES)


def lower_in_place(text: str) -> str:
    """Lower case with the same length: what lowers to two characters (İ) stays as it is."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def narrow_in_place(text: str) -> str:
    """Compatibility form with the same length: what would become several characters stays."""
    if text.isascii():
        return text
    folded = (unicodedata.normalize("NFKC", char) for char in text)
    return "".join(f if len(f) == 1 else char for f, char in zip(folded, text, strict=True))


def compose(text: str) -> str:
    """Canonical form (NFC): a letter and its accent as one character."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold_width(text: str) -> str:
    """Compatibility form (NFKC): full-width letters as ASCII, half-width kana as full-width."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def fold_case(text: str) -> str:
    """Width and letter case do not count."""
    return fold_width(text).casefold()


def fold_spaces(text: str) -> str:
    """Runs of white space as single spaces, none at the ends."""
    return " ".join(text.split())


def fold_words(text: str) -> str:
    """Width, case and punctuation do not count: the words, separated by single spaces."""
    return _BREAKS.sub(" ", _SILENT.sub("", fold_case(text))).strip()


def without_spaces(text: str) -> str:
    """Width and white space do not count; for scripts that do not separate words."""
    return "".join(fold_width(text).split())


def plain_form(value: str) -> str:
    """Width, case and the amount of white space do not count: the same value for a reader."""
    return fold_spaces(fold_case(value))


def alnum_form(value: str) -> str:
    """The ASCII letters and digits of a value, upper case: a number without its separators."""
    return "".join(char for char in fold_width(value).upper() if char.isascii() and char.isalnum())


def alphanumeric(text: str) -> str:
    """Width, case, spaces and punctuation do not count: letters and digits alone."""
    return "".join(char for char in fold_case(text) if char.isalnum())
