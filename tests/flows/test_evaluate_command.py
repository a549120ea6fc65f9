"""`benchmint evaluate` and `grade`, given what they cannot use: one clear line, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from data.releases.tasks import read_tasks
from data.snapshot import write_snapshot
from flows.commands.evaluate import MODEL_AGENTS, OTHER_AGENTS, SCRIPTED_AGENTS
from flows.evaluate.plan import AGENTS
from tests.data.snapshot.sample import release
from tests.flows.command import inline
from tests.needs import needs_box

MODEL = ("--agent", "react", "--model", "openai-api/local/m")
COMMAND = ("--model", "openai-api/local/m", "--command", "true")
NULL = ("--agent", "null")
pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("release")
    return write_snapshot(release(root), root / "out").path


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((*NULL, "--name", "../x"), "--name: found '../x'"),
        ((*NULL, "--name", "outputs"), "--name: found 'outputs'"),
        ((*NULL, "--epochs", "99999999999"), "less than or equal to 10000"),
        ((*NULL, "--at-once", "10000"), "less than or equal to 500"),
        (
            ("--agent", "oracel"),
            "--agent: found no agent oracel; expected one of the agents. Did you "
            "mean oracle? They are: react, claude-code, codex,",
        ),
        ((*NULL, "--task", "nope"), "evaluate: found no task nope; expected tasks of"),
        ((*NULL, "--attempt-calls", "5"), "found a budget or prices"),
        ((*MODEL, "--attempt-tokens", "1" + "0" * 30), "less than or equal to"),
        ((*MODEL, "--run-cost", "1e999999"), "at most 1,000,000,000"),
        ((*MODEL, "--run-cost", "1", "--prices", "/dev/zero"), "found more than 1,048,576 bytes"),
        ((*COMMAND[:-1], " "), "--agent and --command: found agent command"),
        ((*COMMAND, "--agent", "codex"), "--agent and --command: found agent codex"),
        ((*NULL, "--mcp"), "--agent and --command: found agent null"),
        ((*COMMAND, "--programs", "/nonexistent"), "/nonexistent: found no folder"),
        (("--agent", "human", "--model", "m"), "--agent and --model: found agent human"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    snapshot: Path, tmp_path: Path, options: tuple[str, ...], problem: str
) -> None:
    out = tmp_path / "out"
    done = inline("evaluate", snapshot, *options, "--out", out)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert problem in line
    assert not out.exists()


def test_the_agents_of_the_help_are_those_that_run() -> None:
    assert {*MODEL_AGENTS, *OTHER_AGENTS, *SCRIPTED_AGENTS} == set(AGENTS)


def test_the_folder_of_the_build_is_not_taken_for_a_snapshot(tmp_path: Path) -> None:
    build = tmp_path / "release"
    latest = write_snapshot(release(tmp_path), build / "snapshots").path
    (build / "snapshots" / "latest").symlink_to(latest)
    expected = f"Did you mean {build / 'snapshots' / 'latest'}?"
    for command in (("evaluate", build, *NULL), ("leaderboard", build), ("verify", build)):
        done = inline(*command)
        assert done.returncode == 2
        assert done.stderr.strip().endswith(expected), command


@needs_box
@pytest.mark.parametrize(
    "model", [("no-such-provider/m",), ("openai-api/local/m", "--base-url", ":::/")]
)
def test_a_model_that_cannot_be_asked_is_named(
    snapshot: Path, tmp_path: Path, model: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "key")
    done = inline("evaluate", snapshot, "--model", *model, "--out", tmp_path / "out")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"--model and --base-url: found {model[0]}" in line
    assert "internal error" not in line


def test_nothing_is_written_into_the_release(snapshot: Path, tmp_path: Path) -> None:
    inside = snapshot / "public" / "x"
    for command in (
        ("evaluate", snapshot, *NULL, "--out", inside),
        ("grade", tmp_path, "--snapshot", snapshot, "--out", inside),
    ):
        done = inline(*command)
        assert done.returncode == 2
        assert f"{inside}: found a folder in the snapshot" in done.stderr
    assert not inside.exists()


@needs_box
@pytest.mark.slow(seconds=5)
def test_a_closed_address_is_told_of(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "key")
    task = next(iter(read_tasks(snapshot).tasks))
    address = ("--base-url", "http://127.0.0.1:9/v1", "--task", task)
    done = inline("evaluate", snapshot, *MODEL, *address, "--out", tmp_path / "out")
    assert done.returncode == 0
    assert "0 of 1 done" in done.stdout
    assert "1 attempts were ended by the infrastructure, the first with: " in done.stderr
    assert "Connection" in done.stderr
