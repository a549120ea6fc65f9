"""Numbers in other groups: which separators may occur between the digits of a known one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from anonymization.text.contracts import EntityType
from anonymization.text.spelling.normal_form import PLANTED, clean
from anonymization.text.surrogates.identifiers import planned
from data.text.folding import alnum_form

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
