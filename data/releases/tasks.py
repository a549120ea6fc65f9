"""The tasks of a release as a runner and a grader need them.

The halves stay apart: what an agent may see is read from the public half alone; what grades it
comes from the private half, if that is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from data.canonical import digest
from data.contracts import PRIVATE_FIELDS, Candidate
from data.errors import InputError
from data.snapshot import layout
from data.snapshot.tasks import candidate_of


@dataclass(frozen=True, slots=True)
class ReleasedTask:
    """A task as an agent gets it: `instruction` is `instruction.md`, `inputs` name -> path."""

    candidate: Candidate
    instruction: str
    inputs: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class ReleasedTasks:
    """A release: its name, its digest, its tasks by id, and the folder of its tables.

    `digest` is of the public half, so that it is the same for a reader who has only that half.
    """

    snapshot: str
    digest: str
    tasks: Mapping[str, ReleasedTask]
    tables: Path
    private: Path | None

    def grading(self, task_id: str) -> dict[str, Any]:
        """The task with its grader-only fields, as JSON. Raises InputError without them."""
        if self.private is None:
            raise InputError(
                self.snapshot, "the private half is missing", "private/ beside public/",
                "Grading needs the private half.",
            )  # fmt: skip
        whole: dict[str, Any] = self.tasks[task_id].candidate.model_dump(mode="json")
        folder = self.private / task_id
        for name in sorted(PRIVATE_FIELDS):
            path = folder / f"{name}.json"
            if path.is_file() and not path.is_symlink():
                whole[name] = orjson.loads(path.read_bytes())[name]
        return whole


def read_tasks(snapshot: Path) -> ReleasedTasks:
    """The tasks of a snapshot, both halves or the public one. Raises InputError."""
    root = snapshot.resolve()
    public = root / layout.PUBLIC if (root / layout.PUBLIC).is_dir() else root
    private = root / layout.PRIVATE
    path = public / layout.TASK_LIST
    try:
        lines = path.read_bytes().splitlines()
        sums = (public / layout.SUMS).read_bytes()
        manifest = orjson.loads((public / layout.MANIFEST).read_bytes())
        tasks = [_task(public, orjson.loads(line)) for line in lines]
    except (OSError, ValueError, KeyError, ValidationError) as error:
        problem = type(error).__name__
        raise InputError(
            str(path), problem, "a release written by `benchmint build`", "Run `benchmint verify`."
        ) from error
    return ReleasedTasks(
        snapshot=str(manifest["snapshot"]),
        digest=digest(sums),
        tasks={task.candidate.task_id: task for task in tasks},
        tables=public / layout.TABLES,
        private=private if private.is_dir() else None,
    )


def _task(public: Path, row: Mapping[str, Any]) -> ReleasedTask:
    candidate = candidate_of(row)
    folder = public / layout.TASKS / candidate.task_id
    inputs = {item.path: folder / layout.INPUTS / item.path for item in candidate.fixtures}
    for name, path in inputs.items():
        if path.is_symlink() or not path.is_file() or not layout.is_safe_path(name):
            raise ValueError(name)
    text = (folder / layout.INSTRUCTION).read_text(encoding="utf-8")
    return ReleasedTask(candidate, text, inputs)
