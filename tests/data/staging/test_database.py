from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest

from data.contracts import LedgerRow, Outcome, StageKind, Verdict
from data.errors import InputError
from data.ledger import close
from data.schemas import LEDGER_TABLES
from data.staging import audit, database
from data.staging.database import (
    TABLES,
    VIEWS,
    RunTables,
    build_database,
    in_memory,
    meanings,
    open_read_only,
    sql_types,
    table_paths,
)
from data.tables import (
    LEDGER,
    LINEAGE,
    TALLIES,
    VERDICTS,
    ledger_record,
    tally_records,
    verdict_record,
    write_table,
)
from tests.data.test_ledger import Reason


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    failed = Verdict.failing("length", Reason.SHORT, 1, 10, {"turns": 1})
    also = Verdict.failing("fixture", Reason.GONE, 0, 1)
    rows = [
        LedgerRow("gates", "instance", "a", Outcome.KEPT),
        LedgerRow(
            "gates",
            "instance",
            "b",
            Outcome.REJECTED,
            "length",
            "length.too_short",
            1,
            10,
            evidence={"path": "s.jsonl", "line": 4},
        ),
    ]
    counts = {Outcome.KEPT: 1, Outcome.REJECTED: 1}
    tally = close("gates", StageKind.FILTER, "instance", 2, counts)
    folder = tmp_path / "stage"
    folder.mkdir()
    write_table(folder / "ledger.parquet", map(ledger_record, rows), LEDGER)
    write_table(
        folder / "verdicts.parquet", [verdict_record("b", v) for v in (failed, also)], VERDICTS
    )
    write_table(folder / "tallies.parquet", tally_records(tally), TALLIES)
    target = tmp_path / "staging.duckdb"
    build_database(target, [RunTables({"run_id": "r"}, table_paths([folder]))])
    return target


def test_rejections_say_what_was_seen_and_what_is_allowed(staging: Path) -> None:
    (row,) = audit.rejections(staging, audit.RejectionFilter(gate="length"))
    assert (row["item_id"], row["reason"], row["observed"], row["limit"], row["line"]) == (
        "b",
        "length.too_short",
        "1",
        "10",
        4,
    )
    assert audit.rejections(staging, audit.RejectionFilter(gate="network")) == []


def test_gates_and_reasons_are_those_of_the_run(staging: Path) -> None:
    assert audit.gates(staging) == ["fixture", "length"]
    assert audit.reasons(staging) == ["length.too_short"]


def test_funnel_and_overlaps(staging: Path) -> None:
    (stage,) = audit.funnel(staging)
    assert (stage["n_in"], stage["passed"], stage["rejected"], stage["errored"]) == (2, 1, 1, 0)
    with open_read_only(staging) as connection:
        overlaps = connection.sql('FROM "overlaps"').fetchall()
        assert overlaps == connection.sql("FROM gate_overlaps").fetchall()
    assert overlaps == [("r", "fixture", "length", 1)]


def test_every_table_view_and_column_is_as_documented(staging: Path) -> None:
    with open_read_only(staging) as connection:
        rows = connection.sql(
            "SELECT table_name, comment FROM duckdb_tables() UNION ALL "
            "SELECT view_name, comment FROM duckdb_views() "
            "WHERE NOT internal AND schema_name = 'main'"
        ).fetchall()
        columns = connection.sql(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() "
            "WHERE NOT internal AND schema_name = 'main'"
        ).fetchall()
    declared = {table.name: table.row for table in TABLES} | {view.name: view.row for view in VIEWS}
    assert dict(rows) == {name: f"One row: {row}." for name, row in declared.items()}
    result = {
        (table.name, name, kind, f"{meanings(table)[name]}.")
        for table in TABLES
        for name, kind in sql_types(table).items()
    }
    result |= {
        (view.name, name, kind, f"{text}.")
        for view in VIEWS
        for name, (kind, text) in view.columns.items()
    }
    assert set(columns) == result


def test_the_books_are_staged_as_the_stages_write_them() -> None:
    schemas = [LEDGER, VERDICTS, LINEAGE, TALLIES]
    assert [table.schema for table in LEDGER_TABLES] == [dict(schema) for schema in schemas]


def test_shards_of_a_stage_add_up(tmp_path: Path) -> None:
    for shard, kept in (("a", 3), ("b", 5)):
        counts = {Outcome.KEPT: kept, Outcome.REJECTED: 1}
        tally = close("gates", StageKind.FILTER, "instance", kept + 1, counts)
        (tmp_path / shard).mkdir()
        write_table(tmp_path / shard / "tallies.parquet", tally_records(tally), TALLIES)
    target = tmp_path / "staging.duckdb"
    tables = table_paths([tmp_path / "a", tmp_path / "b"])
    build_database(target, [RunTables({"run_id": "r"}, tables)])
    (stage,) = audit.funnel(target)
    assert (stage["n_in"], stage["passed"], stage["rejected"]) == (10, 8, 2)


