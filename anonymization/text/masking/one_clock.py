"""Which dates of a call move: in files that belong together all of them, or none.

A file has one clock. If it shows parts of the calendar that cannot be moved with certainty (days in
words of another language or of two figures, months and days alone, feasts and seasons), or a year
alone that its dates name too, none of its other dates moves, nor any in a file that is joined with
it by a person, an address or a number. Dates of birth move nevertheless: they are private.
"""

from __future__ import annotations

import re
from calendar import day_abbr, day_name
from collections import Counter
from collections.abc import Iterable, Sequence

from anonymization.text.contracts import EntityType, Finding, kinds
from anonymization.text.detect.wording import words
from anonymization.text.masking.pieces import Piece
from anonymization.text.surrogates.dates import era_years
from data.text.dates import MONTH_NAME, MONTH_OR_WORD, MONTHS, OTHER_MONTH_NAME, YEAR, find_dates
from data.text.folding import plain_form
from data.text.numbers import ONE_TO_TEN
from data.text.scripts import HAN

_SAID = frozenset({"declared", "said", "reserved_place"})  # what a label or form declares
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?=\d{4}(?!\d)|\D|\Z|\d{4}T)")
# `6 Aug 89`, `3/20/95`, `3.4.21`, `Jan 21 21`
_SHORT_YEAR = re.compile(
    r"(?<!\d)\d{1,2}[ -][A-Za-z]{3,9}[ -](\d\d)(?!\d)|(?<!\d)\d{1,2}([/.-])\d{1,2}\2(\d\d)(?!\d)"
    r"|[A-Za-z]{3,9}\.? \d{1,2} (\d\d)(?!\d)"
)
_CENTURY = 50  # from this year on of the last one
# Days that no rule moves, where none has found them.
_ENGLISH = f"(?:{MONTH_NAME}|{MONTH_NAME.upper()})"
_SMALL = f"(?:{'|'.join(MONTHS).lower()})"
_OTHER = f"(?i:{OTHER_MONTH_NAME})"
_UNMOVED = re.compile(
    rf"(?<![\w/.-])(?:\d{{1,2}}\.? ?(?:de )?{_OTHER}|{_OTHER} \d{{1,2}}"
    rf"|\d{{1,2}}\.? ?{_ENGLISH}|(?:{_ENGLISH}|{_SMALL})[ '-]{{1,2}}\d{{1,2}}"
    r"|(?i:on|by|until|till|before|after|since|due) \d{1,2}/\d{1,2})(?![\w/]|[.:-]\d)"
    r"|(?:令和|平成|昭和|民國) ?(?:元|\d{1,3}) ?年|(?<!\d)0\d ?月(?!\d)"
)
# A day by figures: `6/13`; one alone may be a share.
_DAY = re.compile(r"(?<![^\s(（])(?:1[0-2]|0?[1-9])/(?:[12]\d|3[01]|0?[1-9])(?![^\s)）])")
# Parts of the calendar that stand alone, where no finding covers them: `30.04.`, `4/8 朝から`,
# `04-11 反馈`, `3 月`, `四月`, `28日`, `the 28th`, `4 (a Saturday)`, `Thu 4/8`, `in May`, `/MAR`,
# `Q1`.
_FIGURES = r"(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|[12]\d|3[01])"
_WIDE = f"[{HAN}ぁ-ゖァ-ヺ（]"
_DAY_NAME = f"(?:{'|'.join((*day_name, *day_abbr))})"
_BEFORE_MONTH = "in|till|until|by|before|after|since|of|end|from|to|for|last|next|this|mid|late"
_ALONE = re.compile(
    r"(?<![\d./-])(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?![\d.])"
    rf"|(?<![\d./-]){_FIGURES}(?= ?{_WIDE}| \d\d:\d\d)|(?<={_WIDE}){_FIGURES}(?![\d/])"
    rf"|(?<![\w.-])(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?= ?[{HAN}])"
    rf"|(?<![\d第近每毎])(?:1[0-2]|[1-9]) ?月(?![間间])|(?<![{HAN}])[{ONE_TO_TEN}]{{1,2}}月"
    r"|(?<![\d月第])\d{1,2}日(?![間间])"
    r"|(?<!\w)the (?:[12]?\d|3[01])(?:st|nd|rd|th)(?!\w)"
    r"|(?<![\w.])\d{1,2},? \(?(?:a )?[A-Z]?[a-z]{2,5}day(?!\w)"
    rf"|(?<!\w)(?i:{_DAY_NAME}),? {_FIGURES}(?![\w/])"
    rf"|(?<![\w'’])(?!(?:{MONTH_OR_WORD})\b){MONTH_NAME}(?![\w'’])"
    rf"|(?i:(?<!\w)(?:{_BEFORE_MONTH})[ -])(?:{MONTH_OR_WORD})(?![\w'’])"
    rf"|(?<=[^\W\dA-Z_] )(?:{MONTH_OR_WORD})(?![\w'’])"  # in a sentence no verb has a capital
    rf"|/{MONTH_NAME.upper()}(?!\w)|(?<![\w-])Q[1-4](?![\w.-])"
)
_MONTH = re.compile(MONTH_NAME, re.IGNORECASE)
_WORD = re.compile(rf"[^\W\d_{HAN}]{{4,20}}|[{HAN}]{{2,}}")
_FEWEST_DAYS = 2
# What stands at its place in the year, so that no shift but one of years may move it.
_FEASTS = frozenset(words("words.toml", "feasts"))
_FEASTS_OF_HAN = tuple(feast for feast in _FEASTS if not feast.isascii())
_MONTH_AND_DAY = re.compile(r"(?<!\d)(\d{1,2}) ?月 ?(\d{1,2}) ?[日号]")
_ONE_FILE = -1  # all texts that nothing keeps apart
# A year alone, as a heading, a column or a name of a file has it, and a quarter of such a name.
_BARE_YEAR = re.compile(
    r"(?<![\w./:+-])(?:19|20)\d\d(?![\w/:-]|\.\d)|(?<=[A-Za-z]_)20\d\d(?=[._]|\Z)|(?<=q\d_)20\d\d"
)
_JOINING = kinds("EMAIL PERSON_NUMBER CASE_NUMBER")


