"""Parquet and Arrow files: the texts of all columns masked, all else as it is.

Polars reads and writes them. Columns of bytes and columns that nest are refused, and so is a
private value in a column's name; metadata beside the table is not carried over.
"""

from __future__ import annotations

import io

import polars as pl

from anonymization.documents.contracts import Refusal, Refused
from anonymization.documents.spreadsheet import number_edits, whole_number
from anonymization.documents.visitor import Visitor, refuse_names
from anonymization.text.masking.plain import plain_edits

_PARQUET = b"PAR1"
_PLAIN = (pl.Boolean, pl.Null)


def rewrite_columns(visitor: Visitor, data: bytes) -> bytes:
    """The masked table in the same format. Raises Refused."""
    is_parquet = data.startswith(_PARQUET)
    try:
        frame = (pl.read_parquet if is_parquet else pl.read_ipc)(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        raise Refused(Refusal.BROKEN) from None
    if frame.estimated_size() > visitor.config.max_inflated_bytes:
        raise Refused(Refusal.INFLATES)
    masked = frame.with_columns(_masked(visitor, column) for column in frame.iter_columns())
    out = io.BytesIO()
    if is_parquet:
        masked.write_parquet(out, compression="uncompressed", statistics=False)
    else:
        masked.with_columns(_fresh(masked).get_columns()).write_ipc(out)
    return out.getvalue()


def _fresh(frame: pl.DataFrame) -> pl.DataFrame:
    """Its columns of texts in new buffers: a filter leaves what it dropped in the old ones."""
    packed = io.BytesIO()
    frame.select(pl.col(pl.String)).write_parquet(packed)
    packed.seek(0)
    return pl.read_parquet(packed)


def _masked(visitor: Visitor, column: pl.Series) -> pl.Series:
    refuse_names(plain_edits(column.name, visitor.visit()))
    if column.dtype.is_integer():
        return _masked_numbers(visitor, column)
    if column.dtype.is_float():
        return _masked_floats(visitor, column)
    if column.dtype.is_numeric() or column.dtype.is_temporal() or column.dtype in _PLAIN:
        return column
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        raise Refused(Refusal.EMBEDDED_UNKNOWN, column.name)
    texts = column.cast(pl.String)
    values = texts.unique(maintain_order=True).drop_nulls()
    if isinstance(column.dtype, pl.Enum):  # it is written with those that no row has
        values = values.append(column.dtype.categories).unique(maintain_order=True)
    new = {
        text: visitor.masked(
            column.name, text, plain_edits(text, visitor.visit(), label=column.name)
        )
        for text in values
    }
    if all(text == masked for text, masked in new.items()):
        return column
    kind = pl.String if isinstance(column.dtype, pl.Enum) else column.dtype
    return texts.replace(new).cast(kind)


def _masked_floats(visitor: Visitor, column: pl.Series) -> pl.Series:
    """Phones and cards in a column that is of floats only because some cells are empty."""
    new: dict[float, float] = {}
    for number in column.unique(maintain_order=True).drop_nulls():
        text = whole_number(number)
        if edits := number_edits(visitor, column.name, text):
            new[number] = float(visitor.masked(column.name, text, edits))
    return column.replace(new) if new else column


def _masked_numbers(visitor: Visitor, column: pl.Series) -> pl.Series:
    """Phones and cards that are kept as numbers; as in the cells of a sheet, they stay numbers."""
    new: dict[int, int] = {}
    for number in column.unique(maintain_order=True).drop_nulls():
        if edits := number_edits(visitor, column.name, str(number)):
            new[number] = int(visitor.masked(column.name, str(number), edits))
    return column.replace(new) if new else column
