"""`run_sql`: one SELECT over the staging file, and nothing else, whatever it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from data.errors import InputError
from data.staging.database import RunTables, build_database
from data.staging.print import CATALOGUE, Format, print_result
from data.staging.sql import LEAST_MIB, MOST_MIB, SqlLimits, _answer_of, _SqlRefused, run_sql

LIMITS = SqlLimits(rows=3, cell=10, seconds=2, memory_mib=2048)
EVERYTHING = SqlLimits()


@pytest.fixture(scope="module")
def staging(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sql") / "staging.duckdb"
    build_database(path, [RunTables({"run_id": name}) for name in ("a", "b")])
    return path


def requests(staging: Path, sql: str, **other: Any) -> dict[str, Any]:
    """The child's answer, without the process around it."""
    task = {"path": str(staging), "sql": sql, "every_run": True, "rows": 3, "cell": 10}
    return _answer_of(task | {"seconds": 5} | other, memory=1 << 30)


def test_a_query_is_answered_in_a_process_of_its_own(staging: Path) -> None:
    result = run_sql(staging, "SELECT run_id FROM runs ORDER BY run_id", LIMITS)
    assert result.columns == (("run_id", "VARCHAR"),)
    assert (result.rows, result.more, result.cut) == ([["a"], ["b"]], False, 0)


def test_without_a_query_tables_are_listed_with_their_columns(staging: Path) -> None:
    listed = {
        name: (row, columns) for name, row, columns in run_sql(staging, CATALOGUE, EVERYTHING).rows
    }
    assert {"runs", "verdicts", "rejections"} <= listed.keys()
    assert listed["scores"] == (
        "one pilot model's score on one candidate.", "run_id, task_id, model, score"
    )  # fmt: skip


def test_a_null_is_told_from_an_empty_text(
    staging: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run_sql(staging, "SELECT NULL AS nothing, '' AS empty, 0 AS zero", LIMITS)
    for columns, expected in (("200", "NULL 0"), ("40", "nothing NULL zero 0")):
        monkeypatch.setenv("COLUMNS", columns)
        print_result(result, Format.TABLE)
        printed = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).split()
        assert " ".join(printed).endswith(expected)


@pytest.mark.parametrize("memory", [LEAST_MIB, 1024, MOST_MIB])
def test_the_least_memory_that_can_be_given_is_enough_and_so_is_the_most(
    staging: Path, memory: int
) -> None:
    limits = SqlLimits(memory_mib=memory)
    counted = "SELECT count(*) FROM range(100000) a JOIN range(100000) b USING (range)"
    assert run_sql(staging, counted, limits).rows == [[100_000]]


