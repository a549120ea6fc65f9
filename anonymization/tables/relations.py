"""What must hold between figures: hard relations between measures and derived columns, restored or
recomputed after perturbation; and consistency between tables: aggregates aligned with rows, and the
noise of the original data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
import polars as pl

from anonymization.tables.cells import Bools, Cells, Floats, NumericColumn, numbers
from anonymization.tables.config import (
    AggregateConfig,
    BoundRelation,
    ColumnRole,
    DerivedKind,
    Formula,
    Relations,
    SumRelation,
    TableConfig,
)
from anonymization.tables.fidelity import spearman
from anonymization.tables.keystream import RowNoise, chunks, normals
from data.errors import InputError

_FALLBACK_SD = 0.1  # log-noise where the formula has no operands
_SAMPLE = 2_000
_LEAST_ROWS = 8
_LOOKS_DERIVED = 0.95


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A derived column: cells in which the formula held, cells that kept their own deviation
    from it, and cells without operands, which got log-noise (sd 0.1) instead."""

    column: str
    held: int
    deviating: int
    without_operands: int


@dataclass(frozen=True, slots=True)
class _Suspect:
    """An undeclared column that follows from others in `share` of the cells."""

    column: str
    formula: Formula
    share: float


def recompute(
    before: pl.DataFrame, after: pl.DataFrame, config: TableConfig, key: bytes
) -> tuple[pl.DataFrame, tuple[Recomputed, ...]]:
    """`after` with its derived columns computed from its own measures.

    `TableConfig` ensures that formulas use measures only.
    """
    recomputed: list[Recomputed] = []
    for name in config.of_role(ColumnRole.DERIVED):
        formula = config.columns[name].formula
        assert formula is not None
        column = NumericColumn(before[name])
        cells = _even(column.cells(slice(0, before.height)), before[name])
        old = _computed(before, formula, config) * cells.scale
        new = _computed(after, formula, config) * cells.scale
        both = cells.known & np.isfinite(old) & np.isfinite(new)
        held = both & (np.abs(old - cells.value) <= _tolerance(cells))
        deviating = both & ~held & (old != 0)
        missing = cells.known & ~held & ~deviating
        noise = np.exp(_FALLBACK_SD * _noise(before, config, key, name))
        factor = np.where(deviating, _safe(new, old), noise)
        value = np.where(held, _rounded(new, cells), cells.settled(cells.value * factor))
        after = after.with_columns(_written(column, np.where(cells.known, value, 0.0), cells))
        counts = (int(mask.sum()) for mask in (held, deviating, missing))
        recomputed.append(Recomputed(name, *counts))
    return after, tuple(recomputed)


def _even(cells: Cells, series: pl.Series) -> Cells:
    """Floats of a column with the decimals of the value that has most: 1.5 is read as 1.50."""
    if not series.dtype.is_float():
        return cells
    scale = float(np.max(cells.scale, initial=1.0))
    grid = np.full_like(cells.grid, float(bool(cells.grid[cells.known].all())))
    value = np.where(cells.known, cells.value / cells.scale, 0.0) * scale
    return Cells(np.rint(value) if grid.all() else value, grid, scale, cells.known, False)


def _rounded(value: Floats, cells: Cells) -> Floats:
    """Rounded to the last decimal, unless the column has more decimals than anyone reports."""
    return np.where(cells.grid > 0, np.rint(value), value)


def _written(column: NumericColumn, value: Floats, cells: Cells) -> pl.Series:
    series = column.series
    if not series.dtype.is_float():
        return column.written(value)
    real = np.where(cells.known, value / cells.scale, series.to_numpy())
    new = pl.Series(series.name, real, dtype=series.dtype)
    return new.zip_with(series.is_not_null(), pl.Series(series.name, [None], dtype=series.dtype))


def _tolerance(cells: Cells) -> Floats:
    """One unit of the last decimal (rounding or truncation), or 1e-9 of a float's magnitude."""
    return np.where(cells.grid > 0, 1.0, 1e-9 * np.abs(cells.value) + 1e-12)


def _safe(numerator: Floats, denominator: Floats) -> Floats:
    out = np.ones_like(numerator)
    return np.divide(numerator, denominator, out=out, where=denominator != 0)


