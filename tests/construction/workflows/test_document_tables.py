"""SQL of documents is hostile: what it may do to its tables, and that nothing of it stays."""

from __future__ import annotations

import datetime as dt

import pytest

from construction.workflows.documents.tables import SqlFault, Tables


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("select * from read_csv('/etc/passwd')", "is not a table of records"),
        ("select content from read_text('/etc/hostname')", "is not a table of records"),
        ("select * from glob('/*')", "is not a table of records"),
        ("select * from '/etc/passwd'", "does not exist|Permission"),
        ("select * from query('select random() as n')", "query is not a table of records"),
        ("select * from query_table('t')", "query_table is not a table of records"),
        ("select * from duckdb_tables()", "duckdb_tables is not a table of records"),
        ("select * from (select * from duckdb_tables)", "duckdb_tables is not a table of records"),
        ("select (select count(*) from information_schema.tables) from t", "tables is not a table"),
        ("select * from memory.main.t", "t is not a table of records"),
        ("select * from held.t", "t is not a table of records"),
        ("show tables", "is not a table of records"),
        ("select 1; select 2", "expected one SELECT"),
        ("drop table t", "expected one SELECT"),
        ("copy (select 1) to '/tmp/x.csv'", "expected one SELECT"),
        ("set threads = 8", "expected one SELECT"),
        ("attach '/tmp/x.db'", "expected one SELECT"),
        ("select random()", "random is not the same in every run"),
        ("select current_date", "current_date is not the same in every run"),
        ("select n + (select epoch(now())) from t", "now is not the same in every run"),
        ("select getenv('HOME')", "getenv"),
        ("select * from range(30000)", "more than 20000 rows"),
        ("selec 1", "Parser Error"),
    ],
)
def test_sql_reaches_nothing_and_is_the_same_in_every_run(sql: str, fault: str) -> None:
    tables = Tables(dt.timedelta(hours=2))
    tables.put("t", {"n": "INTEGER"}, [{"n": 1}])
    with pytest.raises(SqlFault, match=fault):
        tables.select(sql)
    assert tables.select("select n from t") == [{"n": 1}]
    tables.close()


def test_sql_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("construction.workflows.documents.tables.SECONDS", 0.2)
    tables = Tables(dt.timedelta())
    with pytest.raises(SqlFault, match=r"INTERRUPT|seconds"):
        tables.select("select count(*) from range(1000000000000)")
    tables.close()


def test_the_next_database_holds_nothing_of_the_one_before() -> None:
    first = Tables(dt.timedelta(hours=2))
    first.put("pools.names", {"value": "VARCHAR"}, [{"value": "Ada"}])
    first.keep("kept", "select * from pools.names")
    first.close()
    second = Tables(dt.timedelta())
    for name in ("pools.names", "kept"):
        with pytest.raises(SqlFault, match="does not exist"):
            second.select(f"select * from {name}")
    sql = "select in_zone(timestamp '2026-07-01 10:00:00', 'Asia/Tokyo') as there"
    assert second.select(sql) == [{"there": "2026-07-01T19:00:00"}]
    second.close()


def test_times_are_in_the_clock_of_the_world() -> None:
    tables = Tables(dt.timedelta(hours=2))
    tables.put("t", {"seen": "TIMESTAMP"}, [{"seen": "2026-07-01T10:00:00"}])
    (row,) = tables.select("select in_zone(seen, 'Asia/Tokyo') as there, seen from t")
    assert row == {"there": "2026-07-01T17:00:00", "seen": "2026-07-01T10:00:00"}
    tables.close()


def test_results_are_of_what_the_tables_hold_now() -> None:
    tables = Tables(dt.timedelta())
    for rows in ([1], [1, 2], [1]):
        tables.put("mail.T", {"n": "INTEGER"}, [{"n": n} for n in rows])
        tables.keep("Total", "select sum(n) as n from MAIL.t")
        tables.keep("twice", "select 2 * n as n from total")
        tables.keep("twice", "select n + 1 as n from twice")
        assert tables.select("select n from twice") == [{"n": 2 * sum(rows) + 1}]
    tables.drop(["twice"])
    with pytest.raises(SqlFault, match="does not exist"):
        tables.select("select n from twice")
    tables.close()


def test_another_clock_gives_another_result_of_the_same_rows() -> None:
    for hours, there in ((2, "17"), (0, "19")):
        tables = Tables(dt.timedelta(hours=hours))
        tables.put("t", {"seen": "TIMESTAMP"}, [{"seen": "2026-07-01T10:00:00"}])
        tables.keep("moved", "select hour(in_zone(seen, 'Asia/Tokyo')) as there from t")
        assert tables.select("select there from moved") == [{"there": int(there)}]
        tables.close()
