"""What all exports share: the tasks of a release with what graders need, and where it goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from construction.grading.spec import spec_of
from construction.grading.walk import computable
from construction.statements.questions.operations import TOOLS
from data.atomic import replacing_dir
from data.contracts import PRIVATE_FIELDS
from data.errors import InputError
from data.releases.tasks import ReleasedTask, ReleasedTasks

TEMPLATES = Path(__file__).with_name("templates")
_SPEC_FIELDS = ("task_id", "prompt", "fixtures", *sorted(PRIVATE_FIELDS - {"rubric"}), "rubric")


@dataclass(frozen=True, slots=True)
class Export:
    """A release and what of it leaves: with `with_private`, the grader's half too."""

    release: ReleasedTasks
    with_private: bool = False

    def spec(self, task: ReleasedTask) -> dict[str, Any]:
        """What grading needs of a task, as JSON. Raises InputError without the private half."""
        whole = self.release.grading(task.candidate.task_id)
        return {name: whole[name] for name in _SPEC_FIELDS}

    def computable_steps(self, task: ReleasedTask) -> dict[str, Any] | None:
        """The reference steps, if data tools alone carry them out; no gold answer among them."""
        whole = self.release.grading(task.candidate.task_id)
        if not computable(spec_of(whole)):
            return None
        return {name: whole[name] for name in ("task_id", "steps")}

    def tasks(self) -> Iterator[ReleasedTask]:
        """The tasks by id."""
        for task_id in sorted(self.release.tasks):
            yield self.release.tasks[task_id]


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Yield the folder to write an export to; it is at `out` once all of it is written.

    Raises InputError if something is there.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            str(out), "a file or a folder with files", "nothing, or an empty folder",
            "Choose another folder, or remove this one.",
        )  # fmt: skip
    with replacing_dir(out.resolve()) as part:
        yield part


def needs_tables(task: ReleasedTask) -> bool:
    """Does the task name a data tool?"""
    return any(name in TOOLS for name in task.candidate.tools)


def has_rules(task: ReleasedTask) -> bool:
    """Does the task ask for files? Then it has rules for them, and its answer lies elsewhere."""
    return bool(task.candidate.deliverables)


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
