"""Workflow tasks in the export for Inspect: run on exported services, graded on their record."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

import inspect_ai
from inspect_ai.model import Model, get_model
from inspect_ai.solver import Solver

from data.releases.tasks import read_tasks
from flows.commands.releases import export_inspect_command
from tests.construction.grading.exports.sample import contents
from tests.construction.grading.exports.test_inspect import loaded, playing, score_of
from tests.flows.evaluate.workflow_release import ANSWER, TODO, reference, write_release

pytestmark = [pytest.mark.slow(seconds=5), pytest.mark.timeout(300)]
CLEAN = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return write_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def package(released: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("inspect") / "package"
    export_inspect_command(released[0], out, with_private=True)
    return out


def run(
    package: Path, task_id: str, logs: Path, agent: Solver | None, model: Model | None = None
) -> tuple[Any, dict[str, Any]]:
    """The score of an attempt at the workflow task, and the record of its services."""
    task = loaded(package).benchmint(box="none", agent=agent)
    task.dataset = task.dataset.filter(lambda sample: sample.id == task_id)
    model = model or get_model("mockllm/model")
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(logs), display="none")
    assert log.status == "success", log.error
    (sample,) = log.samples or []
    assert sample.error is None
    return score_of(log), sample.store.get("services", {})


def test_the_oracle_replays_the_reference_and_passes(
    package: Path, released: tuple[Path, str], tmp_path: Path
) -> None:
    score, record = run(package, released[1], tmp_path, loaded(package).oracle())
    assert (score.value, score.answer) == (1.0, ANSWER)
    rows = [(row["operation"], row["status"], tuple(row["records"])) for row in record["audit"]]
    assert rows == [(row.operation, row.status, row.records) for row in reference().audit]
    (change,) = record["changes"]
    (wanted,) = reference().changes
    assert (change["record"], change["before"], change["after"]) == (
        wanted.record, None, wanted.after
    )  # fmt: skip


@pytest.mark.parametrize("agent", ["talk", "empty_calls"])
def test_agents_that_do_no_work_fail(
    package: Path, released: tuple[Path, str], tmp_path: Path, agent: str
) -> None:
    score, record = run(package, released[1], tmp_path, getattr(loaded(package), agent)())
    assert score.value == 0.0
    tools = read_tasks(released[0]).tasks[released[1]].candidate.tools
    assert len(record.get("audit", ())) == (len(tools) if agent == "empty_calls" else 0)


def test_a_right_answer_without_the_work_fails(
    package: Path, released: tuple[Path, str], tmp_path: Path
) -> None:
    model = playing([("submit", {"answer": ANSWER})])
    score, record = run(package, released[1], tmp_path, None, model)
    assert (score.value, record) == (0.0, {"audit": [], "changes": []})
    values = {part["name"]: part["value"] for part in score.metadata["parts"]}
    assert values["check.read"] == values["check.made"] == 0.0


def test_a_model_works_on_the_services_and_a_write_too_many_fails(
    package: Path, released: tuple[Path, str], tmp_path: Path
) -> None:
    moves: list[tuple[str, dict[str, Any]]] = [
        ("mail_get_message", {"id": "m-9"}),
        ("mail_get_message", {"id": "m-1"}),
        ("todo_create_task", TODO),
    ]
    submit = ("submit", {"answer": ANSWER})
    score, record = run(package, released[1], tmp_path / "right", None, playing([*moves, submit]))
    assert score.value == 1.0
    assert [row["status"] for row in record["audit"]] == ["not_found", "ok", "ok"]
    other = ("todo_create_task", {"title": "Something else"})
    score, _ = run(package, released[1], tmp_path / "wrong", None, playing([*moves, other, submit]))
    assert score.value == 0.0


def test_an_agent_that_is_cut_off_keeps_its_record(
    package: Path, released: tuple[Path, str], tmp_path: Path
) -> None:
    moves = [("mail_get_message", {"id": "m-1"})] * 40
    score, record = run(package, released[1], tmp_path, None, playing(moves))
    assert score.value == 0.0
    assert len(record["audit"]) == 24  # the turns of its budget


def test_worlds_leave_with_the_private_half_alone(
    released: tuple[Path, str], package: Path, tmp_path: Path
) -> None:
    snapshot, task_id = released
    export_inspect_command(snapshot, tmp_path / "public")
    for name, content in contents(tmp_path / "public").items():
        assert b"parcel" not in content, name
    shown = [name for name, content in contents(package).items() if b"parcel" in content]
    assert shown == [f"worlds/{task_id}.json"]


def server(package: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-I", "-B", str(package / "services" / "server")]
    return subprocess.run(
        [*program, *map(str, arguments)],
        capture_output=True, text=True, check=False, env=CLEAN, cwd="/", input="",
    )  # fmt: skip


def test_an_altered_log_and_a_missing_world_are_refused_in_a_line(
    package: Path, released: tuple[Path, str], tmp_path: Path
) -> None:
    state = tmp_path / "state.sqlite"
    world = package / "worlds" / f"{released[1]}.json"
    assert server(package, world, "--state", state).returncode == 0  # a client that leaves at once
    assert json.loads(server(package, "--record", state).stdout) == {"audit": [], "changes": []}
    with sqlite3.connect(state) as database:
        database.execute("INSERT INTO log (entry) VALUES (?)", (b'{"hash": "x"}',))
    altered = server(package, "--record", state)
    assert (altered.returncode, altered.stdout) == (2, "")
    assert "was altered" in altered.stderr
    missing = server(package, tmp_path / "no.json", "--state", tmp_path / "new.sqlite")
    assert missing.returncode == 2
    assert "found no file" in missing.stderr
