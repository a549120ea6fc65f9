"""Dates, quarters and times of day in several notations, in English and Chinese.

The one month table, the forms in which a date is written, and one way to read a form's parts. Two
sets of forms share it: `find_dates` searches prose and is strict, for a figure there is more often
a quantity than a date; `VALUE_FORMS` are for a short text that is known to be a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from data.text.lexicon import pattern_of
from data.text.numbers import ONE_TO_TEN, read_integer

YEAR = re.compile(r"(?:19|20)\d\d")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
MONTH_ABBREVIATIONS = (*(name[:3] for name in MONTHS if len(name) > 3), "Sept")
# Names before abbreviations. "may" and "march" are verbs too: a pattern has to ask for a figure
# beside them.
MONTH_NAME = f"(?:{'|'.join((*MONTHS, *sorted(MONTH_ABBREVIATIONS, reverse=True)))})"
# Those that are words or names of people too.
MONTH_OR_WORD = "May|Mar|March|Jun|June|Jan|Sept?"
# Months as other languages of Europe write them, where they differ from English ones.
OTHER_MONTH_NAME = (
    "(?:Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|janvier|février|mars|avril|mai|juin"
    "|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio"
    "|agosto|septiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio"
    "|settembre|ottobre|dicembre|januari|februari|maart|mei|augustus|janeiro|fevereiro|março|maio"
    "|junho|julho|setembro|outubro|dezembro)"
)
_MONTH_NUMBERS = {name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)}

_NAME = rf"(?P<name>{MONTH_NAME})\b\.?"
_YEAR = r"(?:19|20)\d{2}"
_HAN = f"〇零{ONE_TO_TEN}"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"

_CHINESE_YEAR = rf"(?P<y>{_YEAR}|[{_HAN}]{{4}})\s?年"
_CHINESE_DAY = rf"(?P<d>\d{{1,2}}|[{_HAN}]{{1,3}})\s?[日号]"
_AFTERNOON = frozenset(("下午", "晚上", "傍晚"))
_HALF_DAY = 12
_MOST_MONTHS, _MOST_DAYS, _MOST_HOURS, _MINUTES = 12, 31, 24, 60
_PIVOT = 50  # two-digit years up to this are of this century


def month_number(name: str) -> int:
    """1 to 12 for an English name of a month or its abbreviation. Errors: KeyError."""
    return _MONTH_NUMBERS[name[:3].lower()]


@dataclass(frozen=True, slots=True)
class Moment:
    """A date as far as it is stated: year, month, day; a quarter; or a time of day as HH:MM.

    `swapped`: day and month may be the other way round ("03/04/2025").
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None
    clock: str | None = None
    swapped: bool = False

    @property
    def is_day(self) -> bool:
        """Are year, month and day stated?"""
        return None not in (self.year, self.month, self.day)

    def covers(self, other: Moment) -> bool:
        """Does this moment state all that the other states, and the same?"""
        mine, theirs = self._parts(), other._parts()
        if _fits(mine, theirs):
            return True
        return (self.swapped or other.swapped) and _fits(mine, other.turned()._parts())

    def turned(self) -> Moment:
        """The same with day and month exchanged."""
        return Moment(self.year, self.day, self.month, self.quarter, self.clock)

    def _parts(self) -> tuple[int | str | None, ...]:
        return (self.year, self.month, self.day, self.quarter, self.clock)

    def __str__(self) -> str:
        if self.clock is not None:
            return self.clock
        if self.quarter is not None:
            return f"{self.year or '????'}-Q{self.quarter}"
        parts = (f"{self.year or '????'}", self.month and f"{self.month:02}", self.day)
        return "-".join(f"{part:02}" if isinstance(part, int) else part for part in parts if part)


def _fits(mine: tuple[int | str | None, ...], theirs: tuple[int | str | None, ...]) -> bool:
    return all(b is None or a == b for a, b in zip(mine, theirs, strict=True))


def calendar_parts(
    match: re.Match[str], *, day_first: bool = False
) -> tuple[int | None, int | None, int | None]:
    """Year, month and day of a match of one of the forms; None for what it does not state.

    `day_first` settles which of two figures is the day. Two-digit years up to 50 are of this
    century. The figures may be no date at all (month 13).
    """
    parts = match.groupdict()
    if parts.get("a"):
        parts["d"], parts["m"] = (parts["a"], parts["b"])[:: 1 if day_first else -1]
    year, day = _number(parts.get("y")), _number(parts.get("d"))
    if parts.get("y") and len(parts["y"]) <= 2 and year is not None:
        year += 2000 if year <= _PIVOT else 1900
    month = month_number(parts["name"]) if parts.get("name") else _number(parts.get("m"))
    return year, month, day


