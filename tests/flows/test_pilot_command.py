"""`agents pilot`: pool, attempts where no key can be read, matrix, gate, the next release."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import orjson
import polars as pl
import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from data.errors import InputError
from data.releases.tasks import ReleasedTasks, require_guarded
from data.snapshot.verification import verify
from data.snapshot.writer import write_snapshot
from flows.deployed import evaluate_snapshot
from flows.evaluate.grading import ClosedOffStopped, readable
from flows.evaluate.pilot_process import Job, run_pilots
from flows.evaluate.pilots import _best_first, _score_matrix
from flows.evaluate.plan import Request, requests_of
from tests.data.snapshot.sample import release
from tests.demo import Demo
from tests.flows.command import benchmint, command, environment, inline
from tests.needs import needs_box


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("release")
    return write_snapshot(release(root), root / "out").path


@needs_box
def test_keys_and_vaults_cannot_be_read_where_pilots_run(tmp_path: Path) -> None:
    vault, key = tmp_path / "private", tmp_path / "release.key"
    vault.mkdir()
    (vault / "vault.json").write_text("names")
    key.write_text("5a" * 32)
    assert readable([vault, key]) == [vault, key]
    run_pilots(Job((), (vault, key, tmp_path / "absent")))
    assert readable([vault, key]) == [vault, key]  # outside nothing has changed


@needs_box
def test_a_process_that_can_read_a_key_lets_no_agent_in(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "release.key"
    key.write_text("5a" * 32)
    monkeypatch.setattr("flows.evaluate.grading._covers", lambda hidden: [])
    request = Request(snapshot=snapshot, out=tmp_path / "out", agent="null")
    with pytest.raises(ClosedOffStopped, match=r"release\.key can be read where models run"):
        run_pilots(Job((request,), (key,)))
    assert not (tmp_path / "out").exists()


def test_a_pool_that_was_not_searched_or_has_changed_is_refused(demo: Demo, tmp_path: Path) -> None:
    folder = tmp_path / (demo.out / "snapshots" / "latest").resolve().name
    shutil.copytree(demo.out / "snapshots" / "latest", folder)
    assert len(require_guarded(folder).tasks) > 0
    privacy = folder / "public" / "audit" / "privacy.json"
    content = orjson.loads(privacy.read_bytes())
    content["masking"].pop("leak_scan")
    privacy.chmod(0o644)
    privacy.write_bytes(orjson.dumps(content))
    with pytest.raises(InputError, match="expected a pool that passed the leak scan"):
        require_guarded(folder)


def test_pilots_are_ordered_by_their_means() -> None:
    rows = [("a", 0.2), ("a", 0.4), ("b", 0.9), ("c", 0.9), ("null", 0.0)]
    matrix = pl.DataFrame(rows, schema=["model", "score"], orient="row")
    assert _best_first(matrix, ["c", "a", "b", "absent"]) == ("b", "c", "a")


def test_requests_that_nothing_can_run_are_refused() -> None:
    with pytest.raises(InputError, match="no-such-agent"):
        requests_of(Path(), ["no-such-agent"], [], {"out": Path()})
    with pytest.raises(InputError, match="found budget"):
        requests_of(Path(), [], ["p/m"], {"out": Path(), "budget": 1})
    (only,) = requests_of(Path(), [], ["p/m"], {"out": Path(), "base_url": "http://127.0.0.1:9"})
    assert (only.title, only.base_url) == ("react-p-m", "http://127.0.0.1:9")


def test_real_agents_run_on_each_model_and_scripted_ones_once() -> None:
    agents, models = ["claude-code", "codex", "null", "http://127.0.0.1:9/act"], ["p/a", "p/b"]
    common = {"out": Path(), "base_url": "http://127.0.0.1:9", "command": None}
    asked_for = requests_of(Path(), agents, models, common)
    assert [(each.kind, each.model, each.base_url is None) for each in asked_for] == [
        ("null", None, True), ("http", None, True),
        ("claude-code", "p/a", False), ("claude-code", "p/b", False),
        ("codex", "p/a", False), ("codex", "p/b", False),
    ]  # fmt: skip
    (own,) = requests_of(Path(), [], ["p/a"], {"out": Path(), "command": "run me", "mcp": True})
    assert (own.kind, own.command, own.mcp) == ("command", "run me", True)
    with pytest.raises(InputError, match="--model"):
        requests_of(Path(), ["codex"], [], {"out": Path()})


def test_the_matrix_says_whether_real_agents_passed(tmp_path: Path) -> None:
    """An overall score above the pass mark is no pass where something required is missing."""
    attempts: dict[str, list[tuple[str, float, bool | None]]] = {
        "react-m": [("t-1", 0.95, False), ("t-1", 1.0, True), ("t-2", 0.2, None)],
        "skill-70": [("t-1", 1.0, True)],
    }
    for name, rows in attempts.items():
        folder = tmp_path / name / "scores"
        folder.mkdir(parents=True)
        frame = pl.DataFrame(rows, schema=["task_id", "overall", "passed"], orient="row")
        frame.with_columns(configuration=pl.lit(name)).write_parquet(folder / "scores.parquet")
        (folder / "attempts.parquet").write_bytes(b"")
    pool = cast(ReleasedTasks, SimpleNamespace(tasks={}))
    matrix = _score_matrix(pool, tmp_path, ["react-m", "skill-70"], ["skill-70"])
    assert matrix.drop("family").rows() == [
        ("t-1", "react-m", 0.975, 0.5), ("t-1", "skill-70", 1.0, None),
        ("t-2", "react-m", 0.2, None),
    ]  # fmt: skip


@needs_box
@pytest.mark.slow(seconds=20)
def test_the_flow_runs_and_grades_and_the_dry_run_says_what_is_left(
    snapshot: Path, tmp_path: Path
) -> None:
    out = tmp_path / "attempts"
    state = evaluate_snapshot.fn(str(snapshot), str(out), agents=["null"])
    assert state.message is not None and state.message.startswith("null: ")
    assert len(list(out.rglob("scores/attempts.parquet"))) == 1
    said = inline("evaluate", snapshot, "--agent", "null", "--out", out, "--dry-run")
    assert said.returncode == 0, said.stderr
    assert "0 would be run" in said.stdout
    other = tmp_path / "other"
    said = inline("evaluate", snapshot, "--agent", "null", "--out", other, "--dry-run")
    assert "0 are done" in said.stdout and not other.exists()


def attempts_below(folder: Path) -> list[Path]:
    """The first attempts that are done; folders may vanish meanwhile, which rglob does not bear."""
    walked = ((Path(root), names) for root, _, names in os.walk(folder))
    return sorted(
        root / name
        for root, names in walked
        for name in names
        if root.name == "attempts" and name.endswith("-1.json")
    )


def kill_after(arguments: list[object], folder: Path, attempts: int) -> list[Path]:
    """Start a command, and kill its whole group once so many attempts are done; those attempts."""
    process = subprocess.Popen(
        command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment(), start_new_session=True,
    )  # fmt: skip
    try:
        while len(done := attempts_below(folder)) < attempts:
            assert process.poll() is None, "the command ended before the kill"
            time.sleep(0.1)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return done


@needs_box
@pytest.mark.full
@pytest.mark.slow(seconds=240)
@pytest.mark.timeout(1200)
def test_one_command_goes_from_pilots_to_the_next_release_and_on_after_a_kill(
    demo: Demo, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(demo.out, out, symlinks=True)
    agents = [part for name in ("skill-70", "skill-25", "null") for part in ("--agent", name)]
    arguments = ["agents", "pilot", "--config", demo.config, "--out", out, *agents]
    arguments += ["--date", "2026-02-15", "--quiet"]
    before = {path: path.stat().st_mtime_ns for path in kill_after(arguments, out, 10)}
    done = benchmint(*arguments)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before
    (scores,) = (out / "pilots" / "scores").glob("*.csv")
    matrix = pl.read_csv(scores)
    assert set(matrix["model"]) == {"skill-70", "skill-25", "null"}
    second = (out / "snapshots" / "latest").resolve()
    assert second.name.endswith("2026.02.15") and verify(second).ok
    ledger = orjson.loads((second / "public" / "audit" / "ledger.json").read_bytes())
    assert "informative.all_fail" in orjson.dumps(ledger).decode()
    manifest = orjson.loads((second / "public" / "manifest.json").read_bytes())
    assert manifest["recipe"]["selection"]["pilots"] == ["skill-70", "skill-25"]
    assert "scores" in manifest["inputs"]
