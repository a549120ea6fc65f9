"""Data files that programs write: databases and columns are masked, arrays of numbers admitted."""

from __future__ import annotations

import gzip
import io
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import polars as pl
import pytest

from anonymization.documents.contracts import DocumentConfig, Pictures, Refusal
from anonymization.documents.document import mask_bytes
from tests.anonymization.text.masking.fakes import masker

NAME = "Margaret Thornquist"
ROWS: list[tuple[int, str, str, float]] = [
    (1, NAME, "paid", 12.5),
    (2, "nobody", f"asked by {NAME}", 7.0),
    (3, NAME, "open", 0.25),
]


def database(*statements: str) -> bytes:
    """A database with the rows in a table, and what the statements do with it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, who TEXT, note, total)")
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ROWS)
        for statement in statements:
            connection.execute(statement)
        return connection.serialize()


def rows_of(data: bytes) -> Sequence[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data)
        return connection.execute("SELECT * FROM orders ORDER BY id").fetchall()


def test_a_database_is_masked_cell_by_cell_and_keeps_the_rest() -> None:
    masked = mask_bytes(database("CREATE INDEX by_who ON orders (who)"), "shop.db", masker())
    assert masked.report.refusal is None
    rows = rows_of(masked.data)
    assert [(row[0], row[3]) for row in rows] == [(row[0], row[3]) for row in ROWS]
    assert rows[0][1] == rows[2][1] != NAME
    assert rows[1][1] == "nobody"
    assert rows[1][2] == f"asked by {rows[0][1]}"
    assert NAME.encode() not in masked.data
    assert {row.part for row in masked.report.rows} == {"orders.who", "orders.note"}


def test_what_was_deleted_is_gone_and_the_same_database_gives_the_same_bytes() -> None:
    data = database("DELETE FROM orders WHERE who <> 'nobody'", "UPDATE orders SET note = 'x'")
    assert NAME.encode() in data
    masked = mask_bytes(data, "shop.sqlite", masker())
    assert masked.report.refusal is None
    assert NAME.encode() not in masked.data
    assert mask_bytes(data, "shop.sqlite", masker()).data == masked.data


def test_spellings_that_a_column_takes_as_equal_are_all_masked() -> None:
    spellings = (NAME, f"{NAME} ")
    data = database(
        "CREATE TABLE people (who TEXT COLLATE RTRIM)",
        *(f"INSERT INTO people VALUES ('{spelling}')" for spelling in spellings),
    )
    masked = mask_bytes(data, "shop.db", masker())
    assert masked.report.refusal is None
    assert NAME.encode() not in masked.data


def test_a_phone_that_is_a_number_has_the_same_surrogate_in_every_kind_of_file() -> None:
    phone, worker = 13812345678, masker()
    text = mask_bytes(f"phone\n{phone}\n".encode(), "a.csv", worker).data.decode()
    surrogate = int(text.split()[1])
    data = database(
        "CREATE TABLE calls (phone INTEGER, n)", f"INSERT INTO calls VALUES ({phone}, 3)"
    )
    masked = mask_bytes(data, "shop.db", worker)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(masked.data)
        assert connection.execute("SELECT * FROM calls").fetchall() == [(surrogate, 3)]
    frame = pl.DataFrame({"phone": [phone, None], "n": [3, 4]})
    table = mask_bytes(columns(pl.DataFrame.write_parquet, frame), "a.parquet", worker)
    assert pl.read_parquet(io.BytesIO(table.data)).rows() == [(surrogate, 3), (None, 4)]
    assert surrogate != phone


SCHEMA = "PRAGMA writable_schema = ON"
HIDDEN = {
    "statistics": ("ANALYZE", f"INSERT INTO sqlite_stat1 VALUES ('orders', NULL, '{NAME}')"),
    "counter": (
        "CREATE TABLE n (i INTEGER PRIMARY KEY AUTOINCREMENT)",
        "INSERT INTO n VALUES (1)",
        f"UPDATE sqlite_sequence SET seq = '{NAME}'",
    ),
    "field without a column": (
        "CREATE TABLE n (a, b)",
        f"INSERT INTO n VALUES (1, '{NAME}')",
        SCHEMA,
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE n (a)' WHERE name = 'n'",
    ),
}


@pytest.mark.parametrize("case", sorted(HIDDEN))
def test_what_no_cell_shows_is_gone(case: str) -> None:
    masked = mask_bytes(database(*HIDDEN[case]), "shop.db", masker())
    assert masked.report.refusal is None
    assert NAME.encode() not in masked.data


TRIGGER = "CREATE TRIGGER t AFTER UPDATE ON orders BEGIN DELETE FROM orders; END"
REFUSED: dict[str, tuple[Callable[[], bytes], Refusal]] = {
    "trigger": (lambda: database(TRIGGER), Refusal.MACROS),
    "trigger behind a comment": (
        lambda: database(
            TRIGGER,
            SCHEMA,
            "UPDATE sqlite_schema SET sql = replace(sql, ' TRIGGER', '/**/TRIGGER')",
        ),
        Refusal.MACROS,
    ),
    "search table": (lambda: database("CREATE VIRTUAL TABLE f USING fts5 (a)"), Refusal.MACROS),
    "name": (lambda: database(f'CREATE TABLE "{NAME}" (a)'), Refusal.PRIVATE_PART_NAME),
    "bytes": (lambda: database("UPDATE orders SET note = x'00ff'"), Refusal.NOT_APPROVED),
    "cut": (lambda: database()[:3000], Refusal.BROKEN),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_a_database_that_cannot_be_masked_is_refused(case: str) -> None:
    build, reason = REFUSED[case]
    assert mask_bytes(build(), "shop.db", masker()).report.refusal is reason


def test_bytes_in_cells_of_a_published_source_are_like_its_pictures() -> None:
    config = DocumentConfig(pictures=Pictures.PUBLISHED)
    data = database("UPDATE orders SET note = x'00ff'")
    masked = mask_bytes(data, "shop.db", masker(), config)
    assert {row[2] for row in rows_of(masked.data)} == {b"\0\xff"}


FRAME = pl.DataFrame({"who": [NAME, None, "nobody"], "total": [1, 2, 3]})


def columns(write: Callable[[pl.DataFrame, io.BytesIO], object], frame: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    write(frame, out)
    return out.getvalue()


def test_a_parquet_file_that_its_reader_panics_over_is_refused() -> None:
    packed = io.BytesIO()
    pl.DataFrame({"a": ["x", "y", None] * 4}).write_parquet(
        packed, compression="uncompressed", statistics=False
    )
    data = bytearray(packed.getvalue())
    data[32] = 0  # of the levels of the first page
    assert mask_bytes(bytes(data), "a.parquet", masker()).report.refusal == Refusal.BROKEN


@pytest.mark.parametrize(
    ("name", "write", "read"),
    [
        ("a.parquet", pl.DataFrame.write_parquet, pl.read_parquet),
        ("a.arrow", pl.DataFrame.write_ipc, pl.read_ipc),
    ],
)
def test_columns_are_masked(
    name: str,
    write: Callable[[pl.DataFrame, io.BytesIO], object],
    read: Callable[[io.BytesIO], pl.DataFrame],
) -> None:
    masked = mask_bytes(columns(write, FRAME), name, masker())
    assert masked.report.refusal is None
    frame = read(io.BytesIO(masked.data))
    assert frame.schema == FRAME.schema
    assert frame["total"].to_list() == [1, 2, 3]
    assert frame["who"].to_list()[1:] == [None, "nobody"]
    assert frame["who"][0] not in (None, NAME)
    nested = FRAME.select(pl.concat_list("who"))
    refused = mask_bytes(columns(write, nested), name, masker())
    assert refused.report.refusal is Refusal.EMBEDDED_UNKNOWN


@pytest.mark.parametrize("kind", [pl.String(), pl.Enum([NAME, "nobody at all today"])])
def test_a_row_that_was_dropped_leaves_nothing_in_an_arrow_file(kind: pl.DataType) -> None:
    rows = [NAME, "nobody at all today", "nobody at all today"]
    frame = pl.DataFrame({"who": pl.Series(rows, dtype=kind)})
    data = columns(pl.DataFrame.write_ipc, frame[1:])
    assert NAME.encode() in data
    masked = mask_bytes(data, "a.arrow", masker())
    assert masked.report.refusal is None
    assert NAME.encode() not in masked.data


def array(values: object) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(values))
    return out.getvalue()


def test_an_array_of_numbers_holds_nothing_to_mask() -> None:
    points = np.zeros(3, dtype=[("x", "<f8"), ("day", "<M8[D]")])
    for numbers in ([1, 2], [[0.5]], [True], points):
        data = array(numbers)
        assert mask_bytes(data, "a.npy", masker()).data == data
    for others in (["a", "b"], [{"a": 1}, NAME]):
        assert mask_bytes(array(others), "a.npy", masker()).report.refusal is Refusal.UNKNOWN_TYPE
    out = io.BytesIO()
    np.savez(out, first=np.arange(4), second=np.ones((2, 2)))
    masked = mask_bytes(out.getvalue(), "a.npz", masker())
    assert masked.report.refusal is None
    with zipfile.ZipFile(io.BytesIO(masked.data)) as archive:
        assert archive.namelist() == ["first.npy", "second.npy"]


def test_what_is_packed_is_masked_inside() -> None:
    text = f"who,total\n{NAME},3\n".encode()
    masked = mask_bytes(gzip.compress(text), "a.csv.gz", masker())
    assert masked.report.refusal is None
    content = gzip.decompress(masked.data)
    assert content.startswith(b"who,total\n")
    assert content.endswith(b",3\n")
    assert NAME.encode() not in content
    config = DocumentConfig(max_inflated_bytes=1000)
    bomb = gzip.compress(bytes(100_000))
    assert mask_bytes(bomb, "a.gz", masker(), config).report.refusal is Refusal.INFLATES
    assert mask_bytes(gzip.compress(text)[:-9], "a.gz", masker()).report.refusal is Refusal.BROKEN
