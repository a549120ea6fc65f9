"""What joint steps see: rows in canonical order, numbered by group, period and entity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymization.tables.config import TableConfig
from anonymization.tables.keystream import keyed_ranks

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Order:
    """`rows`: positions in the table, in keyed order of entity, then period, then values.

    The other fields have an entry per row in that order. `cell` numbers group and year together:
    rows of one cell are compared with each other. `names` are the entities by number.
    """

    rows: Ints
    entity: Ints
    group: Ints
    cell: Ints
    names: pl.Series


def canonical(frame: pl.DataFrame, config: TableConfig, key: bytes) -> Order:
    """The canonical order of a table, which the order of its rows does not touch.

    Rows that agree in all but their position agree in their values, so that their order is free.
    """
    entity = frame[config.entity].cast(pl.String).fill_null("")
    names = entity.unique().sort()
    hashed = keyed_ranks(key, "order", names)
    names = names.gather(np.argsort(hashed))
    values = [pl.col(name).alias(f"m{i}") for i, name in enumerate(config.measures)]
    table = frame.select(
        *values,
        entity=entity.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64),
        group=_text(frame, config.group),
        period=_text(frame, config.period),
    ).with_row_index("row")
    table = table.sort("entity", "group", "period", pl.exclude("row"), nulls_last=True)
    year = pl.col("period").str.slice(0, config.period_chars)
    table = table.with_columns(
        cell=pl.struct("group", year).rank("dense").cast(pl.Int64) - 1,
        group=pl.col("group").rank("dense").cast(pl.Int64) - 1,
    )
    numbers = {name: table[name].to_numpy().astype(np.int64) for name in ("row", "entity", "group")}
    cell = table["cell"].to_numpy().astype(np.int64)
    return Order(numbers["row"], numbers["entity"], numbers["group"], cell, names)


def _text(frame: pl.DataFrame, column: str | None) -> pl.Series:
    if column is None:
        return pl.Series(["" for _ in range(frame.height)], dtype=pl.String)
    return frame[column].cast(pl.String).fill_null("")


def runs(labels: Ints, values: NDArray[np.float64], known: NDArray[np.bool_]) -> list[Ints]:
    """Per label the positions of its known values, ascending by value; ties in given order."""
    at = np.flatnonzero(known)
    at = at[np.lexsort((at, values[at], labels[at]))]
    cuts = np.flatnonzero(np.diff(labels[at])) + 1
    return [part for part in np.split(at, cuts) if len(part)]
