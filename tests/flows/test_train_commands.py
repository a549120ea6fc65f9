"""`sql`, `explore`, `diff`, `releases` and `purge` as a user types them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
import typer
from typer.testing import CliRunner, Result

from construction.judging.calls.contracts import Usage
from construction.judging.calls.replies import Reply
from construction.judging.calls.store import Store, Stored
from data.builds import BuildRunning, building
from data.contracts import LedgerRow, Outcome
from data.errors import InputError
from data.releases.retention import REPLIES
from data.staging.database import RunTables, build_database
from data.staging.sql import _SqlRefused
from data.tables import LEDGER, ledger_record, write_table
from flows.commands import audit, releases, workspace
from flows.gates import GATES
from tests.data.releases import train
from tests.flows.command import BENCHMINT, environment

HOSTILE = "=cmd|'/C calc'!A1\x1b[2J\u202e"
Run = Callable[..., Result]


@pytest.fixture(scope="module")
def run() -> Run:
    app = typer.Typer()
    for function in (
        *(releases.diff_command, releases.purge_command, releases.releases_command),
        *(audit.audit_command, workspace.explore_command, workspace.sql_command),
    ):
        app.command(function.__name__.removesuffix("_command"))(function)
    runner = CliRunner()

    def invoke(*arguments: object, given: str | None = None) -> Result:
        return runner.invoke(app, [str(argument) for argument in arguments], input=given)

    return invoke


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A staging file with a hostile name in it, and two releases."""
    folder = tmp_path_factory.mktemp("commands")
    for weeks in (0, 1):
        train.written(folder, weeks)
    row = LedgerRow("scan", "file", HOSTILE, Outcome.REJECTED, reason="file.empty", limit="-5.5")
    write_table(folder / "ledger.parquet", [ledger_record(row)], LEDGER)
    run = RunTables({"run_id": "r"}, {"ledger": [folder / "ledger.parquet"]})
    build_database(folder / "staging.duckdb", [run])
    return folder


QUERY = 'SELECT item_id, n, "limit", n AS n, NULL AS nothing FROM rejections'


def test_sql_prints_a_table_without_control_characters(run: Run, out: Path) -> None:
    report = run("sql", QUERY, "--out", out)
    assert report.exit_code == 0
    head, row = report.stdout.splitlines()
    assert head.split() == ["item_id", "n", "limit", "n", "nothing"]
    assert row.startswith(" =cmd|'/C calc'!A1⟨U+001B⟩[2J⟨U+202E⟩  1  -5.5   1")


def test_sql_prints_csv_that_is_no_formula(run: Run, out: Path) -> None:
    report = run("sql", QUERY, "--format", "csv", "--out", out)
    assert list(csv.reader(io.StringIO(report.stdout))) == [
        ["item_id", "n", "limit", "n", "nothing"],
        ["'=cmd|'/C calc'!A1⟨U+001B⟩[2J⟨U+202E⟩", "1", "-5.5", "1", ""],
    ]


def test_sql_prints_csv_with_line_ends_as_they_are(run: Run, out: Path) -> None:
    query = "SELECT e'a\\n\\tb' AS x, 1.10::DECIMAL(5, 2) AS y, 'c,d' AS z"
    report = run("sql", query, "--format", "csv", "--out", out)
    assert report.stdout == 'x,y,z\n"a\n\tb",1.1,"c,d"\n'


