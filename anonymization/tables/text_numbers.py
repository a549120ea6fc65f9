"""Numbers written as text: what stands around the digits stays, only the digits change."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from data.errors import InputError

Floats = NDArray[np.float64]

# Sign, currency and unit stay as they are, and so are not parsed beyond the sign.
_NUMBER = (
    r"^(?<before>[^0-9]{0,16}?)(?<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"
    r"(?:\.(?<decimals>[0-9]+))?(?<after>[^0-9]{0,16})$"
)
_NEGATIVE = r"[-−－‐△▲(（]"
_WIDE = "０１２３４５６７８９，．"
_NARROW = "0123456789,."


class TextNumbers:
    """A text column parsed once. `value` is in units of the last decimal, signed.

    `known` is false for cells without a digit (blank, `－`, `n/a`): missing values, kept as they
    are. Errors: `InputError` for cells with digits that are no single number.
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
            expected = "one number a cell, such as 1,234.50 or △12"
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
    """All parts of all cells in one query: tables have many columns, and queries a price."""
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
