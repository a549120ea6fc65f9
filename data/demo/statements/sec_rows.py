"""Rows of the SEC data set's tables, in the order of their columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from data.demo.statements.economy import QUARTERS
from data.demo.statements.filings import Filing, quarter_end, true_end
from data.demo.statements.words import standard_labels

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
