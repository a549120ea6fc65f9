"""Missing figures filled in by size: what an answer would be like if everything were reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from construction.analytics.environment.declaration import Declaration, Table

SIZE = "size"  # the family of metrics that say how large a thing is
Tables = Mapping[str, pl.DataFrame]


def sizes_of(declaration: Declaration, table: str) -> list[str]:
    """The columns that say how large the things in a table are, the best first.

    They are those of its metrics of the family `size`, then that of prominence.
    """
    prominent = declaration.prominence.values()
    own = [metric for metric in declaration.metrics if metric.table == table]
    sized = [metric.column for metric in own if SIZE in metric.families]
    return list(dict.fromkeys([*sized, *(m.column for m in own if m.name in prominent)]))


def estimated_tables(declaration: Declaration, tables: Tables) -> dict[str, pl.DataFrame]:
    """The tables with an estimate for each missing number, where it is known what size is.

    The estimate is the size of the row times what the column usually is per unit of size. A row
    without any size has the median one of the same thing in other years, else that of all.
    """
    made = dict(tables)
    for table in declaration.core:
        if sizes := sizes_of(declaration, table.name):
            made[table.name] = _estimated(table, tables[table.name], sizes)
    return made


def _estimated(table: Table, rows: pl.DataFrame, sizes: Sequence[str]) -> pl.DataFrame:
    size = _size(table, rows, sizes)
    numbers = [column.name for column in table.columns if column.type == "number"]
    return rows.with_columns(
        rows[name].fill_null(size * _usual(rows[name], size)) for name in numbers
    )


def _size(table: Table, rows: pl.DataFrame, sizes: Sequence[str]) -> pl.Series:
    """The size of each row, in units of the first size.

    Where that is missing, the smallest that the others suggest: what a bank owes makes it no giant.
    """
    first = rows[sizes[0]]
    others = [rows[name] / (_usual(rows[name], first) or 1.0) for name in sizes[1:]]
    if others:
        first = first.fill_null(pl.select(pl.min_horizontal(others)).to_series())
    years = [column.name for column in table.columns if column.type == "year"]
    entity = [name for name in table.key if name not in years]
    if entity and len(entity) < len(table.key):
        typical = rows.with_columns(first.alias("(size)"))
        first = first.fill_null(typical.select(pl.col("(size)").median().over(entity)).to_series())
    median = first.median()
    return first if median is None else first.fill_null(median)


def _usual(column: pl.Series, size: pl.Series) -> float:
    """The median of a column per unit of size; 0 where there is none."""
    per_size = (column / size).filter(size > 0).drop_nulls().median()
    return float(per_size) if isinstance(per_size, int | float) else 0.0
