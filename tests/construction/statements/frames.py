"""Small tables of companies, series, points and rows for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl

from construction.statements.model import COMPANIES, POINTS, ROWS, SERIES
from data.schemas import Table

_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "companies": {
        "company_id": "demo:1",
        "source": "demo",
        "country": "US",
        "fiscal_year_end": "12-31",
        "language": "en",
    },
    "series": {
        "company_id": "demo:1",
        "label_method": "reported",
        "unit": "USD",
        "currency": "USD",
        "method": "flat",
        "depth": 2,
    },
    "points": {
        "company_id": "demo:1",
        "value": "1000",
        "document": "D1",
        "filed": date(2011, 2, 1),
        "auto_generated": False,
        "computed": False,
        "restatements": 0,
    },
    "rows": {
        "company_id": "demo:1",
        "document": "D1",
        "report": 1,
        "parenthetical": False,
        "negated": False,
    },
}


def table(kind: Table, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A frame of one of the model's tables; what a row leaves out gets a plain default."""
    empty = dict.fromkeys(kind.columns)
    filled = [{**empty, **_DEFAULTS[kind.name], **row} for row in rows]
    return pl.DataFrame(filled, schema=kind.schema)


def companies(*rows: Mapping[str, Any]) -> pl.DataFrame:
    return table(COMPANIES, rows)


def series(*rows: Mapping[str, Any]) -> pl.DataFrame:
    return table(SERIES, rows)


def points(*rows: Mapping[str, Any]) -> pl.DataFrame:
    return table(POINTS, rows)


def rows(*given: Mapping[str, Any]) -> pl.DataFrame:
    return table(ROWS, given)
