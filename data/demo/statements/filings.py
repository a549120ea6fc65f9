"""Which reports a fictional company files with the SEC, and which spans each one shows."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from data.demo.statements.economy import QUARTERS
from data.demo.statements.plan import FIRST_YEAR, LAST_YEAR, Company, standard_labels

_DAYS_TO_FILE = {"10-K": 55, "10-K/A": 130, "10-Q": 38, "20-F": 110, "6-K": 62}
_FIRST_ANNUAL, _FIRST_INTERIM = FIRST_YEAR + 1, LAST_YEAR - 1
Span = tuple[int, int]
HEADERS = {
    "sub": (
        "adsh cik name sic countryba stprba cityba zipba bas1 bas2 baph countryma stprma cityma "
        "zipma mas1 mas2 countryinc stprinc ein former changed afs wksi fye form period fy fp "
        "filed accepted prevrpt detail instance nciks aciks"
    ),
    "tag": "tag version custom abstract datatype iord crdr tlabel doc",
    "num": "adsh tag version ddate qtrs uom segments coreg value footnote",
    "pre": "adsh report line stmt inpth rfile tag version plabel negating",
}
FactKey = tuple[str, str, str, int, str, str, str]


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
        """The last quarter it covers."""
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
    """The month end nearest to a quarter's last day, as in the data sets; -1 is the opening."""
    year, quarter_of_year = divmod(quarter, QUARTERS)
    ends = company.year_end_year(FIRST_YEAR + year) * 12 + company.year_end - 1
    month = ends - 3 * (QUARTERS - 1 - quarter_of_year)
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


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of num."""

    tag: str
    version: str
    ddate: str
    qtrs: int
    uom: str
    segments: str
    coreg: str
    value: str

    @property
    def key(self) -> FactKey:
        when = (self.ddate, self.qtrs, self.uom)
        return (self.tag, self.version, *when, self.segments, self.coreg)


@dataclass(slots=True)
class Tables:
    """Rows of the tables, each in the order of its columns, without headers."""

    sub: list[tuple[str, ...]] = field(default_factory=list)
    tag: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    num: list[tuple[str, ...]] = field(default_factory=list)
    pre: list[tuple[str, ...]] = field(default_factory=list)


def sub_row(filing: Filing, city: str, amended: bool) -> tuple[str, ...]:
    """The 36 columns of sub. `amended`: a later filing replaces this one."""
    company = filing.company
    address = (company.country, "", city, "00000", "1 EXAMPLE STREET", "", "5550100")
    mail = (company.country, "", city, "00000", "1 EXAMPLE STREET", "")
    incorporated = (company.country, "", "000000000", "", "", "1-LAF", "1")
    end = quarter_end(company, QUARTERS - 1)
    period = (f"{end:%m%d}", filing.form, f"{filing.period:%Y%m%d}", str(filing.fiscal_year))
    accepted = f"{filing.filed} 16:05:00.0"
    instance = f"{company.ticker.lower()}-{true_end(company, filing.last):%Y%m%d}.xml"
    head = (filing.adsh, company.source_id, company.name.upper(), company.industry.sic)
    tail = (filing.fiscal_period, f"{filing.filed:%Y%m%d}", accepted, str(int(amended)), "1")
    return (*head, *address, *mail, *incorporated, *period, *tail, instance, "1", "")


def tag_row(tag: str, version: str, qtrs: int, uom: str) -> tuple[str, ...]:
    custom = "/" not in version
    kind = "shares" if uom == "shares" else "monetary"
    if tag.startswith("EarningsPerShare") or tag.endswith("PerShare"):
        kind = "perShare"
    if uom == "pure":
        kind = "integer"
    words = standard_labels()[tag]
    label = (words, f"{words}: generated for a demo.")
    side = "D" if kind == "monetary" else ""
    moment = "D" if qtrs else "I"
    return (tag, version, str(int(custom)), "0", kind, moment, side, *label)
