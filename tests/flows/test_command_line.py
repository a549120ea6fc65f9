"""Wrong use and hostile names: one clear line, the right exit code, nothing that acts."""

from __future__ import annotations

import errno
import io
import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

import pytest

from data.builds import building
from data.contracts import LedgerRow, Outcome
from data.errors import InputError
from data.snapshot.release import DemoConfig
from data.staging.database import RunTables, build_database
from data.tables import LEDGER, ledger_record, write_table
from flows import cli
from flows.recipe import Recipe, Runtime
from flows.source import require_input, with_source
from tests.conftest import REPO

HOSTILE = "s/[/red][link=http://x]\x1b[2J\nname\u202e.jsonl"


def _run(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["benchmint", *arguments])
    # Whatever this machine has.
    monkeypatch.setattr("flows.surroundings.sandbox_problem", lambda: None)
    monkeypatch.setattr("data.errors.program", lambda: "benchmint")  # as in an active environment
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    result = capsys.readouterr()
    return int(stopped.value.code or 0), result.out, result.err


def test_folders_of_input_files_are_no_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of `--files */files` the shell makes one folder of --files, and sources of the others."""
    log = {
        "session_id": "s",
        "messages": [{"role": "user", "content": "Count the boats in a.csv."}],
    }
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "s.json").write_text(json.dumps(log))
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("boat\nKittiwake\n")
    monkeypatch.chdir(tmp_path)
    given = ["build", "logs", "--files", "first", "second", "--dry-run"]
    code, _, problem = _run(given, monkeypatch, capsys)
    assert code == 2
    assert "second: found 1 files without a session log among them" in problem
    assert "put --files before it, once per folder" in problem


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["frobnicate"], "No such command"),
        (["build", "--workers", "x"], "valid integer"),
        (["build", "--workers", "0"], "runtime.workers"),
        (["build", "--out", "plain/x", "--config", "seed.toml"], "longer than 64 bits"),
        (["build", "."], "separate ones"),
        (["build", "a", "--files", "o", "--out", "o"], "separate ones"),
        (["build", "o/private/a", "--out", "o"], "separate ones"),
        (["build", "gone"], "gone: found nothing"),
        (["build", "--scores", "gone.csv", "--dry-run"], "gone.csv: found nothing"),
        (["build", "--last", "gone", "--dry-run"], "gone: found nothing"),
        (["build", "--approvals", "gone", "--dry-run"], "gone: found nothing"),
        (["build", "--tripwires", "gone", "--dry-run"], "gone: found nothing"),
        (["build", "--files", "plain"], "--files without sessions"),
        (["build", "--tables", "plain", "--dry-run"], "tables alone do not make a release"),
        (["verify", "--debug", "x", "--frobnicate"], "No such option: --frobnicate"),
        (["demo"], "Missing argument"),
        (["demo", "plain/x"], "Not a directory"),
        (["demo", "x", "--seed", str(10**30)], "--seed"),
        (["agents", "trajectories", "gone\x1b[2J\n", "--out", "o"], "gone⟨U+001B⟩[2J"),
        (["audit", "--out", "broken"], "DuckDB cannot use"),
        (["agents", "rules", "rules.json", "."], "do not fit their rule"),
        (["lane", "select", "gone.csv", "--size", "1"], "no file"),
        (["release", "list", "--out", "gone"], "gone: found nothing"),
        (["release", "list", "--out", "plain"], "plain: found a file"),
        (["sql", "-- who\nSELECT 1"], "workspace/staging.duckdb: found nothing"),
        (["sql", "--who, and why?\nSELECT 1"], "workspace/staging.duckdb: found nothing"),
        (["sql", "SELECT '\udcff'"], "found 10 bytes that are not UTF-8"),
        (["sql", "--frobnicate=a b\nc"], "No such option"),
        (["--show-completion", "nope"], "'nope' is not one of 'bash', 'zsh'"),
        (["--install-completion", "nope"], "'nope' is not one of 'bash', 'zsh'"),
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
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "")  # set by `main`
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


def test_a_full_disk_is_told_and_a_half_demo_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(import_module("data.demo.generate"), "_write_hostile_files", full)
    code, _, result = _run(["demo", str(tmp_path / "demo"), "--size", "1"], monkeypatch, capsys)
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert result.startswith("benchmint: No space left on device: free some space in")


@pytest.mark.parametrize(
    "arguments", [["--debug", "verify", "gone"], ["verify", "gone", "--debug"]]
)
def test_debug_shows_the_traceback_wherever_it_stands(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmint", *arguments])
    with pytest.raises(InputError, match="gone: found nothing"):
        cli.main()


def test_a_closed_standard_input_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    code, _, error = _run(["sql", "-"], monkeypatch, capsys)
    assert (code, error.startswith("benchmint: -: found no standard input; ")) == (2, True)


def test_behind_two_dashes_debug_is_a_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, error = _run(["verify", "--", "--debug"], monkeypatch, capsys)
    assert (code, error[:26]) == (2, "benchmint: --debug: found ")


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_no_to_a_question_aborts_and_nothing_is_destroyed(
    answer: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = tmp_path / "private" / "release.key"
    key.parent.mkdir()
    key.write_text("5a" * 32)
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    code, _, error = _run(["privacy", "seal", str(tmp_path)], monkeypatch, capsys)
    assert (code, error.splitlines()[-1]) == (1, "aborted")
    assert [path.name for path in tmp_path.rglob("*")] == ["private", "release.key"]


def test_sealing_asks_about_nothing_where_there_is_nothing_and_waits_for_no_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = _run(["privacy", "seal", str(tmp_path)], monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert "neither key nor mapping" in error
    assert list(tmp_path.iterdir()) == []
    with building(tmp_path):
        (tmp_path / "private" / "release.key").write_text("5a" * 32)
        code, _, error = _run(["privacy", "seal", str(tmp_path), "--yes"], monkeypatch, capsys)
    assert (code, "another build is running here" in error) == (2, True)
    assert (tmp_path / "private" / "release.key").read_text() == "5a" * 32
    assert _run(["privacy", "seal", str(tmp_path), "--yes"], monkeypatch, capsys)[0] == 0
    assert not (tmp_path / "private" / "release.key").exists()


def test_what_a_build_reads_besides_its_material_must_be_there(tmp_path: Path) -> None:
    names = "scores last_release approvals private_values tripwires tickers categories"
    for name in names.split():
        with pytest.raises(InputError, match=f"{name}: found nothing"):
            require_input(Runtime.model_validate({name: tmp_path / name}))
    with pytest.raises(InputError, match=r"skills-2026-01-01\.csv: found nothing"):
        require_input(Runtime(signals=(tmp_path / "skills-2026-01-01.csv",)))


def _staged(
    folder: Path, reasons: Mapping[str, str] = MappingProxyType({HOSTILE: "file.empty"})
) -> None:
    rows = [
        LedgerRow("scan", "file", name, Outcome.REJECTED, reason=reason, evidence={})
        for name, reason in reasons.items()
    ]
    write_table(folder / "ledger.parquet", map(ledger_record, rows), LEDGER)
    run = RunTables({"run_id": "r"}, {"ledger": [folder / "ledger.parquet"]})
    build_database(folder / "staging.duckdb", [run])


def test_a_hostile_name_is_listed_as_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _staged(tmp_path)
    code, out, _ = _run(
        ["audit", "--reason", "file.empty", "--out", str(tmp_path)], monkeypatch, capsys
    )
    assert code == 0
    assert "s/[/red][link=http://x]⟨U+001B⟩[2J name⟨U+202E⟩.jsonl" in out


def test_without_a_filter_reasons_are_counted_each_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _staged(tmp_path, dict.fromkeys("bca", "file.empty") | {"d": "file.symlink"})
    code, out, _ = _run(["audit", "--out", str(tmp_path)], monkeypatch, capsys)
    assert (code, out.splitlines()[:7]) == (
        0,
        [
            "rejected or errored: 4 units in 4 entries",
            "",
            "stage scan",
            "  3 file  file.empty",
            "          The file is empty.",
            "  1 file  file.symlink",
            "          The file is a symbolic link; links are not followed.",
        ],
    )
    code, out, _ = _run(
        ["audit", "--reason", "file.empty", "--out", str(tmp_path)], monkeypatch, capsys
    )
    assert [line.split()[2] for line in out.splitlines()[2:-1]] == ["a", "b", "c"]
    assert out.endswith("file.empty: The file is empty.\n")


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
    with pytest.raises(InputError, match="demo-1-7: found a file or non-empty folder"):
        with_source(recipe, runtime)


def test_the_demo_of_another_version_is_named_with_what_to_do(tmp_path: Path) -> None:
    recipe, runtime = Recipe(demo=DemoConfig(size=1)), Runtime(out=tmp_path)
    with_source(recipe, runtime)
    declaration = tmp_path / "demo-1-7" / "environment" / "environment.toml"
    declaration.write_text(f"facts = []\n{declaration.read_text('utf-8')}")
    with pytest.raises(InputError, match=r"facts.*Move demo-1-7 away; the next build recreates"):
        with_source(recipe, runtime)


def test_export_names_what_it_could_not_read_in_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a\x1b[2J\nb.jsonl").touch()
    arguments = ["agents", "trajectories", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    code, _, error = _run(arguments, monkeypatch, capsys)
    assert (code, error) == (1, "in/a⟨U+001B⟩[2J b.jsonl: not read, file.empty (empty)\n")


def test_wrong_use_names_the_help_of_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, end in {
        "audti": "Did you mean 'audit'? See `benchmint --help`.\n",
        "audit --gat x": "See `benchmint audit --help`.\n",
        "agents review exprt": "See `benchmint agents review --help`.\n",
    }.items():
        code, _, error = _run(arguments.split(), monkeypatch, capsys)
        assert (code, error.endswith(end)) == (2, True), error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sql", "-"], "benchmint: stopped"),
        (
            ["build", "--dry-run"],
            "benchmint: stopped; finished work is kept: run the same command again to continue",
        ),
    ],
)
def test_an_interrupted_command_says_what_it_leaves(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("flows.commands.build.checked_settings", interrupted)
    monkeypatch.setattr("flows.commands.workspace.query_text", interrupted)
    code, _, error = _run(arguments, monkeypatch, capsys)
    assert (code, error.splitlines()[-1]) == (130, said)


_SLOW = """
import sys, time
from flows import cli
from flows.commands import workspace

def stay(query):
    print("ready", file=sys.stderr, flush=True)
    try:
        time.sleep(60)
    finally:
        time.sleep({unwinding})

workspace.query_text = stay
cli._UNWIND_SECONDS = 0.5
sys.argv = ["benchmint", "sql"]
cli.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("unwinding", [0, 60])
def test_interrupt_and_termination_end_a_command_soon_even_where_it_unwinds_slowly(
    number: signal.Signals, unwinding: int, tmp_path: Path
) -> None:
    program = [sys.executable, "-c", _SLOW.format(unwinding=unwinding)]
    with subprocess.Popen(program, cwd=REPO, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        assert child.stderr.readline() == "ready\n"
        child.send_signal(number)
        assert child.stderr.read() == "benchmint: stopped\n"
        assert child.wait(30) == 128 + number
