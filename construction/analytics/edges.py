"""How near an answer is to another one: comparisons, ranks, thresholds and rounding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

import polars as pl

from construction.analytics import steps as s
from construction.analytics.contracts import Part
from construction.analytics.polars_state import Result, State

THRESHOLD = 1e-4  # relative distance of a row from a threshold that it is compared with
ABSOLUTE = 0.01  # distance of coefficients and other small numbers
HALF = Decimal("1e-6")  # distance from a rounding limit, in units of the last decimal


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
            whole = not any(number in s.reads_steps(other) for other in program)
            yield from _rank_edge(number, step, state, distance, whole)
        for condition in step.where:
            if condition.test in ("<", "<=", ">", ">="):
                yield from _threshold_edge(number, step, condition, state)
    yield from _rounding_edges(state.results, parts)


def _comparison_edge(number: int, step: s.Compare, state: State, distance: float) -> Iterator[str]:
    first, second = state.number(step.first), state.number(step.second)
    if step.result == "greater" and _near(first, second, distance, ABSOLUTE):
        yield f"step {number}: {first:.6g} against {second:.6g}"


def _rank_edge(
    number: int, step: s.Rank, state: State, distance: float, whole: bool
) -> Iterator[str]:
    rows = state.selected(step).drop_nulls(step.column)
    values = rows[step.column].cast(pl.Float64).sort(descending=step.descending).to_list()
    first = 0 if whole else max(step.take - 2, 0)
    for at in range(first, min(step.take, len(values) - 1)):
        if _near(values[at], values[at + 1], distance, 0.0):
            yield f"step {number}: ranks {at + 1} and {at + 2}"


def _threshold_edge(
    number: int, step: s.RowStep, condition: s.Condition, state: State
) -> Iterator[str]:
    value = state.value(condition.value)
    rows = state.rows(step.source)
    if isinstance(value, str) or rows[condition.column].dtype == pl.String:
        return
    cells = rows[condition.column].cast(pl.Float64).drop_nulls()
    # A median is a cell of the column itself, or lies between two: the cell is no edge.
    others = cells.filter(cells != float(value))
    near = ((others - float(value)).abs() <= THRESHOLD * max(abs(float(value)), 1e-9)).sum()
    if near:
        yield f"step {number}: {near} rows at the threshold"


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
