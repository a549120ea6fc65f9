"""Periods as a user or an agent writes them: "FY2010", "2010Q1", "H1 2010", "2010-03-31", …"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

import polars as pl

from construction.statements.periods import ELAPSED
from data.errors import InputError
from data.text.dates import MONTHS, read_date
from data.text.folding import fold_spaces, fold_width
from data.text.numbers import ORDINALS, read_integer

_MAX_CHARS = 120
# The fiscal periods of instants that match each period:
# a balance sheet closes the quarter, the half and the year on the same day.
_SAME_CLOSE = {
    "FY": ("FY",),
    "Q4": ("FY", "Q4"),
    "H2": ("FY", "H2"),
    "H1": ("H1", "Q2"),
    "Q2": ("H1", "Q2"),
    "9M": ("9M", "Q3"),
    "Q3": ("9M", "Q3"),
    "Q1": ("Q1",),
}
_CALENDAR_CLOSE = {"FY": "Q4", "H2": "Q4", "H1": "Q2", "9M": "Q3"}
_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_ORDINALS = "|".join(ORDINALS)
_PART = (
    r"(?P<part>q[1-4]|[1-4]q|h[12]|[12]h|9m|fy"
    rf"|(?:{_ORDINALS})[ -](?:fiscal )?(?:quarter|half)"
    r"|(?:first[ -])?nine[ -]months|(?:first[ -])?six[ -]months|full[ -]year|half[ -]year)"
)
_FISCAL = r"(?P<fiscal>fye?|fiscal(?: year)?|financial year)"
_CALENDAR = r"(?P<calendar>cy|calendar(?: year)?)"
_BASIS = rf"(?:(?:{_FISCAL}|{_CALENDAR})[ .-]?)?"
_GAP = r"[ ,_/-]{0,2}"
_MONTHS = "|".join(MONTHS).casefold()
_YEAR_TO = re.compile(
    rf"(?:{_PART} of (?:the )?)?(?:fiscal )?year end(?:ing|ed) (?P<month>{_MONTHS}),? {_YEAR}"
)
_OF = r"(?: (?:of|in))?"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_BASIS}{_YEAR}",
        rf"{_BASIS}{_YEAR}{_GAP}{_PART}",
        rf"{_PART}{_OF}{_GAP}{_BASIS}{_YEAR}",
        rf"(?:{_FISCAL}|{_CALENDAR})[ -]{_PART}{_OF}{_GAP}{_YEAR}",
        r"(?P<fiscal>fy)'?(?P<short>[0-9]{2})",
        r"(?P<part>q[1-4]|[1-4]q|h[12]|[12]h)[ ']{1,2}(?P<short>[0-9]{2})",
        rf"(?:{_FISCAL}|{_CALENDAR})[ -]{_PART}",
        _PART,
    )
)
_JAPANESE = re.compile(
    rf"{_YEAR}年(?:(?P<month>1[0-2]|0?[1-9])月期|(?P<fiscal>度)|)"
    r"(?:第?(?P<quarter>[1-4一二三四])四半期(?P<cumulative>累計期間|累計)?|(?P<h1>中間期|上期)|(?P<h2>下期)|通期)?"
)
_CUMULATIVE = {"1": "Q1", "2": "H1", "3": "9M", "4": "FY"}
_LEAD = re.compile(r"^(?:(?:for|in|during|at|the|period from|as of|as at|ended|ending|end of) )+")
_SPAN = re.compile(r"[a-z0-9, ]{4,20} to (?P<end>.{6,20})")
_ENDED = re.compile(
    r"(?:(?P<year>(?:fiscal )?year)|half-year|quarter|[a-z0-9]{1,12} (?:months|quarters|weeks))"
    r" end(?:ed|ing) (?P<end>[^()]{6,20}?)(?: \((?P<aside>[^()]*)\))?"
)
_ASIDE = re.compile(
    r"\((?:[^()]{4,40}? (?:to|through|-|–) (?P<end>[^()]{6,40})"
    r"|[^()]{4,40} ended (?P<closed>[a-z]+ [0-9]{1,2}, [0-9]{4})[^()]*)\)"
)
_PART_INSIDE = re.compile(rf"\b{_PART}\b")
_NEAR = 15  # days between a true last day and the one in the tables (see `closings`)


class Basis(StrEnum):
    """The kind of year that a period counts in."""

    FISCAL = "fiscal"
    CALENDAR = "calendar"


@dataclass(frozen=True, slots=True)
class PeriodQuery:
    """What a text says about a period; None for what it does not say. At least one field is set.

    `part` is FY (a whole year), H1, H2, Q1 to Q4 or 9M. `basis` is None for a bare "2010Q1". `end`
    is the last day, or the day of a balance sheet, and matches days near it, since sources round
    days to a month's end; `end_month` the month of the last day, as in the
    Japanese 2016年3月期, written YYYY-MM.
    """

    year: int | None = None
    part: str | None = None
    basis: Basis | None = None
    end: date | None = None
    end_month: str | None = None

    def expression(self, default: Basis = Basis.FISCAL) -> pl.Expr:
        """Selects the matching rows of POINTS; `default` is the basis if the text names none.

        An instant matches each period that it closes: the balance sheet of the year's last day
        matches FY, H2 and Q4. A year without a part means that year's annual points; `parse_period`
        sets the part to FY for them.
        """
        tests = []
        if self.end is not None:
            tests.append((pl.col("period_end") - self.end).dt.total_days().abs() <= _NEAR)
        if self.end_month is not None:
            tests.append(pl.col("period_end").dt.strftime("%Y-%m") == self.end_month)
        if (self.basis or default) is Basis.FISCAL or self.year is None:
            tests.extend(self._fiscal())
        else:
            tests.append(self._calendar())
        return pl.all_horizontal(tests)

    def _fiscal(self) -> list[pl.Expr]:
        tests = [] if self.year is None else [pl.col("fiscal_year") == self.year]
        if self.part is not None:
            instant = pl.col("fiscal_period").is_in(_SAME_CLOSE[self.part])
            exact = pl.col("fiscal_period") == self.part
            tests.append(pl.when(pl.col("months") == 0).then(instant).otherwise(exact))
        return tests

    def _calendar(self) -> pl.Expr:
        part = self.part or "FY"
        name = str(self.year) if part == "FY" else f"{self.year}-{part}"
        closing = f"{self.year}-{_CALENDAR_CLOSE.get(part, part)}"
        instant = pl.col("calendar_period") == closing
        exact = pl.col("calendar_period") == name
        return pl.when(pl.col("months") == 0).then(instant).otherwise(exact)


def parse_period(text: str) -> PeriodQuery:
    """What `text` says about a period: fiscal and calendar years, halves, quarters, days.

    Reads "FY2010", "2010", "2010Q1", "Q1 FY2010", "H1 2010", "9M 2010", "calendar 2010-Q2",
    "CY2010", "first quarter of fiscal year 2010", "2010-03-31", "March 31, 2010", "2016年3月期",
    "2015年度第1四半期", and how questions name periods ("the fiscal year ended March 31, 2010",
    "the quarter ended May 1, 2010 (the first quarter of its fiscal year)"). Case and white space do
    not matter. Errors: `InputError` for anything else; it names the accepted forms.
    """
    normal = fold_spaces(fold_width(text)) if len(text) <= _MAX_CHARS else ""
    plain = _LEAD.sub("", normal.casefold())
    ended = _ENDED.fullmatch(plain)
    span = ended or _SPAN.fullmatch(plain)
    day = read_date(span["end"] if span else plain)
    if day is not None:
        return PeriodQuery(part=_ended_part(ended), end=day)
    year_to = _YEAR_TO.fullmatch(plain)
    if year_to is not None:
        month = _MONTHS.split("|").index(year_to["month"])
        return _of_year_to(int(year_to["year"]) * 12 + month, _part(year_to["part"]))
    japanese = _JAPANESE.fullmatch(normal.replace(" ", ""))
    if japanese is not None:
        return _from_japanese(japanese)
    dated = _ASIDE.search(plain)
    end = read_date(dated["end"] or dated["closed"]) if dated else None
    core = plain[: dated.start()].strip() if dated else plain
    for form in _FORMS:
        match = form.fullmatch(core)
        if match is not None:
            return _from_words(match.groupdict(), end)
    raise InputError(
        "period",
        f"text of {len(text)} characters that names no period",
        "FY2010, Q1 FY2010, H1 2010, 2010Q1, calendar 2010-Q2, CY2010 or 2010-03-31",
        "Write the period in one of these forms.",
    )


def _ended_part(ended: re.Match[str] | None) -> str | None:
    """The part of the year that "the fiscal year ended …" or the words in brackets name."""
    if ended is None:
        return None
    inside = _PART_INSIDE.search(ended["aside"] or "")
    if inside is not None:
        return _part(inside["part"])
    return "FY" if ended["year"] else None


def _from_words(parts: dict[str, str | None], end: date | None) -> PeriodQuery:
    short, year = parts.get("short"), parts.get("year")
    number = int(year) if year else 2000 + int(short) if short else None
    basis = None
    if parts.get("fiscal"):
        basis = Basis.FISCAL
    elif parts.get("calendar"):
        basis = Basis.CALENDAR
    return PeriodQuery(number, _part(parts.get("part")), basis, end)


def _part(words: str | None) -> str:
    """The code of a part of the year, given in words or as a code in either order; else FY."""
    if words is None or words in ("fy", "full year", "full-year"):
        return "FY"
    if "nine" in words or words == "9m":
        return "9M"
    if "six" in words or words in ("half year", "half-year"):
        return "H1"
    for word, number in ORDINALS.items():
        if words.startswith((f"{word} ", f"{word}-")):
            return f"{'Q' if words.endswith('quarter') else 'H'}{number}"
    letter, digit = sorted(words.upper(), reverse=True)
    return letter + digit


def _from_japanese(match: re.Match[str]) -> PeriodQuery:
    part = "FY"
    if match["quarter"]:
        quarter = str(read_integer(match["quarter"]))
        part = _CUMULATIVE[quarter] if match["cumulative"] else f"Q{quarter}"
    elif match["h1"] or match["h2"]:
        part = "H1" if match["h1"] else "H2"
    year = int(match["year"])
    if match["month"]:
        return _of_year_to(year * 12 + int(match["month"]) - 1, part)
    return PeriodQuery(year, part, Basis.FISCAL if match["fiscal"] else None)


def _of_year_to(last: int, part: str) -> PeriodQuery:
    """A part of the year that ends with a month (12·year + month - 1), whatever its name."""
    year, month = divmod(last - 12 + ELAPSED[part], 12)
    return PeriodQuery(part=part, end_month=f"{year}-{month + 1:02}")
