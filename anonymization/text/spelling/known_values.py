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
from dataclasses import dataclass

from anonymization.text.contracts import EntityType
from anonymization.text.spelling.names import HanNameSpelling, NameSpelling, name_spelling
from anonymization.text.spelling.normal_form import (
    PLANTED,
    Origins,
    clean,
    is_mark,
    is_whole,
    skeleton,
    trimmed,
    visible,
)
from anonymization.text.surrogates.identifiers import planned
from anonymization.text.surrogates.shapes import LETTERS, cased_like, filled
from data.text.folding import alnum_form, compose
from data.text.scripts import HAN, is_han

# Numbers of these kinds contain letters; numbers of the other kinds contain few.
_LETTERED = frozenset(
    {
        EntityType.BANK_ACCOUNT,
        EntityType.NATIONAL_ID,
        EntityType.COMPANY_CODE,
        EntityType.PASSPORT,
    }
)
_NUMBERS = _LETTERED | {
    EntityType.PHONE,
    EntityType.BANK_CARD,
    EntityType.ACCOUNT,
    EntityType.PERSON_NUMBER,
    PLANTED,
}
_WRITTEN = re.compile(r"[A-Za-z0-9 +./()\[\]_-]+")
_LETTER = re.compile(r"[A-Za-z]")
_GAP = re.compile(r"[^0-9a-z]+")
_ALLOWED = re.compile(r"[ ./()\[\]-]{1,3}")
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])")
_BEFORE = re.compile(r"(\d{1,6})([./-]?)$")
_AFTER = re.compile(r"([./-]?)\d")
_PREFIX_ROOM = 8  # characters before a number in which its country code may be written
_MIN_DIGITS, _MANY_DIGITS, _FEW_LETTERS = 7, 9, 4
_CODES = {"cn": "86", "us": "1", "uk": "44"}


@dataclass(frozen=True, slots=True)
class NumberSpelling:
    """The letters and digits in lower case, and what may precede them: country codes."""

    key: str
    prefixes: frozenset[str]

    def skeletons(self) -> tuple[bytes, ...]:
        """The skeletons of its spellings."""
        return (self.key.encode(),)

    def matches(self, text: str, start: int, end: int) -> bool:
        """Is `text[start:end]`, whose letters and digits are these, written as numbers are?

        Groups of two or more (of three or more if there are fewer than nine digits), separated by
        up to three blanks, hyphens, dots, slashes or brackets; never by line breaks, tabs or
        commas. A single dot is a decimal point, and eight digits may be a date.
        """
        candidate = clean(text[start:end]).casefold()
        gaps, groups = _GAP.findall(candidate), _GAP.split(candidate)
        if "".join(groups) != self.key:
            return False
        if not all(_ALLOWED.fullmatch(gap) for gap in gaps) or gaps == ["."]:
            return False
        if gaps and (_DATE.fullmatch(self.key) or not self._is_grouped(groups)):
            return False
        return self._is_apart(text, start, end, bool(gaps))

    def _is_grouped(self, groups: list[str]) -> bool:
        if len(self.key) < _MANY_DIGITS:
            return min(map(len, groups)) >= 3
        return sum(len(group) == 1 for group in groups) <= 1

    def _is_apart(self, text: str, start: int, end: int, in_groups: bool) -> bool:
        """Is it no part of a longer number, apart from a country code or trunk zero before it?"""
        after = _AFTER.match(clean(text[end : end + 2]))
        if after and (in_groups or not after[1]):
            return False
        before = _BEFORE.search(clean(text[max(0, start - _PREFIX_ROOM) : start]))
        if before is None or (before[2] and not in_groups):
            return True
        return before[1] in self.prefixes


def number_spelling(kind: str, value: str) -> NumberSpelling | None:
    """The spelling of a value as a number; None if it is not a number of seven or more digits."""
    text = clean(value)
    if kind not in _NUMBERS or not _WRITTEN.fullmatch(text):
        return None
    if kind == EntityType.PHONE:
        return _phone(text)
    key = alnum_form(text).lower()
    letters = sum(map(str.isalpha, key))
    if len(key) - letters < _MIN_DIGITS or (letters > _FEW_LETTERS and kind not in _LETTERED):
        return None
    return NumberSpelling(key, frozenset())


def main_part(value: str) -> str:
    """A phone number without its extension."""
    letter = _LETTER.search(value)
    return value[: letter.start()] if letter else value


def _phone(value: str) -> NumberSpelling | None:
    main = main_part(value)
    plan, national = planned(main)
    if len(national) < _MIN_DIGITS:
        return None
    whole = alnum_form(main).removeprefix("00")
    code = _CODES.get(plan, whole.removesuffix(national) if whole != national else "")
    prefixes = {"0", code, f"00{code}", f"{code}0", f"00{code}0"} - {""}
    return NumberSpelling(national, frozenset(prefixes))


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


def known_value(kind: str, value: str, any_case: bool, shortest: int = MIN_KEY) -> KnownValue:
    """A value prepared for the search; `any_case`: in other letter cases too.

    Its spellings are found by skeletons of `shortest` bytes or more.
    """
    plain = trimmed(clean(value))
    forms = tuple(
        form
        for form in (number_spelling(kind, value), name_spelling(kind, value))
        if form is not None
    )
    keys = {skeleton(plain), *(key for form in forms for key in form.skeletons())}
    kept = tuple(sorted(key for key in keys if len(key) >= shortest))
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
    plain = compose(visible(spelled))
    own = [clean(word).casefold() for word in LETTERS.findall(plain)]
    if len(old) == len(new) and len(own) == 1 and len(old) > 1:
        return _camel_cased(old, new, plain)
    if len(old) != len(new) or not all(word in pairs for word in own):
        return None
    return LETTERS.sub(
        lambda word: cased_like(pairs[clean(word.group()).casefold()], clean(word.group())), plain
    )


def _camel_cased(old: list[str], new: list[str], plain: str) -> str | None:
    """The surrogate's words joined as in `mailAnnSmith`; None if `plain` joins them otherwise."""
    if "".join(old).casefold() != plain.casefold():
        return None
    first = new[0].capitalize() if plain[:1].isupper() else new[0].lower()
    return first + "".join(word.capitalize() for word in new[1:])


def _trimmed_like(value: str, surrogate: str, spelled: str) -> str:
    plain = clean(value)
    ends = plain.partition(trimmed(plain))
    bare = surrogate.removeprefix(ends[0]).removesuffix(ends[2]) or surrogate
    return cased_like(bare, visible(spelled))
