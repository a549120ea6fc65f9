"""How near an answer is to another one: comparisons, ranks, thresholds and rounding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

import polars as pl

from construction.analytics import steps as s
from construction.analytics.contracts import Part
from construction.analytics.polars_state import Result, State

# Relative distance of a row from a threshold; of many rows some are always near. Of as few as there
# are places it is that of comparisons and ranks.
THRESHOLD, THRESHOLD_OF_FEW, FEW, PLACES = 1e-4, 2e-3, 200, 60
ABSOLUTE = 0.01  # distance of coefficients and other small numbers
REMAINDER = 5e-5  # of the figures that it is a difference of: half a hundredth of a per cent
HALF = Decimal("0.005")  # distance from a rounding limit, in units of the last decimal


def knife_edges(
    program: s.Program, state: State, parts: Sequence[Part], distance: float
) -> Iterator[str]:
    """Where the answer would flip within rounding, in words; nothing if it stands firm.

    `state` holds the tables and all results.
    """
    for number, step in enumerate(program, 1):
        if isinstance(step, s.Compare):
            yield from _comparison_edge(number, step, state, distance)
            continue
        if isinstance(step, s.Rank):
            yield from _rank_edge(number, step, state, distance, _ranks(number, step, program))
        for condition in step.where:
            if condition.test in ("<", "<=", ">", ">="):
                if terms := _terms(program, step.source, condition.column):
                    yield from _remainder_edge(number, step, condition, state, terms)
                else:
                    yield from _threshold_edge(number, step, condition, state, distance)
            elif condition.test == "=" and s.step_number(condition.value) is not None:
                yield from _equality_edge(number, step, condition, state, distance)
    yield from _rounding_edges(state.results, parts)


def _comparison_edge(number: int, step: s.Compare, state: State, distance: float) -> Iterator[str]:
    first, second = state.number(step.first), state.number(step.second)
    if step.result == "greater" and _near(first, second, distance, ABSOLUTE):
        yield f"step {number}: {first:.6g} against {second:.6g}"


def _ranks(number: int, step: s.Rank, program: s.Program) -> set[int]:
    """The ranks whose rows decide: all if they are the answer, else the last and those used."""
    users = [other for other in program if number in s.reads_steps(other)]
    if not users:
        return set(range(1, step.take + 1))
    conditions = (c for other in users for c in getattr(other, "where", ()) if c.column == "rank")
    used = {int(c.value) for c in conditions if isinstance(c.value, int | float)}
    return used | {step.take}


def _rank_edge(
    number: int, step: s.Rank, state: State, distance: float, ranks: set[int]
) -> Iterator[str]:
    rows = state.selected(step).drop_nulls(step.column)
    values = rows[step.column].cast(pl.Float64).sort(descending=step.descending).to_list()
    for at in sorted({rank - 1 for rank in ranks} | {rank - 2 for rank in ranks}):
        if 0 <= at < len(values) - 1 and _near(values[at], values[at + 1], distance, 0.0):
            yield f"step {number}: ranks {at + 1} and {at + 2}"
    before = values[: max(ranks)]
    if len(set(before)) < len(before):
        # "The third-highest" is then the third in order to one reader, the third value to another.
        yield f"step {number}: a tie before rank {max(ranks)}"


def _threshold_edge(
    number: int, step: s.RowStep, condition: s.Condition, state: State, distance: float
) -> Iterator[str]:
    """Rows beside a threshold, among those that pass the other conditions."""
    value = state.value(condition.value)
    rows = state.rows(step.source)
    if isinstance(value, str) or rows[condition.column].dtype == pl.String:
        return
    for other in step.where:
        if other is not condition:
            rows = rows.filter(state.test(rows, other))
    cells = rows[condition.column].cast(pl.Float64).drop_nulls()
    # A median is a cell of the column itself, or lies between two, and counts are what they are:
    # a cell that is equal is then no edge.
    is_exact = _is_made(condition) or rows[condition.column].dtype.is_integer()
    others = cells.filter(cells != float(value)) if is_exact else cells
    share = THRESHOLD if cells.len() > FEW else THRESHOLD_OF_FEW
    share = distance if rows.height <= PLACES else share
    scale = abs(float(value)) or float(cells.abs().median() or 0.0)  # type: ignore[arg-type]
    near = ((others - float(value)).abs() <= share * max(scale, 1e-9)).sum()
    if near:
        yield f"step {number}: {near} rows at the threshold"


def _remainder_edge(
    number: int, step: s.RowStep, condition: s.Condition, state: State, terms: Sequence[str]
) -> Iterator[str]:
    """Rows whose cell is a difference of two figures that is nothing beside them."""
    rows, value = state.selected(step.model_copy(update={"where": ()})), condition.value
    if isinstance(value, str) or not set(terms) <= set(rows.columns):
        return
    for other in step.where:
        if other is not condition:
            rows = rows.filter(state.test(rows, other))
    size = pl.max_horizontal(pl.col(name).cast(pl.Float64).abs() for name in terms)
    cell = pl.col(condition.column).cast(pl.Float64)
    near = rows.filter((cell - float(value)).abs() <= REMAINDER * size).height  # type: ignore[arg-type]
    if near:
        yield f"step {number}: {near} rows with next to nothing left"


def _terms(program: s.Program, source: str, column: str) -> tuple[str, ...]:
    """The columns whose difference or sum a column is; none for any other column."""
    at = s.step_number(source)
    while at is not None and at <= len(program):
        step = program[at - 1]
        if isinstance(step, s.Compare):
            return ()
        if isinstance(step, s.Convert) and step.column == column:
            is_sum = step.how in ("minus", "plus") and not step.by_value
            return (step.of, str(step.by)) if is_sum else ()
        at = s.step_number(step.source)
    return ()


def _is_made(condition: s.Condition) -> bool:
    return s.step_number(condition.value) is not None


def _equality_edge(
    number: int, step: s.RowStep, condition: s.Condition, state: State, distance: float
) -> Iterator[str]:
    """Another row next to the one whose figure is a result, such as a maximum."""
    value, column = state.value(condition.value), state.rows(step.source)[condition.column]
    if isinstance(value, str) or column.dtype == pl.String:
        return
    cells = column.cast(pl.Float64).drop_nulls()
    others = cells.filter(cells != float(value))
    if (len(cells) - len(others)) > 1 or any(
        _near(float(value), other, distance, 0.0) for other in others
    ):
        yield f"step {number}: another row is as near"


def _near(first: float, second: float, relative: float, absolute: float) -> bool:
    return abs(first - second) <= max(relative * max(abs(first), abs(second)), absolute)


def _rounding_edges(results: Sequence[Result], parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        result = results[part.step - 1]
        if part.decimals is None or isinstance(result, bool | str | pl.DataFrame):
            continue
        shifted = Decimal(f"{float(result):.12g}").scaleb(part.decimals)
        fraction = abs(shifted) % 1
        if abs(fraction - Decimal("0.5")) <= HALF:
            yield f"{part.part}: at the limit of rounding"
