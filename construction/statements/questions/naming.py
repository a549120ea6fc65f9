"""How a question names its company and its period."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping
from functools import lru_cache

from construction.statements.periods.calendar import WEEK_YEARS
from construction.statements.periods.words import describe, write_months, write_span
from construction.statements.questions.contracts import Company, Point
from construction.statements.questions.wording import WORDS
from data.text.folding import fold_spaces, fold_width

_ENDINGS: Mapping[str, str] = WORDS["names"]["endings"]
_SMALL = frozenset(WORDS["names"]["small"])
_SHORT = frozenset(WORDS["names"]["words"])
_WHOLE: Mapping[str, str] = WORDS["names"]["whole"]
_SPELLED: Mapping[str, str] = WORDS["names"]["spelled"]
_SHOUTED = frozenset(WORDS["names"]["shouted"])
_LEGAL = frozenset(WORDS["legal"]["words"])
_STATE = re.compile(r"\s*[/\\] ?[A-Za-z]{2,20}[/\\]?\s*$")
_ROMAN = re.compile(r"[IVX]{1,4}")
_SPACED = re.compile(r",(?=[A-Za-z])")
_WORD = re.compile(r"[a-z0-9][a-z0-9&]*|[^\s\x00-\x7f]+")
_NO_VOWEL = re.compile(r"[^AEIOUY]+")
_FORM = re.compile(r"(?<=[ ,])(co|corp|inc|ltd)\b\.?(?=,|$| ltd)", re.I)
_LIMITED = re.compile(r"\bLtd\.?(?= Partnership\b)", re.I)
_JOINED = re.compile(r"(?:(?<=\.)|\s)Co[.,][.,\s]{0,3}Ltd\.?$", re.I)
_CAPITALS = re.compile(r"[A-Z]{4,}")
_DOT_COM = re.compile(r"(?<=[a-z]) (?:COM|Com)(?= Inc\.)")
_OWNED = re.compile(r"'S\b")
_MC = re.compile(r"\bMc([a-z])(?=[a-z]{2})")
_MAX_NAME = 120
_AUTHORITY = {"sec": "SEC CIK", "edinet": "EDINET code"}
# SEC's data sets move the end of a period to the end of the nearest month, so that the days of
# 52/53-week filers are not those of their periods: the months are.
_ROUNDED = "sec:"
# Months of the fiscal year before each of its parts.
_MONTHS_BEFORE = {"FY": 0, "H1": 0, "9M": 0, "Q1": 0, "Q2": 3, "Q3": 6, "H2": 6, "Q4": 9}


@lru_cache(maxsize=50_000)
def natural_name(name: str) -> str:
    """The name as people write it: names in capitals are brought to normal case.

    Short words and those without a vowel keep their capitals (CBS), unless they are listed.
    """
    text = fold_spaces(fold_width(name[:_MAX_NAME]))
    text = _DOT_COM.sub(".com", _in_case(text.replace(" ,", ",")))
    text = _LIMITED.sub("Limited", _JOINED.sub(" Co., Ltd.", text))
    return _WHOLE.get(text, text)


def _in_case(text: str) -> str:
    text = _SPACED.sub(", ", _STATE.sub("", text)).strip(" ,;")
    letters = [char for char in text if char.isalpha()]
    if text.islower():
        text = text.upper()
    elif sum(char.isupper() for char in letters) < 0.9 * len(letters) or len(letters) < 3:
        text = _CAPITALS.sub(_lowered, text)
        return _FORM.sub(lambda match: _ENDINGS[match[1].upper()], text)
    words = text.split(" ")
    return _MC.sub(_mc, " ".join(_word(word, at) for at, word in enumerate(words)))


def _lowered(match: re.Match[str]) -> str:
    return match[0].capitalize() if match[0] in _SHOUTED else match[0]


def _mc(match: re.Match[str]) -> str:
    return f"Mc{match[1].upper()}"


def _word(word: str, at: int) -> str:
    if at and (ending := _ENDINGS.get(word.upper()) or _ENDINGS.get(word.upper().strip(","))):
        return f"{ending}," if word.endswith(",") and not ending.endswith(",") else ending
    if at and word in _SMALL:
        return word.lower()
    bare = word.strip(".,()'-")
    if bare.upper() in _SPELLED:
        return word.replace(bare, _SPELLED[bare.upper()])
    letters = re.sub(r"[^A-Z]", "", bare)
    if not letters or "." in bare or "&" in bare or any(char.isdigit() for char in bare):
        return word
    if at and _ROMAN.fullmatch(bare):
        return word
    if bare in _SHORT or (len(letters) > 3 and not _NO_VOWEL.fullmatch(letters)):
        return _OWNED.sub("'s", word.title())
    return word


def possessive(name: str) -> str:
    """The name with 's, or with an apostrophe where it ends in s."""
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def by_ticker(ticker: str) -> str:
    """The ticker or, as in Japan, the securities code, as a question names it."""
    return f"{'securities code' if ticker[:1].isdigit() else 'ticker'} {ticker}"