def test_what_duckdb_does_not_count_ends_at_the_limit_of_the_process(staging: Path) -> None:
    limits = SqlLimits(seconds=2, memory_mib=1024)
    with pytest.raises(_SqlRefused, match=r"Out of Memory|more than 2 s"):
        run_sql(staging, "SELECT repeat('x', 100000000) FROM range(100)", limits)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("ATTACH '/tmp/other.duckdb'", "found ATTACH; expected one SELECT"),
        ("COPY runs TO '/tmp/runs.csv'", "found COPY"),
        ("COPY runs FROM '/etc/passwd'", "found COPY"),
        ("EXPORT DATABASE '/tmp/export'", "found EXPORT"),
        ("INSTALL httpfs", "found LOAD"),
        ("LOAD httpfs", "found LOAD"),
        ("PRAGMA database_list", "found PRAGMA"),
        ("SET enable_external_access = true", "found SET"),
        ("RESET lock_configuration", "found SET"),
        ("CALL pragma_version()", "found CALL"),
        ("CREATE TEMP TABLE t AS SELECT 1", "found CREATE"),
        ("DROP TABLE runs", "found DROP"),
        ("DELETE FROM runs", "found DELETE"),
        ("PREPARE p AS SELECT 1", "found PREPARE"),
        ("BEGIN", "found TRANSACTION"),
        ("SELECT 1; SELECT 2", "found SELECT, SELECT"),
        ("SELECT 1; DROP TABLE runs", "found SELECT, DROP"),
        ("", "found nothing"),
        ("-- a comment", "found nothing"),
        ("SELECT nope FROM runs", 'column "nope" not found'),
        ("SELEC", "Parser Error"),
        ("WITH gone AS (DELETE FROM runs RETURNING *) FROM gone", "read-only mode|base table"),
        ("FROM read_csv('/etc/passwd')", "file system operations are disabled"),
        ("FROM read_text('/etc/passwd')", "file system operations are disabled"),
        ("FROM read_blob('/etc/*')", "file system operations are disabled"),
        ("FROM read_parquet('http://127.0.0.1/x')", "disabled|not exist|Missing Extension"),
        ("FROM glob('/etc/*')", "file system operations are disabled"),
        ("FROM sniff_csv('/etc/passwd')", "file system operations are disabled"),
        ("FROM parquet_metadata('/etc/passwd')", "file system operations are disabled"),
        ("FROM '/etc/passwd'", "does not exist"),
        ("FROM duckdb_secrets()", "file system operations are disabled"),
        ("SELECT getenv('HOME')", "does not exist"),
        ("FROM query('DROP TABLE runs')", "SELECT"),
        ("FROM task", "does not exist"),
        ("FROM newst.turns", "^Did you mean newest\\? Catalog Error"),
        ("SELECT count(*) FROM range(100000000000) a, range(100000) b", "more than 1 s"),
        ("SELECT list(range) FROM range(300000000)", "Out of Memory|more than 1 s"),
        ("SELECT " + "(" * 9_000 + "1" + ")" * 9_000, "depth limit"),
    ],
)
def test_anything_but_reading_is_refused(staging: Path, sql: str, reason: str) -> None:
    refused = requests(staging, sql, seconds=1).get("refused", "")
    assert re.search(reason, refused), refused


@pytest.mark.parametrize(
    "sql",
    ["FROM runs", "TABLE runs", "VALUES (1)", "DESCRIBE turns", "SHOW TABLES", "SUMMARIZE runs"],
)
def test_the_ways_to_look_around_are_allowed(staging: Path, sql: str) -> None:
    assert requests(staging, sql)["rows"]


def test_a_huge_result_is_not_fetched(staging: Path) -> None:
    result = requests(staging, "SELECT range, repeat('x', 50) AS long FROM range(10000000000)")
    assert [row[0] for row in result["rows"]] == [0, 1, 2]
    assert (result["more"], result["cut"]) == (True, 4)
    assert result["rows"][0][1] == "xxxxxxxxxx… (+40 characters)"


def test_values_become_json(staging: Path) -> None:
    sql = """SELECT 0.5::DECIMAL(3, 1), 12345678901234567890.123456789::DECIMAL(38, 9), 1e999,
                    'nan'::DOUBLE, 2::HUGEINT ** 0, 170141183460469231731687303715884105727,
                    DATE '2020-02-29', 'ab'::BLOB, {'a': [1, NULL]}, true, NULL, chr(27)"""
    (row,) = requests(staging, sql, cell=100)["rows"]
    assert row == [
        *(0.5, "12345678901234567890.123456789", "inf", "nan", 1.0),
        *("170141183460469231731687303715884105727", "2020-02-29", "6162"),
        *({"a": [1, None]}, True, None, "\x1b"),
    ]


def test_a_query_is_not_read_without_end(staging: Path, tmp_path: Path) -> None:
    with pytest.raises(_SqlRefused, match="30000 characters; the limit is 20000"):
        run_sql(staging, " " * 30_000, LIMITS)
    with pytest.raises(InputError, match="benchmint build"):
        run_sql(tmp_path / "gone.duckdb", "SELECT 1", LIMITS)