def years_of(date: str) -> list[int]:
    """The years that a date names, in four digits or two; none for a day or a month alone."""
    whole = [int(year) for year in _YEAR.findall(date)] or era_years(date)
    if whole:
        return whole
    short = _SHORT_YEAR.search(date)
    number = int(short.group(short.lastindex or 0)) if short else 0
    return [number + (1900 if number >= _CENTURY else 2000)] if short else []


def has_unmoved_days(text: str, findings: Sequence[Finding]) -> bool:
    """Does a text show days, or parts of them, that none of its dates covers? A month by itself is
    no date that can be moved."""
    findings = [each for each in findings if not _is_lone_month(text, each)]
    dates = [each for each in findings if each.type is EntityType.DATE]
    covered = {offset for each in dates for offset in range(each.start, each.end)}
    if any(covered.isdisjoint(range(*match.span())) for match in _UNMOVED.finditer(text)):
        return True
    whole = ((start, end) for start, end, day in find_dates(text) if day.is_day and day.year)
    if any(covered.isdisjoint(range(*span)) for span in whole):  # of a version: v2025.04.10-2
        return True
    if _shows_part(text, findings):
        return True
    days = [match.span() for match in _DAY.finditer(text)]
    return len([span for span in days if covered.isdisjoint(range(*span))]) >= _FEWEST_DAYS


def _is_lone_month(text: str, date: Finding) -> bool:
    is_date = date.type is EntityType.DATE
    return is_date and _MONTH.fullmatch(text, date.start, date.end) is not None


def _shows_part(text: str, findings: Sequence[Finding]) -> bool:
    """Does a text show a part of the calendar, a feast or a season, that is no value?"""
    feasts = [match.span() for match in _WORD.finditer(text) if _names_feast(match.group())]
    parts = [*feasts, *(match.span() for match in _ALONE.finditer(text))]
    covered = {offset for each in findings if parts for offset in range(each.start, each.end)}
    return any(covered.isdisjoint(range(*span)) for span in parts)


def _names_feast(word: str) -> bool:
    is_inside = not word.isascii() and any(feast in word for feast in _FEASTS_OF_HAN)
    return is_inside or word.casefold() in _FEASTS


def _day_of(value: str) -> tuple[int, int, int] | None:
    """Year, month and day of a date that has all three; the era of Japan counts as a year."""
    day = next((day for _, _, day in find_dates(value) if day.is_day), None)
    if day is not None:
        return day.year or 0, day.month or 0, day.day or 0
    parts, years = _MONTH_AND_DAY.search(value), years_of(value)
    return (years[0], int(parts[1]), int(parts[2])) if parts and years else None


