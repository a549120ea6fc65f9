"""Dates, quarters and times of day in several notations, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from construction.judging.rules.numerals import han_value

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = {name: number for number, name in enumerate(_MONTHS, start=1)}
_MONTH |= {name[:3]: number for name, number in _MONTH.items()} | {"sept": 9}
# "may" and "march" are verbs too: without a figure beside them they are no month.
_NAME = rf"(?:{'|'.join(sorted(_MONTH, key=len, reverse=True))})\b\.?"
_YEAR = r"(?:19|20)\d{2}"
_HAN = "〇零一二三四五六七八九十"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"

_ISO = re.compile(rf"(?a)(?<![\d.])({_YEAR})([-/.])(\d{{1,2}})(?:\2(\d{{1,2}}))?(?![\d%])(?!\.\d)")
_SLASHED = re.compile(rf"(?a)(?<![\d/.])(\d{{1,2}})([/.])(\d{{1,2}})\2({_YEAR})(?!\d)")
_DAY_FIRST = re.compile(rf"(?ai)\b({_DAY})(?: of)? ({_NAME})(?:,? ({_YEAR})\b)?")
_MONTH_FIRST = re.compile(rf"(?ai)\b({_NAME}) ({_DAY})(?![\d:]|\.\d)\b(?:,? ({_YEAR})\b)?")
_MONTH_ONLY = re.compile(rf"(?ai)\b({_NAME}),? ({_YEAR})\b")
_CHINESE = re.compile(
    rf"(?:((?:19|20)\d{{2}}|[{_HAN}]{{4}})\s?年\s?)?(\d{{1,2}}|[{_HAN}]{{1,3}})\s?月份?"
    rf"(?:\s?(\d{{1,2}}|[{_HAN}]{{1,3}})\s?[日号])?"
)
_CHINESE_YEAR = re.compile(rf"((?:19|20)\d{{2}}|[{_HAN}]{{4}})\s?年(?!\s?第?[一二三四1-4]?\s?季)")
_QUARTER = re.compile(
    rf"(?ai)(?:\b({_YEAR})[ -]?)?\bQ([1-4])\b(?:[ /-]?({_YEAR})\b)?"
    rf"|(?:({_YEAR})\s?年)?\s?第?([一二三四1-4])\s?季度?"
)
_CLOCK = re.compile(r"(?ai)(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?(?:\s?([ap])\.?m\b\.?)?(?![\d:])")
_HOUR = re.compile(r"(?ai)\b(\d{1,2})\s?([ap])\.?m\b")
_CHINESE_HOUR = re.compile(
    rf"(凌晨|早上|上午|中午|下午|晚上|傍晚)\s?(\d{{1,2}}|[{_HAN}两]{{1,3}})\s?[点时](半|\d{{1,2}}分?)?"
)
_AFTERNOON = frozenset(("下午", "晚上", "傍晚"))
_HALF_DAY = 12


@dataclass(frozen=True, slots=True)
class Moment:
    """A date as far as it is told: year, month, day; a quarter; or a time of day as HH:MM.

    `swapped`: day and month may be the other way round ("03/04/2025").
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None
    clock: str | None = None
    swapped: bool = False

    def covers(self, other: Moment) -> bool:
        """Does this moment tell all that the other tells, and the same?"""
        mine, theirs = self._parts(), other._parts()
        if _fits(mine, theirs):
            return True
        return (self.swapped or other.swapped) and _fits(mine, other.turned()._parts())

    def turned(self) -> Moment:
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


def find_dates(text: str) -> Iterator[tuple[int, int, Moment]]:
    """Spans and moments; of overlapping readings the first pattern's. Linear in the text."""
    taken = bytearray(len(text))
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            moment = read(match)
            if moment is None or any(taken[match.start() : match.end()]):
                continue
            taken[match.start() : match.end()] = b"\x01" * (match.end() - match.start())
            yield match.start(), match.end(), moment


def _number(written: str | None) -> int | None:
    if written is None:
        return None
    digits = written.rstrip("stndrh")
    return int(digits) if digits.isdecimal() else han_value(digits)


def _date(year: str | None, month: str | None, day: str | None) -> Moment | None:
    y, m, d = _number(year), _number(month), _number(day)
    fits = (m is None or 1 <= m <= _HALF_DAY) and (d is None or 1 <= d <= 31)
    return Moment(y, m, d) if fits else None


def _iso(match: re.Match[str]) -> Moment | None:
    if match[2] == "." and match[4] is None:
        return None  # 2025.10 is a decimal number
    return _date(match[1], match[3], match[4])


def _slashed(match: re.Match[str]) -> Moment | None:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if first > _HALF_DAY or match[2] == ".":
        return _date(match[4], match[3], match[1])
    if second > _HALF_DAY:
        return _date(match[4], match[1], match[3])
    return Moment(year, second, first, swapped=first != second)


def _named(name: str) -> str:
    return str(_MONTH[name.lower().rstrip(".")])


def _quarter(match: re.Match[str]) -> Moment:
    year = match[1] or match[3] or match[4]
    return Moment(year=_number(year), quarter=_number(match[2] or match[5]))


def _clock(hour: int, minute: int, afternoon: bool, morning: bool) -> Moment | None:
    if afternoon and hour < _HALF_DAY:
        hour += _HALF_DAY
    if morning and hour == _HALF_DAY:
        hour = 0
    fits = hour <= 24 and minute < 60
    return Moment(clock=f"{hour:02}:{minute:02}") if fits else None


def _western_clock(match: re.Match[str]) -> Moment | None:
    half = (match[3] or "").lower()
    return _clock(int(match[1]), int(match[2]), half == "p", half == "a")


def _chinese_clock(match: re.Match[str]) -> Moment | None:
    hour, minute = _number(match[2].replace("两", "二")), match[3] or "0"
    if hour is None:
        return None
    told = 30 if minute == "半" else int(minute.rstrip("分"))
    return _clock(hour, told, match[1] in _AFTERNOON, False)


def _chinese_year(match: re.Match[str]) -> Moment | None:
    return _date(match[1], None, None)


_READERS = (
    (_ISO, _iso),
    (_SLASHED, _slashed),
    (_DAY_FIRST, lambda m: _date(m[3], _named(m[2]), m[1])),
    (_MONTH_FIRST, lambda m: _date(m[3], _named(m[1]), m[2])),
    (_MONTH_ONLY, lambda m: _date(m[2], _named(m[1]), None)),
    (_QUARTER, _quarter),
    (_CHINESE, lambda m: _date(m[1], m[2], m[3])),
    (_CHINESE_YEAR, _chinese_year),
    (_CLOCK, _western_clock),
    (_HOUR, lambda m: _clock(int(m[1]), 0, m[2].lower() == "p", m[2].lower() == "a")),
    (_CHINESE_HOUR, _chinese_clock),
)
