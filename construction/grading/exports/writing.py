"""What all exports share: the tasks of a release with what graders need, and where it goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from construction.grading.bundle_command import answer_path
from construction.grading.oracle import OracleError, computable, oracle
from construction.grading.spec import spec_of
from construction.statements.tools.agent_tools import BY_NAME
from construction.statements.tools.database import Database
from data.contracts import PRIVATE_FIELDS
from data.errors import InputError
from data.releases.tasks import ReleasedTask, ReleasedTasks

TEMPLATES = Path(__file__).with_name("templates")
SERVER = "benchmint-tables"
SERVER_URL = "http://127.0.0.1:8765/mcp"
_SPEC_FIELDS = ("task_id", "prompt", "fixtures", *sorted(PRIVATE_FIELDS - {"rubric"}), "rubric")
_HOW_TO_ANSWER = """

## Where results go

You work in /work. Its input files, if any, are in inputs/; files that the task asks for go into
outputs/. {answer}
"""


@dataclass(frozen=True, slots=True)
class Export:
    """A release and what of it leaves: with `with_private`, the grader's half too.

    `database` holds the tables behind the data tools, to compute answers from; None without.
    """

    release: ReleasedTasks
    with_private: bool = False
    database: Database | None = None

    def spec(self, task: ReleasedTask) -> dict[str, Any]:
        """What grading needs of a task, as JSON. Raises InputError without the private half."""
        whole = self.release.grading(task.candidate.task_id)
        return {name: whole[name] for name in _SPEC_FIELDS}

    def computed_answer(self, task: ReleasedTask) -> str | None:
        """The answer computed on the data tools; None where none can be."""
        spec = spec_of(self.release.grading(task.candidate.task_id))
        if self.database is None or not computable(spec):
            return None
        try:
            return oracle(spec, self.database).answer
        except OracleError:
            return None

    def tasks(self) -> Iterator[ReleasedTask]:
        """The tasks by id."""
        for task_id in sorted(self.release.tasks):
            yield self.release.tasks[task_id]


def new_folder(out: Path) -> Path:
    """Create the folder of an export. Raises InputError if something is there."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            str(out), "a file or a folder with files", "nothing, or an empty folder",
            "Choose another folder, or remove this one.",
        )  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    return out


def needs_tables(task: ReleasedTask) -> bool:
    """Does the task name a data tool?"""
    return any(name in BY_NAME for name in task.candidate.tools)


def has_rules(task: ReleasedTask) -> bool:
    """Does the task ask for files? Then it has rules for them, and its answer lies elsewhere."""
    return bool(task.candidate.deliverables)


def instruction(task: ReleasedTask) -> str:
    """The instruction with where the answer goes, for agents that submit by files alone."""
    path = answer_path(has_rules(task))
    answer = f"Write your answer, in the form that the task asks for, to {path}."
    if has_rules(task):
        answer = f"If the task also asks a question, write the answer to {path}."
    return task.instruction.rstrip() + _HOW_TO_ANSWER.format(answer=answer)


def write_text(path: Path, text: str) -> None:
    """Write a file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copy_inputs(task: ReleasedTask, folder: Path) -> None:
    """Copy the input files below `folder`; it exists even without any."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in task.inputs.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