def _year_beside(date: str, usual: int, days: Counter[tuple[int, int, int]]) -> int:
    """The year of a day without one: that of the same day elsewhere, else the one in which it is
    nearest to the days of the usual year. In a letter of November, January is the next one."""
    parts = _MONTH_AND_DAY.search(date)
    if parts is None:
        return usual
    month, day = int(parts[1]), int(parts[2])
    same = {
        year: times
        for (year, *of), times in days.items()
        if of == [month, day] and abs(year - usual) <= 1  # and no day of birth
    }
    if same:
        return max(same, key=lambda year: (same[year], year))
    of_year = sorted(12 * year + month for year, month, _ in days.elements() if year == usual)
    if not of_year:
        return usual
    middle = of_year[len(of_year) // 2]
    return min((usual, usual + 1, usual - 1), key=lambda year: abs(12 * year + month - middle))


class OneClock:
    """The dates of the files of a call, which have numbers; without files all texts are one."""

    def __init__(self) -> None:
        self._years: dict[int, Counter[int]] = {}  # of the dates of each file
        self._days: dict[int, Counter[tuple[int, int, int]]] = {}  # year, month and day of them
        self._bare: dict[int, set[int]] = {}  # years alone, which stay
        self._stopped: set[int] = set()  # files with days that cannot be moved
        self._by_value: dict[str, int] = {}  # a file that shows a value which joins files
        self._joined: dict[int, int] = {}  # files with another of their group
        self._groups: frozenset[int] | None = None  # that are stopped

    def watch(self, piece: Piece, findings: Iterable[Finding], files: Iterable[int]) -> None:
        """Learn the dates of the files in which a piece stands, and what joins them to others."""
        findings, files = list(findings), list(files) or [_ONE_FILE]
        self._groups = None
        is_stopped = has_unmoved_days(piece.text, findings)
        dates = {
            offset
            for each in findings
            if each.type is EntityType.DATE and not YEAR.fullmatch(piece.text, each.start, each.end)
            for offset in range(each.start, each.end)
        }
        bare = {
            int(year.group())
            for year in _BARE_YEAR.finditer(piece.text)
            if year.start() not in dates
        }
        for file in files:
            self._bare.setdefault(file, set()).update(bare)
            if is_stopped:
                self._stopped.add(file)
            for finding in findings:
                self._watch_value(piece.text[finding.start : finding.end], finding.type, file)

    def _watch_value(self, value: str, kind: EntityType, file: int) -> None:
        if kind is EntityType.DATE:
            years = [] if YEAR.fullmatch(value) else years_of(value)
            if years:
                self._years.setdefault(file, Counter()).update(years)
            day = _day_of(value)
            if day:
                self._days.setdefault(file, Counter())[day] += 1
        is_name = kind is EntityType.PERSON and (" " in value or not value.isascii())
        if is_name or kind in _JOINING:
            other = self._by_value.setdefault(plain_form(value).replace(" ", ""), file)
            first, second = self._group(other), self._group(file)
            if first != second:
                self._joined[max(first, second)] = min(first, second)

    def _group(self, file: int) -> int:
        while file in self._joined:
            file = self._joined[file]
        return file

    def years(self) -> frozenset[str]:
        """The years that dates of the files name."""
        return frozenset(str(year) for years in self._years.values() for year in years)

    def is_stopped(self, files: Iterable[int]) -> bool:
        """Do the dates of these files stay, as a file of their group cannot move all of its own?"""
        if self._groups is None:
            years_stay = {
                file
                for file, bare in self._bare.items()
                if file != _ONE_FILE and not bare.isdisjoint(self._years.get(file, ()))
            }
            self._groups = frozenset(map(self._group, self._stopped | years_stay))
        return any(self._group(file) in self._groups for file in files)

    def moves(self, finding: Finding, value: str, files: Iterable[int]) -> bool:
        """Does a date of these files move? Not years alone, which also stand in headings and names
        of files, nor days without a year where no date of the file has one."""
        files = list(files)
        if finding.recognizer in _SAID:
            return True
        if not files:
            return not self.is_stopped([_ONE_FILE])
        is_dated = any(file in self._years for file in files)
        is_loose = not is_dated and not years_of(value)
        return not (is_loose or YEAR.fullmatch(value) or self.is_stopped(files))

    def year_of(self, files: Iterable[int], date: str) -> int | None:
        """The usual year of the files, for a date that has none itself."""
        if years_of(date):
            return None
        years: Counter[int] = Counter()
        for file in files:
            years.update(self._years.get(file, Counter()))
        if not years:
            return None
        usual = max(years, key=lambda year: (years[year], year))  # not that of somebody's birth
        moved = Counter[tuple[int, int, int]]()
        for file in files:
            moved.update(self._days.get(file, Counter()))
        return _year_beside(date, usual, moved)
