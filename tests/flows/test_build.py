"""The pipeline as a whole, through the installed command."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import orjson
import pytest

from benchmarks.staging import questions
from data.demo import generate
from data.staging import open_read_only
from tests.flows.command import benchmint, key_file, sums

pytestmark = pytest.mark.slow

# The demo as a user would have it: real folders of logs and files.
BUILD = ("--quiet",)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "demo"
    generate(folder, 60, 7)
    for name in (b"sessions/bad\xff.txt", b"files/bad\xff.csv"):  # no UTF-8
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("x")
    return folder


@pytest.fixture(scope="module")
def built(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built")
    sources = sorted(path for path in (workspace / "sessions").iterdir())
    told = benchmint(
        "build",
        *sources,
        "--files",
        workspace / "files",
        "--config",
        workspace / "benchmint.toml",
        "--tripwires",
        workspace / "tripwires.txt",
        "--key",
        key_file(out),
        "--out",
        out,
        "--workers",
        1,
        *BUILD,
    )
    assert told.returncode == 0, told.stderr
    return out


def test_the_release_verifies(built: Path) -> None:
    told = benchmint("verify", built / "snapshots" / "latest")
    assert told.returncode == 0, told.stdout
    alone = benchmint("verify", built / "snapshots" / "latest" / "public")
    assert alone.returncode == 0, alone.stdout
    assert "the public half alone: verified" in alone.stdout


def test_workers_and_input_order_do_not_change_a_byte(
    workspace: Path, built: Path, tmp_path: Path
) -> None:
    sources = sorted((workspace / "sessions").iterdir(), reverse=True)
    told = benchmint(
        "build",
        *sources,
        "--files",
        workspace / "files",
        "--config",
        workspace / "benchmint.toml",
        "--tripwires",
        workspace / "tripwires.txt",
        "--key",
        key_file(tmp_path),
        "--out",
        tmp_path,
        "--workers",
        3,
        *BUILD,
    )
    assert told.returncode == 0, told.stderr
    assert sums(tmp_path) == sums(built)


def test_a_tampered_release_is_refused(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built / "snapshots" / "latest", copy)
    (copy / "public" / "tasks.jsonl").write_bytes(b"{}\n")
    told = benchmint("verify", copy)
    assert told.returncode == 1
    assert "sums.file_changed: public/tasks.jsonl" in told.stdout


def test_the_worked_questions_run_on_a_built_workspace(built: Path) -> None:
    with open_read_only(built / "staging.duckdb", every_run=True) as staging:
        rows = [staging.sql(sql).fetchall() for _, sql in questions()]
        published = staging.sql("SELECT published FROM runs WHERE digest IS NOT NULL").fetchall()
    assert len(rows) == 10
    assert all(rows[:8])  # no signals and no statements were given: 9 and 10 are empty
    assert published == [((built / "snapshots" / "latest").readlink().name,)]


def test_staging_holds_no_text_that_a_person_typed(built: Path) -> None:
    raw = (built / "staging.duckdb").read_bytes()
    tasks = (built / "snapshots" / "latest" / "public" / "tasks.jsonl").read_bytes().splitlines()
    for line in tasks:
        opening = orjson.loads(line)["prompt"][:40].encode()
        assert opening not in raw


def test_rejections_are_found_by_gate_with_what_was_observed(built: Path) -> None:
    told = benchmint("audit", "--out", built, "--gate", "length", "--json")
    rows = orjson.loads(told.stdout)["rejections"]
    assert rows
    assert {row["reason"] for row in rows} == {"length.too_short"}
    assert all(int(row["observed"]) < int(row["limit"]) for row in rows)


def test_a_private_look_shows_the_text_and_is_logged(built: Path) -> None:
    with open_read_only(built / "staging.duckdb") as staging:
        row = staging.execute(
            "SELECT item_id FROM rejections WHERE reason = 'length.too_short' AND line > 0 LIMIT 1"
        ).fetchone()
    assert row is not None
    instance = row[0]
    plain = benchmint("audit", "--out", built, "--instance", instance, "--json")
    private = benchmint("audit", "--out", built, "--instance", instance, "--private", "--json")
    assert "text" not in orjson.loads(plain.stdout)["turns"][0]
    assert orjson.loads(private.stdout)["turns"][0]["text"]
    assert instance in (built / "private" / "access.log").read_text()


def test_private_things_are_private(built: Path) -> None:
    assert (built / "private").stat().st_mode & 0o077 == 0
    latest = (built / "snapshots" / "latest").resolve()
    assert (latest / "private").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("build", "nowhere"), "found nothing; expected a session log"),
        (("build", "--config", "none.toml"), "none.toml: cannot be read"),
        (("audit", "--out", "nowhere"), "Run `benchmint build` first"),
        (("audit", "--private"), "Name it with --instance"),
        (("rules", "check", "none", "."), "expected a task's rules.json"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    told = benchmint(*arguments, cwd=tmp_path)
    assert told.returncode == 2
    assert message in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1, told.stderr
