"""Files of SEC data sets: broken lines, odd bytes, and archives that mean harm."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.statements.model import TABLES, Statements
from construction.statements.readers.sec.contracts import SecConfig, SecReason
from construction.statements.readers.sec.read import read_sec
from construction.statements.readers.sec.source import _without_broken_lines
from data.contracts import Outcome
from data.errors import InputError
from tests.construction.statements.readers.sec.written import DataSet


def files(result: Statements) -> dict[str, SecReason | str | None]:
    """Reason by file, of those that were not kept."""
    rows = (row for row in result.ledger if row.unit == "file" and row.outcome is not Outcome.KEPT)
    return {row.item_id: row.reason for row in rows}


def test_zip_folder_tsv_and_parquet_give_the_same(tmp_path: Path) -> None:
    data = DataSet(num=[{}, {"segments": "ClassOfStock=A;", "value": "-0.2500"}])
    parquet = tmp_path / "parquet"
    parquet.mkdir()
    typed: dict[str, Any] = {"cik": pl.Int64, "filed": pl.Int64, "ddate": pl.Int64, "qtrs": pl.Int8}
    typed |= {"report": pl.Int32, "line": pl.Int32, "value": pl.Float64}
    for name in ("sub", "tag", "num", "pre"):
        records = pl.DataFrame(data.records(name), infer_schema_length=None)
        types = {column: dtype for column, dtype in typed.items() if column in records.columns}
        records.cast(pl.Schema(types)).write_parquet(parquet / f"{name}.parquet")
    whole = tmp_path / "several"
    whole.mkdir()
    data.zip(whole / "2010q2.zip")
    item = read_sec([data.zip(tmp_path / "2010q2.zip")])
    places = (data.folder(tmp_path / "txt"), data.folder(tmp_path / "tsv", ".tsv"), parquet, whole)
    for position in places:
        other = read_sec([position])
        assert files(other) == {}
        for table in TABLES:
            assert getattr(other, table.name).equals(getattr(item, table.name)), (
                position,
                table.name,
            )


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1234.0, "1234"),
        (0.1, "0.1"),
        (12345678901234567.0, "12345678901234568"),
        (-1e22, "-10000000000000000000000"),
    ],
)
def test_floats_of_parquet_give_their_shortest_decimal(
    tmp_path: Path, number: float, text: str
) -> None:
    folder = DataSet().folder(tmp_path / "mixed")
    records = pl.DataFrame(DataSet().records("num")).with_columns(value=pl.lit(number))
    (folder / "num.txt").unlink()
    records.write_parquet(folder / "num.parquet")
    assert read_sec([folder]).points["value"].to_list() == [text]


def test_quotes_are_plain_characters(tmp_path: Path) -> None:
    data = DataSet(
        sub=[{"name": 'THE "BIG" CO'}],
        tag=[{"tag": "Revenues", "tlabel": '"Net" sales of 10" pipes'}],
        pre=[{"plabel": '"Sales'}, {"line": "2", "plabel": "After"}],
    )
    result = read_sec([data.zip(tmp_path / "a.zip")])
    assert result.companies["name"].to_list() == ['THE "BIG" CO']
    assert result.series["label"].to_list() == ['"Net" sales of 10" pipes']
    assert result.rows["label"].to_list() == ['"Sales', "After"]


def test_bytes_that_are_no_utf8_are_replaced_and_counted(tmp_path: Path) -> None:
    folder = DataSet(sub=[{"name": "NESTLÉ � SA"}]).folder(tmp_path / "a")
    raw = (folder / "sub.txt").read_bytes()
    (folder / "sub.txt").write_bytes(raw.replace("É".encode(), b"\xc9\xff"))
    result = read_sec([folder])
    assert result.companies["name"].to_list() == ["NESTL�� � SA"]
    replaced = {
        row.item_id: row.evidence["replaced"] for row in result.ledger if row.unit == "file"
    }
    assert replaced == {"a/sub.txt": 2, "a/tag.txt": 0, "a/num.txt": 0, "a/pre.txt": 0}


def test_broken_lines_are_told_by_file_and_line(tmp_path: Path) -> None:
    data = DataSet(tail={"num": b"too\tfew\n" + b"\t" * 12 + b"\n\nlast\tand unfinished"})
    result = read_sec([data.zip(tmp_path / "a.zip")])
    lines = [row for row in result.ledger if row.unit == "line"]
    assert [(row.item_id, row.evidence["found"]) for row in lines] == [
        ("a.zip/num.txt:3", "2 columns"),
        ("a.zip/num.txt:4", "13 columns"),
        ("a.zip/num.txt:5", "1 columns"),
        ("a.zip/num.txt:6", "2 columns"),
    ]
    assert {(row.reason, row.outcome, row.evidence["expected"]) for row in lines} == {
        (SecReason.COLUMN_COUNT, Outcome.ERRORED, 10)
    }
    tally = next(tally for tally in result.tallies if tally.unit == "line")
    assert (tally.n_in, tally.counts[Outcome.ERRORED]) == (8, 4)
    assert result.points.height == 1


def test_many_broken_lines_share_a_row(tmp_path: Path) -> None:
    data = DataSet(tail={"pre": b"x\n" * 7})
    result = read_sec([data.zip(tmp_path / "a.zip")], SecConfig(max_listed_lines=2))
    lines = [(row.item_id, row.n) for row in result.ledger if row.unit == "line"]
    assert lines == [("a.zip/pre.txt:3", 1), ("a.zip/pre.txt:4", 1), ("a.zip/pre.txt", 5)]


def test_lines_that_make_up_for_each_other_are_broken_all_the_same() -> None:
    raw = b"a\tb\tc\n1\t2\n1\t2\t3\t4\n5\t6\t7\n"
    assert _without_broken_lines(raw, 3) == (b"a\tb\tc\n5\t6\t7\n", 3, [(2, 2), (3, 4)])


@given(st.lists(st.integers(0, 4), max_size=8))
def test_a_line_is_kept_if_it_has_the_columns_of_the_head(tabs: list[int]) -> None:
    lines = [b"a\tb\tc", *(b"\t" * count for count in tabs)]
    kept, n, broken = _without_broken_lines(b"".join(line + b"\n" for line in lines), 3)
    assert kept == b"".join(line + b"\n" for line in lines if line.count(b"\t") == 2)
    assert n == len(tabs)
    assert broken == [(at + 2, count + 1) for at, count in enumerate(tabs) if count != 2]


def test_windows_line_ends_and_a_byte_order_mark_are_tolerated(tmp_path: Path) -> None:
    folder = DataSet().folder(tmp_path / "a")
    for path in folder.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_sec([folder]).points.height == 1


def test_missing_and_foreign_files_are_told(tmp_path: Path) -> None:
    path = DataSet().zip(tmp_path / "a.zip", "tag.txt", **{"readme.htm": b"<html>"})
    result = read_sec([path])
    assert files(result) == {
        "a.zip/readme.htm": SecReason.NOT_A_TABLE,
        "a.zip/tag": SecReason.MISSING_TABLE,
    }
    assert result.series.select("label", "unit").rows() == [("Total revenues", "USD")]


def test_without_filings_there_are_no_facts(tmp_path: Path) -> None:
    result = read_sec([DataSet().zip(tmp_path / "a.zip", "sub.txt")])
    assert files(result) == {"a.zip/sub": SecReason.MISSING_TABLE}
    assert result.points.is_empty()
    reasons = {row.unit: row.reason for row in result.ledger if row.unit in ("fact", "row")}
    assert reasons == dict.fromkeys(("fact", "row"), SecReason.UNKNOWN_FILING)


def test_a_table_without_a_needed_column_is_told(tmp_path: Path) -> None:
    folder = DataSet().folder(tmp_path / "a")
    (folder / "num.txt").write_bytes(b"adsh\ttag\n1\t2\n")
    (folder / "tag.txt").write_bytes(b"")
    reasons = {"a/num.txt": SecReason.NO_COLUMNS, "a/tag.txt": SecReason.NO_COLUMNS}
    assert files(read_sec([folder])) == reasons


def test_old_data_sets_have_no_segments(tmp_path: Path) -> None:
    folder = DataSet().folder(tmp_path / "a")
    table = pl.read_csv(folder / "num.txt", separator="\t", infer_schema=False)
    table.drop("segments").write_csv(folder / "num.txt", separator="\t")
    assert read_sec([folder]).series["dimensions"].to_list() == [None]


def test_a_bomb_is_not_inflated(tmp_path: Path) -> None:
    config = SecConfig(free_inflated_bytes=10_000, max_inflation_ratio=20)
    data = DataSet(tail={"num": b"\n" * 1_000_000})
    result = read_sec([data.zip(tmp_path / "a.zip")], config)
    assert files(result) == {"a.zip/num.txt": SecReason.TOO_LARGE}
    row = next(row for row in result.ledger if row.item_id == "a.zip/num.txt")
    assert row.outcome is Outcome.ERRORED
    assert str(row.evidence["found"]).startswith("more than ")


def test_limits_hold_for_plain_files_rows_and_members(tmp_path: Path) -> None:
    folder = DataSet(num=[{}, {"ddate": "20090331"}]).folder(tmp_path / "a")
    small = read_sec([folder], SecConfig(max_table_rows=1))
    assert files(small) == {"a/num.txt": SecReason.TOO_LARGE}
    size = (folder / "num.txt").stat().st_size
    assert files(read_sec([folder], SecConfig(max_table_bytes=size))).get("a/num.txt") is None
    short = read_sec([folder], SecConfig(max_table_bytes=size - 1))
    assert files(short)["a/num.txt"] == SecReason.TOO_LARGE
    path = DataSet().zip(tmp_path / "b.zip")
    with pytest.raises(InputError, match="no table"):
        read_sec([path], SecConfig(max_members=3))


@pytest.mark.parametrize("name", ["../num.txt", "/num.txt", "a/../../num.txt", "c:num.txt"])
def test_members_that_point_out_of_the_zip_are_refused(tmp_path: Path, name: str) -> None:
    path = DataSet().zip(tmp_path / "a.zip", **{name: b"adsh\n"})
    result = read_sec([path])
    assert files(result) == {f"a.zip/{name}": SecReason.PATH_ESCAPE}
    assert result.points.height == 1


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("adsh")
    folder = DataSet().folder(tmp_path / "a")
    (folder / "num.txt").unlink()
    (folder / "num.txt").symlink_to(secret)
    (folder / "x.zip").symlink_to(DataSet().zip(tmp_path / "x.zip"))
    assert files(read_sec([folder])) == {
        "a/num.txt": SecReason.PATH_ESCAPE,
        "a/num": SecReason.MISSING_TABLE,
        "a/x.zip": SecReason.PATH_ESCAPE,
    }


def test_broken_archives_and_tables_are_told(tmp_path: Path) -> None:
    folder = DataSet().folder(tmp_path / "a")
    (folder / "b.zip").write_bytes(b"PK\x03\x04 and no more")
    (folder / "num.txt").rename(folder / "num.parquet")
    good = DataSet().zip(folder / "c.zip")
    raw = bytearray(good.read_bytes())
    with zipfile.ZipFile(good) as archive:
        at = archive.getinfo("num.txt").header_offset
    raw[at + 40 : at + 60] = bytes(20)
    good.write_bytes(raw)
    assert files(read_sec([folder])) == {
        "a/b.zip": SecReason.UNREADABLE,
        "a/c.zip/num.txt": SecReason.UNREADABLE,
        "a/num.parquet": SecReason.UNREADABLE,
    }


def test_a_second_file_for_one_table_is_told(tmp_path: Path) -> None:
    path = DataSet().zip(tmp_path / "a.zip", **{"z/num.txt": b"adsh\n"})
    assert files(read_sec([path])) == {"a.zip/z/num.txt": SecReason.SECOND_TABLE}


def test_paths_without_tables_raise(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table"):
        read_sec([tmp_path])
    with pytest.raises(InputError, match="nothing"):
        read_sec([tmp_path / "missing.zip"])
