"""A known value: where a text holds it in some spelling, and its surrogate in that spelling.

The one rule for masking in a scope and for the leak search. A match is located by the skeleton of
the text; what stands there then has to be

- the value itself for a reader: whatever is invisible in it, composed or not, wide or not;
- a number of seven digits or more with other separators, a phone with or without country code;
- a name of several words joined otherwise, a person's with the last word first as well;
- a Chinese name with blanks or a dot between its characters.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from anonymization.text.spelling.names import HanName, Name, name
from anonymization.text.spelling.normal_form import (
    Origins,
    clean,
    is_mark,
    is_whole,
    skeleton,
    trimmed,
    visible,
)
from anonymization.text.spelling.numbers import Number, main_part, number
from anonymization.text.surrogates.shapes import LETTERS, cased_like, filled
from data.text.folding import alnum_form
from data.text.scripts import HAN, is_han

MIN_KEY = 4  # bytes of a skeleton; shorter ones stand everywhere
SPREAD, ROOM = 8, 64  # a spelling has at most SPREAD times the value's characters and ROOM more


@dataclass(frozen=True, slots=True)
class Known:
    """A value with the skeletons under which it may stand, and the ways it may be written."""

    kind: str
    value: str
    any_case: bool
    keys: tuple[bytes, ...]
    plain: str
    forms: tuple[Number | Name | HanName, ...]

    def place(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """The place of the value if `text[start:end]`, of one of the keys, is a spelling of it.

        It ends behind the marks of its last letter. None if something else stands there.
        """
        if end - start > SPREAD * len(self.value) + ROOM:
            return None
        while end < len(text) and not text[end].isascii() and is_mark(text[end]):
            end += 1
        standing = trimmed(clean(text[start:end]))
        is_spelled = self._is_same(standing) and is_whole(text, start, end)
        is_spelled = is_spelled or any(form.stands(text, start, end) for form in self.forms)
        return (start, end) if is_spelled else None

    def is_in(self, text: str) -> bool:
        """Does the value stand anywhere in a text, in some spelling?"""
        bones, origins = skeleton(text), Origins(text)
        return any(
            self.place(text, origins.at(hit.start()), origins.at(hit.end() - 1) + 1) is not None
            for key in self.keys
            for hit in re.finditer(re.escape(key), bones)
        )

    def _is_same(self, standing: str) -> bool:
        if standing == self.plain:
            return True
        return self.any_case and standing.casefold() == self.plain.casefold()


def known(kind: str, value: str, any_case: bool) -> Known:
    """How a value is found; `any_case`: in other cases of letters too."""
    plain = trimmed(clean(value))
    forms = tuple(form for form in (number(kind, value), name(kind, value)) if form is not None)
    keys = {skeleton(plain), *(key for form in forms for key in form.skeletons())}
    kept = tuple(sorted(key for key in keys if len(key) >= MIN_KEY))
    return Known(kind, value, any_case, kept, plain, forms)


_NO_HAN = re.compile(f"[^{HAN}]+")


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
