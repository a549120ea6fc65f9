"""Small tables for the tests of table anonymization."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from anonymization.tables.config import (
    BoundRelation,
    ColumnConfig,
    ColumnRole,
    PerturbMethod,
    Relations,
    Step,
    SumRelation,
    TableConfig,
)

KEY = bytes(range(32))


def step(method: PerturbMethod, strength: float, **more: Any) -> Step:
    return Step(method=method, strength=strength, **more)


def company_table(companies: int = 60, years: int = 4) -> pl.DataFrame:
    """Companies of two industries: assets = liabilities + equity, cash <= assets."""
    draw = np.random.default_rng(5)
    size = np.exp(draw.normal(10, 1, companies))
    rows = []
    for company in range(companies):
        for year in range(years):
            level = size[company] * np.exp(draw.normal(0.05 * year, 0.1))
            liabilities, equity = round(level * 0.6) * 1000, round(level * 0.4 + 1) * 1000
            if company == 3:
                equity = -equity // 2000 * 1000
            rows.append(
                {
                    "id": f"C{company:04d}",
                    "industry": "food" if company % 2 else "steel",
                    "year": str(2020 + year),
                    "assets": liabilities + equity,
                    "liabilities": liabilities,
                    "equity": equity,
                    "cash": int(0.8 * (liabilities + equity)) // 1000 * 1000,
                    "people": int(level) + 5,
                }
            )
    return pl.DataFrame(rows)


def company_config(*steps: Step) -> TableConfig:
    measure = ColumnConfig(role=ColumnRole.MEASURE)
    quasi = ColumnConfig(role=ColumnRole.QUASI_IDENTIFIER)
    return TableConfig(
        columns={
            "id": ColumnConfig(role=ColumnRole.IDENTIFIER, prefix="C"),
            **dict.fromkeys(("industry", "year"), quasi),
            **dict.fromkeys(("assets", "liabilities", "equity", "cash", "people"), measure),
        },
        entity="id",
        group="industry",
        period="year",
        steps=steps,
        relations=Relations(
            sums=(SumRelation(total="assets", parts=("liabilities", "equity")),),
            bounds=(BoundRelation(lesser="cash", greater="assets"),),
        ),
    )


def one_column(
    values: list[Any], *steps: Step, dtype: Any = None
) -> tuple[pl.DataFrame, TableConfig]:
    """A table of one measure, an entity per row, and its configuration."""
    ids = [f"e{i}" for i in range(len(values))]
    frame = pl.DataFrame({"id": ids, "x": pl.Series(values, dtype=dtype)})
    config = TableConfig(
        columns={
            "id": ColumnConfig(role=ColumnRole.IDENTIFIER),
            "x": ColumnConfig(role=ColumnRole.MEASURE),
        },
        entity="id",
        steps=steps,
    )
    return frame, config
