"""Dates move by one offset per scope: order, gaps and days of the week stay; ages move likewise."""

from __future__ import annotations

import re
from datetime import date, timedelta

from numpy.random import Generator

from anonymization.text.surrogates.lexicon import lexicon
from anonymization.text.surrogates.shapes import same_shape

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
_NAME = "(?:" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS) + "|sept)"
_YEAR = r"(?<!\d)(?P<y>1[5-9]\d\d|20\d\d)(?!\d)"
_DAY = r"(?<!\d)(?P<d>\d{1,2})(?P<th>st|nd|rd|th)?(?!\d)"
_NUMERAL = "〇一二三四五六七八九"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}\s?[-/.年]\s?(?P<m>\d{{1,2}})\s?[-/.月]\s?(?P<d>\d{{1,2}})(?!\d)",
        r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\d)",
        r"(?<!\d)(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y>\d{4}|\d\d)(?!\d)",
        rf"{_DAY}(?: of)? (?P<name>{_NAME})\b\.?,? {_YEAR}",
        rf"(?P<name>{_NAME})\b\.? {_DAY},? {_YEAR}",
        rf"{_DAY}(?: of)? (?P<name>{_NAME})\b",
        rf"(?P<name>{_NAME})\b\.? {_DAY}",
        rf"(?P<name>{_NAME})\b\.?,?(?: of)? {_YEAR}",
        rf"{_YEAR}\s?年\s?(?P<m>\d{{1,2}})\s?月",
        rf"{_YEAR}[-/](?P<m>0[1-9]|1[0-2])(?!\d)",
        r"(?<!\d)(?P<m>\d{1,2})\s?月\s?(?P<d>\d{1,2})\s?[日号]",
        _YEAR,
        rf"^(?P<name>{_NAME})$",
    )
)
_PIVOT = 50  # two-digit years up to this are of this century
_DAYS_PER_MONTH, _DAYS_PER_YEAR = 30.4375, 365.25
_WEEKS = (54, 155)


class Shift:
    """How far the dates and ages of one scope move; `rng` belongs to the scope."""

    def __init__(self, rng: Generator) -> None:
        sign = 1 if rng.integers(2) else -1
        weeks = int(rng.integers(*_WEEKS))
        while round(weeks * 7 / _DAYS_PER_MONTH) % 12 == 0:  # a month alone has to move
            weeks += 1
        self.days = sign * weeks * 7
        self.months = round(self.days / _DAYS_PER_MONTH)
        self.years = round(self.days / _DAYS_PER_YEAR)
        self.age = int(rng.integers(1, 4)) * sign

    def date(self, value: str, rng: Generator) -> str:
        """The date moved, in its own form; words without a date (Monday, yesterday) stay."""
        for pattern in _PATTERNS:
            if pattern.search(value):
                try:
                    return pattern.sub(self._moved, value)
                except (ValueError, OverflowError):
                    continue
        if _chinese_date(value) is not None:
            return self._chinese(value)
        return same_shape(value, rng) if re.search(r"\d", value) else value

    def number(self, value: str) -> str:
        """An age in digits or words, moved; at least 1."""
        moved = re.sub(r"\d+", lambda hit: str(_aged(int(hit.group()), self.age)), value, count=1)
        if moved != value:
            return moved
        for words in lexicon().number_words:
            found = list(re.finditer(rf"(?<![a-z])(?:{'|'.join(words)})(?![a-z])", value, re.I))
            if found:
                last = found[-1]
                place = words.index(last.group().lower())
                new = words[(place + self.age) % len(words)]
                return value[: last.start()] + new + value[last.end() :]
        return value

    def _moved(self, match: re.Match[str]) -> str:
        found = match.groupdict()
        day_first = False
        if "a" in found:
            day_first = int(found["a"]) > 12
            found["d"], found["m"] = (found["a"], found["b"])[:: 1 if day_first else -1]
        year = _full_year(found["y"]) if found.get("y") else None
        month = _month_of(found)
        day = int(found["d"]) if found.get("d") else None
        new = self._shifted(year, month, day)
        return _written(match, new, day_first)

    def _shifted(
        self, year: int | None, month: int | None, day: int | None
    ) -> tuple[int, int, int]:
        if month is None:
            return (year or 0) + self.years, 0, 0
        if day is None:
            total = (year or 0) * 12 + month - 1 + self.months
            return total // 12, total % 12 + 1, 0
        moved = date(year or 2024, month, day) + timedelta(days=self.days)
        return moved.year, moved.month, moved.day

    def _chinese(self, value: str) -> str:
        found = _chinese_date(value)
        if found is None:
            return value
        year, month, day, rest = found
        new_year, new_month, new_day = self._shifted(year, month, day)
        told = "".join(_NUMERAL[int(char)] for char in str(new_year)) + "年"
        told += _numeral(new_month) + "月" if month else ""
        return told + (_numeral(new_day) + rest if day else "")


