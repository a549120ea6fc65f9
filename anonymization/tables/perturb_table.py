"""`perturb_table`: all steps of all measures, then relations and derived columns."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from anonymization.tables.cells import Bools, Cells, Floats, NumericColumn
from anonymization.tables.config import ColumnRole, PerturbMethod, Scope, Step, TableConfig
from anonymization.tables.keystream import Ints, RowNoise, chunks, uniforms
from anonymization.tables.perturb_methods import (
    Order,
    canonical,
    level_swapped,
    microaggregated,
    moved,
    rank_swapped,
    rescaled,
)
from anonymization.tables.relations import Recomputed, Restored, recompute, restore
from data.errors import InputError

_CELLWISE = (PerturbMethod.LSD, PerturbMethod.LOG_NOISE)
_THREADS = 2


@dataclass(frozen=True, slots=True)
class _PerturbReport:
    """Counts per column: numbers, zeros, and unchanged numbers; restored relations. Joint steps
    count a repeated row once, except in `rows`.

    `emptied`: cells per measure that held no number but text, which could be private, so that they
    are released empty. `kept_levels`: entities that a level swap left at their level because they
    dominate their group.
    """

    rows: int
    numbers: Mapping[str, int]
    zeros: Mapping[str, int]
    unmoved: Mapping[str, int]
    emptied: Mapping[str, int]
    relations: tuple[Restored, ...]
    derived: tuple[Recomputed, ...]
    kept_levels: int


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The perturbed table, with rows and columns in the original order."""

    frame: pl.DataFrame
    report: _PerturbReport


class _State:
    """The values of all measures, in units of each cell's last decimal, while steps are applied.

    A column without an entry in `value` is unchanged: large tables are read in chunks, and held
    once.
    """

    def __init__(self, frame: pl.DataFrame, config: TableConfig, key: bytes) -> None:
        self.frame, self.config, self.key = frame, config, key
        self.columns = {name: NumericColumn(frame[name]) for name in config.measures}
        self.all = slice(0, frame.height)
        self.parts = chunks(frame.height)
        self.value: dict[str, Floats] = {}
        self.kept_levels = 0
        self._order: Order | None = None

    def filled(self) -> dict[str, Floats]:
        """The values of all measures, including unchanged ones."""
        for name, column in self.columns.items():
            if name not in self.value:
                self.value[name] = column.cells(self.all).value
        return self.value

    @property
    def order(self) -> Order:
        """The canonical order, made when a joint step first needs it."""
        if self._order is None:
            self._order = canonical(self.frame, self.config, self.key)
        return self._order


def perturb_table(frame: pl.DataFrame, config: TableConfig, key: bytes) -> Perturbed:
    """Perturb the measures of `frame` with noise from `key`, the release key.

    Noise belongs to (step, entity, period, column), so that the order of rows changes nothing.
    Signs, zeros, missing cells, integers, number formats and the last reported digit stay; then
    sums and bounds are restored and derived columns recomputed. Other columns are not touched.
    Joint steps see a row that repeats another in all columns once; it still repeats it afterwards.
    Errors: `InputError` for undeclared or missing columns, and for measures that are not numbers.
    """
    check_table(frame, config)
    first = None if _is_cellwise(config) else _first_alike(frame)
    if first is None:
        return _perturbed(frame, config, key)
    kept, back = np.unique(first, return_inverse=True)
    made = _perturbed(frame[kept], config, key)
    return Perturbed(made.frame[back], replace(made.report, rows=frame.height))


def _is_cellwise(config: TableConfig) -> bool:
    return all(step.method in _CELLWISE for n in config.measures for step in config.steps_of(n))


def _first_alike(frame: pl.DataFrame) -> Ints | None:
    """Per row the first row that is the same in all columns; None if no two rows are."""
    plain = pl.DataFrame([frame[name].alias(str(at)) for at, name in enumerate(frame.columns)])
    row = pl.col("row").min().over(plain.columns)
    first: Ints = plain.with_row_index("row").select(row.cast(pl.Int64))["row"].to_numpy()
    return None if (first == np.arange(len(first))).all() else first


