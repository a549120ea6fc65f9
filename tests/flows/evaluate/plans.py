"""Plans of small runs, and what the scripted model plays in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from data.contracts.attempt import Configuration
from data.releases.tasks import ReleasedTasks
from flows.evaluate.plan import Plan

MODEL = "openai-api/benchmint/scripted-1"
TASKS = 4
Messages = list[dict[str, Any]]


def plan(tasks: ReleasedTasks, folder: Path, agent: str = "react", **other: Any) -> Plan:
    """Some tasks of a release, run by an agent."""
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