def _noise(frame: pl.DataFrame, config: TableConfig, key: bytes, column: str) -> Floats:
    period = None if config.period is None else frame[config.period]
    source = RowNoise(key, f"derived/{column}", frame[config.entity], period, 1)
    return np.concatenate(
        [np.zeros(0), *(normals(source.words(rows)[0]) for rows in chunks(frame.height))]
    )


def _computed(frame: pl.DataFrame, formula: Formula, config: TableConfig) -> Floats:
    """The formula per row; NaN where an operand is missing or the divisor is zero."""
    operands = [numbers(frame[name]) for name in formula.of]
    if formula.kind is DerivedKind.GROWTH:
        operands.append(_previous(frame, operands[0], config))
    return _evaluated(formula.kind, operands) * formula.scale


def _evaluated(kind: DerivedKind, operands: list[Floats]) -> Floats:
    if kind is DerivedKind.SUM:
        return np.asarray(np.sum(operands, axis=0))
    first, second = operands
    if kind is DerivedKind.DIFFERENCE:
        return first - second
    ratio = np.divide(first, second, out=np.full_like(first, np.nan), where=second != 0)
    return ratio - 1 if kind is DerivedKind.GROWTH else ratio


def _previous(frame: pl.DataFrame, value: Floats, config: TableConfig) -> Floats:
    """The entity's value in its previous period; NaN in the first. Repeated rows share it."""
    if config.period is None:
        return np.full_like(value, np.nan)
    keys = ("entity", "period")
    table = frame.select(entity=config.entity, period=config.period, value=pl.Series(value))
    periods = table.group_by(keys).agg(pl.col("value").max())
    before = periods.with_columns(pl.col("value").shift().over("entity", order_by="period"))
    joined = table.select(keys).join(
        before, on=keys, how="left", maintain_order="left", nulls_equal=True
    )
    return joined["value"].fill_null(float("nan")).to_numpy()


def find_undeclared(frame: pl.DataFrame, config: TableConfig) -> tuple[_Suspect, ...]:
    """Measures that follow from other numbers and are neither declared nor in a hard relation.

    Ratios, differences, sums of two, and growth are tried on up to 2,000 rows, at scales 1, 100
    and 10,000. A perturbed column next to an unperturbed ratio would reveal the noise.
    """
    related = {frozenset((s.total, *s.parts)) for s in config.relations.sums}
    part = frame.sort(config.entity, nulls_last=True).head(_SAMPLE)
    values = {name: numbers(part[name]) for name in config.measures}
    suspects: dict[frozenset[str], tuple[float, _Suspect]] = {}
    for name in config.measures:
        cells = NumericColumn(part[name]).cells(slice(0, part.height))
        formula, share = _best(name, cells, values, part, config)
        if formula is None or share < _LOOKS_DERIVED:
            continue
        columns = frozenset((name, *formula.of))
        # a = b / c is also c = b / a: the column with more digits is taken as the derived one
        digits = float(np.median(np.abs(cells.value[cells.known])))
        if columns not in related and digits > suspects.get(columns, (-1.0,))[0]:
            suspects[columns] = digits, _Suspect(name, formula, round(share, 4))
    return tuple(sorted((s for _, s in suspects.values()), key=lambda suspect: suspect.column))


def _best(
    name: str,
    cells: Cells,
    values: Mapping[str, Floats],
    frame: pl.DataFrame,
    config: TableConfig,
) -> tuple[Formula | None, float]:
    best: tuple[Formula | None, float] = (None, 0.0)
    for formula, operands in _candidates(name, values, frame, config):
        value = _evaluated(formula.kind, operands) * formula.scale * cells.scale
        both = cells.known & np.isfinite(value) & (cells.value != 0)
        if both.sum() < max(_LEAST_ROWS, cells.known.sum() / 2):
            continue
        close = np.abs(value - cells.value) <= _tolerance(cells)
        share = float((close & both).sum() / both.sum())
        if share > best[1] and _informative(cells.value[both]):
            best = (formula, share)
    return best


def _informative(value: Floats) -> bool:
    """Are the values varied and large enough? A few small whole numbers agree with anything."""
    return len(np.unique(value)) >= _LEAST_ROWS and float(np.median(np.abs(value))) >= 5