def _perturbed(frame: pl.DataFrame, config: TableConfig, key: bytes) -> Perturbed:
    state = _State(frame, config, key)
    depth = max((len(config.steps_of(name)) for name in config.measures), default=0)
    for position in range(depth):
        together = _together(config, position)
        if any(step.method is PerturbMethod.RESCALE for step, _ in together):
            _restore(state)
        for step, names in together:
            _apply(state, step, names, position)
    restored = _restore(state)
    counts: dict[str, tuple[int, ...]] = {}
    for name in state.value:
        counts[name] = _counted(state, name)
    written: dict[str, pl.Series] = {}
    while state.value:
        name, value = state.value.popitem()
        written[name] = state.columns[name].written(value)
    # Put together of columns: a query for it costs memory of its own.
    new = pl.DataFrame([written.get(name, frame[name]) for name in frame.columns])
    new, emptied = _emptied(state, new)
    new, recomputed = recompute(frame, new, config, key)
    numbers, zeros, unmoved = ({n: c[i] for n, c in counts.items()} for i in range(3))
    kept = state.kept_levels
    report = _PerturbReport(
        frame.height, numbers, zeros, unmoved, emptied, restored, recomputed, kept
    )
    dropped = config.of_role(ColumnRole.DROPPED)
    # `DataFrame.drop` would copy every column into one run of memory, even if nothing is dropped.
    kept_columns = [column for column in new.get_columns() if column.name not in dropped]
    return Perturbed(pl.DataFrame(kept_columns), report)


def _restore(state: _State) -> tuple[Restored, ...]:
    """Restore relations; if the total of a sum is rescaled, so is the part its addends leave."""

    def rescale(name: str, rest: Floats, original: Floats, rows: Bools) -> Floats:
        steps = [s for s in state.config.steps_of(name) if s.method is PerturbMethod.RESCALE]
        if not steps:
            return rest
        order, share = state.order, steps[-1].strength
        at = order.rows
        made = rescaled(rest[at], original[at], rows[at], order.group, order.cell, share)
        return _unordered(made, at)

    hard = state.config.relations
    if not hard.sums and not hard.bounds:
        return ()
    return restore(state.columns, state.filled(), hard, rescale)


def _unordered(ordered: Floats, rows: Ints) -> Floats:
    back = np.empty_like(ordered)
    back[rows] = ordered
    return back


