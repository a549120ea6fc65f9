from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from data import audit
from data.contracts import LedgerRow, Outcome, StageKind, Verdict
from data.errors import InputError
from data.ledger import close
from data.staging import TABLES, VIEWS, build_staging, open_read_only, table_paths
from data.tables import (
    LEDGER,
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
    build_staging(target, table_paths([folder]))
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


def test_funnel_and_overlaps(staging: Path) -> None:
    (stage,) = audit.funnel(staging)
    assert (stage["n_in"], stage["passed"], stage["rejected"], stage["errored"]) == (2, 1, 1, 0)
    with open_read_only(staging) as connection:
        overlaps = connection.sql('FROM "overlaps"').fetchall()
        assert overlaps == connection.sql("FROM gate_overlaps").fetchall()
    assert overlaps == [("fixture", "length", 1)]


def test_every_table_view_and_column_is_documented(staging: Path) -> None:
    with open_read_only(staging) as connection:
        tables = dict(connection.sql("SELECT table_name, comment FROM duckdb_tables()").fetchall())
        views = dict(
            connection.sql(
                "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        )
        columns = connection.sql(
            "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
    assert all(tables.values())
    assert {name: bool(views[name]) for name in VIEWS} == dict.fromkeys(VIEWS, True)
    told = {(table, column) for table, column, comment in columns if comment}
    assert {(t.name, c) for t in TABLES for c in t.columns} <= told


def test_a_reader_and_a_rebuild_do_not_disturb_each_other(staging: Path) -> None:
    with open_read_only(staging) as reader:
        build_staging(staging, {})
        assert reader.sql("SELECT count(*) FROM ledger").fetchall() == [(2,)]
    with open_read_only(staging) as reader:
        assert reader.sql("SELECT count(*) FROM ledger").fetchall() == [(0,)]


def test_queries_reach_no_files(staging: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    with open_read_only(staging) as connection:
        with pytest.raises(duckdb.PermissionException):
            connection.sql(f"FROM read_text('{tmp_path / 'secret.txt'}')").fetchall()
        with pytest.raises(duckdb.Error):
            connection.sql("SET enable_external_access = true")
        with pytest.raises(duckdb.Error):
            connection.sql("DELETE FROM ledger")


def test_a_missing_staging_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="benchmint build"):
        audit.funnel(tmp_path / "staging.duckdb")
