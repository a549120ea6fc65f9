"""A release as one task of Inspect: `tasks.py`, its samples as data, and the graders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from construction.grading.exports.writing import (
    TEMPLATES,
    Export,
    agent_image,
    copy_inputs,
    needs_tables,
    new_folder,
    write_bundle,
    write_server,
    write_services,
    write_text,
)
from construction.statements.questions.operations import TOOLS
from data.releases.tasks import ReleasedTask

_SAMPLES = "tasks.jsonl"
_SPECS = "specs"
_WORLDS = "worlds"
_SHELL_TOOLS = frozenset({"shell", "read_file", "write_file"})


def export_inspect(export: Export, out: Path) -> int:
    """Write the package below `out`; returns the number of tasks. Raises InputError."""
    tasks = list(export.tasks())
    with new_folder(out) as part:
        _write_package(export, tasks, part)
    return len(tasks)


def _write_package(export: Export, tasks: list[ReleasedTask], out: Path) -> None:
    for template, name in (("inspect.md", "README.md"), ("inspect_tasks.txt", "tasks.py")):
        shutil.copyfile(TEMPLATES / template, out / name)
    write_text(out / "image" / "Dockerfile", agent_image())
    if any(map(needs_tables, tasks)):
        write_server(export.release.tables, out / "tables")
    if any(task.candidate.task_id in export.services for task in tasks):
        write_services(out / "services")
    rows = [json.dumps(_sample(export, task), sort_keys=True) for task in tasks]
    write_text(out / _SAMPLES, "".join(f"{row}\n" for row in rows))
    for task in tasks:
        copy_inputs(task, out / "inputs" / task.candidate.task_id)
        if export.with_private:
            spec = json.dumps(export.spec(task), indent=2, sort_keys=True)
            write_text(out / _SPECS / f"{task.candidate.task_id}.json", spec)
        if task.candidate.task_id in export.services:
            world = export.release.world(task.candidate.task_id).read_text(encoding="utf-8")
            write_text(out / _WORLDS / f"{task.candidate.task_id}.json", world)
    if export.with_private:
        write_bundle(out / "grader")


def _sample(export: Export, task: ReleasedTask) -> dict[str, Any]:
    """A task as a row of the samples; it holds what an agent may see and its budget."""
    candidate = task.candidate
    works_on_files = candidate.deliverables or task.inputs or _SHELL_TOOLS & set(candidate.tools)
    return {
        "id": candidate.task_id,
        "release_digest": export.release.digest,
        "input": task.instruction,
        "inputs": sorted(task.inputs),
        "tools": [name for name in candidate.tools if name in TOOLS],
        "services": [*export.services.get(candidate.task_id, ())],
        "needs_tables": needs_tables(task),
        "needs_box": bool(works_on_files),
        "turns": candidate.budget.turns,
        "seconds": candidate.budget.seconds,
    }
