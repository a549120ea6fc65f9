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
        units = np.rint(np.abs(moved) / grid)
        np.maximum(units, 1.0, out=units)
        if self.strict:
            units += np.rint(units / 10) * 10 == units
        settled = sign * units * grid
        if not self.grid.all():
            settled = np.where(self.grid > 0, settled, sign * np.abs(moved))
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
    """A measure column of integers, floats or formatted text, read and written by rows."""

    def __init__(self, series: pl.Series) -> None:
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

        `value` is consumed: its memory becomes the column's.
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
        return new if new.dtype == dtype else new.cast(dtype)


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


# Sign, currency and unit stay unchanged, so only the sign is parsed.
_NUMBER = (
    r"^(?<before>[^0-9]{0,16}?)(?<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"
    r"(?:\.(?<decimals>[0-9]+))?(?<after>[^0-9]{0,16})$"
)
_NEGATIVE = r"[-−－‐△▲(（]"
_WIDE = "０１２３４５６７８９，．"
_NARROW = "0123456789,."


class TextNumbers:
    """A text column parsed once. `value` is in units of the last decimal, signed.

    `known` is false for cells without a digit (blank, `－`, `n/a`): missing values, kept unchanged.
    Errors: `InputError` for cells with digits that are not a single number.
    """

    def __init__(self, series: pl.Series) -> None:
        self.series = series
        wide = series.str.contains(f"[{_WIDE}]").fill_null(False)
        narrow = series
        if wide.any():
            narrow = series.str.replace_many(list(_WIDE), list(_NARROW))
        parts = _parsed(narrow)
        self.known = parts["known"].to_numpy()
        unread = int((parts["has_digits"] & ~parts["known"]).sum())
        if unread:
            expected = "one number per cell, such as 1,234.50 or △12"
            todo = "Clean the column, or declare it as free text."
            raise InputError(series.name, f"{unread} cells with other digits", expected, todo)
        self._parts = parts.with_columns(wide=wide)
        self.decimals = parts["places"].to_numpy().astype(np.int64)
        value = parts["value"].to_numpy()
        self.value: Floats = np.where(parts["negative"].to_numpy(), -value, value)

    def written(self, value: Floats) -> pl.Series:
        """The column with the magnitudes of `value` in each cell's own format."""
        whole, rest = np.divmod(np.abs(value).astype(np.int64), 10**self.decimals)
        made = self._parts.with_columns(
            new=pl.Series(whole), rest=pl.Series(rest), places=pl.Series(self.decimals)
        )
        width = pl.col("whole").str.replace_all(",", "").str.len_chars()
        padded = pl.col("whole").str.starts_with("0")
        digits = pl.col("new").cast(pl.String)
        digits = pl.when(padded).then(digits.str.zfill(width)).otherwise(digits)
        made = made.with_columns(digits=digits)
        if made["grouped"].any():
            made = made.with_columns(digits=_grouped(made))
        fraction = pl.concat_str(
            pl.lit("."), pl.col("rest").cast(pl.String).str.zfill(pl.col("places"))
        )
        fraction = pl.when(pl.col("places") > 0).then(fraction).otherwise(pl.lit(""))
        body = pl.concat_str("digits", fraction)
        if made["wide"].any():
            widened = body.str.replace_many(list(_NARROW), list(_WIDE))
            body = pl.when("wide").then(widened).otherwise(body)
        text = made.select(pl.concat_str("before", body, "after").alias("text"))["text"]
        return self.series.zip_with(pl.Series(~self.known), text).alias(self.series.name)


def _parsed(cells: pl.Series) -> pl.DataFrame:
    """All parts of all cells in one query: tables have many columns, and each query has a cost."""
    cell, whole, decimals = pl.col("cell"), pl.col("whole"), pl.col("decimals")
    return (
        pl.LazyFrame({"cell": cells})
        .select(
            cell.str.extract_groups(_NUMBER).alias("parts"),
            cell.str.contains("[0-9]").fill_null(False).alias("has_digits"),
        )
        .unnest("parts")
        .with_columns(
            known=whole.is_not_null(),
            grouped=whole.str.contains(",", literal=True),
            places=decimals.str.len_chars().fill_null(0),
            value=(whole.str.replace_all(",", "") + decimals.fill_null(""))
            .cast(pl.Float64)
            .fill_null(0.0),
            negative=pl.col("before").str.contains(_NEGATIVE).fill_null(False),
        )
        .collect()
    )


def _grouped(made: pl.DataFrame) -> pl.Series:
    """Thousands separators where the cell had them."""
    rows = zip(made["digits"], made["new"], made["grouped"], strict=True)
    return pl.Series([f"{new:,}" if grouped else digits for digits, new, grouped in rows])