def test_a_run_of_older_code_keeps_what_fits_and_one_that_does_not_says_why(
    tmp_path: Path,
) -> None:
    older, broken = tmp_path / "older.parquet", tmp_path / "broken.parquet"
    row = {"stage": "gates", "item_id": "a", "outcome": "kept", "n": 1, "gone": "x"}
    pl.DataFrame([row]).write_parquet(older)
    broken.write_bytes(b"no parquet")
    runs = [
        RunTables({"run_id": "broken"}, {"tallies": [older], "ledger": [broken]}),
        RunTables({"run_id": "older"}, {"ledger": [older]}),
    ]
    target = tmp_path / "staging.duckdb"
    build_database(target, runs)
    with open_read_only(target, every_run=True) as staging:
        assert staging.sql("SELECT run_id, problem FROM runs ORDER BY run_id").fetchall() == [
            ("broken", "ledger: InvalidInputException"),
            ("older", None),
        ]
        assert staging.sql("SELECT run_id, item_id, reason FROM ledger").fetchall() == [
            ("older", "a", None)
        ]
        assert staging.sql("FROM tallies").fetchall() == []
    with pytest.raises(duckdb.Error):
        build_database(target, runs[:1])
    with open_read_only(target) as staging:
        assert staging.sql("SELECT count(*) FROM ledger").fetchall() == [(1,)]


def test_a_reader_and_a_rebuild_do_not_disturb_each_other(staging: Path) -> None:
    with open_read_only(staging) as reader:
        build_database(staging, [])
        assert reader.sql("SELECT count(*) FROM ledger").fetchall() == [(2,)]
    with open_read_only(staging) as reader:
        assert reader.sql("SELECT count(*) FROM ledger").fetchall() == [(0,)]


def test_names_mean_the_newest_run_or_every_run(tmp_path: Path) -> None:
    files = {"ledger": [tmp_path / "ledger.parquet"]}
    row = LedgerRow("gates", "instance", "a", Outcome.KEPT)
    write_table(files["ledger"][0], [ledger_record(row)], LEDGER)
    target = tmp_path / "staging.duckdb"
    build_database(target, [RunTables({"run_id": name}, files) for name in ("old", "new")])
    with open_read_only(target) as newest:
        assert newest.sql("SELECT run_id FROM ledger").fetchall() == [("new",)]
        assert newest.sql("SELECT count(*) FROM runs").fetchall() == [(2,)]
    with open_read_only(target, every_run=True) as every:
        assert every.sql("SELECT run_id FROM ledger").fetchall() == [("old",), ("new",)]
        assert every.sql("SELECT run_id FROM newest.ledger").fetchall() == [("new",)]


def test_runs_that_are_there_are_not_read_again(tmp_path: Path) -> None:
    target, path = tmp_path / "staging.duckdb", tmp_path / "ledger.parquet"
    write_table(path, [ledger_record(LedgerRow("g", "i", "a", Outcome.KEPT))], LEDGER)
    runs = [RunTables({"run_id": name}, {"ledger": [path]}) for name in ("old", "new")]
    build_database(target, runs[:1])
    build_database(target, [RunTables(runs[0].row, {"ledger": [tmp_path / "gone"]}), runs[1]])
    with open_read_only(target, every_run=True) as staging:
        assert staging.sql("SELECT run_id, item_id FROM ledger").fetchall() == [
            ("old", "a"),
            ("new", "a"),
        ]
        assert staging.sql("SELECT run_id FROM newest.ledger").fetchall() == [("new",)]
        assert staging.sql("SELECT run_id, problem FROM runs").fetchall() == [
            ("old", None),
            ("new", None),
        ]


def test_a_file_of_other_contracts_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, path = tmp_path / "staging.duckdb", tmp_path / "ledger.parquet"
    write_table(path, [ledger_record(LedgerRow("g", "i", "a", Outcome.KEPT))], LEDGER)
    run = RunTables({"run_id": "r"}, {"ledger": [path]})
    with monkeypatch.context() as older:
        older.setattr(database, "VIEWS", VIEWS[:1])
        build_database(target, [run])
    with open_read_only(target) as staging, pytest.raises(duckdb.CatalogException):
        staging.sql("FROM lineage")
    build_database(target, [run])
    with open_read_only(target) as staging:
        assert staging.sql("FROM lineage").fetchall() == []
        assert staging.sql("SELECT item_id FROM main.ledger").fetchall() == [("a",)]


def test_queries_reach_no_files_and_no_variables(staging: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    with open_read_only(staging) as connection:
        with pytest.raises(duckdb.PermissionException):
            connection.sql(f"FROM read_text('{tmp_path / 'secret.txt'}')").fetchall()
        secret = pl.DataFrame({"a": [1]})
        with pytest.raises(duckdb.CatalogException):
            connection.sql("FROM secret").fetchall()
        assert secret.height == 1
        with pytest.raises(duckdb.Error):
            connection.sql("SET enable_external_access = true")
        with pytest.raises(duckdb.Error):
            connection.sql("DELETE FROM ledger")


def test_a_missing_staging_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="benchmint build"):
        audit.funnel(tmp_path / "staging.duckdb")


def test_what_outgrows_memory_never_lies_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with in_memory({"memory_limit": "50MiB", "threads": "1"}) as connection:
        long = "select range as a, repeat('x', 50) || range as b from range(3000000)"
        connection.execute(f"create table t as {long}")
        (folder,) = connection.sql("select current_setting('temp_directory')").fetchall()[0]
        assert list(Path(folder).iterdir()) and not list(tmp_path.iterdir())
    assert not Path(folder).exists()
