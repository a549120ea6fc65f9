"""Workflow tasks run by agents: an instance for each attempt, graded on its log and its state."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from construction.grading.grade import grade
from construction.grading.spec import spec_of
from construction.sandbox.toolset import SHELL_TOOLS
from construction.workflows.contracts import Request
from construction.workflows.world_file import world_bytes
from data.attempts import SERVICES, AttemptRecord, attempt_name, read_attempts
from data.contracts.attempt import AttemptStatus, Configuration
from data.errors import InputError
from data.releases.tasks import ReleasedTasks, read_tasks
from flows.commands.releases import export_inspect_command
from flows.evaluate.plan import COMMAND, Plan
from flows.evaluate.programs import Program
from flows.evaluate.run import evaluate
from flows.evaluate.scripts import ORACLE, PLAYBACK, Script, _ScriptStep, scripts_of
from flows.services.instance import Instance, logged
from tests.flows.command import inline
from tests.flows.evaluate.chat_server import chat_server
from tests.flows.evaluate.plans import MODEL, Messages, steps_taken
from tests.flows.evaluate.workflow_release import (
    ANSWER,
    SLOW_CALL,
    TODO,
    WORLD,
    reference,
    write_release,
)
from tests.needs import needs_box

pytestmark = [
    pytest.mark.slow(seconds=5),
    needs_box,
]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return write_release(tmp_path_factory.mktemp("workflow"))


@pytest.fixture
def tasks(released: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> ReleasedTasks:
    monkeypatch.setenv("BENCHMINT_API_KEY", "key")
    return read_tasks(released[0])


def attempt(
    tasks: ReleasedTasks, task_id: str, folder: Path, agent: str, **other: Any
) -> tuple[AttemptRecord, bool | None]:
    """The attempt at the workflow task, and whether it passed."""
    configuration = Configuration(agent, agent, other.pop("model", "none"))
    evaluate(Plan(tasks, configuration, agent, folder, task_ids=(task_id,), **other))
    ((_, record),) = read_attempts(folder)
    score = grade(spec_of(tasks.grading(task_id)), record.submission)
    return record, score.passed


def test_the_world_is_released_in_the_private_half_alone(released: tuple[Path, str]) -> None:
    snapshot, task_id = released
    tasks = read_tasks(snapshot)
    assert tasks.world(task_id) == snapshot / "private" / task_id / "world.json"
    content = json.loads(tasks.world(task_id).read_bytes())
    assert content["state"] == json.loads(world_bytes(WORLD))["state"]
    for path in (snapshot / "public").rglob("*"):
        assert path.is_dir() or b"parcel" not in path.read_bytes(), path
    other = next(name for name in tasks.tasks if name != task_id)
    with pytest.raises(InputError, match=r"no world\.json"):
        tasks.world(other)


def test_exports_without_the_private_half_leave_a_workflow_task_out_and_say_so(
    released: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot, task_id = released
    export_inspect_command(snapshot, tmp_path / "inspect")
    printed = capsys.readouterr()
    assert f"1 workflow tasks are left out (first: {task_id})" in printed.err
    rows = (tmp_path / "inspect" / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    names = {json.loads(row)["id"] for row in rows}
    assert names == read_tasks(snapshot).tasks.keys() - {task_id}


def test_the_oracle_passes_and_leaves_the_log_of_the_reference(
    released: tuple[Path, str], tasks: ReleasedTasks, tmp_path: Path
) -> None:
    _, task_id = released
    scripts = scripts_of(ORACLE, tasks, None, 1, None)
    record, passed = attempt(tasks, task_id, tmp_path / "run", ORACLE, scripts=scripts)
    assert record.attempt.error is None
    assert (record.attempt.status, passed) == (AttemptStatus.COMPLETED, True)
    assert record.submission.audit == reference().audit
    assert record.submission.changes == reference().changes
    assert record.submission.answer == ANSWER
    path = tmp_path / "run" / SERVICES / f"{attempt_name(task_id, 1)}.sqlite"
    assert len(logged(path)) == 3
    with Instance.reopen(path) as instance:
        assert not instance.was_killed
    played = scripts_of(PLAYBACK, tasks, None, 1, tmp_path / "run")
    again, passed = attempt(tasks, task_id, tmp_path / "again", PLAYBACK, scripts=played)
    assert passed is True
    assert again.submission.changes == record.submission.changes


@pytest.mark.parametrize("agent", ["null", "talk", "empty-calls"])
def test_agents_that_do_no_work_fail(
    released: tuple[Path, str], tasks: ReleasedTasks, tmp_path: Path, agent: str
) -> None:
    record, passed = attempt(tasks, released[1], tmp_path / "run", agent)
    assert (record.attempt.status, passed) == (AttemptStatus.COMPLETED, False)
    if agent == "empty-calls":
        statuses = {row.status for row in record.submission.audit}
        assert {"ok", "invalid_argument", "not_found"} >= statuses
        assert len(record.submission.audit) == len(tasks.tasks[released[1]].candidate.tools)


def test_a_model_calls_services_and_is_told_why_one_refuses(
    released: tuple[Path, str], tasks: ReleasedTasks, tmp_path: Path
) -> None:
    calls = [
        ("mail_get_message", {"id": "m-9"}),
        ("mail_get_message", {"id": "m-1"}),
        ("todo_create_task", TODO),
        ("submit", {"answer": ANSWER}),
    ]

    def play(messages: Messages) -> tuple[str, dict[str, Any]]:
        return calls[steps_taken(messages)]

    with chat_server(play) as chat:
        record, passed = attempt(
            tasks, released[1], tmp_path / "run", "react", model=MODEL, base_url=chat.url
        )
    assert passed is True
    assert [(row.status, row.step) for row in record.submission.audit] == [
        ("not_found", 1), ("ok", 2), ("ok", 3),
    ]  # fmt: skip
    shown = [message["content"] for message in chat.requests[-1] if message["role"] == "tool"]
    assert "not_found: there is no message with this id" in shown[0]
    assert json.loads(shown[1])["body"] == "The parcel never came."


CURL = (
    "python3 -c \"import os, urllib.request as u; r = u.Request(os.environ['SERVICES_URL'] + "
    "'/mail/messages/m-1', headers={'Authorization': 'Bearer ' + os.environ['SERVICES_TOKEN']}); "
    'print(u.urlopen(r).read().decode())"'
)


def program(folder: Path, mode: str) -> Program:
    """The tests' program, in a folder of its own."""
    folder.mkdir()
    source = Path(__file__).with_name("program.py")
    (folder / source.name).write_bytes(source.read_bytes())
    return Program(COMMAND, folder, f"python3 /opt/programs/{source.name} {mode}")


