"""Running agents on a release: what is recorded, what agents see, what is paid."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from construction.grading.file_child import regular_files
from data.attempts import finished, outputs_folder, read_attempts, write_tables
from data.contracts.attempt import AttemptStatus, Configuration
from data.errors import InputError
from data.releases.tasks import ReleasedTasks, read_tasks
from data.snapshot import write_snapshot
from flows.evaluate.plan import Plan
from flows.evaluate.run import evaluate
from flows.evaluate.sandbox import bubblewrap
from tests.conftest import REPO
from tests.data.snapshot.sample import release
from tests.flows.evaluate.chat_server import Chat, chat_server

pytestmark = [
    pytest.mark.slow(seconds=5),
    pytest.mark.skipif(
        bubblewrap() is None, reason="bubblewrap is not installed: `make system` installs it"
    ),
]
KEY = "a-secret-model-key"
MODEL = "openai-api/benchmint/scripted-1"
TASKS = 4
Messages = list[dict[str, Any]]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("release")
    return write_snapshot(release(root), root / "out").path


@pytest.fixture
def tasks(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> ReleasedTasks:
    monkeypatch.setenv("BENCHMINT_API_KEY", KEY)
    return read_tasks(snapshot)


def plan(tasks: ReleasedTasks, folder: Path, agent: str = "react", **other: Any) -> Plan:
    ids = tuple(tasks.tasks)[:TASKS]
    model = MODEL if agent == "react" else "none"
    return Plan(tasks, Configuration(agent, agent, model), agent, folder, task_ids=ids, **other)


def steps_taken(messages: Messages) -> int:
    return sum(message["role"] == "assistant" for message in messages)


def working(messages: Messages) -> tuple[str, dict[str, Any]]:
    """Looks around, writes a file and submits."""
    if steps_taken(messages) == 0:
        return "shell", {"command": "env; cat /proc/*/environ; ls -R . ; echo made > outputs/a.txt"}
    return "submit", {"answer": "a.txt"}


def test_a_model_works_through_tools_and_submits(tasks: ReleasedTasks, tmp_path: Path) -> None:
    with chat_server(working) as chat:
        folder = evaluate(plan(tasks, tmp_path / "run", base_url=chat.url)).folder
    records = [record for _, record in read_attempts(folder)]
    assert len(records) == TASKS
    for record in records:
        attempt, submission = record.attempt, record.submission
        assert (attempt.status, submission.answer) == (AttemptStatus.COMPLETED, "a.txt")
        assert (attempt.usage.input_tokens, attempt.usage.output_tokens) == (200, 100)
        assert [(call.name, call.step) for call in submission.calls] == [("shell", 1)]
        outputs = outputs_folder(folder, attempt.task_id, attempt.epoch)
        assert list(regular_files(outputs, 10)) == ["a.txt"]
    assert chat.keys == {f"Bearer {KEY}"}


def test_an_agent_sees_its_inputs_and_no_key(tasks: ReleasedTasks, tmp_path: Path) -> None:
    with chat_server(working) as chat:
        folder = evaluate(plan(tasks, tmp_path / "run", base_url=chat.url)).folder
    for _, record in read_attempts(folder):
        task = tasks.tasks[record.attempt.task_id]
        shown = record.submission.calls[0].output
        assert KEY not in shown
        listed = {line for line in shown.splitlines() if line.endswith((".csv", ".md"))}
        assert listed == {Path(name).name for name in task.inputs}
        prompt = next(m for m in chat.requests[0] if m["role"] == "user")
        assert "answers" not in json.dumps(prompt)


def test_libraries_for_files_are_there(tasks: ReleasedTasks, tmp_path: Path) -> None:
    make = (
        "import docx, lxml.etree, openpyxl, pptx, pypdf; from PIL import Image; "
        "openpyxl.Workbook().save('outputs/a.xlsx'); Image.new('RGB', (2, 2)).save('outputs/b.png')"
    )

    def play(messages: Messages) -> tuple[str, dict[str, Any]]:
        if steps_taken(messages):
            return "submit", {"answer": ""}
        return "shell", {"command": f'python3 -c "{make}"'}

    with chat_server(play) as chat:
        folder = evaluate(plan(tasks, tmp_path / "run", base_url=chat.url)).folder
    for name in finished(folder):
        assert list(regular_files(folder / "outputs" / name, 10)) == ["a.xlsx", "b.png"]
    about = json.loads((folder / "run.json").read_text())
    assert {"openpyxl", "lxml", "pillow"} <= about["toolset"]["libraries"].keys()


def test_what_is_finished_is_not_run_again(tasks: ReleasedTasks, tmp_path: Path) -> None:
    with chat_server(working) as chat:
        first = plan(tasks, tmp_path / "run", base_url=chat.url)
        evaluate(first)
        queries = len(chat.requests)
        evaluate(first)
        assert len(chat.requests) == queries
        evaluate(plan(tasks, tmp_path / "run", base_url=chat.url, epochs=2))
        assert len(chat.requests) == 2 * queries
    assert len(finished(tmp_path / "run")) == 2 * TASKS


def test_an_infrastructure_error_is_counted_apart_and_tried_again(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    failing = True
    unlucky = tasks.tasks[list(tasks.tasks)[1]].instruction

    def play(messages: Messages) -> tuple[str, dict[str, Any]] | int:
        is_unlucky = any(message["content"] == unlucky for message in messages)
        return 404 if failing and is_unlucky else working(messages)

    with chat_server(play) as chat:
        first = plan(tasks, tmp_path / "run", base_url=chat.url)
        statuses = Counter(r.attempt.status for _, r in read_attempts(evaluate(first).folder))
        assert statuses == {AttemptStatus.INFRA_ERROR: 1, AttemptStatus.COMPLETED: TASKS - 1}
        failing = False
        queries = len(chat.requests)
        evaluate(first)
    assert len(chat.requests) == queries + 2
    assert len(finished(tmp_path / "run")) == TASKS


def test_another_configuration_in_the_same_folder_is_refused(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    evaluate(plan(tasks, tmp_path / "run", "null"))
    with pytest.raises(InputError, match="found another configuration"):
        evaluate(plan(tasks, tmp_path / "run", "talk"))


def test_an_oracle_without_steps_to_run_is_refused(tasks: ReleasedTasks, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tasks of demo-.* that oracle can run"):
        evaluate(plan(tasks, tmp_path / "run", "oracle"))


@pytest.mark.parametrize(("agent", "calls"), [("null", 0), ("talk", 0), ("empty-calls", 1)])
def test_scripted_agents_need_no_model(
    tasks: ReleasedTasks, tmp_path: Path, agent: str, calls: int
) -> None:
    folder = evaluate(plan(tasks, tmp_path / agent, agent)).folder
    for _, record in read_attempts(folder):
        assert record.attempt.status is AttemptStatus.COMPLETED
        assert len(record.submission.calls) == calls
        assert bool(record.submission.answer) == (agent != "null")


def test_links_pipes_and_leftovers_are_not_fetched(tasks: ReleasedTasks, tmp_path: Path) -> None:
    command = (
        "cd outputs; ln -s /etc/passwd link; mkfifo pipe; touch x.tmp y~ kept.txt; "
        "mkdir -p '..hidden' sub; touch sub/also.txt"
    )

    def play(messages: Messages) -> tuple[str, dict[str, Any]]:
        return (
            ("submit", {"answer": ""}) if steps_taken(messages) else ("shell", {"command": command})
        )

    with chat_server(play) as chat:
        folder = evaluate(plan(tasks, tmp_path / "run", base_url=chat.url)).folder
    for name in finished(folder):
        assert list(regular_files(folder / "outputs" / name, 10)) == ["kept.txt", "sub/also.txt"]


def test_a_task_out_of_turns_ends_by_its_budget(tasks: ReleasedTasks, tmp_path: Path) -> None:
    def play(messages: Messages) -> tuple[str, dict[str, Any]]:
        return "shell", {"command": f"echo {len(messages)}"}

    task_id, task = next(iter(tasks.tasks.items()))
    with chat_server(play) as chat:
        whole = plan(tasks, tmp_path / "run", base_url=chat.url)
        folder = evaluate(replace(whole, task_ids=(task_id,))).folder
    ((_, record),) = read_attempts(folder)
    assert record.attempt.status is AttemptStatus.BUDGET
    assert record.attempt.steps == task.candidate.budget.turns


RUN = """
import sys
from pathlib import Path
from tests.flows.evaluate.test_run import plan, read_tasks, evaluate
release, folder, url = sys.argv[1:]
evaluate(plan(read_tasks(Path(release)), Path(folder), base_url=url, samples_at_once=1))
"""


def test_killed_runs_lose_nothing_and_pay_nothing_twice(
    snapshot: Path, tasks: ReleasedTasks, tmp_path: Path
) -> None:
    def slowly(messages: Messages) -> tuple[str, dict[str, Any]]:
        time.sleep(0.2)
        return working(messages)

    with chat_server(slowly) as chat:
        for _ in range(3):
            _run_and_kill(snapshot, tmp_path / "killed", chat)
        evaluate(plan(tasks, tmp_path / "killed", base_url=chat.url))
        queries = Counter(json.dumps(request) for request in chat.requests)
        evaluate(plan(tasks, tmp_path / "whole", base_url=chat.url))
    # A request that was under way when the run was killed has no answer that could be kept.
    assert sum(queries.values()) - len(queries) <= 3
    killed, whole = (
        [record.submission.answer for _, record in read_attempts(tmp_path / name)]
        for name in ("killed", "whole")
    )
    assert killed == whole


def _run_and_kill(snapshot: Path, folder: Path, chat: Chat) -> None:
    """Start a run in a process of its own and kill it once it has asked something new."""
    before = len(chat.requests)
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, str(snapshot), str(folder), chat.url],
        cwd=REPO,
        env={**os.environ, "BENCHMINT_API_KEY": KEY},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while len(chat.requests) <= before and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()


def test_the_tables_hold_every_attempt_and_call(tasks: ReleasedTasks, tmp_path: Path) -> None:
    folder = evaluate(plan(tasks, tmp_path / "run", "empty-calls")).folder
    records = [record for _, record in read_attempts(folder)]
    write_tables(tmp_path / "tables", records, [])
    import polars as pl

    assert pl.read_parquet(tmp_path / "tables/attempts.parquet").height == TASKS
    assert pl.read_parquet(tmp_path / "tables/tool_calls.parquet")["name"].unique().to_list() == [
        "shell"
    ]
    assert pl.read_parquet(tmp_path / "tables/scores.parquet").height == 0
