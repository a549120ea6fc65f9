"""The shape of a value: letter case, digits and separators, which a surrogate keeps."""

from __future__ import annotations

import re
import unicodedata

from numpy.random import Generator

from anonymization.text.surrogates.lexicon import lexicon
from data.text.folding import fold_width
from data.text.scripts import is_han

LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = "0123456789"
_LOWER = "abcdefghijklmnopqrstuvwxyz"
_HEX_LETTERS = "abcdef"
_HIRAGANA = "あいうえおかきくけこさしすせそたちつてとなにのはまみむもやゆよらりるれろ"
_KATAKANA = "アイウエオカキクケコサシスセソタチツテトナニノハマミムモヤユヨラリルレロ"
_HALF_KATAKANA = "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛ"
_DECIMAL = re.compile(r"\d{2,}\.\d+")
_HEX = re.compile(r"(?=.*\d)[0-9a-fA-F:.-]{8,}")


def cased_like(word: str, pattern: str) -> str:
    """`word` in the letter case of `pattern`."""
    if pattern.isupper() and len(pattern) > 1:
        return word.upper()
    if pattern.islower():
        return word.lower()
    return word


def pick(rng: Generator, choices: str | tuple[str, ...]) -> str:
    """One of the choices."""
    return choices[int(rng.integers(len(choices)))]


STEM, LONGER_FROM = "company", 40


def stem(rng: Generator, attempt: int) -> str:
    """An invented English name: a first and a second part, further parts after many attempts."""
    words = lexicon()
    middle = pick(rng, words.second) if attempt > LONGER_FROM else ""
    return pick(rng, words.first) + middle + pick(rng, words.second)


def digits(rng: Generator, count: int) -> str:
    """Random digits."""
    return "".join(pick(rng, _DIGITS) for _ in range(count))


def counting_number(rng: Generator, count: int) -> str:
    """Random digits, of which the first is not 0."""
    return pick(rng, _DIGITS[1:]) + digits(rng, count - 1)


def same_shape(value: str, rng: Generator) -> str:
    """Each letter, digit and Han character replaced by a random one of its kind; all else stays.

    Hexadecimal values stay hexadecimal.
    """
    if _DECIMAL.fullmatch(value):  # a number stays one
        return pick(rng, _DIGITS[1:]) + "".join(_like(char, rng, _LOWER) for char in value[1:])
    letters = _HEX_LETTERS if _HEX.fullmatch(value) else _LOWER
    return "".join(_like(char, rng, letters) for char in value)


def _like(char: str, rng: Generator, letters: str) -> str:
    if char.isascii():
        if char.isdigit():
            return pick(rng, _DIGITS)
        if char.isalpha():
            letter = pick(rng, letters)
            return letter.upper() if char.isupper() else letter
        return char
    if is_han(char):
        return pick(rng, lexicon().zh_given)
    if "\u3041" <= char <= "\u3096":
        return pick(rng, _HIRAGANA)
    if "\u30a1" <= char <= "\u30fa":
        return pick(rng, _KATAKANA)
    if "\uff66" <= char <= "\uff9d":
        return pick(rng, _HALF_KATAKANA)
    if char.isdecimal():
        zero = ord(char) - unicodedata.decimal(char)
        return chr(zero + int(rng.integers(10)))
    if char.isalpha():
        letter = pick(rng, _LOWER)
        return letter.upper() if char.isupper() else letter
    return pick(rng, _DIGITS) if char.isalnum() else char


def filled(value: str, payload: str) -> str:
    """The letters and digits of `value` replaced from the right by those of `payload`.

    Separators stay; so do leading characters beyond the payload's length (a country code, say).
    Letter case follows the value, full-width forms stay full-width.
    """
    characters, remaining = [], len(payload)
    for char in reversed(value):
        narrow = fold_width(char)
        if remaining and narrow.isascii() and narrow.isalnum():
            remaining -= 1
            new = payload[remaining]
            new = new.lower() if narrow.islower() else new
            characters.append(chr(ord(new) + 0xFEE0) if "\uff01" <= char <= "\uff5e" else new)
        else:
            characters.append(char)
    return "".join(reversed(characters))
