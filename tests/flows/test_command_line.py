"""Wrong use and hostile names: one clear line, the right exit code, nothing that acts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from data.contracts import LedgerRow, Outcome
from data.errors import InputError
from data.staging import build_database
from data.staging.database import RunTables
from data.tables import LEDGER, ledger_record, write_table
from flows import cli
from flows.recipe import DemoConfig, Recipe, Runtime
from flows.source import with_source

HOSTILE = "s/[/red][link=http://x]\x1b[2J\nname\u202e.jsonl"


def _run(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["benchmint", *arguments])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    told = capsys.readouterr()
    return int(stopped.value.code or 0), told.out, told.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["frobnicate"], "No such command"),
        (["build", "--workers", "x"], "valid integer"),
        (["build", "--workers", "0"], "runtime.workers"),
        (["build", "--out", "plain/x", "--config", "seed.toml"], "more than 64 bits"),
        (["build", "."], "apart"),
        (["build", "a", "--files", "o", "--out", "o"], "apart"),
        (["build", "o/private/a", "--out", "o"], "apart"),
        (["build", "gone"], "gone: found nothing"),
        (["demo"], "Missing argument"),
        (["demo", "plain/x"], "Not a directory"),
        (["demo", "x", "--seed", str(10**30)], "--seed"),
        (["export-atif", "gone\x1b[2J\n", "--out", "o"], "gone⟨U+001B⟩[2J"),
        (["audit", "--out", "broken"], "DuckDB cannot use"),
        (["rules", "check", "rules.json", "."], "do not fit their rule"),
        (["select", "gone.csv", "--size", "1"], "no file"),
    ],
)
def test_wrong_use_is_one_line_and_two(
    arguments: list[str],
    part: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain").touch()
    Path("seed.toml").write_text(f"[release]\nseed = {10**30}\n")
    Path("broken").mkdir()
    Path("broken/staging.duckdb").write_bytes(b"no database" * 100)
    rule = '[{"rule_id": "x", "kind": "count", "params": {"extensions": 5}, "text": "x"}]'
    Path("rules.json").write_text(rule)
    code, out, error = _run(arguments, monkeypatch, capsys)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("benchmint: ")
    assert part in error
    assert error[:-1].isprintable()


def _staged(folder: Path) -> None:
    row = LedgerRow("scan", "file", HOSTILE, Outcome.REJECTED, reason="file.empty", evidence={})
    write_table(folder / "ledger.parquet", [ledger_record(row)], LEDGER)
    run = RunTables({"run_id": "r"}, {"ledger": [folder / "ledger.parquet"]})
    build_database(folder / "staging.duckdb", [run])


def test_a_hostile_name_is_listed_as_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _staged(tmp_path)
    code, out, _ = _run(["audit", "--out", str(tmp_path)], monkeypatch, capsys)
    assert code == 0
    assert "s/[/red][link=http://x]⟨U+001B⟩[2J name⟨U+202E⟩.jsonl" in out


@pytest.mark.parametrize("instance", ["", "' OR 1=1 --", "%", "\udcff"])
def test_an_instance_is_a_name_and_no_query(
    instance: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _staged(tmp_path)
    arguments = ["audit", "--out", str(tmp_path), "--instance", instance]
    code, out, error = _run(arguments, monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert "no such instance" in error


def test_an_empty_demo_folder_is_filled_and_a_half_one_refused(tmp_path: Path) -> None:
    recipe = Recipe(demo=DemoConfig(size=1))
    runtime = Runtime(out=tmp_path)
    demo = tmp_path / "demo-1-7"
    demo.mkdir()
    with_source(recipe, runtime)
    assert (demo / "truth.json").is_file()
    (demo / "benchmint.toml").unlink()
    with pytest.raises(InputError, match="demo-1-7: found a file or a full folder"):
        with_source(recipe, runtime)


def test_export_names_what_it_could_not_read_in_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a\x1b[2J\nb.jsonl").touch()
    arguments = ["export-atif", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    code, _, error = _run(arguments, monkeypatch, capsys)
    assert (code, error) == (1, "in/a⟨U+001B⟩[2J b.jsonl: not read, file.empty (empty)\n")
