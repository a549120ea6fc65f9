"""Do the two executors give the same results, step by step?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from construction.analytics.execute_duckdb import Cell, Rows
from construction.analytics.polars_state import Result

RELATIVE, NEAR_ZERO = 1e-9, 1e-9


def first_disagreement(first: Sequence[Result], second: Sequence[Rows | Cell]) -> int | None:
    """The first step (from 1) on which the executors differ; None if they agree throughout."""
    if len(first) != len(second):
        return min(len(first), len(second)) + 1
    for number, (mine, other) in enumerate(zip(first, second, strict=True), 1):
        if not _same(mine, other):
            return number
    return None


def _same(mine: Result, other: Rows | Cell) -> bool:
    if isinstance(mine, pl.DataFrame) != isinstance(other, Rows):
        return False
    if isinstance(mine, pl.DataFrame) and isinstance(other, Rows):
        return _same_rows(mine, other)
    return same_value(mine, other)  # type: ignore[arg-type]


def _same_rows(mine: pl.DataFrame, other: Rows) -> bool:
    """The same columns and rows; their order counts for ranked rows, which hold it in `rank`."""
    if sorted(mine.columns) != sorted(other.columns) or mine.height != len(other.cells):
        return False
    names = sorted(mine.columns)
    at = [other.columns.index(name) for name in names]
    ours = sorted(mine.select(names).rows(), key=_order)
    theirs = sorted((tuple(row[i] for i in at) for row in other.cells), key=_order)
    pairs = (pair for x, y in zip(ours, theirs, strict=True) for pair in zip(x, y, strict=True))
    return all(same_value(first, second) for first, second in pairs)


def _order(row: tuple[Cell, ...]) -> list[tuple[int, str]]:
    """Texts and whole numbers first: fractions may differ in their last digits."""
    plain = [(0, "") if isinstance(cell, float) else (1, str(cell)) for cell in row]
    return [*plain, *((2, f"{cell:.6e}") for cell in row if isinstance(cell, float))]


def same_value(mine: Cell, other: Cell) -> bool:
    """Equal, numbers within the last digits of a double."""
    if isinstance(mine, bool) or isinstance(other, bool) or isinstance(mine, str):
        return mine == other
    if mine is None or other is None or isinstance(other, str):
        return mine is other
    return math.isclose(float(mine), float(other), rel_tol=RELATIVE, abs_tol=NEAR_ZERO)