def _candidates(
    name: str, values: Mapping[str, Floats], frame: pl.DataFrame, config: TableConfig
) -> Iterator[tuple[Formula, list[Floats]]]:
    others = [other for other in values if other != name]
    for a, b in permutations(others, 2):
        operands = [values[a], values[b]]
        yield Formula(kind=DerivedKind.DIFFERENCE, of=(a, b)), operands
        for scale in (1.0, 100.0, 10_000.0):
            yield Formula(kind=DerivedKind.RATIO, of=(a, b), scale=scale), operands
    for a, b in combinations(others, 2):
        yield Formula(kind=DerivedKind.SUM, of=(a, b)), [values[a], values[b]]
    for a in others:
        grown = [values[a], _previous(frame, values[a], config)]
        for scale in (1.0, 100.0):
            yield Formula(kind=DerivedKind.GROWTH, of=(a,), scale=scale), grown


@dataclass(frozen=True, slots=True)
class Restored:
    """One relation: rows in which it can be checked, held before, and hold after.

    `forced` rows needed more than the rule: parts that share one factor so that the total keeps
    its sign, or a lesser that was set to the greater.
    """

    relation: str
    rows: int
    held_before: int
    hold_after: int
    forced: int


# Rescales a total's remainder: (total, moved remainder, original remainder, rows) → remainder.
_Rescale = Callable[[str, Floats, Floats, Bools], Floats]


def restore(
    columns: Mapping[str, NumericColumn],
    value: dict[str, Floats],
    relations: Relations,
    rescale: _Rescale,
) -> tuple[Restored, ...]:
    """Change `value` (in units of the last decimal) so that relations that held hold again."""
    restored = [_restore_sum(columns, value, relation, rescale) for relation in relations.sums]
    restored += [_restore_bound(columns, value, relation) for relation in relations.bounds]
    return tuple(restored)


def _cells(columns: Mapping[str, NumericColumn], name: str) -> Cells:
    column = columns[name]
    return column.cells(slice(0, len(column.series)))


def _restore_sum(
    columns: Mapping[str, NumericColumn],
    value: dict[str, Floats],
    relation: SumRelation,
    rescale: _Rescale,
) -> Restored:
    """total = sum of the known parts + a remainder.

    Where all parts are known, a remainder of at most one reported unit per part is rounding and
    stays. Any other remainder, such as a missing part, takes the factor of the total's own noise.
    """
    total = _cells(columns, relation.total)
    parts = [_cells(columns, name) for name in relation.parts]
    real = [part.value / part.scale for part in parts]
    rest = total.value / total.scale - sum(real)
    some = total.known & np.logical_or.reduce([part.known for part in parts])
    complete = total.known & np.logical_and.reduce([part.known for part in parts])
    slack = _rounding_unit(total, parts) * len(parts)
    held = complete & (np.abs(rest) <= slack)
    own = _ratio(np.abs(value[relation.total]), np.abs(total.value))
    rest = np.where(held, rest, rescale(relation.total, rest * own, rest, some & ~held))
    moved = _moved(value, relation.parts, parts)
    forced = some & (np.sign(sum(moved) + rest) != np.sign(total.value))
    _share_factor(value, relation.parts, parts, real, moved, forced)
    moved = _moved(value, relation.parts, parts)
    new = (sum(moved) + rest) * total.scale
    new = np.where(held, np.rint(new), total.settled(new))
    value[relation.total] = np.where(some, new, value[relation.total])
    remainder = value[relation.total] / total.scale - sum(moved)
    hold = int((held & (np.abs(remainder) <= slack)).sum())
    name = f"{relation.total} = {' + '.join(relation.parts)}"
    return Restored(name, int(complete.sum()), int(held.sum()), hold, int(forced.sum()))


def _moved(value: Mapping[str, Floats], names: tuple[str, ...], parts: list[Cells]) -> list[Floats]:
    return [value[name] / part.scale for name, part in zip(names, parts, strict=True)]


def _rounding_unit(total: Cells, parts: list[Cells]) -> Floats:
    """The unit a row is reported in: the second finest of its columns', since one of them may
    end in a zero, or be exact, by chance."""
    units = np.sort([c.grid / c.scale for c in (total, *parts)], axis=0)
    return np.asarray(units[1])


def _ratio(after: Floats, before: Floats) -> Floats:
    return np.divide(after, before, out=np.ones_like(after), where=before > 0)


def _share_factor(
    value: dict[str, Floats],
    names: tuple[str, ...],
    parts: list[Cells],
    real: list[Floats],
    moved: list[Floats],
    rows: Bools,
) -> None:
    """In `rows` all parts take the factor of the largest part, so that the sum keeps its sign."""
    largest = np.argmax(np.abs(real), axis=0)
    take = (largest, np.arange(len(largest)))
    factor = _ratio(np.abs(np.array(moved)[take]), np.abs(np.array(real)[take]))
    for name, part in zip(names, parts, strict=True):
        value[name] = np.where(rows, part.settled(part.value * factor), value[name])


