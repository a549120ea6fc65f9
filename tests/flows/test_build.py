"""The pipeline as a whole, through the installed command."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from benchmarks.staging import questions
from data.audit_page.page import PrivateHalf
from data.snapshot.release import SnapshotRef
from data.staging.audit import turned_away
from data.staging.database import open_read_only
from flows.audit_server import _evidence, _load_columns
from flows.publish import publish
from tests.demo import Demo, assert_all_but_what_needs_a_box
from tests.flows.command import benchmint, inline, inline_build, sums
from tests.needs import path_without_box

pytestmark = pytest.mark.slow(seconds=1)


def test_the_release_verifies(demo: Demo) -> None:
    result = inline("verify", demo.out / "snapshots" / "latest")
    assert result.returncode == 0, result.stdout
    alone = inline("verify", demo.out / "snapshots" / "latest" / "public")
    assert alone.returncode == 0, alone.stdout
    assert "the public half alone: verified" in alone.stdout


@pytest.mark.slow(seconds=25)
def test_without_a_sandbox_all_is_built_but_what_needs_one_and_a_rebuild_replays_that(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, arguments = tmp_path / "out", demo.build(tmp_path / "out", "--workers", 2)[1:-1]
    with monkeypatch.context() as patch:
        patch.setenv("PATH", path_without_box(tmp_path / "bin"))
        built = inline_build(*arguments)
    assert built.returncode == 0, built.stderr
    assert built.stderr.startswith(
        "sandbox: absent, bubblewrap (bwrap) is not installed: `make sys"
    )
    assert_all_but_what_needs_a_box(out)
    before = sums(out)
    again = inline_build(*arguments)
    assert "(unchanged, verified)" in again.stdout, again.stderr
    assert sums(out) == before


@pytest.mark.slow(seconds=10)
def test_a_release_that_is_there_is_verified_and_not_written_again(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Path(shutil.copytree(demo.out, tmp_path / "out", symlinks=True))
    written: list[SnapshotRef] = []

    def publishing(*given: Any) -> SnapshotRef:
        written.append(publish(*given))
        return written[-1]

    monkeypatch.setattr("flows.publish.publish", publishing)
    again = demo.build(out, "--workers", 1)
    assert inline_build(*again[1:]).returncode == 0
    assert written == []
    (out / "private" / "published.json").write_text("{")
    altered = next((out / "private" / "stages" / "select").glob("*/*.parquet"))
    altered.write_bytes(altered.read_bytes() + b" ")
    result = inline_build(*again[1:])
    assert result.returncode == 0
    assert f"{altered.name} altered since the stage was computed; recomputed" in result.stderr
    assert [ref.written for ref in written] == [False]
    assert sums(out) == sums(demo.out)


@pytest.mark.slow(seconds=12)
def test_where_all_is_there_no_server_is_started_and_where_anything_is_missing_there_is(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Path(shutil.copytree(demo.out, tmp_path / "out", symlinks=True))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    arguments = demo.build(out, "--workers", 1)[:-1]
    result = benchmint(*arguments)
    assert result.returncode == 0, result.stderr
    assert "(unchanged, verified)" in result.stdout
    assert "nothing to do, so Prefect was not started" in result.stdout
    assert not (tmp_path / "prefect" / "prefect.db").exists()
    shutil.rmtree(out / "snapshots")
    result = benchmint(*arguments)
    assert result.returncode == 0, result.stderr
    assert "(written, verified)" in result.stdout
    assert (tmp_path / "prefect" / "prefect.db").exists()
    assert sums(out) == sums(demo.out)


def test_a_tampered_release_is_refused(demo: Demo, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(demo.out / "snapshots" / "latest", copy)
    (copy / "public" / "tasks.jsonl").write_bytes(b"{}\n")
    result = inline("verify", copy)
    assert result.returncode == 1
    assert "sums.file_changed: public/tasks.jsonl" in result.stdout


def test_the_worked_questions_run_on_a_built_workspace(demo: Demo) -> None:
    with open_read_only(demo.out / "staging.duckdb", every_run=True) as staging:
        rows = [staging.sql(sql).fetchall() for _, sql in questions()]
        published = staging.sql("SELECT published FROM runs WHERE digest IS NOT NULL").fetchall()
    assert len(rows) == 10
    assert all(rows)
    assert published == [((demo.out / "snapshots" / "latest").readlink().name,)]


def test_staging_holds_no_text_that_a_person_typed(demo: Demo) -> None:
    raw = (demo.out / "staging.duckdb").read_bytes()
    tasks = (demo.out / "snapshots/latest/public/tasks.jsonl").read_bytes().splitlines()
    typed = [row for row in map(orjson.loads, tasks) if row["lane"] == "sessions"]
    assert typed
    for row in typed:
        assert row["prompt"][:40].encode() not in raw


def test_rejections_are_found_by_gate_with_what_was_observed(demo: Demo) -> None:
    result = inline("audit", "--out", demo.out, "--gate", "length", "--json")
    rows = orjson.loads(result.stdout)["rejections"]
    assert rows
    assert {row["reason"] for row in rows} == {"length.too_short"}
    assert all(int(row["observed"]) < int(row["limit"]) for row in rows)
    listed = inline("audit", "--out", demo.out, "--gate", "length").stdout
    assert listed.endswith("length.too_short: A person typed too little to describe a task.\n")


def test_one_count_of_rejections_stands_everywhere(demo: Demo, tmp_path: Path) -> None:
    public = demo.out / "snapshots" / "latest" / "public"
    ledger = pl.read_parquet(public.parent / "private" / "ledger.parquet").filter(
        pl.col("outcome").is_in(["rejected", "errored"])
    )
    units, entries = ledger["n"].sum(), ledger.height
    assert units > entries
    counted = f"{units:,} units in {entries:,} entries"
    assert f"rejected or errored: {counted}" in inline("audit", "--out", demo.out).stdout
    assert f"In all, {counted} were rejected or errored" in (public / "README.md").read_text()
    exported = benchmint("audit", "--out", demo.out, "--export", tmp_path)
    assert exported.stderr == ""  # nor what bindings say of leaks
    for page in (tmp_path / "audit.html", public / "audit" / "report.html"):
        assert counted in page.read_text()
    about = orjson.loads((tmp_path / "rejections.json").read_bytes())["about"]
    assert (about["units"], about["entries"]) == (units, entries)
    signing = PrivateHalf(tmp_path, (), _load_columns(demo.out, leaves=False), _evidence)
    (tmp_path / "private").mkdir()
    signing.sign({"name": "A. Auditor", "note": "Read."})
    (signed,) = signing.signed({})["signed"]
    assert (signed["units"], signed["entries"]) == (units, entries)
    assert str(turned_away(demo.out / "staging.duckdb")) == counted  # a build, Prefect's pages


def test_a_private_look_shows_the_text_and_is_logged(demo: Demo, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(demo.out, out, symlinks=True)  # a look is written down
    with open_read_only(out / "staging.duckdb") as staging:
        row = staging.execute(
            "SELECT item_id FROM rejections WHERE reason = 'length.too_short' AND line > 0 LIMIT 1"
        ).fetchone()
    assert row is not None
    instance = row[0]
    plain = inline("audit", "--out", out, "--instance", instance, "--json")
    private = inline("audit", "--out", out, "--instance", instance, "--private", "--json")
    assert "text" not in orjson.loads(plain.stdout)["turns"][0]
    assert orjson.loads(private.stdout)["turns"][0]["text"]
    assert instance in (out / "private" / "access.log").read_text()


def test_private_things_are_private(demo: Demo) -> None:
    assert (demo.out / "private").stat().st_mode & 0o077 == 0
    latest = (demo.out / "snapshots" / "latest").resolve()
    assert (latest / "private").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("build", "nowhere", "--quiet"), "found nothing; expected a file or folder"),
        (("build", "circle", "--quiet"), "circle: found nothing; expected a file or folder"),
        (("build", "--out", "circle", "--quiet"), "circle/private: found Too many levels of"),
        (("build", "--config", "none.toml"), "none.toml: cannot be read"),
        (("audit", "--out", "nowhere"), "run `benchmint build` first"),
        (("audit", "--private"), "Add --instance ID"),
        (("rules", "check", "./none", "."), "expected a task's rules.json"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    (tmp_path / "circle").symlink_to("circle")
    result = inline(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr


@pytest.mark.parametrize("option", ["--edinet", "--sec", "--environment"])
def test_a_wrong_path_is_refused_before_the_first_stage(
    demo: Demo, tmp_path: Path, option: str
) -> None:
    empty, out = tmp_path / "empty", tmp_path / "out"
    empty.mkdir()
    result = inline_build(*demo.sessions(), option, empty, "--out", out)
    assert result.returncode == 2
    assert str(empty) in result.stderr
    assert not list((out / "private" / "stages").glob("*"))
