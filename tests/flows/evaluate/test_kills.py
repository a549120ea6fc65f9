"""Runs that are killed, that fill the disk, and that meet broken infrastructure."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from inspect_ai.log import EvalLog

from construction.grading.logs import grade_attempts, summaries
from construction.sandbox.sandbox import SandboxFailed
from data.attempts import previous_attempt, read_attempts, write_tables
from data.contracts.attempt import AttemptStatus
from data.errors import error_line
from data.releases.tasks import ReleasedTasks
from flows.evaluate.inspect_sandbox import BoxEnvironment
from flows.evaluate.plan import _RunUnderWay, alone
from flows.evaluate.run import _check_ended, _RunFailed, evaluate
from tests.flows.evaluate.chat_server import chat_server
from tests.flows.evaluate.kills import (
    AT_ONCE,
    repeated,
    run_on_full_disk,
    run_with_kills,
    score_digests,
    slowly,
)
from tests.flows.evaluate.plans import TASKS, Messages, plan, working
from tests.flows.json_server import HANG_UP
from tests.needs import needs_box

pytestmark = needs_box


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(2, marks=pytest.mark.slow(seconds=30)),
        pytest.param(10, marks=[pytest.mark.full, pytest.mark.timeout(1800)]),
    ],
)
def test_killed_runs_lose_nothing_and_pay_nothing_twice(
    snapshot: Path, tasks: ReleasedTasks, tmp_path: Path, kills: int
) -> None:
    with chat_server(slowly) as chat:
        killed = run_with_kills(snapshot, tmp_path / "killed", chat, kills, seed=kills)
        replies, again = len(chat.requests), repeated(chat)
        assert killed.kills > 0
        # Only a call whose reply could not be kept is made again; it is booked as spent.
        assert again <= killed.open_calls <= killed.kills * AT_ONCE
        assert replies - again == TASKS * 4
        evaluate(plan(tasks, tmp_path / "whole", base_url=chat.url))
    records = [record for _, record in read_attempts(tmp_path / "killed")]
    assert [record.submission.answer for record in records] == ["0.txt"] * TASKS
    assert [len(record.submission.calls) for record in records] == [3] * TASKS
    assert {record.attempt.usage.output_tokens for record in records} == {200}
    digests = [
        score_digests(snapshot, tmp_path / name, workers=workers)
        for name, workers in (("killed", 1), ("killed", 2), ("whole", 1))
    ]
    assert digests[0] == digests[1] == digests[2]


@pytest.mark.slow(seconds=15)
def test_a_full_disk_ends_a_run_with_one_line_and_it_goes_on_with_space(
    snapshot: Path, tasks: ReleasedTasks, tmp_path: Path
) -> None:
    with chat_server(slowly) as chat:
        full = run_on_full_disk(snapshot, tmp_path, chat)
    assert full.line.startswith("No space left on device: free some space")
    assert full.done_when_full < full.wanted
    assert (full.done, full.wanted) == (TASKS, TASKS)
    assert repeated(chat) == 0


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("OSError(28, 'No space left on device')", "No space left on device: free some space"),
        ("ValueError('x')", "ValueError('x')"),
    ],
)
def test_what_ends_the_runner_itself_is_said_in_one_line(message: str, line: str) -> None:
    log = SimpleNamespace(status="error", error=SimpleNamespace(message=message))
    with pytest.raises((OSError, _RunFailed)) as raised:
        _check_ended([cast("EvalLog", log)])
    assert error_line(raised.value).startswith(line)


def test_a_second_run_in_the_same_folder_is_refused(tasks: ReleasedTasks, tmp_path: Path) -> None:
    whole = plan(tasks, tmp_path / "run", "null")
    with alone(whole), pytest.raises(_RunUnderWay, match="another run is in progress here"):
        evaluate(whole)


def test_what_a_killed_run_left_half_written_goes(tasks: ReleasedTasks, tmp_path: Path) -> None:
    whole = plan(tasks, tmp_path / "run", "null")
    for name in (".run.json.abcd_123.part", "attempts/.t-1.json.abcd_123.part"):
        path = tmp_path / "run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with alone(whole):
        assert not [*tmp_path.rglob("*.part")]


@pytest.mark.slow(seconds=15)
def test_infrastructure_errors_are_counted_and_change_no_other_score(
    snapshot: Path, tasks: ReleasedTasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.evaluate.run._RETRIES", 1)
    monkeypatch.setattr("inspect_ai.model._retry._sleep", _at_once)
    failing, silent, *_ = (task.instruction for task in tasks.tasks.values())
    broken_box = list(tasks.tasks)[2]
    is_broken = True

    def play(messages: Messages) -> tuple[str, dict[str, Any]] | int:
        said = {str(message["content"]) for message in messages}
        if is_broken and said & {failing, silent}:
            return 500 if failing in said else HANG_UP
        return working(messages)

    start = BoxEnvironment.sample_init.__func__  # type: ignore[attr-defined]

    async def refusing(cls: Any, name: str, config: Any, metadata: dict[str, str]) -> Any:
        if is_broken and metadata["task"] == broken_box:
            raise SandboxFailed("no box today")
        return await start(cls, name, config, metadata)

    monkeypatch.setattr(BoxEnvironment, "sample_init", classmethod(refusing))
    with chat_server(play) as chat:
        broken = evaluate(plan(tasks, tmp_path / "run", base_url=chat.url))
        (summary,) = summaries(grade_attempts(tasks, broken.folder))
        few = _score_tables(tasks, broken.folder)
        is_broken = False
        healed = evaluate(plan(tasks, tmp_path / "run", base_url=chat.url))
    assert (broken.done, healed.done) == (TASKS - 3, TASKS)
    assert (summary.n, summary.n_infra) == (TASKS, 3)
    everything = _score_tables(tasks, healed.folder)
    ids = few["scores"]["attempt_id"]
    for name, frame in few.items():
        assert frame.equals(everything[name].filter(pl.col("attempt_id").is_in(ids.implode())))
    retries = [previous_attempt(healed.folder, task_id, 1) for task_id in list(tasks.tasks)[:TASKS]]
    assert [attempt.retries for attempt in retries if attempt] == [2, 2, 1, 0]


async def _at_once(seconds: float) -> None:
    """Waits no time before a call is tried again."""


def _score_tables(tasks: ReleasedTasks, folder: Path) -> dict[str, pl.DataFrame]:
    run = grade_attempts(tasks, folder)
    write_tables(folder / "graded", run.attempts, run.scores)
    return {
        name: pl.read_parquet(folder / "graded" / f"{name}.parquet")
        for name in ("scores", "score_parts")
    }


@pytest.mark.slow(seconds=10)
def test_an_agent_that_ends_its_box_again_and_again_is_to_blame(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    with chat_server(lambda messages: ("shell", {"command": "kill -9 -1"})) as chat:
        whole = plan(tasks, tmp_path / "run", base_url=chat.url)
        statuses = []
        for _ in range(2):
            folder = evaluate(whole).folder
            statuses.append({record.attempt.status for _, record in read_attempts(folder)})
    assert statuses == [{AttemptStatus.INFRA_ERROR}, {AttemptStatus.AGENT_ERROR}]
    assert len(chat.requests) == TASKS