def _restore_bound(
    columns: Mapping[str, NumericColumn], value: dict[str, Floats], relation: BoundRelation
) -> Restored:
    """If the lesser exceeds the greater, it is set below it, about as far as it was before.

    With the distance a = log(greater / lesser) before and the excess v after, the new distance is
    a · (1 + e⁻ᵛ) / 2: it depends on the noise, so the old ratio is not revealed.
    """
    lesser, greater = _cells(columns, relation.lesser), _cells(columns, relation.greater)
    known = lesser.known & greater.known
    low, high = lesser.value / lesser.scale, greater.value / greater.scale
    held = known & (low <= high)
    limit, own = value[relation.greater] / greater.scale, value[relation.lesser] / lesser.scale
    passed = held & (own > limit)
    positive = passed & (low > 0) & (limit > 0)
    distance = np.log(_ratio(np.where(positive, high, 1.0), np.where(positive, low, 1.0)))
    excess = np.log(_ratio(np.where(positive, own, 1.0), np.where(positive, limit, 1.0)))
    below = limit * np.exp(-distance * (1 + np.exp(-excess)) / 2) * lesser.scale
    new = np.where(positive, lesser.settled(below), value[relation.lesser])
    forced = held & ((new / lesser.scale > limit) | (low == high)) & (new != limit * lesser.scale)
    new = np.where(forced, np.floor(limit * lesser.scale), new)
    value[relation.lesser] = new
    hold = int((held & (new / lesser.scale <= limit)).sum())
    name = f"{relation.lesser} <= {relation.greater}"
    return Restored(name, int(known.sum()), int(held.sum()), hold, int(forced.sum()))


_LEAST_CELLS = 3  # of a correlation


@dataclass(frozen=True, slots=True)
class _Aligned:
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
) -> tuple[pl.DataFrame, tuple[_Aligned, ...]]:
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
) -> _Aligned:
    (value, moved), (old, new) = values, sums
    return _Aligned(
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


def _totals(frame: pl.DataFrame, config: TableConfig, by: tuple[str, ...]) -> pl.DataFrame:
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
    sums = _totals(rows, config, by).select(*by, measure)
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
class _NativeNoise:
    """One kind of noise in the original table: its count before and after, and whether it is at
    the same positions."""

    kind: str
    column: str
    before: int
    after: int
    same_places: bool


def native_noise(
    before: pl.DataFrame, after: pl.DataFrame, config: TableConfig
) -> tuple[_NativeNoise, ...]:
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


def _compare(kind: str, column: str, old: pl.Series, new: pl.Series) -> _NativeNoise:
    """Two columns of labels (0: no noise in this row); the same labels at the same rows."""
    before, after = int((old != 0).sum()), int((new != 0).sum())
    return _NativeNoise(kind, column, before, after, bool((old == new).all()))


def _missing(before: pl.DataFrame, after: pl.DataFrame, name: str) -> _NativeNoise:
    """Nulls and texts without a letter or digit, such as `－`; the marker itself must stay."""

    def labels(column: pl.Series) -> pl.Series:
        text = column.cast(pl.String)
        blank = text.is_null() | ~text.str.contains(r"[\p{L}\p{N}]").fill_null(False)
        return blank.cast(pl.Int64)

    old, new = before[name], after[name]
    compared = _compare("missing cell", name, labels(old), labels(new))
    marks = old.cast(pl.String).filter(labels(old) == 1).fill_null("\x00").to_list()
    same = marks == new.cast(pl.String).filter(labels(new) == 1).fill_null("\x00").to_list()
    return _NativeNoise(
        "missing cell", name, compared.before, compared.after, same and compared.same_places
    )


def _first_seen(column: pl.Series) -> pl.Series:
    """Each value as the number of its first row: columns with the same repeats get equal labels."""
    table = pl.DataFrame({"value": column}).with_row_index("row", offset=1)
    return table.select(pl.col("row").min().over("value").cast(pl.Int64))["row"]


def _variants(
    kind: str, before: pl.DataFrame, after: pl.DataFrame, name: str, within: str | None
) -> _NativeNoise:
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
