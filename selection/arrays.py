"""A programme as the arrays of a sparse model: all columns and rows at once, without objects.

Columns are the items that may be chosen, then the slack of each bound of a priced row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from selection.programme import Ints, Programme, Row
from selection.scores import Floats


@dataclass(frozen=True, slots=True)
class Arrays:
    """Maximise gains·x subject to row_low ≤ A·x ≤ row_high and lower ≤ x ≤ upper.

    `starts`, `columns` and `values` are A row by row; `items` are the positions of the first
    columns in the programme, the whole numbers of the model; `origins` are the numbers of the
    programme's rows, of which a priced one with two bounds gives two.
    """

    items: NDArray[np.intp]
    origins: NDArray[np.intp]
    gains: Floats
    lower: Floats
    upper: Floats
    row_low: Floats
    row_high: Floats
    starts: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: Floats


def arrays_of(programme: Programme, at_least: int | None = None) -> Arrays:
    """With `at_least`, the objective becomes the last row, and the tie-breaks are maximised.

    A column fixed to zero ends the columns, so that no model is without any.
    """
    items, (rows, origins) = np.flatnonzero(programme.allowed), _one_sided(programme.rows)
    below, above = _priced(rows, "low"), _priced(rows, "high")
    slack = len(items) + np.arange(len(below) + len(above))
    prices = [-(rows[number].price or 0) for number in (*below, *above)]
    gains = np.array([*programme.gains[items], *prices, 0], dtype=np.float64)
    low, high = _bounds(rows, "low", -np.inf), _bounds(rows, "high", np.inf)
    number, column, value = _entries(rows, items, len(programme.items))
    number = np.concatenate([number, below, above])
    column = np.concatenate([column, slack])
    value = np.concatenate([value, np.ones(len(below)), -np.ones(len(above))])
    if at_least is not None:
        number = np.concatenate([number, np.full(len(gains), len(rows))])
        column = np.concatenate([column, np.arange(len(gains))])
        value = np.concatenate([value, gains])
        low, high = np.append(low, at_least), np.append(high, np.inf)
        gains = np.zeros(len(gains))
        gains[: len(items)] = programme.tie_breaks[items]
    upper = np.full(len(gains), np.inf)
    upper[: len(items)], upper[-1] = 1.0, 0.0
    lower = np.zeros(len(gains))
    lower[: len(items)] = programme.forced[items]
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(len(low) + 1)).astype(np.int32)
    return Arrays(
        *(items, origins, gains, lower, upper, low, high, starts),
        *(column[order].astype(np.int32), value[order]),
    )


def _priced(rows: tuple[Row, ...], side: str) -> NDArray[np.intp]:
    numbers = [
        number
        for number, row in enumerate(rows)
        if row.price is not None and getattr(row, side) is not None
    ]
    return np.array(numbers, dtype=np.intp)


def _one_sided(rows: tuple[Row, ...]) -> tuple[tuple[Row, ...], NDArray[np.intp]]:
    """The rows with each priced one as one row per bound, and the number of each one's origin.

    A priced row may ask for more than it admits and then pays for both; and branch and bound takes
    up to seven times as long with one row for both bounds.
    """
    sides: list[tuple[Row, int]] = []
    for number, row in enumerate(rows):
        if row.price is None or row.low is None or row.high is None:
            sides.append((row, number))
        else:
            sides += [(replace(row, high=None), number), (replace(row, low=None), number)]
    return tuple(row for row, _ in sides), np.array([number for _, number in sides], dtype=np.intp)


def _bounds(rows: tuple[Row, ...], side: str, without: float) -> Floats:
    stated = [getattr(row, side) for row in rows]
    return np.array([without if bound is None else bound for bound in stated], dtype=np.float64)


def _entries(
    rows: tuple[Row, ...], items: NDArray[np.intp], n_items: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Row number, column and coefficient of each item in each row."""
    if not rows:
        return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
    column_of = np.full(n_items, -1, dtype=np.intp)
    column_of[items] = np.arange(len(items))
    column = column_of[np.concatenate([row.members for row in rows])]
    number = np.repeat(np.arange(len(rows)), [len(row.members) for row in rows])
    value = np.concatenate([_coefficients(row) for row in rows]).astype(np.float64)
    kept = (column >= 0) & (value != 0)
    return number[kept], column[kept], value[kept]


def _coefficients(row: Row) -> Ints:
    return np.ones(len(row.members), np.int64) if row.coefficients is None else row.coefficients
