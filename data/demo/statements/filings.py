"""Which reports a fictional company files with the SEC, and which spans each one shows."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from data.demo.statements.economy import QUARTERS
from data.demo.statements.plan import FIRST_YEAR, LAST_YEAR, Company

_DAYS_TO_FILE = {"10-K": 55, "10-K/A": 130, "10-Q": 38, "20-F": 110, "6-K": 62}
_FIRST_ANNUAL, _FIRST_INTERIM = FIRST_YEAR + 1, LAST_YEAR - 1
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Filing:
    """One report. Spans and instants are quarters counted from the first of FIRST_YEAR; the
    cash flow statement shows the year to date only, the income statement the quarter too."""

    company: Company
    number: int
    form: str
    fiscal_year: int
    fiscal_period: str
    income: Sequence[Span]
    cash: Sequence[Span]
    instants: Sequence[int]

    @property
    def adsh(self) -> str:
        """Accession number."""
        return f"000{self.company.source_id}-{self.filed.year % 100:02}-{self.number:06}"

    @property
    def last(self) -> int:
        """The quarter it closes."""
        return self.instants[0]

    @property
    def annual(self) -> bool:
        return self.fiscal_period == "FY"

    @property
    def period(self) -> dt.date:
        return quarter_end(self.company, self.last)

    @property
    def filed(self) -> dt.date:
        return self.period + dt.timedelta(days=_DAYS_TO_FILE[self.form])


def quarter_end(company: Company, quarter: int) -> dt.date:
    """The month end nearest to a quarter's last day, as the data sets write it; -1 opens."""
    year, place = divmod(quarter, QUARTERS)
    ends = company.year_end_year(FIRST_YEAR + year) * 12 + company.year_end - 1
    month = ends - 3 * (QUARTERS - 1 - place)
    return month_end(month // 12, month % 12 + 1)


def month_end(year: int, month: int) -> dt.date:
    return dt.date(year, month, calendar.monthrange(year, month)[1])


def true_end(company: Company, quarter: int) -> dt.date:
    """The real last day: of a 52/53-week year the Saturday nearest to the month's end."""
    end = quarter_end(company, quarter)
    if not company.weeks:
        return end
    away = (end.weekday() - calendar.SATURDAY) % 7
    return end - dt.timedelta(days=away if away <= 3 else away - 7)


def filings(company: Company, amended_year: int | None) -> Iterator[Filing]:
    """All reports of a company in order of filing number."""
    number = 0
    for year in range(_FIRST_ANNUAL, LAST_YEAR + 1):
        for form, period in _forms(company, year, amended_year):
            number += 1
            yield _filing(company, number, form, year, period)


def _forms(company: Company, year: int, amended_year: int | None) -> Iterator[tuple[str, str]]:
    if company.foreign:
        if year >= _FIRST_INTERIM:
            yield "6-K", "Q2"
        yield "20-F", "FY"
        return
    if year >= _FIRST_INTERIM:
        yield from (("10-Q", period) for period in ("Q1", "Q2", "Q3"))
    yield "10-K", "FY"
    if year == amended_year:
        yield "10-K/A", "FY"


def _filing(company: Company, number: int, form: str, year: int, period: str) -> Filing:
    first = (year - FIRST_YEAR) * QUARTERS
    if period == "FY":
        last = first + QUARTERS - 1
        spans = [(first, last), (first - QUARTERS, last - QUARTERS)]
        return Filing(company, number, form, year, period, spans, spans, (last, last - QUARTERS))
    last = first + int(period[1]) - 1
    to_date = [(first, last), (first - QUARTERS, last - QUARTERS)]
    quarter = [(last, last), (last - QUARTERS, last - QUARTERS)]
    income = to_date if company.foreign or last == first else [*quarter, *to_date]
    return Filing(company, number, form, year, period, income, to_date, (last, first - 1))