def _number(written: str | None) -> int | None:
    return None if written is None else read_integer(written)


# Prose

_ISO = pattern_of(
    rf"(?a)(?<![\d.])(?P<y>{_YEAR})(?P<gap>[-/.])(?P<m>\d{{1,2}})(?:(?P=gap)(?P<d>\d{{1,2}}))?"
    r"(?![\d%])(?!\.\d)"
)
_FIGURES = pattern_of(
    rf"(?a)(?<![\d/.])(?P<a>\d{{1,2}})(?P<gap>[/.])(?P<b>\d{{1,2}})(?P=gap)(?P<y>{_YEAR})(?!\d)"
)
_DAY_FIRST = pattern_of(rf"(?ai)\b{_DAY}(?: of)? {_NAME}(?:,? (?P<y>{_YEAR})\b)?")
_MONTH_FIRST = pattern_of(rf"(?ai)\b{_NAME} {_DAY}(?![\d:]|\.\d)\b(?:,? (?P<y>{_YEAR})\b)?")
_MONTH_ONLY = pattern_of(rf"(?ai)\b{_NAME},? (?P<y>{_YEAR})\b")
_CHINESE = pattern_of(
    rf"(?:{_CHINESE_YEAR}\s?)?(?P<m>\d{{1,2}}|[{_HAN}]{{1,3}})\s?月份?(?:\s?{_CHINESE_DAY})?"
)
_CHINESE_YEAR_ONLY = pattern_of(rf"{_CHINESE_YEAR}(?!\s?第?[一二三四1-4]?\s?季)")
_QUARTER = pattern_of(
    rf"(?ai)(?:\b({_YEAR})[ -]?)?\bQ([1-4])\b(?:[ /-]?({_YEAR})\b)?"
    rf"|(?:({_YEAR})\s?年)?\s?第?([一二三四1-4])\s?季度?"
)
_CLOCK = pattern_of(r"(?ai)(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?(?:\s?([ap])\.?m\b\.?)?(?![\d:])")
_HOUR = pattern_of(r"(?ai)\b(\d{1,2})\s?([ap])\.?m\b")
_CHINESE_HOUR = pattern_of(
    rf"(凌晨|早上|上午|中午|下午|晚上|傍晚)\s?(\d{{1,2}}|[{_HAN}两]{{1,3}})\s?[点时](半|\d{{1,2}}分?)?"
)


def find_dates(text: str) -> Iterator[tuple[int, int, Moment]]:
    """Spans and moments; of overlapping readings the first form's. Linear in the text."""
    taken = bytearray(len(text))
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            moment = read(match)
            if moment is None or any(taken[match.start() : match.end()]):
                continue
            taken[match.start() : match.end()] = b"\x01" * (match.end() - match.start())
            yield match.start(), match.end(), moment


def _date(match: re.Match[str], *, day_first: bool = False) -> Moment | None:
    year, month, day = calendar_parts(match, day_first=day_first)
    fits = (month is None or 1 <= month <= _MOST_MONTHS) and (day is None or 1 <= day <= _MOST_DAYS)
    return Moment(year, month, day) if fits else None


def _iso(match: re.Match[str]) -> Moment | None:
    if match["gap"] == "." and match["d"] is None:
        return None  # 2025.10 is a decimal number
    return _date(match)


def _figures(match: re.Match[str]) -> Moment | None:
    first, second = int(match["a"]), int(match["b"])
    if first > _MOST_MONTHS or match["gap"] == ".":
        return _date(match, day_first=True)
    if second > _MOST_MONTHS:
        return _date(match)
    return Moment(int(match["y"]), second, first, swapped=first != second)


def _quarter(match: re.Match[str]) -> Moment:
    year = match[1] or match[3] or match[4]
    return Moment(year=_number(year), quarter=_number(match[2] or match[5]))


def _clock(hour: int, minute: int, afternoon: bool, morning: bool) -> Moment | None:
    if afternoon and hour < _HALF_DAY:
        hour += _HALF_DAY
    if morning and hour == _HALF_DAY:
        hour = 0
    fits = hour <= _MOST_HOURS and minute < _MINUTES
    return Moment(clock=f"{hour:02}:{minute:02}") if fits else None


def _western_clock(match: re.Match[str]) -> Moment | None:
    half = (match[3] or "").lower()
    return _clock(int(match[1]), int(match[2]), half == "p", half == "a")


def _western_hour(match: re.Match[str]) -> Moment | None:
    return _clock(int(match[1]), 0, match[2].lower() == "p", match[2].lower() == "a")


