"""Numbers as they are reported: the number of decimals, and the last reported digit.

Most reported values are multiples of a thousand or a million; noise below that digit would be
obvious, so every perturbed value is rounded to the grid of the value that it replaces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymization.tables.keystream import chunks
from anonymization.tables.text_cells import TextNumbers
from data.errors import InputError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LARGEST = 2.0**53  # beyond it floats skip whole numbers
_MOST_DECIMALS = 9
_ZEROS = (8, 4, 2, 1)


@dataclass(frozen=True, slots=True)
class Cells:
    """Values of one column in units of their last decimal: whole numbers of at most 2⁵³.

    `value` (0 where unknown), `grid` the last reported unit (1, 10, 1000, …; 0 where a float has
    more decimals than anyone reports), `scale` 10^decimals, `known`: the cell holds a number.
    `strict`: the digit at the grid is not zero, and must not become zero.
    """

    value: Floats
    grid: Floats
    scale: Floats | float
    known: Bools
    strict: bool

    def settled(self, moved: Floats) -> Floats:
        """`moved` on each cell's grid, with the sign of the cell; zeros and unknowns stay."""
        grid = np.where(self.grid > 0, self.grid, 1.0)
        sign = np.sign(self.value)
        units = np.minimum(np.abs(moved), LARGEST - 1)
        np.divide(units, grid, out=units)
        np.rint(units, out=units)
        np.maximum(units, 1.0, out=units)
        if self.strict:
            units += np.rint(units / 10) * 10 == units
        settled = sign * units * grid
        if not self.grid.all():
            settled = np.where(
                self.grid > 0, settled, sign * np.minimum(np.abs(moved), LARGEST - 1)
            )
        return np.asarray(settled)


def numbers(series: pl.Series) -> Floats:
    """A column as floats, NaN where there is no finite number."""
    if series.dtype.is_integer() or series.dtype.is_float():
        value = series.cast(pl.Float64).to_numpy()
        return np.where(np.isfinite(value), value, np.nan)
    cells = NumericColumn(series).cells(slice(0, len(series)))
    return np.where(cells.known, cells.value / cells.scale, np.nan)


def trailing_unit(value: Floats) -> Floats:
    """The largest power of ten, up to 10¹⁵, that divides each whole number."""
    unit = np.ones_like(value)
    rest = np.abs(value)
    for zeros in _ZEROS:
        shorter = rest / 10.0**zeros
        divides = shorter == np.rint(shorter)
        np.copyto(rest, shorter, where=divides)
        np.multiply(unit, 10.0**zeros, out=unit, where=divides)
    return unit


class NumericColumn:
    """A measure column of integers, floats or formatted text, read and written by rows.

    Decimals are read, and released, as floats.
    """

    def __init__(self, series: pl.Series) -> None:
        series = series.cast(pl.Float64) if series.dtype.is_decimal() else series
        self.series = series
        self.text = TextNumbers(series) if series.dtype == pl.String else None
        if self.text is None and not (series.dtype.is_integer() or series.dtype.is_float()):
            expected = "integers, floats or text"
            todo = "Cast the column, or give it another role."
            raise InputError(series.name, f"a column of {series.dtype}", expected, todo)

    def cells(self, rows: slice) -> Cells:
        """The cells of a run of rows. Errors: `InputError` for numbers beyond 2⁵³."""
        if self.text is not None:
            return self._checked(self._text_cells(rows))
        part = self.series[rows]
        if part.dtype == pl.Float32:  # by its text: 1.1, and not 1.10000002384
            part = part.cast(pl.String).cast(pl.Float64)
        value = part.to_numpy().astype(np.float64)
        known = np.isfinite(value)
        value[~known] = 0.0
        if part.dtype.is_integer():
            return self._checked(Cells(value, trailing_unit(value), 1.0, known, True))
        return self._checked(_float_cells(value, known))

    def plain(self, rows: slice) -> tuple[Floats, Bools]:
        """Values and where they are known, as in `cells`, without determining the last digit."""
        if not self.series.dtype.is_integer():
            cells = self.cells(rows)
            return cells.value, cells.known
        value = self.series[rows].to_numpy().astype(np.float64)
        known = np.isfinite(value)
        return np.where(known, value, 0.0), known

    def _text_cells(self, rows: slice) -> Cells:
        assert self.text is not None
        value, known = self.text.value[rows], self.text.known[rows]
        scale: Floats = np.power(10.0, self.text.decimals[rows])
        grid = np.where(scale > 1, 1.0, trailing_unit(value))
        return Cells(value, grid, scale, known, not bool((scale > 1).any()))

    def _checked(self, cells: Cells) -> Cells:
        if np.abs(cells.value).max(initial=0.0) >= LARGEST:
            expected, todo = "numbers below 2^53", "Give the column in a larger unit."
            raise InputError(self.series.name, "larger numbers", expected, todo)
        return cells

    def written(self, value: Floats) -> pl.Series:
        """The column with new values (in units of the last decimal); unknown cells stay.

        Integers that no longer fit their type are of 64 bits afterwards. `value` is consumed: its
        memory becomes the column's.
        """
        if self.text is not None:
            return self.text.written(value)
        dtype = self.series.dtype
        for rows in chunks(len(value)):
            if dtype.is_integer():
                value.view(np.int64)[rows] = value[rows].astype(np.int64)
            else:
                cells = self.cells(rows)
                old = self.series[rows].to_numpy()
                value[rows] = np.where(cells.known, value[rows] / cells.scale, old)
        whole = value.view(np.int64) if dtype.is_integer() else value
        new = pl.Series(self.series.name, whole)
        if self.series.null_count():
            nothing = pl.Series(self.series.name, [None], dtype=new.dtype)
            new = new.zip_with(self.series.is_not_null(), nothing)
        narrow = new.cast(dtype, strict=False)
        return narrow if narrow.null_count() == new.null_count() else new


def _float_cells(value: Floats, known: Bools) -> Cells:
    """Decimals per cell: the fewest that write the float exactly, up to nine."""
    scale, grid = np.ones_like(value), np.zeros_like(value)
    open_ = np.flatnonzero(known)
    for decimals in range(_MOST_DECIMALS + 1):
        power = 10.0**decimals
        whole = np.rint(value[open_] * power)
        exact = (whole / power == value[open_]) & (np.abs(whole) < LARGEST)
        scale[open_[exact]], grid[open_[exact]] = power, 1.0
        open_ = open_[~exact]
        if not len(open_):
            break
    scaled = np.where(grid > 0, np.rint(value * scale), value)
    grid = np.where((grid > 0) & (scale == 1), trailing_unit(scaled), grid)
    return Cells(scaled, grid, scale, known, True)
