"""`benchmint evaluate` and `grade`, given what they cannot use: one clear line, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from data.releases.tasks import read_tasks
from data.snapshot.writer import write_snapshot
from flows.commands.evaluate import MODEL_AGENTS, OTHER_AGENTS, SCRIPTED_AGENTS
from flows.evaluate.plan import AGENTS, requests_for
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
            "--agent: found unknown agent oracel; expected a known agent. Did you "
            "mean oracle? Known agents: react, claude-code, codex,",
        ),
        ((*NULL, "--task", "nope"), "evaluate: found unknown task nope; expected tasks in"),
        ((*NULL, "--attempt-calls", "5"), "found a budget or prices"),
        ((*MODEL, "--attempt-tokens", "1" + "0" * 30), "less than or equal to"),
        ((*MODEL, "--run-cost", "1e999999"), "at most 1,000,000,000"),
        ((*MODEL, "--run-cost", "1", "--prices", "/dev/zero"), "found more than 1,048,576 bytes"),
        ((*COMMAND[:-1], " "), "--agent and --command: found agent command"),
        ((*COMMAND, "--agent", "codex"), "--agent and --command: found agent codex"),
        ((*NULL, "--mcp"), "--agent and --command: found agent null"),
        ((*COMMAND, "--programs", "/nonexistent"), "/nonexistent: found no folder"),
        (("--agent", "human", "--model", "m"), "--agent and --model: found agent human"),
        (("--agent", "null,human"), "--agent human: found other agents"),
        (("--agent", "null,talk", "--name", "x"), "found 2 configurations named x"),
        (("--agent", "null,null"), "found 2 configurations named null"),
        (("--agent", "react,null"), "--agent and --model: found agent react, model None"),
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
    *_, line = done.stderr.splitlines()
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
    assert "1 attempts were ended by infrastructure errors, the first: " in done.stderr
    assert "Connection" in done.stderr


@needs_box
@pytest.mark.slow(seconds=10)
def test_several_agents_and_epochs_run_in_one_command_with_one_count(
    snapshot: Path, tmp_path: Path
) -> None:
    first, second = list(read_tasks(snapshot).tasks)[:2]
    out, tasks = ("--out", tmp_path / "out"), ("--task", first, "--task", second)
    several = ("evaluate", snapshot, "--agent", "null,talk", "--epochs", "2", *tasks, *out)
    done = inline(*several)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("(4 of 4 done)") == 2
    counted = [line for line in done.stderr.splitlines() if "2 configurations:" in line]
    assert counted[0] == "2 configurations: 8 attempts …"
    assert counted[-1].startswith("2 configurations: 8 attempts in ")
    again = inline(*several)
    assert again.stdout.count("(4 of 4 done)") == 2 and "configurations:" not in again.stderr


def test_agents_with_a_model_meet_each_model_and_others_none(snapshot: Path) -> None:
    values = {"snapshot": snapshot, "out": Path("o"), "prices": Path("p"), "base_url": "u"}
    made = requests_for({**values, "agent": "react,codex,null", "model": "a/x,b/y"})
    assert [(request.title, request.prices, request.base_url) for request in made] == [
        ("react-a-x", Path("p"), "u"), ("react-b-y", Path("p"), "u"),
        ("codex-a-x", Path("p"), "u"), ("codex-b-y", Path("p"), "u"), ("null", None, None),
    ]  # fmt: skip