def _chinese_clock(match: re.Match[str]) -> Moment | None:
    hour, written = _number(match[2]), match[3] or "0"
    if hour is None:
        return None
    minute = 30 if written == "半" else int(written.rstrip("分"))
    return _clock(hour, minute, match[1] in _AFTERNOON, False)


_READERS = (
    (_ISO, _iso),
    (_FIGURES, _figures),
    (_DAY_FIRST, _date),
    (_MONTH_FIRST, _date),
    (_MONTH_ONLY, _date),
    (_QUARTER, _quarter),
    (_CHINESE, _date),
    (_CHINESE_YEAR_ONLY, _date),
    (_CLOCK, _western_clock),
    (_HOUR, _western_hour),
    (_CHINESE_HOUR, _chinese_clock),
)

# Texts that are known to be dates

_VALUE_YEAR = r"(?<!\d)(?P<y>1[5-9]\d\d|20\d\d)(?!\d)"
_VALUE_DAY = r"(?<!\d)(?P<d>\d{1,2})(?P<th>st|nd|rd|th)?(?!\d)"
_YEAR_MONTH_DAY = (
    rf"{_VALUE_YEAR}\s?[-/.年_]\s?(?P<m>\d{{1,2}})\s?[-/.月_]\s?(?P<d>\d{{1,2}})(?!\d)"
)
_COMPACT = r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\d)"
_DAY_MONTH_YEAR = rf"{_VALUE_DAY}(?: of)? {_NAME},? {_VALUE_YEAR}"
_MONTH_DAY_YEAR = rf"(?P<name>{MONTH_NAME})\.? ?{_VALUE_DAY}(?:,? |/){_VALUE_YEAR}"
_LOGGED = rf"(?<!\d)(?P<d>\d{{1,2}})[-/](?P<name>{MONTH_NAME})[-/]{_VALUE_YEAR}"

VALUE_FORMS = tuple(
    pattern_of(pattern, re.IGNORECASE)
    for pattern in (
        _YEAR_MONTH_DAY,
        _COMPACT,
        r"(?<!\d)(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y>\d{4}|\d\d)(?!\d)",
        _LOGGED,
        _DAY_MONTH_YEAR,
        _MONTH_DAY_YEAR,
        rf"{_VALUE_DAY} {_NAME} (?P<y>\d\d)(?![\d:])",
        rf"{_NAME} {_VALUE_DAY} (?P<y>\d\d)(?![\d:])",
        rf"{_VALUE_DAY}(?: of)? (?P<name>{MONTH_NAME})\b",
        rf"{_NAME} {_VALUE_DAY}",
        rf"{_NAME},?(?: of)? {_VALUE_YEAR}",
        rf"{_VALUE_YEAR}\s?年\s?(?P<m>\d{{1,2}})\s?月",
        rf"{_VALUE_YEAR}[-/](?P<m>0[1-9]|1[0-2])(?!\d)",
        r"(?<!\d)(?P<m>\d{1,2})\s?月\s?(?P<d>\d{1,2})\s?[日号]",
        _VALUE_YEAR,
        rf"^(?P<name>{MONTH_NAME})$",
    )
)
"""Forms with the named parts y, m, d, name, th (ordinal ending), and a, b (day and month in an
order that the form leaves open); the first that occurs in a value is the one it is written in."""
CHINESE_VALUE = pattern_of(
    rf"(?P<y>[{_HAN}]{{4}})\s?年(?:\s?(?P<m>[{_HAN}]{{1,2}})\s?月)?"
    rf"(?:\s?(?P<d>[{_HAN}]{{1,3}})\s?(?P<end>[日号]))?"
)
_WHOLE_DAYS = tuple(
    pattern_of(rf"(?:{pattern})日?", re.IGNORECASE)
    for pattern in (_YEAR_MONTH_DAY, _COMPACT, _MONTH_DAY_YEAR, _DAY_MONTH_YEAR)
)


def write_date(day: date) -> str:
    """The day in English words, as `read_date` reads it: March 31, 2010"""
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def read_date(text: str) -> date | None:
    """The day that a text is: 2010-03-31, 20100331, March 31, 2010, 2010年3月31日; else None."""
    for form in _WHOLE_DAYS:
        match = form.fullmatch(text.strip())
        if match is None:
            continue
        year, month, day = calendar_parts(match)
        try:
            return date(year or 0, month or 0, day or 0)
        except ValueError:
            return None
    return None


def is_iso_day(text: str) -> bool:
    """Is it a day as ISO 8601 writes it, with hyphens?"""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
