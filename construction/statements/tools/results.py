"""What the lookups return; the field descriptions become the tools' output schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from construction.statements.periods.query import Basis, PeriodQuery

# Limits of every query and answer.
QUERY_CHARS = 200
MOST_COMPANIES, MOST_SERIES, MOST_VALUES = 50, 200, 500
SUGGESTIONS = 5
_WHOLE_YEAR = "FY"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a lookup has no answer, and which inputs would have one."""

    error: str
    suggestions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """One paragraph for the caller."""
        if not self.suggestions:
            return self.error
        return f"{self.error} Nearest: {'; '.join(self.suggestions)}."


@dataclass(frozen=True, slots=True)
class CompanyHit:
    """One matching company."""

    company_id: Annotated[str, Field(description="use it in the other two tools")]
    name: str
    name_local: Annotated[str | None, Field(description="name in the filing's language")]
    ticker: str | None
    country: Annotated[str | None, Field(description="headquarters, ISO 3166 alpha-2")]
    exchange: str | None
    us: Annotated[bool | None, Field(description="traded on a US exchange")]
    industry: str | None
    fiscal_year_end: Annotated[str | None, Field(description="MM-DD")]
    language: Annotated[str | None, Field(description="language of its filings")]
    score: Annotated[float, Field(description="0 to 100; 100 is exact")]


@dataclass(frozen=True, slots=True)
class Companies:
    """Companies, best first."""

    companies: tuple[CompanyHit, ...]
    matched: Annotated[int, Field(description="how many fit; more than shown if limited")]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class SeriesHit:
    """One line item of the company."""

    series_id: Annotated[str, Field(description="use it in get_company_fundamentals")]
    name: Annotated[str, Field(description="statement | section … | label")]
    name_local: Annotated[str | None, Field(description="the same as filed; null if English")]
    statement: str
    category: str | None
    unit: Annotated[str, Field(description="currency code, CODE/share, shares, ratio or count")]
    dimensions: Annotated[str | None, Field(description="axis=member; null if consolidated")]
    values: Annotated[int, Field(description="how many values there are")]
    period_types: Annotated[tuple[str, ...], Field(description="lengths filed: annual, half …")]
    first_period: Annotated[str | None, Field(description="oldest fiscal period")]
    last_period: Annotated[str | None, Field(description="newest fiscal period")]
    score: Annotated[float | None, Field(description="0 to 100; null without a query")]


@dataclass(frozen=True, slots=True)
class SeriesList:
    """Series of one company, best first; without a query in order of the statements."""

    company_id: str
    series: tuple[SeriesHit, ...]
    matched: Annotated[int, Field(description="how many fit; more than shown if limited")]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier filing gave for the same line and period, before it was restated."""

    value: str
    document: str
    filed: str | None


@dataclass(frozen=True, slots=True)
class Value:
    """One reported value."""

    value: Annotated[str, Field(description="decimal as reported, unscaled, in the unit")]
    unit: str
    fiscal_period: Annotated[str | None, Field(description="FY2024, FY2024-H1, FY2024-Q1 …")]
    calendar_period: Annotated[str | None, Field(description="2024, 2024-H1 or 2024-Q1")]
    period_start: Annotated[str | None, Field(description="ISO date; null for an instant")]
    period_end: Annotated[str, Field(description="ISO date; the day itself for an instant")]
    months: Annotated[int | None, Field(description="length as filed; 0 is an instant")]
    period_type: str | None
    document: Annotated[str, Field(description="filing that reports it")]
    filed: str | None
    computed: Annotated[bool | None, Field(description="derived, never filed")]
    restatements: Annotated[int | None, Field(description="earlier filings that differ")]
    earlier: Annotated[tuple[Earlier, ...], Field(description="what those filings gave")] = ()


@dataclass(frozen=True, slots=True)
class Fundamentals:
    """Values of one series, newest first."""

    company_id: str
    company: str
    series_id: str
    name: str
    fiscal_year_end: Annotated[str | None, Field(description="MM-DD")]
    period_asked: Annotated[str | None, Field(description="how the period was understood")]
    values: tuple[Value, ...]
    matched: Annotated[int, Field(description="how many fit; more than shown if limited")]
    note: str | None = None


def fiscal_text(period: Mapping[str, Any] | None) -> str | None:
    """FY2024, FY2024-H1, FY2024-Q1 or FY2024-9M from `fiscal_year` and `fiscal_period`."""
    if period is None or period["fiscal_year"] is None:
        return None
    part = period["fiscal_period"]
    tail = "" if part in (None, _WHOLE_YEAR) else f"-{part}"
    return f"FY{period['fiscal_year']}{tail}"


def understood(query: PeriodQuery, default: Basis) -> str:
    """How a period was read: its basis, year and part, and the day or month of its end."""
    parts = []
    part = None if query.part == _WHOLE_YEAR else query.part
    if query.year is not None:
        words = (str(query.basis or default), "year", str(query.year), part)
        parts.append(" ".join(word for word in words if word))
    elif part is not None:
        parts.append(f"{part} of every {query.basis or default} year")
    if query.end is not None:
        parts.append(f"ending {query.end.isoformat()}")
    if query.end_month is not None:
        parts.append(f"ending in {query.end_month}")
    return ", ".join(parts)
