"""The perturbation methods: cell noise, joint steps, restored sums, level swapping.

Cellwise: least significant digits and log-noise. Joint: univariate microaggregation of fixed group
size (Domingo-Ferrer and Mateo-Sanz 2002), rank swapping (Moore 1996). Joint steps see rows in
canonical order, numbered by group, period and entity.

Level swapping: each entity takes the level of another, at a noisy rank, for all periods. The levels
(mean logarithm over the periods) of all columns are turned into rank scores within the group and
sent together through the channel that reaches a given distortion with the least information
(reverse water-filling, Cover and Thomas 2006, §10.3.3): directions in which entities differ less
than the distortion, such as the exact ratios between columns, are not sent at all. The score
determines the rank, and the rank determines whose level the entity takes. Compared with independent
noise of the same rank correlation this halves the assignment hits of an attacker who knows all
columns. An entity that makes up most of its group cannot be hidden by any noise that keeps the
group's sums: it keeps its levels, and is counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymization.tables.cells import Bools, Cells, Floats
from anonymization.tables.config import PerturbMethod, Step, TableConfig
from anonymization.tables.keystream import Ints, RowNoise, chunks, normals, uniforms


@dataclass(frozen=True, slots=True)
class Order:
    """`rows`: positions in the table, in keyed order of entity, then period, then values.

    The other fields have an entry per row in that order. `cell` numbers group and year together:
    rows of one cell are compared with each other. `names` are the entities by number. Groups of
    fewer than five entities, and cells of fewer than five rows, are merged (`_merged`).
    """

    rows: Ints
    entity: Ints
    group: Ints
    cell: Ints
    names: pl.Series


def canonical(frame: pl.DataFrame, config: TableConfig, key: bytes) -> Order:
    """The canonical order of a table, which does not depend on the order of its rows.

    Rows that only differ in their position have equal values, so their order is free.
    """
    entity = frame[config.entity].cast(pl.String).fill_null("")
    names = entity.unique().sort()
    hashed = _keyed_ranks(key, "order", names)
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
    years = table.select(year.rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    once = _first_of_pairs(numbers["group"], numbers["entity"])
    group = _merged(numbers["group"], np.zeros_like(cell), once)
    cell = _merged(cell, years, np.ones(len(cell), dtype=np.bool_))
    return Order(numbers["row"], numbers["entity"], group, cell, names)


def _keyed_ranks(key: bytes, stage: str, texts: pl.Series) -> Ints:
    """A pseudo-random rank per row that depends on its text only: the order of joint stages."""
    noise = RowNoise(key, stage, texts, None, 1)
    words = [noise.words(rows)[0] for rows in chunks(len(texts))]
    flat = np.concatenate([np.zeros(0, dtype=np.uint64), *words])
    return np.argsort(np.argsort(flat, kind="stable"), kind="stable")


_LEAST_ROWS = 5  # a smaller group's sum or order would give its rows away


def _merged(label: Ints, within: Ints, counted: Bools) -> Ints:
    """`label` with small ones merged: rows alone in their group would be released as they are.

    Labels with fewer than five `counted` rows become one label per value of `within` (the year);
    if that is still too small, it joins the smallest of the other labels there.
    """
    size = np.bincount(label, counted)
    small = size[label] < _LEAST_ROWS
    if not small.any():
        return label
    pooled = np.where(small, size.size + within, label)
    for at in np.unique(within[small]).tolist():
        here = (within == at) & ~small
        if counted[small & (within == at)].sum() < _LEAST_ROWS and here.any():
            others, which = np.unique(label[here], return_inverse=True)
            smallest = others[np.argmin(np.bincount(which, counted[here]))]
            pooled[small & (within == at)] = smallest
    return np.asarray(np.unique(pooled, return_inverse=True)[1])


def _first_of_pairs(group: Ints, entity: Ints) -> Bools:
    """Per row whether its pair of group and entity has not occurred before."""
    first = np.zeros(len(group), dtype=np.bool_)
    first[np.unique(group * (entity.max(initial=0) + 1) + entity, return_index=True)[1]] = True
    return first


def _text(frame: pl.DataFrame, column: str | None) -> pl.Series:
    if column is None:
        return pl.Series(["" for _ in range(frame.height)], dtype=pl.String)
    return frame[column].cast(pl.String).fill_null("")


def _runs(labels: Ints, values: NDArray[np.float64], known: NDArray[np.bool_]) -> list[Ints]:
    """Per label the positions of its known values, ascending by value; ties in given order."""
    at = np.flatnonzero(known)
    at = at[np.lexsort((at, values[at], labels[at]))]
    cuts = np.flatnonzero(np.diff(labels[at])) + 1
    return [part for part in np.split(at, cuts) if len(part)]


_POWERS = 10.0 ** np.arange(18)


def moved(step: Step, value: Floats, cells: Cells, words: NDArray[np.uint64]) -> Floats:
    """`value` (in units of the last decimal) after a cellwise step, on the grid of its cells."""
    if step.method is PerturbMethod.LSD:
        return cells.settled(_least_digits(value, cells.grid, int(step.strength), uniforms(words)))
    return cells.settled(value * np.exp(step.strength * normals(words)))


def _least_digits(value: Floats, grid: Floats, kept: int, uniform: Floats) -> Floats:
    """Keep the `kept` leading digits, and draw those down to the last reported digit anew."""
    unit = np.where(grid > 0, grid, _finest(value))
    reported = np.rint(np.abs(value) / unit)
    tail = _POWERS[np.maximum(_digits(reported) - kept, 0)]
    head = np.floor(reported / tail) * tail
    return np.asarray((head + np.floor(uniform * tail)) * unit)


_REPORTED = 15  # digits taken of a float that has more than anyone reports
_LEAST_EXPONENT = -290


def _finest(value: Floats) -> Floats:
    """The unit of the fifteenth digit of each value."""
    size = np.maximum(np.abs(value), 10.0**_LEAST_EXPONENT)
    return np.asarray(10.0 ** (np.floor(np.log10(size)) - (_REPORTED - 1)))


def _digits(whole: Floats) -> Ints:
    """How many digits whole numbers of at most 2⁵³ have; 1 for 0."""
    digits = np.log10(np.maximum(whole, 1.0)).astype(np.int64) + 1
    return np.asarray(digits - (_POWERS[digits - 1] > whole) * (digits > 1))


def microaggregated(value: Floats, known: Bools, cell: Ints, size: int) -> Floats:
    """Each value becomes the mean of its micro-group of `size` to 2 · `size` - 1 neighbours.

    Micro-groups are taken in ascending order within a cell (group and year) and a sign, so that
    signs and zeros stay. Fewer than `size` values of a sign share one mean.
    """
    grouped = value.copy()
    for at in _runs(cell * 2 + (value > 0), value, known & (value != 0)):
        starts = np.arange(max(len(at) // size, 1)) * size
        counts = np.diff(np.append(starts, len(at)))
        grouped[at] = np.repeat(np.add.reduceat(value[at], starts) / counts, counts)
    return grouped


def rank_swapped(value: Floats, known: Bools, cell: Ints, uniform: Floats, window: float) -> Floats:
    """Swap within each cell (group and year), among values of the same sign; zeros stay.

    `window` is a share of the cell's rows, at least one rank. `uniform` decides per row which
    of the free partners above it is taken; a row without a free one changes places with the row
    below it, after that row's own swap. Sums and distributions of a cell do not change.
    """
    swapped = value.copy()
    label = cell * 2 + (value > 0)
    for at in _runs(label, value, known & (value != 0)):
        partner = _partners(len(at), max(1, round(window * len(at))), uniform[at].tolist())
        swapped[at] = value[at[partner]]
    return swapped


def _partners(n: int, window: int, uniform: list[float]) -> Ints:
    """For each rank the rank whose value it takes; itself only if it is alone."""
    partner = list(range(n))
    free = [True] * n
    for rank in range(n):
        if not free[rank]:
            continue
        others = [r for r in range(rank + 1, min(rank + window, n - 1) + 1) if free[r]]
        if others:
            other = others[int(uniform[rank] * len(others))]
            partner[rank], partner[other] = other, rank
            free[other] = False
        elif n > 1:
            neighbour = rank - 1 if rank else 1
            partner[rank], partner[neighbour] = partner[neighbour], partner[rank]
    return np.array(partner, dtype=np.int64)


_PASSES = 8
_DOWN, _UP = -0.4, 0.6  # the most one pass may change a value by: signs stay


def rescaled(
    value: Floats, original: Floats, known: Bools, group: Ints, cell: Ints, share: float
) -> Floats:
    """Correct `share` of the difference between each cell's sum and its original sum.

    First by one factor per group for all years, then per cell in proportion to the square of the
    value: the few largest entities absorb it, and the growth of the others is not disturbed. (One
    factor per group and year reversed the sign of 10 % of the yearly changes on the EDINET table;
    this reverses 1 %.) Cells of fewer than five rows get the group's factor only.
    """
    weight = known.astype(np.float64)
    enough = _summed(cell, weight) >= _LEAST_ROWS
    target = _summed(cell, original * weight)
    target = target * share + _summed(cell, value * weight) * (1 - share)
    before, after = (
        _summed(group, np.abs(original) * weight),
        _summed(group, np.abs(value) * weight),
    )
    factor = np.divide(before, after, out=np.ones_like(before), where=after > 0)
    moved = np.asarray(value * (factor**share)[group])
    for _ in range(_PASSES):
        missing = np.where(enough, target - _summed(cell, moved * weight), 0.0)
        squares = _summed(cell, moved**2 * weight)
        per_unit = np.divide(missing, squares, out=np.zeros_like(missing), where=squares > 0)
        moved *= 1 + np.clip(per_unit[cell] * moved, _DOWN, _UP)
    return moved


def _summed(label: Ints, value: Floats) -> Floats:
    return np.bincount(label, weights=value).astype(np.float64)


_SPREAD = np.sqrt(12.0)  # of the uniform distribution, so that scores have variance 1
_DECIDING = 9  # decimals of a score that decides a rank (law 5)
_DOMINANT = 0.3  # of the sum of a group's levels


@dataclass(frozen=True, slots=True)
class _Levels:
    """Per entity and column: mean log magnitude, and whether there is any; per entity its group."""

    level: Floats
    known: Bools
    group: Ints


def level_swapped(
    values: Floats, known: Bools, order: Order, distortion: Floats, key: bytes, stage: str
) -> tuple[Floats, int]:
    """`values` (rows × columns, in canonical order) times one factor per entity and column.

    `distortion` has a value per column. Signs, zeros and growth rates stay; per group the
    levels of the entities are a permutation of the original ones. The second result is the number
    of entities that keep their levels because they make up more than 30 % of their group in some
    column.
    """
    levels = _levels(values, known, order)
    dominant = _dominant(levels)
    scores = _imputed(_scores(levels), levels.known)
    noise = _entity_normals(key, stage, order.names, values.shape[1])
    sent = np.round(_channel(scores, levels.known, noise, distortion), _DECIDING)
    factor = np.zeros_like(levels.level)
    for column in range(values.shape[1]):
        own, has = levels.level[:, column], levels.known[:, column] & ~dominant
        by_score = _runs(levels.group, sent[:, column], has)
        by_level = _runs(levels.group, own, has)
        for to, source in zip(by_score, by_level, strict=True):
            factor[to, column] = own[source] - own[to]
    return np.asarray(values * np.exp(factor[order.entity])), int(dominant.sum())


def _levels(values: Floats, known: Bools, order: Order) -> _Levels:
    entities, columns = len(order.names), values.shape[1]
    used = known & (values != 0)
    logs = np.log(np.abs(values), out=np.zeros_like(values), where=used)
    count, total = np.zeros((entities, columns)), np.zeros((entities, columns))
    for column in range(columns):
        count[:, column] = np.bincount(order.entity, used[:, column], entities)
        total[:, column] = np.bincount(order.entity, logs[:, column], entities)
    group = np.zeros(entities, dtype=np.int64)
    group[order.entity] = order.group  # an entity that changed its group counts in the last one
    return _Levels(total / np.maximum(count, 1), count > 0, group)


def _dominant(levels: _Levels) -> Bools:
    """Entities with more than the dominant share of their group, in groups of three or more."""
    is_dominant = np.zeros(len(levels.group), dtype=np.bool_)
    for column in range(levels.level.shape[1]):
        size = np.where(levels.known[:, column], np.exp(levels.level[:, column]), 0.0)
        share = size / np.maximum(np.bincount(levels.group, size)[levels.group], 1e-300)
        is_dominant |= share > _DOMINANT
    return np.asarray(is_dominant & (np.bincount(levels.group)[levels.group] > 2))


def _scores(levels: _Levels) -> Floats:
    """Uniform rank scores within the group, of mean 0 and variance 1; 0 where unknown."""
    scores = np.zeros_like(levels.level)
    for column in range(scores.shape[1]):
        for at in _runs(levels.group, levels.level[:, column], levels.known[:, column]):
            ranks = (np.arange(len(at)) + 0.5) / len(at)
            scores[at, column] = (ranks - 0.5) * _SPREAD
    return scores


def _correlation(scores: Floats, known: Bools) -> Floats:
    """Correlations over the entities that know both columns."""
    weight = known.astype(np.float64)
    both = np.maximum(weight.T @ weight, 1)
    covariance = scores.T @ scores / both
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    return np.asarray(covariance / np.outer(spread, spread))


def _imputed(scores: Floats, known: Bools) -> Floats:
    """Unknown scores filled with their expectation given the known ones: no added information."""
    correlation = _correlation(scores, known)
    filled = scores.copy()
    patterns, which = np.unique(known, axis=0, return_inverse=True)
    for number, has in enumerate(patterns):
        if has.all() or not has.any():
            continue
        rows = np.flatnonzero(which.ravel() == number)
        ridge = correlation[np.ix_(has, has)] + 1e-6 * np.eye(int(has.sum()))
        weights = np.linalg.solve(ridge, correlation[np.ix_(has, ~has)])
        filled[np.ix_(rows, np.flatnonzero(~has))] = (
            scores[np.ix_(rows, np.flatnonzero(has))] @ weights
        )
    return filled


def _channel(scores: Floats, known: Bools, noise: Floats, distortion: Floats) -> Floats:
    """Scores after the channel; a column with distortion 0 passes unchanged."""
    moving = distortion > 0
    sent = scores.copy()
    if not moving.any():
        return sent
    weight = 1 / np.sqrt(distortion[moving])
    correlation = _correlation(scores[:, moving], known[:, moving])
    power, axes = np.linalg.eigh(correlation * np.outer(weight, weight))
    passed = np.maximum(0.0, 1 - 1 / np.maximum(power, 1e-12))
    # symmetric forms, which do not depend on the signs of the axes
    through = axes @ np.diag(passed) @ axes.T
    added = axes @ np.diag(np.sqrt(passed)) @ axes.T
    scaled = scores[:, moving] * weight
    sent[:, moving] = (scaled @ through + noise[:, moving] @ added) / weight
    return sent


def _entity_normals(key: bytes, stage: str, names: pl.Series, columns: int) -> Floats:
    """Standard normal noise, entities × columns."""
    source = RowNoise(key, stage, names, None, columns)
    drawn: Floats = np.concatenate([normals(source.words(rows)) for rows in chunks(len(names))], 1)
    return drawn.T
