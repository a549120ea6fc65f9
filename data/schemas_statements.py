"""The tables of financial statements; values are decimals as text, exactly as reported."""

from __future__ import annotations

import polars as pl

from data.schemas import Table

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
        "name_kana": (pl.String, "how the local name is read, in kana; null if unknown"),
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
        "category": (pl.String, "category, such as balance_sheet; null until assigned"),
        "unit": (pl.String, "currency code, CODE/share, shares, ratio, count, or a measure"),
        "currency": (pl.String, "currency code; null for unitless series"),
        "dimensions": (pl.String, "axis=member of a dimensioned fact; null if consolidated"),
        "balance": (pl.String, "debit or credit, as the taxonomy says; null if unknown"),
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
        "fiscal_year": (
            pl.Int64,
            "fiscal year, named as in conventions or, where that is unknown, as the recipe says",
        ),
        "fiscal_period": (pl.String, "FY, H1, H2, Q1 to Q4, or 9M; of the fiscal year"),
        "calendar_period": (pl.String, "calendar year, half or quarter: 2024, 2024-H1, 2024-Q1"),
        "period_type": (pl.String, "annual, half, quarter or nine_months; of the period"),
        "document": (pl.String, "reference of the filing: accession number or document id"),
        "filed": (pl.Date, "day of filing"),
        "report": (pl.Int64, "number of the statement within the filing; null if none"),
        "line": (pl.Int64, "row within that statement; null if none"),
        "auto_generated": (
            pl.Boolean,
            "is in no statement, only in tags or an unconfirmed summary",
        ),
        "computed": (pl.Boolean, "derived by us, never filed"),
        "restatements": (pl.Int64, "earlier filings that gave another value for it"),
    },
)
# Values that a later filing replaced: the columns of POINTS, and the point that replaced them.
HISTORY = Table(
    "history",
    "one value that a later filing restated",
    {**POINTS.columns, "replaced_by": (pl.String, "point that replaced it")},
)
# The values as numbers, for people who reckon with them. The text in `points` is what was filed.
AMOUNTS = Table(
    "amounts",
    "one reported value as a number",
    {
        "point_id": (pl.String, "point"),
        "value": (pl.Decimal(38, 10), "the value; null if it has more digits than fit"),
    },
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
        "series_id": (
            pl.String,
            "series; null for a heading, or where several dimensioned series share the row",
        ),
        "label": (pl.String, "the row's label as filed"),
        "parenthetical": (pl.Boolean, "shown in brackets beside another row"),
        "negated": (pl.Boolean, "shown with the opposite sign"),
    },
)
# How companies name their fiscal years and which days close them, as far as the filings show it.
CONVENTIONS = Table(
    "conventions",
    "how one company names and closes its fiscal years",
    {
        "company_id": (pl.String, "company"),
        "named_by": (
            pl.String,
            "end or start: the calendar year that names a fiscal year; null: nothing shows it, "
            "or both agree (calendar)",
        ),
        "evidence": (
            pl.String,
            "calendar, words, fy, recipe, or null; see docs/questions.md",
        ),
        "agreeing": (pl.Int64, "statements of filings that show named_by"),
        "disagreeing": (pl.Int64, "statements that show the other name"),
        "example": (pl.String, "one of them: filing, what it says, and the end of that year"),
        "term_offset": (
            pl.Int64,
            "fiscal term (第N期) minus the calendar year in which it ends; null if unsteady",
        ),
        "days": (
            pl.String,
            "stated: period ends are the true days; rounded: the nearest month's ends, the true "
            "ones in closings where known; null: unknown",
        ),
    },
)
CLOSINGS = Table(
    "closings",
    "the true last day of one period of a company",
    {
        "company_id": (pl.String, "company"),
        "period_end": (pl.Date, "the last day as in points, rounded to a month's end"),
        "closed": (pl.Date, "the true last day"),
        "evidence": (pl.String, "document_name, words, or companyfacts"),
        "document": (pl.String, "filing that says so"),
    },
)
STATEMENT_TABLES = (COMPANIES, SERIES, POINTS, HISTORY, ROWS, CONVENTIONS, CLOSINGS)

# Public: no column reveals a value. `point_id` is left out, since it identifies the value.
QUESTIONS = Table(
    "questions",
    "one question, without its answer",
    {
        "index": (pl.Int64, "number of the question, from 0; the same in the answers"),
        "question": (pl.String, "the question"),
        "unit": (pl.String, "unit asked for: currency, CODE/share, shares, percent, ratio, count"),
        "category": (pl.String, "category, such as balance_sheet"),
        "level": (pl.String, "easy, medium or hard"),
        "ticker": (pl.String, "ticker or securities code; null if unknown"),
        "company": (pl.String, "name of the company as the question writes it"),
        "company_id": (pl.String, "source and its own id"),
        "fiscal_period": (pl.String, "fiscal year and part: FY2010, 2010-Q1; null if unknown"),
        "calendar_period": (pl.String, "calendar year, half or quarter"),
        "period_type": (pl.String, "annual, half, quarter or nine_months"),
        "pi_design": (pl.Float64, "inclusion probability of the sampling design"),
        "is_replacement": (pl.Boolean, "replaces a drawn point that could not be asked for"),
        "document": (pl.String, "source reference: accession number or document id"),
    },
)
ANSWERS = Table(
    "answers",
    "one answer; private",
    {
        "index": (pl.Int64, "number of the question"),
        "task_id": (pl.String, "id of the task in the pool and the release"),
        "answer": (pl.String, "the answer in words"),
        "value": (pl.String, "decimal in the scale asked for"),
        "unit": (pl.String, "unit of the answer"),
        "scale": (pl.Int64, "base units in one unit of the value"),
        "decimals": (pl.Int64, "decimals of the value"),
        "point_id": (pl.String, "data point of the answer, in points or, if replaced, in history"),
        "document": (pl.String, "filing"),
        "report": (pl.Int64, "number of the statement within the filing; null if none"),
        "line": (pl.Int64, "row within that statement; null if none"),
        "operation": (pl.String, "difference, growth or ratio of two values; null for one value"),
        "second_point_id": (pl.String, "the second data point; null for one value"),
    },
)
