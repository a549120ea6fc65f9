"""The tables, indexed: companies by id and folded name, series and points by company."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from construction.statements.model import COMPANIES, POINTS, SERIES
from construction.statements.store import read_tables
from construction.statements.tools.matching import core
from data.text.folding import fold_words

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NameKey:
    """One name that a company can be found by."""

    owner: int
    folded: str
    core: str


@dataclass(frozen=True, slots=True)
class Database:
    """Companies sorted by id; `series` and `points` sorted by company, with their slices.

    `exact` maps folded tickers, ids and source ids to positions in `companies`.
    """

    companies: Sequence[Record]
    by_id: Mapping[str, int]
    exact: Mapping[str, Sequence[int]]
    names: Sequence[NameKey]
    series: pl.DataFrame
    points: pl.DataFrame
    series_slices: Mapping[str, tuple[int, int]]
    point_slices: Mapping[str, tuple[int, int]]
    owners: Mapping[str, str]

    def company(self, company_id: str) -> Record | None:
        position = self.by_id.get(company_id)
        return None if position is None else self.companies[position]

    def series_of(self, company_id: str) -> pl.DataFrame:
        """Series of a company in order of statement and row."""
        return self.series.slice(*self.series_slices.get(company_id, (0, 0)))

    def points_of(self, company_id: str) -> pl.DataFrame:
        """Points of a company, newest first."""
        return self.points.slice(*self.point_slices.get(company_id, (0, 0)))


def open_database(folder: Path) -> Database:
    """The companies, series and points of `folder`, indexed. Raises InputError."""
    tables = read_tables(folder, (COMPANIES, SERIES, POINTS))
    return index_database(tables["companies"], tables["series"], tables["points"])


def index_database(companies: pl.DataFrame, series: pl.DataFrame, points: pl.DataFrame) -> Database:
    """Index the three tables; the order of their rows does not matter."""
    records = companies.sort("company_id").to_dicts()
    ordered = series.sort(
        ["company_id", "statement", "row_order", "name", "series_id"], nulls_last=True
    )
    newest = points.sort(
        ["company_id", "period_end", "months", "filed", "point_id"],
        descending=[False, True, True, True, False],
        nulls_last=True,
    )
    return Database(
        companies=records,
        by_id={record["company_id"]: position for position, record in enumerate(records)},
        exact=_exact(records),
        names=_names(records),
        series=ordered,
        points=newest,
        series_slices=_slices(ordered),
        point_slices=_slices(newest),
        owners=dict(zip(ordered["series_id"], ordered["company_id"], strict=True)),
    )


def _slices(frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Offset and length of each company in a frame sorted by company."""
    lengths = frame.group_by("company_id", maintain_order=True).len()
    slices, start = {}, 0
    for company_id, length in lengths.iter_rows():
        slices[company_id] = (start, length)
        start += length
    return slices


def _exact(records: Sequence[Record]) -> dict[str, list[int]]:
    exact: dict[str, list[int]] = {}
    for position, record in enumerate(records):
        company_id: str = record["company_id"]
        keys = {company_id, company_id.partition(":")[2], record["ticker"] or ""}
        for key in sorted({fold_words(key) for key in keys} - {""}):
            exact.setdefault(key, []).append(position)
    return exact


def _names(records: Sequence[Record]) -> list[NameKey]:
    return [
        NameKey(position, fold_words(name), core(name))
        for position, record in enumerate(records)
        for name in (record["name"], record["name_local"])
        if name
    ]