def by_register(company_id: str) -> str:
    """The company's number in the register of its source."""
    source, _, own = company_id.partition(":")
    return f"{_AUTHORITY.get(source, 'company id')} {own or source}"


@lru_cache(maxsize=50_000)
def core_name(name: str) -> tuple[str, ...]:
    """The words that distinguish a company: without legal form, case and punctuation."""
    text = fold_width(_STATE.sub("", name[:_MAX_NAME])).lower()
    words = _WORD.findall(text.replace(".", "").replace("'", ""))
    return tuple(word for word in words if word not in _LEGAL) or tuple(words)


def period_words(point: Point, *, dated: bool, by_weekday: bool = False) -> str:
    """ "as of March 31, 2010"; "for fiscal year 2009", if `dated` with the days it covers, or with
    the months where the source rounds the days. Balances of companies whose years end on a weekday
    (`by_weekday`) then have no known day: "as of the balance sheet date nearest to …"."""
    start = point.period_start
    words = describe(
        {
            "period_start": start,
            "period_end": point.period_end,
            "months": point.months,
            "fiscal_year": point.fiscal_year,
            "fiscal_period": point.fiscal_period,
        },
        dates=dated,
    )
    if point.months and start is not None and point.series_id.startswith(_ROUNDED):
        days, months = write_span(start, point.period_end), write_months(start, point.period_end)
        words = words.replace(days, months)
    if point.months == 0:
        is_rounded = by_weekday and point.series_id.startswith(_ROUNDED)
        return words.replace("as of ", "as of the balance sheet date nearest to ", is_rounded)
    by_days = point.fiscal_period is None and point.period_start is not None
    return f"for the period from {words}" if by_days else f"for {words}"


def ends_on_weekday(company: Company) -> bool:
    """Have its fiscal years 52 or 53 weeks: is it known for that, or is its year end no last day
    of a month?"""
    if company.company_id in WEEK_YEARS:
        return True
    month, _, day = (company.fiscal_year_end or "").partition("-")
    if not (month.isdecimal() and day.isdecimal() and 1 <= int(month) <= 12):
        return False
    return int(day) < monthrange(2010, int(month))[1]


def needs_days(point: Point) -> bool:
    """Whether a fiscal period differs from the calendar period of that name, with days known.

    "The first half of fiscal year 2024" is unclear if it runs from July to December.
    """
    part, start = point.fiscal_period, point.period_start
    if point.months == 0 or start is None or part not in _MONTHS_BEFORE:
        return False
    end = point.period_end
    last = _MONTHS_BEFORE[part] + point.months
    starts = (start.year, start.month, start.day) == (
        point.fiscal_year, _MONTHS_BEFORE[part] + 1, 1,
    )  # fmt: skip
    return not starts or (end.year, end.month) != (point.fiscal_year, last)


def years_named(point: Point) -> frozenset[int]:
    """The years by which readers may call the fiscal year that a duration belongs to.

    These are the company's own and those of its first and last day: the fiscal year from April 2009
    to March 2010 is 2009 to some and 2010 to others, and so are its quarters.
    """
    last = point.period_end.year * 12 + point.period_end.month - 1
    first = last - max(point.months, 1) + 1
    if point.fiscal_period in _MONTHS_BEFORE:
        first -= _MONTHS_BEFORE[point.fiscal_period]
        last = first + 11
    named = (point.fiscal_year, first // 12, last // 12)
    return frozenset(year for year in named if year is not None)