def test_a_program_reaches_the_services_from_inside_its_box(
    released: tuple[Path, str], tasks: ReleasedTasks, tmp_path: Path
) -> None:

    def play(messages: Messages) -> tuple[str, dict[str, Any]]:
        if steps_taken(messages) == 0:
            return "run", {"command": CURL}
        return "submit", {"answer": str(messages[-1]["content"])}

    with chat_server(play) as chat:
        record, _ = attempt(
            tasks, released[1], tmp_path / "run", COMMAND,
            model=MODEL, program=program(tmp_path / "programs", "work"), base_url=chat.url,
        )  # fmt: skip
        assert "SERVICES_URL" in json.dumps(chat.requests[0])
    assert record.attempt.status is AttemptStatus.COMPLETED
    (row,) = record.submission.audit
    assert (row.operation, row.records) == ("get_message", ("messages/m-1",))
    assert row.step == 1
    assert "The parcel never came." in (record.submission.answer or "")


def test_a_program_has_the_operations_as_an_mcp_server(
    released: tuple[Path, str], tasks: ReleasedTasks, tmp_path: Path
) -> None:
    with chat_server(lambda _: ("mcp__mail_get_message", {"id": "m-1"})) as chat:
        record, _ = attempt(
            tasks, released[1], tmp_path / "run", COMMAND,
            model=MODEL, program=program(tmp_path / "programs", "mcp"), base_url=chat.url,
        )  # fmt: skip
    names, shown = json.loads(record.submission.answer or "")
    assert set(names) == set(tasks.tasks[released[1]].candidate.tools) - SHELL_TOOLS
    (call,) = record.submission.calls
    assert (call.name, call.step, call.is_error) == ("mail_get_message", 1, False)
    assert json.loads(call.output)["body"] == "The parcel never came."
    assert call.output == shown
    (row,) = record.submission.audit
    assert (row.operation, row.records, row.step) == ("get_message", ("messages/m-1",), 1)


def test_what_was_done_against_the_services_alone_is_graded(
    released: tuple[Path, str], tasks: ReleasedTasks, tmp_path: Path
) -> None:
    snapshot, _ = released
    state = tmp_path / "state.sqlite"
    with Instance.start(state, WORLD) as instance:
        for row in reference().audit:
            instance.answer(Request(row.service, row.operation, row.arguments))
    options = ("--snapshot", snapshot, "--out", tmp_path / "out", "--name", "ann", "--json")
    done = inline("grade", state, *options, "--answer", ANSWER)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert (row["configuration"], row["n"], row["n_passed"]) == ("ann", 1, 1)
    ((_, record),) = read_attempts(tmp_path / "out")
    assert record.submission.changes == reference().changes
    done = inline("grade", state, *options, "--answer", "sender: bob@acme.example")
    assert json.loads(done.stdout)[0]["n_passed"] == 0

    other = tmp_path / "other.sqlite"
    Instance.start(other, replace(WORLD, faults=())).close()
    done = inline("grade", other, *options)
    assert done.returncode == 2
    assert "found the world of 0 tasks" in done.stderr


def is_logged(path: Path) -> bool:
    """Has the instance in a file answered anything? Not while the file is still being made."""
    try:
        return bool(logged(path))
    except InputError:
        return False


def break_file(path: Path) -> None:
    """Wait for the first request, then take the log away from the instance."""
    while not is_logged(path):
        time.sleep(0.05)
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE log")


def test_an_instance_that_ends_in_mid_run_is_an_infrastructure_error(
    released: tuple[Path, str], tasks: ReleasedTasks, tmp_path: Path
) -> None:
    _, task_id = released
    folder = tmp_path / "run"
    path = folder / SERVICES / f"{attempt_name(task_id, 1)}.sqlite"
    good = scripts_of(ORACLE, tasks, None, 1, None)
    first, *others = good[(task_id, 1)].steps
    first = _ScriptStep(calls=(*first.calls, SLOW_CALL))
    slow = {(task_id, 1): Script((first, *others), ANSWER)}
    breaking = threading.Thread(target=break_file, args=(path,))
    breaking.start()
    record, _ = attempt(tasks, task_id, folder, ORACLE, scripts=slow)
    breaking.join()
    assert record.attempt.status is AttemptStatus.INFRA_ERROR
    assert "no such table" in (record.attempt.error or "")
    record, passed = attempt(tasks, task_id, folder, ORACLE, scripts=good)
    assert (record.attempt.status, passed) == (AttemptStatus.COMPLETED, True)
    assert record.attempt.retries == 1


def test_without_the_private_half_nothing_is_started(
    tasks: ReleasedTasks, released: tuple[Path, str], tmp_path: Path
) -> None:
    public = replace(tasks, private=None)
    with pytest.raises(InputError, match=r"no world\.json"):
        attempt(public, released[1], tmp_path / "run", "null")
