"""A release as tasks for Harbor (schema 1.4, checked against 0.24.0): one folder per task."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tomli_w

from construction.grading.bundle import write_bundle
from construction.grading.bundle_command import ANSWER, OUTPUTS
from construction.grading.exports.writing import (
    SERVER,
    SERVER_URL,
    TEMPLATES,
    Export,
    copy_inputs,
    has_rules,
    instruction,
    needs_tables,
    new_folder,
    write_text,
)
from data.contracts import NetworkPolicy
from data.releases.tasks import ReleasedTask

SCHEMA = "1.4"
TASKS = "tasks"
ENVIRONMENT = "bubblewrap_environment"
_VERIFIER_SECONDS = 600
_MEMORY_MB, _STORAGE_MB = 2048, 4096
_SCRIPT = 0o755


def export_harbor(export: Export, out: Path) -> int:
    """Write all tasks below `out`; returns their number. Raises InputError."""
    new_folder(out)
    shutil.copyfile(TEMPLATES / "harbor.md", out / "README.md")
    shutil.copyfile(TEMPLATES / f"{ENVIRONMENT}.txt", out / f"{ENVIRONMENT}.py")
    tasks = list(export.tasks())
    for task in tasks:
        _write_task(export, task, out / TASKS / task.candidate.task_id)
    return len(tasks)


def _write_task(export: Export, task: ReleasedTask, folder: Path) -> None:
    copy_inputs(task, folder / "environment" / "inputs")
    image = (TEMPLATES / "Dockerfile").read_text(encoding="utf-8")
    write_text(folder / "environment" / "Dockerfile", f"{image}COPY inputs/ inputs/\n")
    write_text(folder / "instruction.md", instruction(task))
    write_text(folder / "task.toml", tomli_w.dumps(task_settings(export, task)))
    tests = folder / "tests"
    if not export.with_private:
        _copy_script("no_test.sh", tests / "test.sh")
        return
    _copy_script("test.sh", tests / "test.sh")
    write_bundle(tests / "grader")
    write_text(tests / "spec.json", json.dumps(export.spec(task), indent=2, sort_keys=True))
    answer = None if has_rules(task) else export.computed_answer(task)
    if answer is not None:
        _copy_script("solve.sh", folder / "solution" / "solve.sh")
        write_text(folder / "solution" / ANSWER, answer)


def _copy_script(template: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(TEMPLATES / template, path)
    path.chmod(_SCRIPT)


def task_settings(export: Export, task: ReleasedTask) -> dict[str, Any]:
    """The content of `task.toml`."""
    candidate = task.candidate
    settings: dict[str, Any] = {
        "schema_version": SCHEMA,
        "artifacts": [f"/work/{OUTPUTS}", f"/work/{ANSWER}"],
        "metadata": {
            "release": export.release.snapshot,
            "release_digest": export.release.digest,
            "task_id": candidate.task_id,
            "lane": str(candidate.lane),
            "language": candidate.language,
            "tools": list(candidate.tools),
            "turns": candidate.budget.turns,
        },
        "agent": {"timeout_sec": float(candidate.budget.seconds)},
        "verifier": {"timeout_sec": float(_VERIFIER_SECONDS), "environment_mode": "separate"},
        "environment": {
            "workdir": "/work",
            "memory_mb": _MEMORY_MB,
            "storage_mb": _STORAGE_MB,
            **_network(candidate.network, needs_tables(task)),
        },
    }
    if needs_tables(task):
        server = {"name": SERVER, "transport": "streamable-http", "url": SERVER_URL}
        settings["environment"]["mcp_servers"] = [server]
    if candidate.difficulty is not None:
        settings["metadata"]["difficulty"] = candidate.difficulty
    return settings


def _network(policy: NetworkPolicy, is_served: bool) -> dict[str, Any]:
    """The network of a task; one whose tables are served must reach the server."""
    if policy.mode == "web" or is_served:
        return {"network_mode": "public"}
    if policy.mode == "none":
        return {"network_mode": "no-network"}
    hosts = sorted({host for url in policy.urls if (host := urlsplit(url).hostname)})
    return {"network_mode": "allowlist", "allowed_hosts": hosts}
