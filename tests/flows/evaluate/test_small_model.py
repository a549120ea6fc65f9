"""The real model path with a real, tiny model: three tasks run to any recorded end."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from data.attempts import read_attempts
from data.contracts.attempt import AttemptStatus, Configuration
from data.releases.tasks import ReleasedTasks
from flows.evaluate.budget import Budget, Spending
from flows.evaluate.plan import Plan
from flows.evaluate.run import evaluate
from tests.construction.judging.calls.real import MODEL, needs_model, serving
from tests.needs import needs_box

pytestmark = [
    pytest.mark.slow(seconds=120),
    pytest.mark.timeout(3600),
    needs_model,
    needs_box,
]
TASKS = 3


def test_a_tiny_model_runs_three_tasks_to_a_recorded_end(
    tasks: ReleasedTasks, tmp_path: Path
) -> None:
    name = f"openai-api/benchmint/{MODEL}"
    ids = tuple(tasks.tasks)[:TASKS]
    with serving(tmp_path, context=8192, most=300) as url:
        ended = evaluate(
            Plan(
                tasks,
                Configuration("tiny", "react", name),
                "react",
                tmp_path / "run",
                base_url=url,
                samples_at_once=1,
                spending=Spending(attempt=Budget(tokens=30_000), reply_tokens=200),
                task_ids=ids,
            )
        )
    attempts = [record.attempt for _, record in read_attempts(ended.folder)]
    for attempt in attempts:  # what the model did, for those who look (`pytest -s`)
        print(attempt.task_id, attempt.status, attempt.steps, attempt.usage, attempt.error)
    assert len(attempts) == TASKS
    assert {attempt.status for attempt in attempts} <= set(AttemptStatus)
    assert sum(attempt.usage.output_tokens for attempt in attempts) > 0
