"""Data files: SQLite databases are masked cell by cell; arrays of numbers hold nothing to mask.

SQLite (the file format since 3.0) is opened in memory. A database with triggers is refused, for
they would run. What a deleted row has held goes with `VACUUM`. A NumPy array (format 1 to 3) of
numbers or times is admitted unchanged; texts and objects are refused, and objects are pickles.
What a gzip file (RFC 1952) holds is masked as a file of its own.
"""

from __future__ import annotations

import ast
import gzip
import re
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from anonymization.documents.contracts import Refusal, Refused
from anonymization.documents.spreadsheet import number_edits, whole_number
from anonymization.documents.visitor import Visitor, refuse_names
from anonymization.text.encodings import encoding_of, writable
from anonymization.text.masking.forms import is_readable
from anonymization.text.masking.pieces import Piece
from anonymization.text.masking.plain import plain_edits
from anonymization.text.vault import decoded, encoded

_Cell = str | int | float | bytes
SQLITE = b"SQLite format 3\0"
NUMPY = b"\x93NUMPY"
GZIP = b"\x1f\x8b\x08"
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
            return _masked(visitor, database, data)
        except sqlite3.Error:
            raise Refused(Refusal.BROKEN) from None


def _masked(visitor: Visitor, database: sqlite3.Connection, data: bytes) -> bytes:
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