def _emptied(state: _State, new: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Cells of text in measures emptied, also in columns to which no step applied."""
    foreign = {n: c.text.foreign for n, c in state.columns.items() if c.text is not None}
    counts = {name: int(cells.sum()) for name, cells in foreign.items() if cells.any()}
    if not counts:
        return new, counts
    return new.with_columns(
        pl.when(~foreign[name]).then(pl.col(name)).alias(name) for name in counts
    ), counts


def _counted(state: _State, name: str) -> tuple[int, ...]:
    """Numbers, zeros, and numbers other than zero that did not move."""
    total = np.zeros(3, dtype=np.int64)
    for rows in state.parts:
        value, known = state.columns[name].plain(rows)
        same, zero = state.value[name][rows] == value, value == 0
        masks = (known, known & zero, known & ~zero & same)
        total += [mask.sum() for mask in masks]
    return tuple(total.tolist())


def _together(config: TableConfig, position: int) -> list[tuple[Step, tuple[str, ...]]]:
    """The columns per step at a position. A level swap takes all its columns, at any strength."""
    at: dict[str, list[str]] = {}
    steps: dict[str, Step] = {}
    for name in config.measures:
        own = config.steps_of(name)
        if position < len(own):
            step = own[position]
            joint = step.method is PerturbMethod.LEVEL_SWAP
            label = step.method.value if joint else step.model_dump_json()
            at.setdefault(label, []).append(name)
            steps[label] = step
    return [(steps[label], tuple(at[label])) for label in sorted(at)]


def _apply(state: _State, step: Step, names: tuple[str, ...], position: int) -> None:
    stage = f"perturb/{position}/{step.method}"
    if step.method in _CELLWISE:
        _cellwise(state, step, names, stage)
    elif step.method is PerturbMethod.LEVEL_SWAP:
        _level_swap(state, names, position, stage)
    else:
        for name in names:
            _joint(state, step, name, stage)


def _noise(state: _State, scope: Scope, stage: str) -> RowNoise:
    """Words per row; slot i belongs to the i-th measure in order of name, whatever is perturbed."""
    frame, config = state.frame, state.config
    yearly = config.period if scope is Scope.CELL else None
    period = None if yearly is None else frame[yearly]
    return RowNoise(state.key, stage, frame[config.entity], period, len(config.measures))


def _cellwise(state: _State, step: Step, names: tuple[str, ...], stage: str) -> None:
    noise = _noise(state, step.scope, stage)
    slots = {name: state.config.measures.index(name) for name in names}
    new = {name: state.value.get(name, np.empty(state.frame.height)) for name in names}

    def perturb(rows: slice) -> None:
        words = noise.words(rows)
        for name, slot in slots.items():
            cells = state.columns[name].cells(rows)
            value = new[name][rows] if name in state.value else cells.value
            new[name][rows] = moved(step, value, cells, words[slot])

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(perturb, state.parts))
    state.value |= new


def _joint(state: _State, step: Step, name: str, stage: str) -> None:
    order, cells = state.order, state.columns[name].cells(state.all)
    scale = np.broadcast_to(cells.scale, cells.value.shape)[order.rows]
    known = cells.known[order.rows]
    value = state.filled()[name][order.rows] / scale
    if step.method is PerturbMethod.RANK_SWAP:
        noise = _noise(state, step.scope, stage)
        slot = state.config.measures.index(name)
        words = np.concatenate([noise.words(rows)[slot] for rows in state.parts])
        value = rank_swapped(value, known, order.cell, uniforms(words)[order.rows], step.strength)
    elif step.method is PerturbMethod.MICROAGGREGATION:
        value = microaggregated(value, known, order.cell, int(step.strength))
    else:
        original = cells.value[order.rows] / scale
        value = rescaled(value, original, known, order.group, order.cell, step.strength)
    _store(state, name, cells, value * scale)


def _level_swap(state: _State, names: tuple[str, ...], position: int, stage: str) -> None:
    order = state.order
    cells = [state.columns[name].cells(state.all) for name in names]
    scales = [np.broadcast_to(c.scale, c.value.shape)[order.rows] for c in cells]
    pairs = zip(names, scales, strict=True)
    values = np.column_stack([state.filled()[name][order.rows] / scale for name, scale in pairs])
    known = np.column_stack([c.known[order.rows] for c in cells])
    strengths = [state.config.steps_of(name)[position].strength for name in names]
    swapped, kept = level_swapped(values, known, order, np.array(strengths), state.key, stage)
    state.kept_levels = max(state.kept_levels, kept)
    for column, (name, scale) in enumerate(zip(names, scales, strict=True)):
        _store(state, name, cells[column], swapped[:, column] * scale)


def _store(state: _State, name: str, cells: Cells, ordered: Floats) -> None:
    state.value[name] = cells.settled(_unordered(ordered, state.order.rows))


def check_table(frame: pl.DataFrame, config: TableConfig) -> None:
    """Check that every column is declared and every declared column exists.

    Errors: `InputError` naming the columns: an undeclared column would be released unchanged.
    """
    undeclared = [name for name in frame.columns if name not in config.columns]
    missing = [name for name in config.columns if name not in frame.columns]
    if undeclared:
        todo = "Declare a role for each; `benchmint privacy profile` proposes them."
        raise InputError("table", f"undeclared columns {', '.join(undeclared)}", "none", todo)
    if missing:
        actual, todo = f"no column {', '.join(missing)}", "Correct the configuration."
        raise InputError("table", actual, "every declared column", todo)
