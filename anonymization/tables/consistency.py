"""Consistency between tables: aggregates aligned with rows, and the noise of the original data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymization.tables.cells import Bools, Floats, NumericColumn, numbers
from anonymization.tables.config import AggregateConfig, ColumnRole, TableConfig
from anonymization.tables.fidelity import spearman
from data.errors import InputError

_LEAST_CELLS = 3  # of a correlation


@dataclass(frozen=True, slots=True)
class Aligned:
    """How a given aggregate column agrees with the sums of rows.

    `cells` given, `matched` with rows, `moved` by alignment. `offset`: mean of log(given / sum of
    rows) before, and after alignment with the perturbed sums; it is the coverage of the given
    table, which is preserved. `shape`: Spearman correlation of given values and row sums, before
    and after; `kept`: Pearson correlation of the logarithms of the given and the aligned column.
    """

    column: str
    cells: int
    matched: int
    moved: int
    offset_before: float | None
    offset_after: float | None
    shape_before: float | None
    shape_after: float | None
    kept: float | None


def align(
    given: pl.DataFrame,
    before: pl.DataFrame,
    after: pl.DataFrame,
    config: TableConfig,
    aggregate: AggregateConfig,
) -> tuple[pl.DataFrame, tuple[Aligned, ...]]:
    """The given aggregates changed in proportion to the sums of rows: given · |new sum / old sum|.

    Rows, columns, formats and signs stay: if a sum changes its sign, the magnitudes decide. Zeros
    and missing cells stay. Errors: `InputError` for missing columns, and for cells that would be
    released unchanged because no rows change them.
    """
    _check(given, before, aggregate)
    aligned, comparisons = given, []
    for column, measure in aggregate.values.items():
        target = NumericColumn(given[column])
        cells = target.cells(slice(0, given.height))
        old, new = (_sums(given, rows, config, aggregate, measure) for rows in (before, after))
        ratio = np.abs(np.divide(new, old, out=np.full_like(old, np.nan), where=old != 0))
        use = cells.known & (cells.value != 0)
        _require_rows(column, aggregate, int((use & ~np.isfinite(ratio)).sum()))
        moved = np.where(use, cells.settled(cells.value * np.where(use, ratio, 1.0)), cells.value)
        values = cells.value / cells.scale, moved / cells.scale
        aligned = aligned.with_columns(target.written(moved))
        comparisons.append(_compared(column, values, (old, new), use))
    return aligned, tuple(comparisons)


def _require_rows(column: str, aggregate: AggregateConfig, without: int) -> None:
    """Errors: `InputError` if cells are `without` rows that add up to something."""
    if without:
        rows = ", ".join(aggregate.by.values())
        actual = f"{without} cells with no rows by {rows} that add up to a sum"
        expected = "rows for every cell, since a cell without rows would be released unchanged"
        todo = "Remove these cells from the aggregates, or correct `by`."
        raise InputError(column, actual, expected, todo)


def _compared(
    column: str, values: tuple[Floats, Floats], sums: tuple[Floats, Floats], use: Bools
) -> Aligned:
    (value, moved), (old, new) = values, sums
    return Aligned(
        column=column,
        cells=len(use),
        matched=int(np.isfinite(old).sum()),
        moved=int((value != moved).sum()),
        offset_before=_offset(value, old, use),
        offset_after=_offset(moved, new, use),
        shape_before=_shape(value, old, use),
        shape_after=_shape(moved, new, use),
        kept=_kept(value[use], moved[use]),
    )


def _kept(value: Floats, moved: Floats) -> float | None:
    logs = np.log(np.abs(value)), np.log(np.abs(moved))
    if len(value) < _LEAST_CELLS or not all(map(np.ptp, logs)):
        return None
    from scipy.stats import pearsonr  # late, as in `fidelity`

    return round(float(pearsonr(*logs).statistic), 9)


def _offset(value: Floats, total: Floats, use: Bools) -> float | None:
    same = use & (value * total > 0)
    return round(float(np.log(value[same] / total[same]).mean()), 9) if same.any() else None


def _shape(value: Floats, total: Floats, use: Bools) -> float | None:
    return spearman(value[use], total[use]) if use.sum() >= _LEAST_CELLS else None


def totals(frame: pl.DataFrame, config: TableConfig, by: tuple[str, ...]) -> pl.DataFrame:
    """Sums of the measures per industry, region or period, as named in `by`."""
    measures = [pl.Series(name, numbers(frame[name])) for name in config.measures]
    keys = [_key(config, name, name) for name in by]
    table = frame.select(*keys, *measures)
    sums = [pl.col(n).filter(pl.col(n).is_finite()).sum() for n in config.measures]
    return table.group_by(by).agg(pl.len().alias("rows"), *sums).sort(by)


def _key(config: TableConfig, name: str, row: str) -> pl.Expr:
    """Column `name` as text, to be compared with the column `row` of the rows, under its name."""
    text = pl.col(name).cast(pl.String).fill_null("")
    cut = text.str.slice(0, config.period_chars) if row == config.period else text
    return cut.alias(row)


def _sums(
    given: pl.DataFrame,
    rows: pl.DataFrame,
    config: TableConfig,
    aggregate: AggregateConfig,
    measure: str,
) -> Floats:
    """Per row of the given table the sum of the measure over its rows; NaN without rows."""
    by = tuple(aggregate.by.values())
    sums = totals(rows, config, by).select(*by, measure)
    keys = [_key(config, name, row) for name, row in aggregate.by.items()]
    joined = given.select(keys).join(sums, on=by, how="left", maintain_order="left")
    return joined[measure].fill_null(float("nan")).to_numpy()


def _check(given: pl.DataFrame, rows: pl.DataFrame, aggregate: AggregateConfig) -> None:
    missing = [n for n in (*aggregate.by, *aggregate.values) if n not in given.columns]
    missing += [n for n in (*aggregate.by.values(), *aggregate.values.values()) if n not in rows]
    if missing:
        actual, expected = f"no column {', '.join(sorted(missing))}", "the configured columns"
        raise InputError("aggregates", actual, expected, "Correct the configuration.")


@dataclass(frozen=True, slots=True)
class NativeNoise:
    """One kind of noise in the original table: its count before and after, and whether it is at
    the same positions."""

    kind: str
    column: str
    before: int
    after: int
    same_places: bool


def native_noise(
    before: pl.DataFrame, after: pl.DataFrame, config: TableConfig
) -> tuple[NativeNoise, ...]:
    """Missing cells, mixed units, naming variants, lags and duplicates, before and after."""
    kept = [name for name in config.columns if name in after.columns]
    noise = [_missing(before, after, name) for name in kept]
    noise += [_variants("unit", before, after, n, None) for n in config.of_role(ColumnRole.UNIT)]
    names = config.of_role(ColumnRole.IDENTIFIER)
    noise += [
        _variants("naming variant", before, after, name, config.entity)
        for name in names
        if name != config.entity and name in after.columns
    ]
    if config.period is not None:
        noise.append(_compare("gap", config.period, *(_gaps(f, config) for f in (before, after))))
    pair = (_repeats(frame.select(kept)) for frame in (before, after))
    noise.append(_compare("duplicate row", "", *pair))
    return tuple(noise)


def _compare(kind: str, column: str, old: pl.Series, new: pl.Series) -> NativeNoise:
    """Two columns of labels (0: no noise in this row); the same labels at the same rows."""
    before, after = int((old != 0).sum()), int((new != 0).sum())
    return NativeNoise(kind, column, before, after, bool((old == new).all()))


def _missing(before: pl.DataFrame, after: pl.DataFrame, name: str) -> NativeNoise:
    """Nulls and texts without a letter or digit, such as `－`; the marker itself must stay."""

    def labels(column: pl.Series) -> pl.Series:
        text = column.cast(pl.String)
        blank = text.is_null() | ~text.str.contains(r"[\p{L}\p{N}]").fill_null(False)
        return blank.cast(pl.Int64)

    old, new = before[name], after[name]
    compared = _compare("missing cell", name, labels(old), labels(new))
    marks = old.cast(pl.String).filter(labels(old) == 1).fill_null("\x00").to_list()
    same = marks == new.cast(pl.String).filter(labels(new) == 1).fill_null("\x00").to_list()
    return NativeNoise(
        "missing cell", name, compared.before, compared.after, same and compared.same_places
    )


def _first_seen(column: pl.Series) -> pl.Series:
    """Each value as the number of its first row: columns with the same repeats get equal labels."""
    table = pl.DataFrame({"value": column}).with_row_index("row", offset=1)
    return table.select(pl.col("row").min().over("value").cast(pl.Int64))["row"]


def _variants(
    kind: str, before: pl.DataFrame, after: pl.DataFrame, name: str, within: str | None
) -> NativeNoise:
    """Rows whose value is not the first one of its entity (or of the table), by first row."""

    def labels(frame: pl.DataFrame) -> pl.Series:
        value = frame[name].cast(pl.String).fill_null("\x00")
        if within is None:
            return _first_seen(value).replace(1, 0)
        entity = _first_seen(frame[within].cast(pl.String).fill_null("\x00"))
        table = pl.DataFrame({"entity": entity, "value": value})
        both = _first_seen(table.select(pl.struct("entity", "value").alias("both"))["both"])
        return pl.select(pl.when(both == entity).then(0).otherwise(both))["literal"]

    return _compare(kind, name, labels(before), labels(after))


def _gaps(frame: pl.DataFrame, config: TableConfig) -> pl.Series:
    """Per row the number of periods since the entity's previous row; 0 for one or none.

    Periods are cut to `period_chars`, and may be years, quarters or dates.
    """
    assert config.period is not None
    entity = _first_seen(frame[config.entity].cast(pl.String).fill_null("\x00"))
    period = frame[config.period].cast(pl.String)
    at = period.str.slice(0, config.period_chars).rank("dense").cast(pl.Int64)
    table = pl.DataFrame({"entity": entity, "period": period, "at": at})
    step = (pl.col("at") - pl.col("at").shift()).over("entity", order_by="period")
    return table.select(pl.when(step > 1).then(step).otherwise(0).alias("gap"))["gap"]


def _repeats(frame: pl.DataFrame) -> pl.Series:
    """Rows that repeat an earlier one in every column, labelled by that row; 0 for all others."""
    row = pl.DataFrame({"row": pl.int_range(1, frame.height + 1, eager=True)})
    both = pl.concat([frame, row], how="horizontal")
    first = both.select(pl.col("row").min().over(frame.columns).alias("first"))["first"]
    return pl.select(pl.when(first == row["row"]).then(0).otherwise(first))["literal"]
