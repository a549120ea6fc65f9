"""Dates and ages shifted by one offset per scope: order, gaps and days of the week stay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta

from numpy.random import Generator

from anonymization.text.surrogates.assignment import lexicon, same_shape
from data.text.dates import (
    CHINESE_VALUE,
    MONTH_NAME,
    MONTHS,
    VALUE_FORMS,
    calendar_parts,
    month_number,
)
from data.text.numbers import (
    ONE_TO_TEN,
    ordinal_suffix,
    read_integer,
    write_chinese,
    write_chinese_digits,
)

_DAYS_PER_MONTH = 30.4375
_MONTHS_PER_YEAR = 12
# `May 14 09:30:00 2026`, as mailboxes and `date` write it.
_OF_MAIL = re.compile(
    rf"(?P<name>{MONTH_NAME}) {{1,2}}(?P<d>\d{{1,2}}) \d\d:\d\d(?::\d\d)?(?: [A-Z]{{3,4}})? "
    r"(?P<y>(?:19|20)\d\d)"
)
# `7月  5  2022`, as listings write it.
_OF_LISTING = re.compile(r"(?P<m>\d{1,2})月 {1,2}(?P<d>\d{1,2})(?: {1,2}(?P<y>(?:19|20)\d\d))?")
_RANGE = re.compile(
    rf"(?P<name>{MONTH_NAME})\.? (?P<d>\d{{1,2}})(?P<sep> ?[–/-] ?)(?P<e>\d{{1,2}})"
    r"(?P<end>,? (?P<y>\d{4}))?"
)
# `12-14 March 2021`
_DAYS_FIRST = re.compile(
    rf"(?P<d>\d{{1,2}})(?P<sep> ?[–-] ?)(?P<e>\d{{1,2}}) (?P<name>{MONTH_NAME})"
    r"(?P<end>,? (?P<y>\d{4}))?"
)
# `9月16日〜30日`, perhaps behind a year
_DAYS_OF_MONTH = re.compile(
    r"(?P<first>.{0,12}?(?P<m>\d{1,2})月\d{1,2}日)(?P<sep> ?[〜～~–—-] ?)(?P<e>\d{1,2})日"
)
_FULL_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ERAS = {"令和": 2019, "平成": 1989, "昭和": 1926, "大正": 1912, "明治": 1868}  # first years
_OF_REPUBLIC = {"民國": 1912, "民国": 1912}  # in which all its years lie
_MOST_IN_HAN = 100
_ERA_NUMBER = rf"\d{{1,3}}|[{ONE_TO_TEN}]{{1,4}}"
_ERA = re.compile(
    rf"(?P<era>{'|'.join([*_ERAS, *_OF_REPUBLIC])}) ?(?P<n>元|{_ERA_NUMBER}) ?年"
    rf"(?: ?(?P<m>{_ERA_NUMBER}) ?月(?: ?(?P<d>{_ERA_NUMBER}) ?日)?)?"
)
_EPOCH = re.compile(r"1\d{9}(?:\d{3})?")  # seconds or milliseconds since 1970
_SECONDS, _DAY = 10, 86_400  # digits of seconds, and seconds of a day
_QUARTER = re.compile(
    r"Q(?P<q>[1-4])[ -]?(?P<y>20\d\d)"
    r"|(?P<z>20\d\d)(?:[ -]?Q| ?年 ?第?)(?P<r>[1-4一二三四])(?: ?季度| ?四半期)?"
)
_FISCAL = re.compile(
    r"(?P<lead>(?i:FY|fiscal year)[ -]?)?(?P<y>20\d\d)(?P<end> ?(?:财年|会計年度))?"
)
_QUARTERS = "1234一二三四"
# A month without its year, perhaps its beginning or end.
_MONTH = re.compile(r"(?P<m>\d{1,2})月(?P<part>[底末初])?")
_WEEKS = (54, 155)
_MOST_BESIDE = 2  # days that a shift may differ from whole months, so that months alone fit
_ANY_YEAR = 2024
_LAST_FIGURE = 9


def era_years(value: str) -> list[int]:
    """The years of the common era that dates of Japanese eras or of the Chinese republic name."""
    first = _ERAS | _OF_REPUBLIC
    numbers = [(era["era"], read_integer(era["n"]) or 1) for era in _ERA.finditer(value)]
    return [first[era] + number - 1 for era, number in numbers]


class Shift:
    """How far the dates and ages of one scope move; `rng` belongs to the scope."""

    def __init__(self, rng: Generator) -> None:
        self._sign = 1 if rng.integers(2) else -1
        self._first = int(rng.integers(*_WEEKS))  # week from which on a shift is looked for
        self.days = self._candidates()[0]
        self._is_settled = False
        self.year = _ANY_YEAR  # that of dates without a year: the usual one of the scope
        self._padded: Counter[str] = Counter()  # by separator: dates with less those without
        self._day_first: Counter[str] = Counter()  # by separator, as far as figures show it
        self._days: set[date] = set()  # whose order is certain
        self._months: set[int] = set()  # that stand without a day
        self.age = int(rng.integers(1, 4)) * self._sign

    def date(self, value: str, rng: Generator) -> str:
        """The shifted date, in its own form; words without a date (Monday, yesterday) stay."""
        if _EPOCH.fullmatch(value):
            scale = 1_000 if len(value) > _SECONDS else 1
            return str(int(value) + self.days * _DAY * scale)
        quarter = _QUARTER.fullmatch(value)
        if quarter is not None:
            return self._quarter(quarter)
        fiscal = _FISCAL.fullmatch(value)
        if fiscal is not None and (fiscal["lead"] or fiscal["end"]):
            moved, *_ = self._shifted(int(fiscal["y"]), None, None)
            return f"{fiscal['lead'] or ''}{moved}{fiscal['end'] or ''}"
        alone = _MONTH.fullmatch(value)
        if alone is not None:
            _, month, _ = self._shifted(None, int(alone["m"]), None)
            return f"{month}月{alone['part'] or ''}"
        era = _ERA.fullmatch(value)
        if era is not None:
            return self._of_era(era)
        days = _RANGE.fullmatch(value) or _DAYS_FIRST.fullmatch(value)
        if days is not None:
            return self._range(days)
        days = _DAYS_OF_MONTH.fullmatch(value)
        if days is not None:
            return self._to_last_day(days, rng)
        for pattern in (_OF_MAIL, _OF_LISTING, *VALUE_FORMS):
            if pattern.search(value):
                try:
                    return pattern.sub(self._moved, value)
                except (ValueError, OverflowError):
                    continue
        if _chinese_date(value) is not None:
            return self._chinese(value)
        return same_shape(value, rng) if any(map(str.isdecimal, value)) else value

    def _quarter(self, match: re.Match[str]) -> str:
        """The quarter in which the middle of the old one comes to lie."""
        name = "q" if match["q"] else "r"
        year, old = int(match["y" if match["q"] else "z"]), match[name]
        number = _QUARTERS.index(old) % 4 + 1
        moved = self._shifted(year, 3 * number - 1, 15)
        new = _QUARTERS[_QUARTERS.index(old) // 4 * 4 + (moved[1] - 1) // 3]
        text = match.group()
        (at, end), (first, last) = match.span(name), match.span("y" if match["q"] else "z")
        parts = sorted([(at, end, new), (first, last, str(moved[0]))])
        written, done = [], 0
        for start, stop, part in parts:
            written += [text[done:start], part]
            done = stop
        return "".join(written) + text[done:]

    def _of_era(self, match: re.Match[str]) -> str:
        """A date of a Japanese era, in the era of the new year; or of the Chinese republic."""
        era = match["era"]
        number, month, day = (
            1 if match[part] == "元" else read_integer(match[part] or "") for part in "nmd"
        )
        try:
            new = self._shifted((_ERAS | _OF_REPUBLIC)[era] + (number or 1) - 1, month, day)
        except ValueError:
            return match.group()
        if era in _ERAS:
            era = next(name for name, first in _ERAS.items() if first <= max(new[0], 1868))
        new_number = max(1, new[0] - (_ERAS | _OF_REPUBLIC)[era] + 1)
        written, done = era, match.end("era")
        for name, part in zip("nmd", (new_number, *new[1:]), strict=True):
            if match[name]:
                is_han = match[name][0] in ONE_TO_TEN
                start, end = match.span(name)
                written += match.string[done:start]
                written += write_chinese(part) if is_han and part < _MOST_IN_HAN else str(part)
                done = end
        return written + match.string[done : match.end()]

    def _range(self, days: re.Match[str]) -> str:
        """Two days of a month; the name of the month again where the second is in the next."""
        month, year = month_number(days["name"]), int(days["y"]) if days["y"] else None
        try:
            first, last = (self._shifted(year, month, int(days[day])) for day in ("d", "e"))
        except ValueError:
            return days.group()
        names = [_month_like(moved[1], days["name"]) for moved in (first, last)]
        is_one, sep = first[1] == last[1], days["sep"]
        if days.start("d") < days.start("name"):
            named = f"{first[2]}{'' if is_one else f' {names[0]}'}{sep}{last[2]} {names[1]}"
        else:
            named = f"{names[0]} {first[2]}{sep}{'' if is_one else f'{names[1]} '}{last[2]}"
        return named + (days["end"] or "").replace(days["y"] or "-", str(last[0]))

    def _to_last_day(self, days: re.Match[str], rng: Generator) -> str:
        """A day and the last one of the same month; its month is named if it is in the next."""
        years = [*map(int, _FULL_YEAR.findall(days["first"])), *era_years(days["first"]), None]
        first = self.date(days["first"], rng)
        try:
            _, month, last = self._shifted(years[0], int(days["m"]), int(days["e"]))
        except ValueError:
            return first + days["sep"] + days["e"] + "日"
        is_one = re.search(rf"(?<!\d)0?{month}月", first) is not None
        return f"{first}{days['sep']}{'' if is_one else f'{month}月'}{last}日"

    def number(self, value: str) -> str:
        """The shifted age, in digits or words; at least 1."""
        moved = re.sub(r"\d+", lambda hit: str(_aged(int(hit.group()), self.age)), value, count=1)
        if moved != value:
            return moved
        for words in lexicon().number_words:
            matches = list(re.finditer(rf"(?<![a-z])(?:{'|'.join(words)})(?![a-z])", value, re.I))
            if matches:
                last = matches[-1]
                index = words.index(last.group().lower())
                new = words[(index + self.age) % len(words)]
                return value[: last.start()] + new + value[last.end() :]
        return value

    def _moved(self, match: re.Match[str]) -> str:
        day_first = self._is_day_first(match)
        year, month, day = calendar_parts(match, day_first=day_first)
        new = self._shifted(year, month, day)
        return _written(match, new, day_first, self._is_padded(match))

    def watch(self, value: str) -> None:
        """Learn from a date whether days stand first, and whether below ten they have a zero; and
        which months stand without a day."""
        self._watch_month(value)
        for pattern in VALUE_FORMS:
            match = pattern.search(value)
            if match is not None:
                self._watch_order(match)
                shown = _shown_padding(match)
                if shown is not None:
                    self._padded[_separator(match)] += 1 if shown else -1
                return

    def _watch_month(self, value: str) -> None:
        alone = _MONTH.fullmatch(value)
        for match in (pattern.fullmatch(value) for pattern in VALUE_FORMS):
            month, day = calendar_parts(match)[1:] if match else (None, None)
            if month and not day:
                self._months.add(month)
        if alone is not None:
            self._months.add(int(alone["m"]))

    def settle(self) -> None:
        """After the first dates: take the first shift that parts fewest days from their months,
        where texts name these too. `1 June` of a report for June may not become 30 April."""
        days = [day for day in self._days if day.month in self._months]
        if days and not self._is_settled:
            self.days = min(self._candidates(), key=lambda shift: _parted(days, shift))
        self._is_settled = self._is_settled or bool(self._days or self._months)

    def _candidates(self) -> list[int]:
        weeks = [*range(self._first, _WEEKS[1] + 1), *range(_WEEKS[0], self._first)]
        return [self._sign * week * 7 for week in weeks if _is_of_months(week * 7)]

    def _watch_order(self, match: re.Match[str]) -> None:
        figures = _figures(match)
        if figures is not None:
            is_certain = (figures[0] > _MONTHS_PER_YEAR) != (figures[1] > _MONTHS_PER_YEAR)
            self._day_first[_separator(match)] += (
                (figures[0] > figures[1]) * 2 - 1 if is_certain else 0
            )
            if not is_certain:
                return
        day = _day(match, day_first=figures is not None and figures[0] > _MONTHS_PER_YEAR)
        if day is not None:
            self._days.add(day)

    def _is_day_first(self, match: re.Match[str]) -> bool:
        """As the figures show, else as others with this mark do, else what is nearer to days whose
        order is certain; a month stands first where nothing decides."""
        figures = _figures(match)
        if figures is None or max(figures) > _MONTHS_PER_YEAR:
            return figures is not None and figures[0] > _MONTHS_PER_YEAR
        shown = self._day_first[_separator(match)]
        days = (_day(match, day_first=True), _day(match, day_first=False))
        if shown or not self._days or None in days:
            return shown > 0
        first, second = (min(abs(day - other) for other in self._days) for day in days if day)
        return first < second

    def _is_padded(self, match: re.Match[str]) -> bool:
        """As the date itself shows, else as others with its separator do."""
        shown = _shown_padding(match)
        if shown is not None:
            return shown
        separator = _separator(match)
        return self._padded[separator] >= (0 if separator[0] in "-/." else 1)

    def _shifted(
        self, year: int | None, month: int | None, day: int | None
    ) -> tuple[int, int, int]:
        """A month or year moves with the day in its middle; days without a year are all of one."""
        moved = date(year or self.year, month or 7, day or (15 if month else 1))
        moved += timedelta(days=self.days)
        return moved.year, moved.month if month else 0, moved.day if day else 0

    def _chinese(self, value: str) -> str:
        parts = _chinese_date(value)
        if parts is None:
            return value
        year, month, day, rest = parts
        new_year, new_month, new_day = self._shifted(year, month, day)
        shifted = write_chinese_digits(new_year) + "年"
        shifted += write_chinese(new_month) + "月" if month else ""
        return shifted + (write_chinese(new_day) + rest if day else "")


def _is_of_months(days: int) -> bool:
    """Is it close to a number of whole months that are no years? A month alone has to move."""
    months = round(days / _DAYS_PER_MONTH)
    is_close = abs(days - months * _DAYS_PER_MONTH) <= _MOST_BESIDE
    return is_close and months % _MONTHS_PER_YEAR != 0


def _parted(days: Iterable[date], shift: int) -> int:
    """How many of the days a shift parts from their months, which move with their middle."""
    by = timedelta(days=shift)
    return sum((day + by).month != (day.replace(day=15) + by).month for day in days)


def _figures(match: re.Match[str]) -> tuple[int, int] | None:
    """Day and month in an order that the form leaves open."""
    return (int(match["a"]), int(match["b"])) if match.groupdict().get("a") else None


def _day(match: re.Match[str], *, day_first: bool) -> date | None:
    year, month, day = calendar_parts(match, day_first=day_first)
    try:
        return date(year, month, day) if year and month and day else None
    except ValueError:
        return None


def _aged(age: int, by: int) -> int:
    return age + by if age + by >= 1 else age + abs(by)


def _shown_padding(match: re.Match[str]) -> bool | None:
    """Do month and day have a leading zero where they are below ten? None if they show neither."""
    groups = match.groupdict()
    parts = [groups[name] for name in "mdab" if groups.get(name)]
    if any(part[0] == "0" for part in parts):
        return True
    return False if any(len(part) == 1 for part in parts) else None


def _separator(match: re.Match[str]) -> str:
    """The mark between the parts, and whether the year comes first."""
    text = match.group()
    return next((char for char in text if not char.isalnum()), " ") + "y" * text[:4].isdigit()


def _written(match: re.Match[str], new: tuple[int, int, int], day_first: bool, padded: bool) -> str:
    """The match with its year, month and day replaced, padded as before."""
    year, month, day = new
    parts = {"y": year, "m": month, "d": day}
    parts |= {"a": day, "b": month} if day_first else {"a": month, "b": day}
    written, done = [], match.start()
    groups = [(match.span(name), name) for name in match.groupdict() if match[name] is not None]
    for (start, end), name in sorted(groups):
        old = match[name]
        written.append(match.string[done:start])
        if name == "name":
            is_short = match.string[max(0, start - 1) : start] in ("-", "/")  # `13-May-2024`
            written.append(_month_like(month, old, is_short))
        elif name == "th":
            written.append(ordinal_suffix(day))
        else:
            width = len(old) if name == "y" else 2 if padded else 1
            if name == "d" and written[-1].endswith("  ") and parts["d"] > _LAST_FIGURE:
                written[-1] = written[-1][:-1]  # `Mar  1`, as mailboxes write it
            written.append(f"{parts[name] % 10 ** max(2, len(old)):0{width}d}")
        done = end
    return "".join(written) + match.string[done : match.end()]


def _month_like(month: int, old: str, is_short: bool = False) -> str:
    name = MONTHS[month - 1]
    is_whole = len(old) > 4 or (old.capitalize() in MONTHS and not (is_short and len(old) == 3))
    name = name if is_whole else name[:3]
    return name.upper() if old.isupper() else name.lower() if old.islower() else name


def _chinese_date(value: str) -> tuple[int, int | None, int | None, str] | None:
    """Year, month, day of a date in Chinese numerals, and the text after the day."""
    match = CHINESE_VALUE.fullmatch(value.replace("○", "〇"))
    if match is None:
        return None
    year, month, day = calendar_parts(match)
    if year is None or (match["m"] and month is None) or (match["d"] and day is None):
        return None
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return None
    return year, month, day, match["end"] or ""