def _aged(age: int, by: int) -> int:
    return age + by if age + by >= 1 else age + abs(by)


def _full_year(text: str) -> int:
    year = int(text)
    if len(text) > 2:
        return year
    return year + (2000 if year <= _PIVOT else 1900)


def _month_of(found: dict[str, str]) -> int | None:
    if found.get("name"):
        return next(i for i, name in enumerate(_MONTHS, 1) if name[:3] == found["name"][:3].lower())
    return int(found["m"]) if found.get("m") else None


def _written(match: re.Match[str], new: tuple[int, int, int], day_first: bool) -> str:
    """The match with its year, month and day replaced, each as wide as it was."""
    year, month, day = new
    parts = {"y": year, "m": month, "d": day}
    parts |= {"a": day, "b": month} if day_first else {"a": month, "b": day}
    told, place = [], match.start()
    in_words = bool(match.groupdict().get("name")) or "月" in match.group()
    groups = [(match.span(name), name) for name in match.groupdict() if match[name] is not None]
    for (start, end), name in sorted(groups):
        old = match[name]
        told.append(match.string[place:start])
        if name == "name":
            told.append(_month_like(month, old))
        elif name == "th":
            told.append(_ordinal(day))
        else:
            width = len(old) if old[0] == "0" or not in_words else 1
            told.append(f"{parts[name] % 10 ** max(2, len(old)):0{width}d}")
        place = end
    return "".join(told) + match.string[place : match.end()]


def _month_like(month: int, old: str) -> str:
    name = _MONTHS[month - 1]
    name = name if len(old) > 4 or old.lower() in _MONTHS else name[:3]
    return name.upper() if old.isupper() else name if old.islower() else name.capitalize()


def _ordinal(day: int) -> str:
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _chinese_date(value: str) -> tuple[int, int | None, int | None, str] | None:
    """Year, month, day of a date in Chinese numerals, and what closes it."""
    text = value.replace("零", "〇").replace("○", "〇")
    match = re.fullmatch(
        rf"([{_NUMERAL}]{{4}})\s?年(?:\s?([{_NUMERAL}十]{{1,2}})\s?月)?(?:\s?([{_NUMERAL}十]{{1,3}})\s?([日号]))?",
        text,
    )
    if match is None:
        return None
    year = int("".join(str(_NUMERAL.index(char)) for char in match[1]))
    month = _value(match[2]) if match[2] else None
    day = _value(match[3]) if match[3] else None
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return None
    return year, month, day, match[4] or ""


def _value(text: str) -> int:
    tens, ten, ones = text.rpartition("十")
    if not ten:
        return int("".join(str(_NUMERAL.index(char)) for char in text))
    return (_NUMERAL.index(tens) if tens else 1) * 10 + (_NUMERAL.index(ones) if ones else 0)


def _numeral(number: int) -> str:
    tens, ones = divmod(number, 10)
    lead = "" if not tens else "十" if tens == 1 else _NUMERAL[tens] + "十"
    return lead + (_NUMERAL[ones] if ones else "")
