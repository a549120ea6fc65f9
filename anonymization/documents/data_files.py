"""Data files: SQLite databases are masked cell by cell, Parquet and Arrow files column by column;
arrays of numbers hold nothing to mask.

SQLite (the file format since 3.0) is opened in memory. A database with triggers is refused, for
they would run. What a deleted row has held goes with `VACUUM`. A NumPy array (format 1 to 3) of
numbers or times is admitted unchanged; texts and objects are refused, and objects are pickles. What
a gzip file (RFC 1952) holds is masked as a file of its own.

Polars reads and writes Parquet and Arrow; it is slow to import and seldom needed. Columns of bytes
and columns that nest are refused, and so is a private value in a column's name; metadata beside the
table is not carried over.
"""

from __future__ import annotations

import ast
import gzip
import io
import re
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from anonymization.documents.contracts import Refusal, Refused
from anonymization.documents.spreadsheet import number_edits, whole_number
from anonymization.documents.visitor import Visitor, refuse_names
from anonymization.text.encodings import encoding_of, writable
from anonymization.text.masking.forms import is_readable
from anonymization.text.masking.pieces import Piece
from anonymization.text.masking.plain import plain_edits
from anonymization.text.vault import decoded, encoded

if TYPE_CHECKING:
    import polars as pl

_Cell = str | int | float | bytes
_WRITE_AHEAD = slice(18, 20)  # the header's file format versions: 2 is a write-ahead log
_NUMBERS = re.compile(r"[<>|=]?(?:[biufc]\d{1,2}|\?|[mM]8(?:\[\w{1,6}\])?)")
_HEADER = 1 << 16  # bytes of an array's header, above any that NumPy writes
_TABLES = """
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
ORDER BY name
"""
_RUNS = """
SELECT EXISTS (
    SELECT 1 FROM sqlite_schema WHERE type = 'trigger' OR type = 'table' AND rootpage = 0
)
"""
_STATISTICS = "SELECT name FROM sqlite_schema WHERE name GLOB 'sqlite_stat[0-9]'"
_COUNTS = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence')"


def rewrite_sqlite(visitor: Visitor, data: bytes) -> bytes:
    """The database with the texts of all cells masked. Raises Refused.

    Cells of bytes that hold a text are masked too. Refused are triggers, virtual tables, private
    values in names of tables and columns, and other bytes where pictures need an approval.
    """
    plain = bytearray(data)
    plain[_WRITE_AHEAD] = b"\1\1"  # there is no log beside a database in memory
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        try:
            database.deserialize(bytes(plain))
            return _masked_cells(visitor, database, data)
        except sqlite3.Error:
            raise Refused(Refusal.BROKEN) from None


def _masked_cells(visitor: Visitor, database: sqlite3.Connection, data: bytes) -> bytes:
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("PRAGMA ignore_check_constraints = ON")
    schema = [row[0] for row in database.execute("SELECT sql FROM sqlite_schema WHERE sql <> ''")]
    if database.execute(_RUNS).fetchone()[0]:
        raise Refused(Refusal.MACROS)
    for text in schema:
        refuse_names(plain_edits(text, visitor.visit()))
    tables = [name for (name,) in database.execute(_TABLES)]
    _drop_hidden(database, tables)
    for table in tables:
        for column in _columns(database, table):
            _mask_column(visitor, database, table, column, admits=visitor.config.admits(data))
    database.execute("VACUUM")
    return database.serialize()


