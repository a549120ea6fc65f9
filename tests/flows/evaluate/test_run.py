"""Running agents on a release: what is recorded, what agents see, what is paid."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from construction.grading.file_child import regular_files
from data.attempts import finished, outputs_folder, read_attempts, write_tables
from data.contracts.attempt import AttemptStatus
from data.errors import InputError
from data.releases.tasks import ReleasedTasks
from flows.evaluate.run import evaluate
from tests.flows.evaluate.chat_server import chat_server
from tests.flows.evaluate.conftest import KEY
from tests.flows.evaluate.plans import TASKS, Messages, plan, steps_taken, working
from tests.needs import needs_box

pytestmark = [
    pytest.mark.slow(seconds=5),
    needs_box,
]


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
    with pytest.raises(InputError, match="found a different configuration"):
        evaluate(plan(tasks, tmp_path / "run", "talk"))


def test_an_oracle_without_steps_to_run_is_refused(tasks: ReleasedTasks, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"that oracle can run. .*all of them: null, talk"):
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
