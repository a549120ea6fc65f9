"""The database on disk: what is written is read, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from construction.statements.model import TABLES, read_statements, read_tables, write_statements
from data.errors import InputError
from tests.construction.statements.tools.tiny import tiny_statements


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_statements(tmp_path / "tables", tiny_statements())
    return tmp_path / "tables"


def test_what_is_written_is_read(folder: Path) -> None:
    made, read = tiny_statements(), read_statements(folder)
    for table in TABLES:
        assert getattr(read, table.name).equals(getattr(made, table.name)), table.name


def test_same_tables_same_bytes(folder: Path, tmp_path: Path) -> None:
    write_statements(tmp_path / "again", tiny_statements())
    for table in TABLES:
        name = f"{table.name}.parquet"
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_some_tables_need_no_others(folder: Path) -> None:
    (folder / "rows.parquet").unlink()
    assert list(read_tables(folder, TABLES[:3])) == ["companies", "series", "points"]


def test_a_full_folder_is_left_alone(folder: Path) -> None:
    with pytest.raises(InputError, match="an empty or missing folder"):
        write_statements(folder, tiny_statements())


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "rows.parquet").unlink()
    with pytest.raises(InputError, match=r"rows\.parquet: found no file"):
        read_statements(folder)


def test_bytes_that_are_no_parquet(folder: Path) -> None:
    (folder / "points.parquet").write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    with pytest.raises(InputError, match="48 bytes that are not Parquet"):
        read_statements(folder)


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (pl.col("value").cast(pl.Float64), "another type of value"),
        (pl.col("value").alias("amount"), "17 columns|19 columns|in another order or number"),
    ],
)
def test_another_schema_is_refused(folder: Path, change: pl.Expr, result: str) -> None:
    path = folder / "points.parquet"
    pl.read_parquet(path).with_columns(change).write_parquet(path)
    with pytest.raises(InputError, match=result):
        read_statements(folder)


def test_a_missing_column_is_named(folder: Path) -> None:
    path = folder / "series.parquet"
    pl.read_parquet(path).drop("unit").write_parquet(path)
    with pytest.raises(InputError, match="no column unit"):
        read_statements(folder)
