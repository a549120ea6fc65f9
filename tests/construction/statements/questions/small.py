"""Small databases made by hand: one line per series, one value per period."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import polars as pl

from construction.statements.model import (
    CLOSINGS,
    COMPANIES,
    CONVENTIONS,
    HISTORY,
    POINTS,
    ROWS,
    SERIES,
    Statements,
)
from construction.statements.questions.make import DRAWN
from data.schemas import Table

YEAR_END = date(2010, 3, 31)


@dataclass
class Book:
    """Collects rows; what is not said has a default."""

    companies: list[dict[str, Any]] = field(default_factory=list)
    series: list[dict[str, Any]] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    conventions: list[dict[str, Any]] = field(default_factory=list)
    closings: list[dict[str, Any]] = field(default_factory=list)

    def company(self, company_id: str, name: str, **more: Any) -> str:
        result = {"company_id": company_id, "name": name, "source": "demo", "disclosure": "public"}
        self.companies.append(result | {"us": True, "language": "en"} | more)
        return company_id

    def line(self, company_id: str, name: str, **more: Any) -> str:
        """A series by its hierarchical name; concept and id follow from it."""
        statement, *_, label = name.split(" | ")
        concept = more.pop("concept", label)
        unit = more.pop("unit", "USD")
        series_id = f"{company_id}/{concept}/{statement}/{unit}/{more.get('dimensions') or ''}"
        result = {
            "series_id": series_id, "company_id": company_id, "name": name, "label": label,
            "label_method": "reported", "concept": concept, "statement": statement,
            "category": statement, "unit": unit, "depth": name.count("|") + 1,
        }  # fmt: skip
        self.series.append(result | more)
        return series_id

    def value(self, series_id: str, value: str, end: date = YEAR_END, **more: Any) -> str:
        """A point; twelve months of the fiscal year of `end` unless told otherwise."""
        months = more.get("months", 12)
        document = more.get("document", "doc-1")
        point_id = f"{series_id}@{end.isoformat()}x{months}@{document}"
        result = {
            "point_id": point_id, "series_id": series_id, "value": value, "period_end": end,
            "company_id": series_id.split("/")[0], "months": months, "fiscal_year": end.year,
            "fiscal_period": "FY", "period_type": "annual", "calendar_period": str(end.year),
            "document": document, "filed": date(2010, 6, 25), "report": 1, "line": 1,
            "computed": False,
        }  # fmt: skip
        self.points.append(result | more)
        return point_id

    def restated(self, point_id: str, value: str, **more: Any) -> None:
        point = next(row for row in self.points if row["point_id"] == point_id)
        old = {"point_id": f"{point_id}-old", "value": value, "replaced_by": point_id}
        self.history.append(point | old | {"document": "doc-0"} | more)

    def row(self, line: int, label: str, series_id: str | None = None, **more: Any) -> None:
        result = {
            "document": "doc-1", "report": 1, "line": line, "label": label, "series_id": series_id,
            "statement": "Balance sheet", "parenthetical": False, "negated": False,
        }  # fmt: skip
        self.rows.append(result | more)

    def close(self) -> Statements:
        return Statements(
            _frame(COMPANIES, self.companies),
            _frame(SERIES, self.series),
            _frame(POINTS, self.points),
            _frame(HISTORY, self.history),
            _frame(ROWS, self.rows),
            _frame(CONVENTIONS, self.conventions),
            _frame(CLOSINGS, self.closings),
        )


def _frame(table: Table, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    full = [{name: row.get(name) for name in table.schema} for row in rows]
    return pl.DataFrame(full, schema=table.schema)


def drawn(*point_ids: str, category: str = "balance_sheet") -> pl.DataFrame:
    rows = [(point_id, category, 0.5, False) for point_id in point_ids]
    return pl.DataFrame(rows, schema=DRAWN, orient="row")