def _drop_hidden(database: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Remove what no cell shows, but `VACUUM` copies: statistics, fields without a column."""
    database.execute("REINDEX")  # an index may hold values that its table does not
    for (name,) in database.execute(_STATISTICS).fetchall():
        database.execute(f"DROP TABLE {_quoted(name)}")
    if database.execute(_COUNTS).fetchone()[0]:
        database.execute("DELETE FROM sqlite_sequence WHERE typeof(seq) <> 'integer'")
        database.execute(
            "DELETE FROM sqlite_sequence WHERE name NOT IN (SELECT name FROM sqlite_schema)"
        )
    for table in tables:
        column = _quoted(_columns(database, table)[0])
        database.execute(f"UPDATE {_quoted(table)} SET {column} = {column}")  # noqa: S608


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    """The columns that hold values of their own: computed ones follow."""
    rows = database.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", [table])
    return [name for name, hidden in rows if hidden == 0]


def _mask_column(
    visitor: Visitor, database: sqlite3.Connection, table: str, column: str, *, admits: bool
) -> None:
    where, cells = _quoted(table), _quoted(column)
    part = f"{table}.{column}"
    # The column's own collation would take `Ann` and `ANN` as equal and return one of the two.
    distinct = f"SELECT DISTINCT {cells} COLLATE BINARY FROM {where}"  # noqa: S608
    texts = f"{distinct} WHERE typeof({cells}) = 'text'"
    new: dict[str, str] = {}
    for (text,) in database.execute(texts).fetchall():
        edits = plain_edits(text, visitor.visit(), label=column)
        new[text] = visitor.masked(part, text, edits)
    changed: dict[_Cell, _Cell] = {text: masked for text, masked in new.items() if text != masked}
    numbers = database.execute(f"{distinct} WHERE typeof({cells}) IN ('integer', 'real')")
    for (number,) in numbers.fetchall():
        digits = str(number) if isinstance(number, int) else whole_number(number)
        if edits := number_edits(visitor, column, digits):
            changed[number] = type(number)(visitor.masked(part, digits, edits))
    blobs = f"SELECT DISTINCT {cells} FROM {where} WHERE typeof({cells}) = 'blob'"  # noqa: S608
    for (blob,) in database.execute(blobs).fetchall():
        masked = _masked_blob(visitor, part, column, blob)
        if masked is None and not admits:
            raise Refused(Refusal.NOT_APPROVED, part)
        if masked is not None and masked != blob:
            changed[blob] = masked
    if not changed:
        return
    database.create_function("masked_cell", 1, lambda cell: changed.get(cell, cell))
    database.execute(
        f"UPDATE {where} SET {cells} = masked_cell({cells}) "  # noqa: S608
        f"WHERE typeof({cells}) IN ('text', 'integer', 'real', 'blob')"
    )


def _masked_blob(visitor: Visitor, part: str, column: str, blob: bytes) -> bytes | None:
    """A cell of bytes that holds a text, masked; None if it holds something else."""
    encoding = encoding_of(blob)
    if encoding is None or not is_readable(text := decoded(blob, encoding)):
        return None
    masked = visitor.masked(part, text, plain_edits(text, visitor.visit(), label=column))
    return encoded(writable(masked, encoding), encoding)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def rewrite_gzip(visitor: Visitor, data: bytes, name: str) -> bytes:
    """The masked content, packed again without its name and time. Raises Refused."""
    most = visitor.config.max_inflated_bytes
    inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        content = inflater.decompress(data, most)
    except zlib.error:
        raise Refused(Refusal.BROKEN) from None
    if inflater.unconsumed_tail:
        raise Refused(Refusal.INFLATES)
    if not inflater.eof or inflater.unused_data:
        raise Refused(Refusal.BROKEN)
    inner = name.removesuffix(".gz") if name.endswith(".gz") else "content"
    return gzip.compress(visitor.inner("content", content, inner), mtime=0)


def admit_array(visitor: Visitor, data: bytes) -> bytes:
    """The unchanged array, if it holds numbers or times, and its fields have no private names.

    Raises Refused for texts and objects, and for such names.
    """
    try:
        wide = data[6] >= 2
        size = int.from_bytes(data[8 : 12 if wide else 10], "little")
        start = 12 if wide else 10
        header = ast.literal_eval(data[start : start + min(size, _HEADER)].decode("utf-8"))
        is_numeric = _is_numeric(header["descr"])
    except (ValueError, SyntaxError, KeyError, TypeError, IndexError):
        raise Refused(Refusal.BROKEN) from None
    if not is_numeric:
        raise Refused(Refusal.UNKNOWN_TYPE)
    for name in re.findall(r"[^\W\d_]{2,}(?:[ _][^\W\d_]+)*", _field_names(header["descr"])):
        refuse_names(visitor.look(Piece(name.replace("_", " "))))
    return data


def _field_names(kind: Any) -> str:
    """The names of a record's fields, one per line; none of a plain number."""
    if isinstance(kind, str):
        return ""
    return "\n".join(f"{field[0]}\n{_field_names(field[1])}" for field in kind)


def _is_numeric(kind: Any) -> bool:
    """Is it the type of a number, or of a record of numbers?"""
    if isinstance(kind, str):
        return _NUMBERS.fullmatch(kind) is not None
    return bool(kind) and all(_is_numeric(field[1]) for field in kind)


_PARQUET = b"PAR1"


def rewrite_columns(visitor: Visitor, data: bytes) -> bytes:
    """The masked table in the same format. Raises Refused."""
    import polars as pl

    is_parquet = data.startswith(_PARQUET)
    try:
        frame = (pl.read_parquet if is_parquet else pl.read_ipc)(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        raise Refused(Refusal.BROKEN) from None
    if frame.estimated_size() > visitor.config.max_inflated_bytes:
        raise Refused(Refusal.INFLATES)
    masked = frame.with_columns(_masked_column(visitor, column) for column in frame.iter_columns())
    out = io.BytesIO()
    if is_parquet:
        masked.write_parquet(out, compression="uncompressed", statistics=False)
    else:
        masked.with_columns(_fresh(masked).get_columns()).write_ipc(out)
    return out.getvalue()


def _fresh(frame: pl.DataFrame) -> pl.DataFrame:
    """Its columns of texts in new buffers: a filter leaves what it dropped in the old ones."""
    import polars as pl

    packed = io.BytesIO()
    frame.select(pl.col(pl.String)).write_parquet(packed)
    packed.seek(0)
    return pl.read_parquet(packed)


def _masked_column(visitor: Visitor, column: pl.Series) -> pl.Series:
    import polars as pl

    refuse_names(plain_edits(column.name, visitor.visit()))
    if column.dtype.is_integer():
        return _masked_numbers(visitor, column)
    if column.dtype.is_float():
        return _masked_floats(visitor, column)
    if (
        column.dtype.is_numeric()
        or column.dtype.is_temporal()
        or column.dtype
        in (
            pl.Boolean,
            pl.Null,
        )
    ):
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
