"""How Japanese companies name their fiscal years: by fiscal term, as their reports are titled.

EDINET's descriptions name no calendar year ("第93期(2015/04/01－2016/03/31)"). Whether a company
calls that year 2015年度 or 2016年3月期 is not in them, so that only a calendar year has a name.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from construction.statements.model import CONVENTIONS
from construction.statements.periods.conventions import DaysKnown, NamingEvidence
from construction.statements.readers.edinet.filings import Filing
from construction.statements.readers.edinet.periods import Kind, report_of

_CALENDAR = "12-31"


def conventions_of(companies: pl.DataFrame, filings: Sequence[Filing]) -> pl.DataFrame:
    """CONVENTIONS of EDINET's companies; a term counts if all annual reports count it alike."""
    offsets: dict[str, dict[int, list[Filing]]] = {}
    for filing in filings:
        report = report_of(filing.description)
        if report is not None and report.kind is Kind.ANNUAL and report.term is not None:
            by_offset = offsets.setdefault(filing.company, {})
            by_offset.setdefault(report.term - filing.end.year, []).append(filing)
    rows = []
    for company_id, year_end in companies.select("company_id", "fiscal_year_end").iter_rows():
        by_offset = offsets.get(company_id.partition(":")[2], {})
        steady = next(iter(by_offset.items())) if len(by_offset) == 1 else None
        is_calendar = year_end == _CALENDAR
        rows.append(
            {
                "company_id": company_id,
                "named_by": None,
                "evidence": NamingEvidence.CALENDAR if is_calendar else None,
                "agreeing": len(steady[1]) if steady else 0,
                "disagreeing": 0 if steady else sum(map(len, by_offset.values())),
                "example": _example(steady[1]) if steady else None,
                "term_offset": steady[0] if steady else None,
                "days": DaysKnown.STATED,
            }
        )
    return pl.DataFrame(rows, schema=CONVENTIONS.schema).sort("company_id")


def _example(filings: Sequence[Filing]) -> str:
    newest = max(filings, key=lambda filing: (filing.end, filing.document))
    report = report_of(newest.description)
    assert report is not None
    return f"{newest.document}: term {report.term}, of the year that ended on {newest.end}"
