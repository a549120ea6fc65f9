"""The companies of a collection, with what the code list says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from construction.statements.model import COMPANIES
from construction.statements.readers.edinet.codelist import Listed
from construction.statements.readers.edinet.config import EdinetConfig
from construction.statements.readers.edinet.filings import Company, Filing
from construction.statements.readers.edinet.spans import Kind, report_of

_LANGUAGE = "ja"
_UNLISTED = Listed(name=None, industry=None, year_end=None, country="JP")


def company_frame(
    companies: Sequence[Company],
    filings: Sequence[Filing],
    listed: Mapping[str, Listed],
    config: EdinetConfig,
) -> pl.DataFrame:
    """COMPANIES, one row per code; the line that comes first by file and number names it.

    Without an entry in the code list the name stays Japanese, the country is taken to be Japan,
    and the fiscal year ends as in the newest annual report. The exchange is not known.
    """
    first = {c.code: c for c in sorted(companies, key=lambda c: (c.seen, c.code), reverse=True)}
    ends = _year_ends(filings)
    rows = []
    for code, company in first.items():
        told = listed.get(code, _UNLISTED)
        rows.append(
            {
                "company_id": f"{config.source}:{code}",
                "source": config.source,
                "disclosure": config.disclosure.value,
                "ticker": company.ticker,
                "name": told.name or company.name,
                "name_local": company.name,
                "country": told.country,
                "exchange": None,
                "us": code in config.us_traded,
                "industry": told.industry,
                "fiscal_year_end": told.year_end or ends.get(code),
                "language": _LANGUAGE,
            }
        )
    return pl.DataFrame(rows, schema=COMPANIES.schema).sort("company_id")


def _year_ends(filings: Sequence[Filing]) -> dict[str, str]:
    """MM-DD of the newest annual report by company; the end of February is 02-28."""
    ends: dict[str, str] = {}
    for filing in sorted(filings, key=lambda filing: (filing.end, filing.document)):
        report = report_of(filing.description)
        if report is not None and report.kind is Kind.ANNUAL:
            day = filing.end.strftime("%m-%d")
            ends[filing.company] = "02-28" if day == "02-29" else day
    return ends
