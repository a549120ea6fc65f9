"""A known value: where a text holds it in some spelling, and its surrogate in that spelling.

The one rule for masking in a scope and for the leak search. The skeleton of the text gives the
candidates; the text of a candidate then has to be

- the value itself to a reader: with or without invisible characters, composed or not, wide or not;
- a number of seven digits or more with other separators, a phone with or without country code;
- a name of several words joined differently, a person's also with the last word first;
- a Chinese name with blanks or a dot between its characters.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from anonymization.text.spelling.names import HanNameSpelling, NameSpelling, name_spelling
from anonymization.text.spelling.normal_form import (
    Origins,
    clean,
    is_mark,
    is_whole,
    skeleton,
    trimmed,
    visible,
)
from anonymization.text.spelling.numbers import NumberSpelling, main_part, number_spelling
from anonymization.text.surrogates.shapes import LETTERS, cased_like, filled
from data.text.folding import alnum_form
from data.text.scripts import HAN, is_han

MIN_KEY = 4  # bytes of a skeleton; shorter ones occur everywhere
SPREAD, ROOM = 8, 64  # a spelling has at most SPREAD times the value's characters and ROOM more


@dataclass(frozen=True, slots=True)
class KnownValue:
    """A value with the skeletons (`keys`) of its spellings, and the ways it may be written."""

    kind: str
    value: str
    any_case: bool
    keys: tuple[bytes, ...]
    plain: str
    forms: tuple[NumberSpelling | NameSpelling | HanNameSpelling, ...]

    def locate(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """The span of the value if `text[start:end]`, of one of the keys, is a spelling of it.

        The span includes the combining marks of its last letter. None if it is something else.
        """
        if end - start > SPREAD * len(self.value) + ROOM:
            return None
        while end < len(text) and not text[end].isascii() and is_mark(text[end]):
            end += 1
        candidate = trimmed(clean(text[start:end]))
        is_spelled = self._is_same(candidate) and is_whole(text, start, end)
        is_spelled = is_spelled or any(form.matches(text, start, end) for form in self.forms)
        return (start, end) if is_spelled else None

    def is_in(self, text: str) -> bool:
        """Does the value occur anywhere in a text, in some spelling?"""
        bones, origins = skeleton(text), Origins(text)
        return any(
            self.locate(text, origins.at(hit.start()), origins.at(hit.end() - 1) + 1) is not None
            for key in self.keys
            for hit in re.finditer(re.escape(key), bones)
        )

    def _is_same(self, candidate: str) -> bool:
        if candidate == self.plain:
            return True
        return self.any_case and candidate.casefold() == self.plain.casefold()


def known_value(kind: str, value: str, any_case: bool) -> KnownValue:
    """A value prepared for the search; `any_case`: in other letter cases too."""
    plain = trimmed(clean(value))
    forms = tuple(
        form
        for form in (number_spelling(kind, value), name_spelling(kind, value))
        if form is not None
    )
    keys = {skeleton(plain), *(key for form in forms for key in form.skeletons())}
    kept = tuple(sorted(key for key in keys if len(key) >= MIN_KEY))
    return KnownValue(kind, value, any_case, kept, plain, forms)


_NO_HAN = re.compile(f"[^{HAN}]+")


def respelled(kind: str, value: str, surrogate: str, spelled: str) -> str:
    """The surrogate in the spelling in which the value was found: order, separators, letter case.

    `spelled` is that spelling. Where it cannot be imitated, the surrogate stays as it is; no part
    of the value is ever kept.
    """
    if spelled == value:
        return surrogate
    if number_spelling(kind, value) is not None:
        return _numbered(surrogate, spelled)
    form = name_spelling(kind, value)
    if isinstance(form, HanNameSpelling):
        return _spaced(surrogate, spelled)
    in_words = _worded(value, surrogate, spelled) if isinstance(form, NameSpelling) else None
    return in_words or _trimmed_like(value, surrogate, spelled)


def _numbered(surrogate: str, spelled: str) -> str:
    payload, needed = alnum_form(main_part(surrogate)), len(alnum_form(spelled))
    if len(payload) < needed:
        payload = alnum_form(surrogate)
    return filled(spelled, payload) if len(payload) >= needed else surrogate


def _spaced(surrogate: str, spelled: str) -> str:
    letters, gaps = _NO_HAN.sub("", surrogate), visible(spelled)
    if len(letters) != len(_NO_HAN.sub("", gaps)):
        return surrogate
    following = iter(letters)
    return "".join(next(following) if is_han(char) else char for char in gaps)


def _worded(value: str, surrogate: str, spelled: str) -> str | None:
    """Word for word; None if the surrogate's words do not correspond to the value's."""
    old, new = LETTERS.findall(clean(value)), LETTERS.findall(surrogate)
    pairs = {word.casefold(): other for word, other in zip(old, new, strict=False)}
    plain = unicodedata.normalize("NFC", visible(spelled))
    own = [clean(word).casefold() for word in LETTERS.findall(plain)]
    if len(old) != len(new) or not all(word in pairs for word in own):
        return None
    return LETTERS.sub(
        lambda word: cased_like(pairs[clean(word.group()).casefold()], clean(word.group())), plain
    )


def _trimmed_like(value: str, surrogate: str, spelled: str) -> str:
    plain = clean(value)
    ends = plain.partition(trimmed(plain))
    bare = surrogate.removeprefix(ends[0]).removesuffix(ends[2]) or surrogate
    return cased_like(bare, visible(spelled))
