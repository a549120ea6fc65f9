"""The surrogate of a value, written as the value stands in a place."""

from __future__ import annotations

import re
import unicodedata

from anonymization.text.spelling.clean import clean, is_han, trimmed, visible
from anonymization.text.spelling.names import HanName, Name, name
from anonymization.text.spelling.numbers import main_part, number
from anonymization.text.surrogates.shapes import LETTERS, alnum_form, cased_like, filled

_NO_HAN = re.compile("[^\u3400-\u4dbf\u4e00-\u9fff]+")


def respelled(kind: str, value: str, surrogate: str, standing: str) -> str:
    """`surrogate` as `standing` is to `value`: its order, separators and case of letters.

    Where that cannot be told, as the surrogate stands; never with a part of the value.
    """
    if standing == value:
        return surrogate
    if number(kind, value) is not None:
        return _numbered(surrogate, standing)
    form = name(kind, value)
    if isinstance(form, HanName):
        return _spaced(surrogate, standing)
    told = _worded(value, surrogate, standing) if isinstance(form, Name) else None
    return told or _trimmed_like(value, surrogate, standing)


def _numbered(surrogate: str, standing: str) -> str:
    payload, needed = alnum_form(main_part(surrogate)), len(alnum_form(standing))
    if len(payload) < needed:
        payload = alnum_form(surrogate)
    return filled(standing, payload) if len(payload) >= needed else surrogate


def _spaced(surrogate: str, standing: str) -> str:
    letters, gaps = _NO_HAN.sub("", surrogate), visible(standing)
    if len(letters) != len(_NO_HAN.sub("", gaps)):
        return surrogate
    following = iter(letters)
    return "".join(next(following) if is_han(char) else char for char in gaps)


def _worded(value: str, surrogate: str, standing: str) -> str | None:
    """Word for word; None where the surrogate has other words than the value."""
    told, new = LETTERS.findall(clean(value)), LETTERS.findall(surrogate)
    pairs = {word.casefold(): other for word, other in zip(told, new, strict=False)}
    plain = unicodedata.normalize("NFC", visible(standing))
    own = [clean(word).casefold() for word in LETTERS.findall(plain)]
    if len(told) != len(new) or not all(word in pairs for word in own):
        return None
    return LETTERS.sub(
        lambda word: cased_like(pairs[clean(word.group()).casefold()], clean(word.group())), plain
    )


def _trimmed_like(value: str, surrogate: str, standing: str) -> str:
    plain = clean(value)
    ends = plain.partition(trimmed(plain))
    told = surrogate.removeprefix(ends[0]).removesuffix(ends[2]) or surrogate
    return cased_like(told, visible(standing))
