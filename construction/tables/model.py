"""The one model of financial statements: companies, series and data points, as typed tables.

Readers write these three tables; hierarchy, categories, periods and filters fill their columns;
sampling, enrichment, questions and the data tools read them. Values are decimals as text, exactly
as reported: no float stands between a filing and an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import polars as pl

from data.contracts import LedgerRow, StageTally
from data.schemas import Table

SEPARATOR = " | "


class Statement(StrEnum):
    """The part of a filing that a series stands in; also the first component of its name."""

    INCOME = "Income statement"
    BALANCE = "Balance sheet"
    CASH_FLOW = "Cash flow statement"
    EQUITY = "Statement of equity"
    COMPREHENSIVE = "Comprehensive income"
    KPI = "Operating indicators"
    GUIDANCE = "Guidance"
    SEGMENTS = "Segments"
    OTHER = "Other"


class HierarchyMethod(StrEnum):
    """How the name of a series was rebuilt."""

    TOTALS = "totals"  # from row order and closing totals
    TREE = "tree"  # from the standard tree of the statement
    FLAT = "flat"  # statement and label alone


class LabelMethod(StrEnum):
    """Where the English label of a series comes from."""

    REPORTED = "reported"  # the filing is in English
    TABLE = "table"  # from the own label table
    UNTRANSLATED = "untranslated"


COMPANIES = Table(
    "companies",
    "one company",
    {
        "company_id": (pl.String, "source and its own id: sec:320193, edinet:E00012"),
        "source": (pl.String, "name of the source: sec, edinet, demo"),
        "disclosure": (pl.String, "public, anonymized or private (law 9)"),
        "ticker": (pl.String, "ticker or security code; null if unknown"),
        "name": (pl.String, "name in English, or the only one known"),
        "name_local": (pl.String, "name in the filing's language; null if English"),
        "country": (pl.String, "ISO 3166 alpha-2 code of the headquarters"),
        "exchange": (pl.String, "exchange; null if unknown"),
        "us": (pl.Boolean, "traded on a US exchange, depositary receipts included"),
        "industry": (pl.String, "industry code or name of the source"),
        "fiscal_year_end": (pl.String, "MM-DD of the last fiscal year seen"),
        "language": (pl.String, "language of its filings, BCP 47"),
    },
)
SERIES = Table(
    "series",
    "one line item of one company",
    {
        "series_id": (pl.String, "company, concept, statement, unit and dimensions, joined by /"),
        "company_id": (pl.String, "company"),
        "name": (pl.String, "hierarchical name: statement | section … | label, in English"),
        "name_local": (pl.String, "the same as filed; null if English"),
        "label": (pl.String, "last component, in English or as filed"),
        "label_method": (pl.String, "reported, table or untranslated"),
        "concept": (pl.String, "the source's own name: an XBRL tag or the item's text"),
        "statement": (pl.String, "statement, one of Statement"),
        "category": (pl.String, "one of the six categories; null until assigned"),
        "unit": (pl.String, "currency code, CODE/share, shares, ratio, count"),
        "currency": (pl.String, "currency code; null for unitless series"),
        "dimensions": (pl.String, "axis=member of a dimensioned fact; null if consolidated"),
        "row_order": (pl.Int64, "row of the line item in its newest statement"),
        "method": (pl.String, "how the name was rebuilt: totals, tree or flat"),
        "depth": (pl.Int64, "components of the name"),
    },
)
POINTS = Table(
    "points",
    "one reported value of a series",
    {
        "point_id": (pl.String, "series, period and document, joined"),
        "series_id": (pl.String, "series"),
        "company_id": (pl.String, "company"),
        "value": (pl.String, "decimal, exactly as reported, in the series' unit"),
        "period_start": (pl.Date, "first day; null for an instant"),
        "period_end": (pl.Date, "last day, or the day of an instant"),
        "months": (pl.Int64, "length as filed in months: 0 for an instant, 3, 6, 9, 12"),
        "fiscal_year": (pl.Int64, "fiscal year, named by the company's convention"),
        "fiscal_period": (pl.String, "FY, H1, H2, Q1 to Q4, or 9M; of the fiscal year"),
        "calendar_period": (pl.String, "calendar year, half or quarter: 2024, 2024-H1, 2024-Q1"),
        "period_type": (pl.String, "annual, half, quarter or nine_months; of the period"),
        "document": (pl.String, "reference of the filing: accession number or document id"),
        "filed": (pl.Date, "day of filing"),
        "report": (pl.Int64, "number of the statement within the filing; null if none"),
        "line": (pl.Int64, "row within that statement; null if none"),
        "auto_generated": (pl.Boolean, "stands in no statement: only in tags or a summary"),
        "computed": (pl.Boolean, "derived by us, never filed"),
        "restatements": (pl.Int64, "earlier filings that gave another value for it"),
    },
)
# Values that a later filing replaced: the columns of POINTS, and the point that stands.
HISTORY = Table(
    "history",
    "one value that a later filing restated",
    {**POINTS.columns, "replaced_by": (pl.String, "point that stands")},
)
# Rows of statements in filing order, for the ±10 neighbours, sections and pictures.
ROWS = Table(
    "rows",
    "one row of one statement of one filing",
    {
        "document": (pl.String, "filing"),
        "report": (pl.Int64, "number of the statement within the filing"),
        "line": (pl.Int64, "row, ascending"),
        "company_id": (pl.String, "company"),
        "statement": (pl.String, "statement, one of Statement"),
        "series_id": (pl.String, "series; null for a heading"),
        "label": (pl.String, "the row's label as filed"),
        "parenthetical": (pl.Boolean, "stands in brackets beside another row"),
        "negated": (pl.Boolean, "shown with the opposite sign"),
    },
)
TABLES = (COMPANIES, SERIES, POINTS, HISTORY, ROWS)


@dataclass(frozen=True, slots=True)
class Statements:
    """What a reader hands over: frames with exactly the schemas above, and its books.

    `ledger` and `tallies` close over files, lines and points (law 2). Sorted by the id columns,
    so that the order of the input does not matter.
    """

    companies: pl.DataFrame
    series: pl.DataFrame
    points: pl.DataFrame
    history: pl.DataFrame
    rows: pl.DataFrame
    ledger: Sequence[LedgerRow] = field(default=())
    tallies: Sequence[StageTally] = field(default=())
