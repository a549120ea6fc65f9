"""The schema page is current, and the worked questions of the docs give what they promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from benchmarks.staging import facts, questions
from benchmarks.staging_rows import write_run
from data.staging.database import open_read_only
from data.staging.runs import stage_run
from flows.docs import schema_page
from tests.conftest import REPO

QUESTIONS = dict(questions())
VIEWS_ASKED_FOR = (
    *("runs", "funnel", "rejections", "overlaps", "lineage", "task_instances", "turns"),
    *("fixtures", "signals", "patterns", "weights", "series", "questions", "candidates"),
    *("scores", "selection"),
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of 2,000 turns made by arithmetic: 200 sessions, an instance each."""
    folder = tmp_path_factory.mktemp("page")
    write_run(folder / "stages", 2_000)
    for number in range(2):
        stage_run(folder, facts(number), [folder / "stages"])
    return folder


def ask(out: Path, number: int) -> list[tuple[Any, ...]]:
    sql = next(sql for title, sql in QUESTIONS.items() if title.startswith(f"{number}. "))
    with open_read_only(out / "staging.duckdb", every_run=True) as staging:
        return staging.sql(sql).fetchall()


def test_theschema_page_is_current() -> None:
    result = (REPO / "docs" / "schema.md").read_text(encoding="utf-8")
    assert result == schema_page(), "run: python -m flows.docs"


def test_the_views_that_were_asked_for_are_there_with_a_run_id(out: Path) -> None:
    with open_read_only(out / "staging.duckdb", every_run=True) as staging:
        for name in VIEWS_ASKED_FOR:
            assert staging.sql(f'FROM main."{name}"').columns[0] == "run_id"


def test_there_are_ten_questions() -> None:
    assert [title.partition(". ")[0] for title in QUESTIONS] == [str(n + 1) for n in range(10)]
    assert all(sql.strip() for sql in QUESTIONS.values())


def test_1_runs_newest_first(out: Path) -> None:
    rows = ask(out, 1)
    assert [row[0].rpartition("-")[0] for row in rows] == ["bench-2026.01.08", "bench-2026.01.01"]


def test_2_the_funnel_beside_the_run_before(out: Path) -> None:
    # Of 200 instances every fifth, seventh, ninth, eleventh or thirteenth fails a gate.
    assert ask(out, 2) == [
        (1, "gates", "instance", 200, 111, 89, 0, 0, 0, 0),
        (2, "select", "candidate", 111, 27, 0, 0, 84, 0, 0),
    ]


def test_3_reasons_by_their_share(out: Path) -> None:
    rows = ask(out, 3)
    assert rows[0] == ("gates", "instance", "length", "length.failed", 40, 20.0)
    assert sum(row[4] for row in rows) == 89


def test_4_narrow_failures(out: Path) -> None:
    gates = {row[0]: row for row in ask(out, 4)}
    numbers = [n % 10 for n in range(0, 200, 7)]
    near = sum(number >= 8 for number in numbers)
    assert gates["fixture"] == (
        "fixture", None, 10.0, "at least", len(numbers), near, float(max(numbers))
    )  # fmt: skip


def test_4_limits_of_both_directions() -> None:
    sql = next(sql for title, sql in QUESTIONS.items() if title.startswith("4. "))
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA newest")
        connection.execute(
            "CREATE TABLE newest.verdicts AS SELECT * FROM (VALUES "
            "('size', 'size.large', 'failed', 110.0, 100.0), "
            "('size', 'size.large', 'failed', 900.0, 100.0), "
            "('size', 'size.large', 'passed', 99.0, 100.0), "
            "('risk', 'risk.high', 'failed', 2.0, 0.0), "
            "('length', 'length.short', 'failed', 9.0, 10.0), "
            "('length', 'length.short', 'failed', NULL, 10.0)"
            ') AS t(gate, reason, status, observed, "limit")'
        )
        assert connection.execute(sql).fetchall() == [
            ("size", "size.large", 100.0, "at most", 2, 1, 110.0),
            ("length", "length.short", 10.0, "at least", 1, 1, 9.0),
            ("risk", "risk.high", 0.0, "at most", 1, 0, 2.0),
        ]


def test_5_what_one_gate_alone_rejects(out: Path) -> None:
    steps = {"length": 5, "fixture": 7, "restoration": 9, "network": 11}
    failed = {n: [g for g, step in steps.items() if n % step == 0] for n in range(200)}
    alone = [gates[0] for gates in failed.values() if len(gates) == 1]
    pairs = {
        gate: sum(len(gates) - 1 for gates in failed.values() if gate in gates) for gate in steps
    }
    assert sorted(ask(out, 5)) == sorted((g, alone.count(g), pairs[g]) for g in steps)


def test_6_the_longest_session(out: Path) -> None:
    (row,) = ask(out, 6)
    assert row[0].startswith("s100.")
    assert row[5:] == ("length.failed", None)


def test_7_turns_left_out(out: Path) -> None:
    rows = {(row[0], row[2]): row[3] for row in ask(out, 7)}
    assert rows == {
        ("assistant", "in a task"): 1000,
        ("user", "in a task"): 960,
        ("user", "thanks"): 40,
    }


def test_8_missing_files(out: Path) -> None:
    rows = ask(out, 8)
    assert {row[0]: row[1:] for row in rows}["csv"] == (40, 30, 25.0, "fixture.unresolved")


def test_9_the_market_and_the_release(out: Path) -> None:
    rows = ask(out, 9)
    assert [row[1] for row in rows] == [33.3, 26.7, 20.0, 13.3, 6.7]
    assert rows[-1][0] == "finance_accounting"
    assert rows[-1][3] == 0  # all its instances failed the length gate
    assert all(0 < row[4] < 1 for row in rows[:-1])
    assert rows[-1][5:] == ("skill-0", "pattern-0 (finance)")


def test_10_questions_by_category(out: Path) -> None:
    rows = {row[0]: row[1:6] for row in ask(out, 10)}
    assert rows["income_statement"] == (14, 140, 14, 67, 67)
    assert sum(row[3] for row in rows.values()) == 200
