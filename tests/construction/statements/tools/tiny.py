"""A statements database of four fictional companies, small enough to know by heart."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl

from construction.statements.model import COMPANIES, HISTORY, POINTS, ROWS, SERIES, Statements
from construction.statements.tools.database import Database, index_database
from data.schemas import Table

QUANDELL, TAVISTRAND, KIRIGAURA = "sec:9990001", "sec:9990002", "edinet:E90001"
QUANDELL_LTD = "sec:9990003"
REVENUE = f"{QUANDELL}/Revenues/USD"
SEGMENT = f"{QUANDELL}/Revenues/USD/segment=Cloud"
CASH = f"{QUANDELL}/Cash/USD"
SALES_JA = f"{KIRIGAURA}/売上高/JPY"
_STORES = f"{TAVISTRAND}/Stores/count"


def tiny_statements() -> Statements:
    empty = {table.name: pl.DataFrame(schema=table.schema) for table in (HISTORY, ROWS)}
    return Statements(
        companies=_frame(COMPANIES, _companies()),
        series=_frame(SERIES, _series()),
        points=_frame(POINTS, _points()),
        history=empty["history"],
        rows=empty["rows"],
    )


def tiny_database() -> Database:
    made = tiny_statements()
    return index_database(made.companies, made.series, made.points)


def _frame(table: Table, rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=table.schema)


def _companies() -> list[dict[str, Any]]:
    def company(company_id: str, name: str, **more: Any) -> dict[str, Any]:
        base = {"company_id": company_id, "source": "demo", "disclosure": "public", "name": name}
        return base | {"us": True, "country": "US", "fiscal_year_end": "12-31"} | more

    return [
        company(QUANDELL, "Quandell Software, Inc.", ticker="QNDX"),
        company(TAVISTRAND, "Tavistrand Outfitters plc", ticker="TVSX", country="GB"),
        company(QUANDELL_LTD, "Quandell Software Ltd.", ticker="QLTX", country="CA"),
        company(
            KIRIGAURA,
            "Kirigaura Precision Works Co., Ltd.",
            name_local="霧ヶ浦精機株式会社",
            name_kana="キリガウラセイキカブシキガイシャ",
            ticker="0101",
            country="JP",
            us=False,
            fiscal_year_end="03-31",
            language="ja",
        ),
    ]


def _series() -> list[dict[str, Any]]:
    def series(series_id: str, name: str, category: str, **more: Any) -> dict[str, Any]:
        company_id, concept, unit = series_id.split("/")[:3]
        statement, label = name.split(" | ")[0], name.split(" | ")[-1]
        base = {"series_id": series_id, "company_id": company_id, "name": name, "label": label}
        words = {"concept": concept, "unit": unit, "statement": statement, "category": category}
        return base | words | more

    revenue = "Income statement | Revenues | Total revenues"
    return [
        series(REVENUE, revenue, "Income statement", row_order=3),
        series(SEGMENT, revenue, "Segments", dimensions="segment=Cloud", row_order=4),
        series(CASH, "Balance sheet | Cash and cash equivalents", "Balance sheet", row_order=1),
        series(_STORES, "Operating indicators | Stores open", "Operating indicators"),
        series(
            SALES_JA,
            "Income statement | Net sales",
            "Income statement",
            name_local="損益計算書 | 売上高",
        ),
    ]


def _points() -> list[dict[str, Any]]:
    def point(
        series_id: str, value: str, start: date | None, end: date, *named: Any, **more: Any
    ) -> dict[str, Any]:
        year, part, calendar, months = named
        return {
            "point_id": f"{series_id}/{end}/{months}",
            "series_id": series_id,
            "company_id": series_id.split("/")[0],
            "value": value,
            "period_start": start,
            "period_end": end,
            "months": months,
            "fiscal_year": year,
            "fiscal_period": part,
            "calendar_period": calendar,
            "period_type": {0: "annual", 3: "quarter", 6: "half", 12: "annual"}[months],
            "document": "0009990001-24-000007",
            "filed": date(2024, 5, 2),
            "computed": False,
            "restatements": 0,
        } | more

    first, last = date(2024, 1, 1), date(2024, 3, 31)
    january, december = date(2023, 1, 1), date(2023, 12, 31)
    return [
        point(REVENUE, "125000000", first, last, 2024, "Q1", "2024-Q1", 3),
        point(REVENUE, "480000000", january, december, 2023, "FY", "2023", 12, restatements=1),
        point(SEGMENT, "90000000", first, last, 2024, "Q1", "2024-Q1", 3),
        point(CASH, "-5", None, december, 2023, "FY", "2023-Q4", 0),
        point(SALES_JA, "7000", date(2023, 4, 1), last, 2024, "FY", "2023", 12),
        point(SALES_JA, "1500", date(2023, 4, 1), date(2023, 6, 30), 2024, "Q1", "2023-Q2", 3),
    ]
