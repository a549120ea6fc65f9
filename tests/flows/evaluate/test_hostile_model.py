"""Replies of a model that no file can hold, or that lie about what they took."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from data.attempts import REPLIES, AttemptRecord, read_attempts
from data.contracts.attempt import AttemptStatus
from data.endpoints import SUFFIX, spent
from data.releases.tasks import ReleasedTasks
from flows.evaluate import inspect_sandbox
from flows.evaluate import run as runner
from flows.evaluate.budget import Spending
from flows.evaluate.inspect_sandbox import BoxEnvironment
from flows.evaluate.run import evaluate
from tests.flows.evaluate import chat_server as server
from tests.flows.evaluate.chat_server import chat_server
from tests.flows.evaluate.plans import Messages, plan, steps_taken
from tests.needs import needs_box

pytestmark = [
    pytest.mark.slow(seconds=5),
    needs_box,
]
HALF = "\ud800"


def run(
    tasks: ReleasedTasks, folder: Path, *moves: tuple[str, dict[str, Any]], **other: Any
) -> AttemptRecord:
    """One attempt in which the model makes these moves."""

    def play(messages: Messages) -> tuple[str, dict[str, Any]]:
        return moves[min(steps_taken(messages), len(moves) - 1)]

    with chat_server(play) as chat:
        whole = plan(tasks, folder, base_url=chat.url, **other)
        evaluate(replace(whole, task_ids=(next(iter(tasks.tasks)),)))
    ((_, record),) = read_attempts(folder)
    return record


SUBMIT = ("submit", {"answer": f"9 {HALF}"})


@pytest.mark.parametrize(
    "arguments",
    [{"command": f"echo {HALF}"}, {"command": "echo x", "n": 10**30}, {"command": HALF * 3}],
)
def test_what_no_file_can_hold_is_recorded_as_text(
    tasks: ReleasedTasks, tmp_path: Path, arguments: dict[str, Any]
) -> None:
    record = run(tasks, tmp_path / "run", ("shell", arguments), SUBMIT)
    assert (record.attempt.status, record.attempt.steps) == (AttemptStatus.COMPLETED, 2)
    assert record.submission.answer == "9 \u27e8U+D800\u27e9"


@pytest.mark.parametrize("tokens", [-(10**9), 10**30])
def test_a_reply_that_lies_about_its_tokens_counts_with_its_worst_case(
    tasks: ReleasedTasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokens: int
) -> None:
    monkeypatch.setattr(server, "TOKENS_IN", tokens)
    record = run(tasks, tmp_path / "run", SUBMIT)
    assert record.attempt.status is AttemptStatus.COMPLETED
    (journal,) = (tmp_path / "run" / REPLIES).glob(f"*{SUFFIX}")
    assert all(0 < used.total < 10**7 for used, _ in spent(journal))


def test_a_key_that_the_endpoint_echoes_is_stored_nowhere(
    tasks: ReleasedTasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-invented-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setattr(server, "REPLY", f"reply to {key}")
    monkeypatch.setattr(server, "MODEL", f"model of {key}\x1b[2J")
    record = run(tasks, tmp_path / "run", ("shell", {"command": f"echo {key}"}), SUBMIT)
    assert record.attempt.status is AttemptStatus.COMPLETED
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert files and not [path for path in files if key.encode() in _content(path)]


def _content(path: Path) -> bytes:
    """The bytes of a file, and of its members if it is an archive: Inspect's logs are."""
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def test_a_command_longer_than_the_limit_of_what_is_shown(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    record = run(tasks, tmp_path / "run", ("shell", {"command": "yes | head -c 90000"}), SUBMIT)
    assert 16_000 < len(record.submission.calls[0].output) < 18_000


def test_an_attempt_that_cannot_be_recorded_ends_the_run(
    tasks: ReleasedTasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Iterator[None]:
        raise ValueError("broken")

    monkeypatch.setattr(runner, "record_of", broken)
    with pytest.raises(ValueError, match="broken"):
        evaluate(plan(tasks, tmp_path / "run", "null"))


def test_calls_without_end_are_ended_by_their_own_limit(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    limited = Spending(calls=3)
    moves = [("shell", {"command": f"echo {n} >> outputs/calls.txt; echo {n}"}) for n in range(9)]
    record = run(tasks, tmp_path / "run", *moves, spending=limited)
    assert record.attempt.status is AttemptStatus.BUDGET
    assert record.attempt.error == "the calls of tools of the attempt are spent"
    (made,) = (tmp_path / "run" / "outputs").glob("*/calls.txt")
    assert made.read_text().split() == ["0", "1", "2"]
    about = json.loads((tmp_path / "run" / "run.json").read_bytes())
    assert about["limits"]["attempt_calls"] == 3
    within = [*moves[:3], SUBMIT]
    whole = run(tasks, tmp_path / "within", *within, spending=limited)
    assert whole.attempt.status is AttemptStatus.COMPLETED


def test_each_attempt_has_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_sandbox, "_try_isolation", lambda box: None)
    monkeypatch.setattr(BoxEnvironment, "at_once", 60)

    async def attempts() -> None:
        await BoxEnvironment.task_init("task", None)
        together = Barrier(60)
        await asyncio.gather(*(asyncio.to_thread(together.wait, 30) for _ in range(60)))

    asyncio.run(attempts())
