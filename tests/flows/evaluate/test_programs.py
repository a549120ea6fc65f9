"""Programs in the sandbox: their model and tools through the bridge, and their task's network."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from data.attempts import AttemptRecord, read_attempts
from data.contracts import Budget as TaskBudget
from data.contracts import NetworkPolicy
from data.contracts.attempt import AttemptStatus, Configuration
from data.releases.tasks import ReleasedTasks
from flows.evaluate.budget import Budget, Spending
from flows.evaluate.plan import COMMAND, Plan
from flows.evaluate.programs import Program
from flows.evaluate.run import evaluate
from tests.construction.sessions.network.servers import LocalServer, respond
from tests.flows.evaluate.chat_server import Chat, Play, chat_server
from tests.flows.evaluate.conftest import KEY
from tests.needs import needs_box

pytestmark = [
    pytest.mark.slow(seconds=5),
    needs_box,
]
MODEL = "openai-api/benchmint/scripted-1"
LOOK = "env; cat /proc/*/environ; ls / /opt /opt/programs /work; echo made > outputs/a.txt"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    source = Path(__file__).with_name("program.py")
    (folder / "program.py").write_bytes(source.read_bytes())
    return folder


def commands(*lines: str) -> Play:
    """A model that runs the commands one by one, and then submits the last output."""

    def play(messages: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        step = sum(message["role"] == "assistant" for message in messages)
        if step < len(lines):
            return "run", {"command": lines[step]}
        return "submit", {"answer": str(messages[-1]["content"])}

    return play


def run(
    tasks: ReleasedTasks, programs: Path, folder: Path, mode: str, play: Play, **other: Any
) -> tuple[AttemptRecord, Chat]:
    """One attempt at the first task."""
    program = Program(COMMAND, programs, f"python3 /opt/programs/program.py {mode}")
    task_id = next(iter(tasks.tasks))
    configuration = Configuration("c", COMMAND, MODEL)
    with chat_server(play) as chat:
        plan = Plan(tasks, configuration, COMMAND, folder, program=program, base_url=chat.url)
        evaluate(replace(plan, task_ids=(task_id,), **other))
    ((_, record),) = read_attempts(folder)
    return record, chat


def first_task(tasks: ReleasedTasks, **changes: Any) -> ReleasedTasks:
    """The release with other terms for its first task."""
    task_id, task = next(iter(tasks.tasks.items()))
    changed = replace(task, candidate=task.candidate.model_copy(update=changes))
    return replace(tasks, tasks={**tasks.tasks, task_id: changed})


@pytest.mark.parametrize("mode", ["work", "stream"])
def test_a_program_works_with_the_runners_model_and_no_key(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path, mode: str
) -> None:
    record, chat = run(tasks, programs, tmp_path / "run", mode, commands(LOOK))
    attempt, submission = record.attempt, record.submission
    assert (attempt.status, attempt.steps) == (AttemptStatus.COMPLETED, 2)
    assert (attempt.usage.input_tokens, attempt.usage.output_tokens) == (200, 100)
    shown = submission.answer or ""
    assert "OPENAI_API_KEY=none" in shown and "program.py" in shown
    assert KEY not in shown and "BENCHMINT_API_KEY" not in shown
    assert chat.keys == {f"Bearer {KEY}"}
    (call,) = submission.calls
    assert (call.name, call.output.strip()) == ("run", shown)
    assert [path.name for path in (tmp_path / "run/outputs").rglob("*.txt")] == ["a.txt"]
    instruction = next(iter(tasks.tasks.values())).instruction
    assert instruction.split("\n")[0] in json.dumps(chat.requests[0], ensure_ascii=False)


def test_the_bridge_speaks_the_protocols_of_the_makers(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path
) -> None:
    record, chat = run(tasks, programs, tmp_path / "run", "protocols", lambda _: "Hello.")
    assert record.submission.answer == ", ".join(["200 Hello."] * 4)
    assert ["Say hello." in json.dumps(item[-1]) for item in chat.requests] == [True] * 4


def test_a_model_that_fails_is_the_infrastructures_error_whatever_the_program_makes_of_it(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path
) -> None:
    record, _ = run(tasks, programs, tmp_path / "run", "stubborn", lambda _: 400)
    assert record.attempt.status is AttemptStatus.INFRA_ERROR
    assert "400" in (record.attempt.error or "")


def test_requests_that_are_none_are_refused_and_nothing_is_asked(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path
) -> None:
    record, chat = run(tasks, programs, tmp_path / "run", "attack", commands())
    assert record.submission.answer is not None
    *small, large = record.submission.answer.split()
    assert all(400 <= int(status) < 600 for status in small), small
    assert large in ("413", "cut")
    assert chat.requests == []


def test_a_program_that_fails_is_the_agents_error(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path
) -> None:
    record, _ = run(tasks, programs, tmp_path / "run", "fail", commands())
    assert record.attempt.status is AttemptStatus.AGENT_ERROR
    assert record.attempt.error == "Error executing the command 5:"


def test_a_program_that_ends_its_box_again_is_to_blame(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path
) -> None:
    records = [run(tasks, programs, tmp_path / "run", "kill", commands())[0] for _ in range(2)]
    statuses = [record.attempt.status for record in records]
    assert statuses == [AttemptStatus.INFRA_ERROR, AttemptStatus.AGENT_ERROR]


def test_what_is_too_large_to_be_read_is_the_agents_doing(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path
) -> None:
    record, _ = run(tasks, programs, tmp_path / "run", "flood", commands())
    assert (record.attempt.status, record.submission.answer) == (AttemptStatus.COMPLETED, None)


@pytest.mark.parametrize(
    ("mode", "ends"),
    [
        ("never", {AttemptStatus.TIMEOUT}),
        # It may die itself of the limit of processes before the time is over.
        ("fork", {AttemptStatus.TIMEOUT, AttemptStatus.AGENT_ERROR}),
    ],
)
def test_a_program_that_never_ends_is_stopped_in_time(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path, mode: str, ends: set[AttemptStatus]
) -> None:
    hurried = first_task(tasks, budget=TaskBudget(seconds=3))
    started = time.monotonic()
    record, _ = run(hurried, programs, tmp_path / "run", mode, commands())
    assert time.monotonic() - started < 60
    assert record.attempt.status in ends


def test_the_budget_of_an_attempt_holds_for_a_program(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path
) -> None:
    endless = commands(*(f"echo {n}" for n in range(50)))
    spending = Spending(attempt=Budget(6000), reply_tokens=100)
    record, _ = run(tasks, programs, tmp_path / "run", "work", endless, spending=spending)
    assert record.attempt.status is AttemptStatus.BUDGET
    assert record.attempt.usage.input_tokens + record.attempt.usage.output_tokens <= 6000


FETCH = "python3 -c \"import urllib.request as u; print(u.urlopen('{}').read().decode())\""


def test_a_task_reaches_the_hosts_that_it_lists_and_no_other(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path
) -> None:
    async def hello(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(body=b"the report"))

    policy = NetworkPolicy(mode="list", urls=("http://data.example.org/report.csv",))
    with LocalServer(hello) as server:
        lines = [
            FETCH.format(f"http://{host}/")
            for host in ("other.example.org", "127.0.0.1:8080", "data.example.org")
        ]
        record, _ = run(
            first_task(tasks, network=policy), programs, tmp_path / "run", "work",
            commands(*lines), wire=server.wire(),
        )  # fmt: skip
        assert server.addresses == ["93.184.216.34"]
    assert (record.submission.answer or "").strip() == "the report"
    assert [(row.operation, row.status) for row in record.submission.audit] == [
        ("", "not_allowed other.example.org:80"),
        ("GET http://data.example.org/", "ok"),
    ]


def test_a_task_without_a_network_has_no_proxy(
    tasks: ReleasedTasks, programs: Path, tmp_path: Path
) -> None:
    record, _ = run(tasks, programs, tmp_path / "run", "work", commands("env; cat /proc/net/tcp"))
    shown = record.submission.answer or ""
    assert "proxy" not in shown.lower()
    assert f":{3128:04X} " not in shown
    assert record.submission.audit == ()
