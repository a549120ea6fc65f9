"""Statements as rows, series and points, for the tests of names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import polars as pl

from construction.statements.hierarchy_rebuilt import rebuild
from tests.construction.statements.frames import points, rows, series

Line = tuple[str, str, str | None]  # concept, label, value


def as_filed(
    lines: Sequence[Line], statement: str = "Balance sheet", document: str = "D1", **more: Any
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Series, rows and points of one statement, in filing order."""
    ids = [f"demo:1/{concept}/{statement}/USD" for concept, _, _ in lines]
    result = [
        {"series_id": i, "concept": c, "label": text, "statement": statement, **more}
        for i, (c, text, _) in zip(ids, lines, strict=True)
    ]
    shown = [
        {"series_id": i, "line": n, "label": text, "statement": statement, "document": document}
        for n, (i, (_, text, _)) in enumerate(zip(ids, lines, strict=True))
    ]
    valued = [
        {
            "point_id": i,
            "series_id": i,
            "value": value,
            "months": 0,
            "period_end": date(2010, 12, 31),
            "document": document,
        }
        for i, (_, _, value) in zip(ids, lines, strict=True)
        if value is not None
    ]
    return series(*result), rows(*shown), points(*valued)


def names(lines: Sequence[Line], statement: str = "Balance sheet", **more: Any) -> list[str]:
    actual = rebuild(*as_filed(lines, statement, **more))
    return [name.removeprefix(f"{statement} | ") for name in actual["name"].to_list()]


def methods(lines: Sequence[Line], statement: str = "Balance sheet") -> list[str]:
    return rebuild(*as_filed(lines, statement))["method"].to_list()


SHEET: list[Line] = [
    ("CashAndCashEquivalentsAtCarryingValue", "Cash", "100000"),
    ("X1", "Spare parts", "20000"),
    ("AssetsCurrent", "Total current assets", "120000"),
    ("Goodwill", "Goodwill", "50000"),
    ("X2", "Timber rights", "30000"),
    ("Assets", "Total assets", "200000"),
    ("AccountsPayableCurrent", "Accounts payable", "40000"),
    ("LiabilitiesCurrent", "Total current liabilities", "40000"),
    ("LongTermDebtNoncurrent", "Long-term debt", "60000"),
    ("CommonStockValue", "Common stock", "10000"),
    ("X3", "Reserve for a rainy day", "90000"),
    ("StockholdersEquity", "Total stockholders' equity", "100000"),
    ("LiabilitiesAndStockholdersEquity", "Total liabilities and equity", "200000"),
]
