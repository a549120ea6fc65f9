"""Numbers as they are reported: how they are written, their decimals, and the last reported digit.

Most reported values are multiples of a thousand or a million; noise below that digit would be
obvious, so every perturbed value is rounded to the grid of the value that it replaces.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymization.tables.keystream import chunks
from data.errors import InputError

# Sign, currency and unit stay unchanged, so only the sign is parsed.
_NUMBER = (
    r"^(?<before>[^0-9]{0,16}?)(?<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"
    r"(?:\.(?<decimals>[0-9]+))?(?<after>[^0-9]{0,16})$"
)
_NEGATIVE = r"[-−－‐△▲(（]"
_WIDE = "０１２３４５６７８９，．"
_NARROW = "0123456789,."


# What stands for "no number"; any other text in a measure could be a name or a remark.
_MISSING = (
    r"(?i)^[\s\p{P}\p{S}]*$|^\s*(?:n\.?\s?/?\s?a\.?|nan|null|none|nil|missing|unknown|tbd|tba|"
    r"not (?:available|applicable|disclosed|reported)|不明|未公表|非公開|非開示|該当なし|なし|無|"
    r"暂无|无|未披露|不适用)\s*$"
)
_UNIT_WORDS = (
    r"(?i)^(?:usd|eur|jpy|cny|rmb|hkd|gbp|krw|inr|chf|us|yen|yuan|euros?|dollars?|pct|percent|"
    r"shares?|k|m|mn|mm|bn|b|tn|thousands?|millions?|billions?|trillions?|"
    r"[十百千万萬億亿兆円元株人件%％圆圓美日港韓韩]+)$"
)
_COMMON = 0.2  # share of a column's numbers from which words beside them are its unit …
_LEAST_COMMON = 5  # … if they are at least as many
_MOSTLY_NUMBERS = 0.5


class _TextNumbers:
    """A text column parsed once. `value` is in units of the last decimal, signed.

    `known` is false for missing values (blank, `－`, `n/a`), which stay, and for `foreign` cells:
    texts, and numbers beside words that are no unit. These could hold anything, so `written`
    empties them. Numbers with an exponent, and those of more than 15 digits that are not whole, as
    programs write them, are read as decimals of 15 digits. Errors: `InputError` for cells with
    digits that are not a single number, for numbers of more than 18 decimals, and for columns of
    which half or more is foreign.
    """

    def __init__(self, series: pl.Series) -> None:
        self.series = series
        wide = series.str.contains(f"[{_WIDE}]").fill_null(False)
        narrow = series
        if wide.any():
            narrow = series.str.replace_many(list(_WIDE), list(_NARROW))
        parts = _parsed(_plain(narrow))
        self.foreign = _foreign(parts, narrow)
        self.known = (parts["known"] & ~self.foreign).to_numpy()
        self._require_numbers(parts)
        self._parts = parts.with_columns(wide=wide)
        self.decimals = parts["places"].to_numpy().astype(np.int64)
        value = parts["value"].to_numpy()
        signed = np.where(parts["negative"].to_numpy(), -value, value)
        self.value: Floats = np.where(self.known, signed, 0.0)

    def _require_numbers(self, parts: pl.DataFrame) -> None:
        todo = "Clean the column, or declare it as free text."
        unread = int((parts["has_digits"] & ~parts["known"]).sum())
        if unread:
            expected = "one number per cell, such as 1,234.50 or △12"
            raise InputError(self.series.name, f"{unread} cells with other digits", expected, todo)
        if (parts["places"] > _MOST_WRITTEN_DECIMALS).any():
            actual, expected = "a smaller number", f"at most {_MOST_WRITTEN_DECIMALS} decimals"
            raise InputError(self.series.name, actual, expected, "Express it in a smaller unit.")
        foreign, numbers = int(self.foreign.sum()), int(self.known.sum())
        if foreign and foreign >= _MOSTLY_NUMBERS * (foreign + numbers):
            actual = f"{foreign} text cells and {numbers} numbers"
            raise InputError(self.series.name, actual, "a measure, which is mostly numbers", todo)

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
        kept = self.series.zip_with(pl.Series(~self.known), text)
        nothing = pl.Series([None], dtype=pl.String)
        return kept.zip_with(~self.foreign, nothing).alias(self.series.name)


_DIGITS = Context(prec=15)  # what a float holds of any decimal
_MOST_WRITTEN_DECIMALS = 18
_COMPUTED = r"^\s*[-+]?[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]{1,2}\s*$|^\s*[-+]?[0-9]+\.[0-9]+\s*$"
_LONG = 17  # characters of a decimal that may have more than 15 digits


def _plain(cells: pl.Series) -> pl.Series:
    """Numbers with an exponent or too many digits as decimals: `1.5e-05` as `0.000015`."""
    is_long = (cells.str.len_chars() >= _LONG) | cells.str.contains(r"[0-9][eE][-+]?[0-9]")
    computed = (is_long & cells.str.contains(_COMPUTED)).fill_null(False)
    if not computed.any():
        return cells
    pairs = zip(cells, computed, strict=True)
    return pl.Series(cells.name, [_decimal(cell) if long else cell for cell, long in pairs])


def _decimal(cell: str) -> str:
    """In plain digits; a number that would lose all of them keeps its decimals, to be refused."""
    number = _DIGITS.create_decimal(cell.strip())
    if int(number.as_tuple().exponent) < -_MOST_WRITTEN_DECIMALS:
        short = round(number, _MOST_WRITTEN_DECIMALS)
        number = short if short or not number else number
    return f"{number:f}"


def _foreign(parts: pl.DataFrame, cells: pl.Series) -> pl.Series:
    """Cells of text that is no missing value, and numbers beside words that are no unit."""
    text = ~parts["has_digits"] & ~cells.str.contains(_MISSING).fill_null(True)
    if not parts["worded"].any():
        return text
    beside = parts.select(words=pl.concat_str("before", "after").str.replace_all(r"[^\pL%％]", ""))
    numbered = beside.filter(parts["worded"])["words"]
    least = max(_LEAST_COMMON, _COMMON * int(parts["known"].sum()))
    counted = numbered.value_counts().filter(pl.col("count") >= least)
    words = beside["words"]
    unit = words.str.contains(_UNIT_WORDS) | words.is_in(counted["words"].to_list())
    return text | (parts["worded"] & ~unit.fill_null(False))


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
            worded=pl.concat_str("before", "after").str.contains(r"\pL").fill_null(False),
            negative=pl.col("before").str.contains(_NEGATIVE).fill_null(False),
        )
        .collect()
    )


def _grouped(made: pl.DataFrame) -> pl.Series:
    """Thousands separators where the cell had them."""
    rows = zip(made["digits"], made["new"], made["grouped"], strict=True)
    return pl.Series([f"{new:,}" if grouped else digits for digits, new, grouped in rows])


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
        self.text = _TextNumbers(series) if series.dtype == pl.String else None
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
            expected, todo = "numbers below 2^53", "Express the column in a larger unit."
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