def test_sql_speaks_utf8_whatever_the_locale(out: Path) -> None:
    report = subprocess.run(
        [BENCHMINT, "sql", "-- 问\nSELECT '订单' AS x", "--format", "json", "--out", out],
        capture_output=True,
        check=False,
        timeout=120,
        env=environment() | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    assert (report.returncode, report.stderr) == (0, b"")
    assert json.loads(report.stdout.decode("utf-8")) == [{"x": "订单"}]


def test_audit_names_the_gates_and_reasons_that_there_are(run: Run, out: Path) -> None:
    none, files = "The gates in this run: none.", "The reasons in this run: file.empty."
    messages = {
        ("gate", "zzz"): f"no such gate; expected a gate in this run. {none}",
        ("gate", "fixtures"): f"no such gate; expected a gate in this run. "
        f"Did you mean fixture? {none}",
        (
            "gate",
            "length",
        ): f"a gate that rejected nothing here; expected a gate in this run. {none}",
        ("reason", "lenght.to_short"): "no such reason; expected a reason in this run. "
        f"Did you mean length.too_short? {files}",
    }
    for (option, name), message in messages.items():
        result = run("audit", f"--{option}", name, "--out", out)
        assert str(result.exception) == f"--{option}: found {message}"
    assert HOSTILE[:5] in run("audit", "--reason", "file.empty", "--out", out).stdout


def test_the_help_of_audit_names_every_gate(run: Run) -> None:
    unwrapped = re.sub(r"[\s│]", "", run("audit", "--help").stdout)
    assert ",".join(gate.name for gate in GATES) in unwrapped


def test_sql_prints_json_with_every_value_as_it_is(run: Run, out: Path) -> None:
    report = run("sql", "-", "--format", "json", "--out", out, given=QUERY)
    assert json.loads(report.stdout) == [
        {"item_id": HOSTILE, "n": 1, "limit": "-5.5", "n_2": 1, "nothing": None}
    ]
    assert report.stdout.replace("\n", "").isprintable()


def test_sql_without_a_query_lists_what_there_is(run: Run, out: Path) -> None:
    report = run("sql", "--format", "json", "--out", out)
    listed = {row["name"]: row["row"] for row in json.loads(report.stdout)}
    assert (
        listed["funnel"] == "one stage of one run: the units that entered it, and their outcomes."
    )
    assert {"turns", "overlaps", "runs"} <= listed.keys()


def test_sql_says_that_there_is_more(run: Run, out: Path) -> None:
    report = run("sql", "FROM range(5)", "--limit", 2, "--format", "csv", "--out", out)
    assert report.stdout == "range\n0\n1\n"
    assert report.stderr == "showing only the first 2 rows; see --limit\n"


def test_sql_refuses_and_says_why(run: Run, out: Path, tmp_path: Path) -> None:
    report = run("sql", "COPY runs TO '/tmp/runs.csv'", "--out", out)
    assert isinstance(report.exception, _SqlRefused)
    assert "found COPY" in str(report.exception)
    assert isinstance(run("sql", "SELECT 1", "--out", tmp_path).exception, InputError)


@pytest.mark.parametrize(
    ("shells", "chosen", "arguments"),
    [
        (("duckdb",), (), ["-readonly", "-cmd", "SET search_path = 'newest,main';"]),
        (("duckdb", "harlequin"), (), ["--read-only", "--init-path"]),
        (("duckdb", "harlequin"), ("--shell", "duckdb"), ["-readonly"]),
    ],
)
def test_explore_opens_the_shell_that_is_installed(
    run: Run,
    out: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shells: tuple[str, ...],
    chosen: tuple[str, ...],
    arguments: list[str],
) -> None:
    report = tmp_path / "told"
    for name in shells:
        shell = tmp_path / name
        shell.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{report}"\nexit 3\n')
        shell.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run("explore", *chosen, "--out", out).exit_code == 3
    given = report.read_text().splitlines()
    assert given[: len(arguments)] == arguments
    assert given[-1] == str(out / "staging.duckdb")
    if "-cmd" in given:
        assert "SET enable_external_access = false;" in given


def test_explore_says_how_to_get_a_shell(
    run: Run, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="pip install duckdb-cli"):
        raise run("explore", "--out", out).exception or AssertionError
    assert isinstance(run("explore", "--out", tmp_path).exception, InputError)


def test_releases_are_listed_and_a_bad_one_is_an_exit_code(
    run: Run, out: Path, tmp_path: Path
) -> None:
    report = run("releases", "--out", out)
    assert report.exit_code == 0
    rows = [line.split() for line in report.stdout.splitlines()]
    assert [row[0] for row in rows[1:]] == ["demo-2026.07.08", "demo-2026.07.01"]
    assert rows[1][1:7] == ["2026-07-08", "20260708.0.0", "18", "generated", "both", "verified"]
    quick = json.loads(run("releases", "--quick", "--json", "--out", out).stdout)
    assert [one["state"] for one in quick] == ["not checked", "not checked"]
    (tmp_path / "snapshots" / "odd").mkdir(parents=True)
    assert run("releases", "--out", tmp_path).exit_code == 1
    assert "benchmint build" in run("releases", "--out", tmp_path / "snapshots").stdout


def test_diff_by_name_as_text_and_json(run: Run, out: Path) -> None:
    report = run("diff", "demo-2026.07.01", "demo-2026.07.08", "--out", out)
    assert report.stdout.splitlines()[0] == "demo-2026.07.01 → demo-2026.07.08: 18 → 18 tasks"
    whole = orjson.loads(
        run("diff", "demo-2026.07.01", "demo-2026.07.08", "--json", "--out", out).stdout
    )
    assert (whole["added"], whole["removed"], whole["changed"]) == ([], [], {})
    assert whole["churn"] == {"gone": 0.0, "new": 0.0, "turnover": 0.0}


def test_purge_takes_old_replies_out_of_their_store(run: Run, tmp_path: Path) -> None:
    train.written(tmp_path, 0)
    store = Store(tmp_path / REPLIES)
    store.keep([Stored("k", 0, Reply("told", "stop", False, "m", Usage(1, 1)))])
    store.close()
    with sqlite3.connect(tmp_path / REPLIES / "replies.sqlite") as link:
        link.execute("UPDATE replies SET at = 1.0")
    link.close()
    (tmp_path / "private/review").mkdir()
    decisions = tmp_path / "private/review/decisions.log"
    decisions.write_text("kept")
    os.utime(decisions, (1, 1))
    requests = ("purge", "--before", "2026-09-01", "--out", tmp_path)
    line = f"model replies: {REPLIES}: 1970-01-01, 1 replies, 4 B"
    assert line in run(*requests, "--dry-run").stdout.splitlines()
    assert line in run(*requests).stdout.splitlines()
    assert run(*requests).stdout.splitlines()[-1] == "nothing to remove"
    assert decisions.read_text() == "kept"


def test_purge_lists_first_and_then_removes(run: Run, tmp_path: Path) -> None:
    for weeks in (0, 1):
        train.written(tmp_path, weeks)
    requests = ("purge", "--before", "2026-09-01", "--out", tmp_path)
    half = tmp_path / "snapshots/demo-2026.07.01/private"
    dry = run(*requests, "--dry-run").stdout.splitlines()
    assert dry[0].startswith("private half: snapshots/demo-2026.07.01/private: 2026-07-01, ")
    assert dry[1] == "stays: snapshots/demo-2026.07.08: the newest release that verifies"
    assert dry[-1].endswith(": would be removed")
    assert half.is_dir()
    done = run(*requests).stdout.splitlines()
    assert done[-1].endswith("removed, logged in private/access.log")
    assert not half.exists()
    assert run(*requests).stdout.splitlines()[-1] == "nothing to remove"


def test_purge_wants_a_limit_and_the_directory_for_itself(run: Run, tmp_path: Path) -> None:
    assert "no limit" in str(run("purge", "--out", tmp_path).exception)
    assert "a date in the future" in str(
        run("purge", "--before", "2999-01-01", "--out", tmp_path).exception
    )
    gone = run("purge", "--keep-runs", 1, "--out", tmp_path / "gone")
    assert isinstance(gone.exception, InputError)
    assert not (tmp_path / "gone").exists()
    with building(tmp_path):
        report = run("purge", "--keep-runs", 1, "--out", tmp_path)
    assert isinstance(report.exception, BuildRunning)
    assert [path.name for path in tmp_path.iterdir()] == ["private"]
