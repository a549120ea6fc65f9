"""A release with a rubric, attempts at it, and the command that judges them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
import typer

from data.attempts import AttemptRecord, attempt_id_of, outputs_folder, write_attempt
from data.contracts import Candidate, Criterion, Deliverable, Rubric
from data.contracts.attempt import Attempt, AttemptStatus, Configuration, Submission, Usage
from data.releases.tasks import ReleasedTasks, read_tasks
from data.snapshot.writer import write_snapshot
from flows.commands.agents import judge_command, review_export_command, review_import_command
from tests.data.snapshot.sample import release
from tests.flows.command import invoked

app = typer.Typer()
app.command(name="judge")(judge_command)
app.command(name="export")(review_export_command)
app.command(name="import")(review_import_command)
LONG = "Orders rose in all weeks of the month, most of all in the second one. " * 3
SHORT = "Orders rose in the second week."


run = partial(invoked, app)


def with_rubric(
    candidate: Candidate, route: Literal["text", "visual"] = "text", file_type: str = "md"
) -> Candidate:
    criteria = [
        Criterion(dimension=name, weight=weight, text=f"The report says what {name} asks for.")
        for name, weight in (("grounded_accuracy", 0.75), ("communication_quality", 0.25))
    ]
    changes = {"answers": (), "rules": (), "deliverables": (Deliverable(file_type=file_type),)}
    rubric = Rubric(route=route, criteria=tuple(criteria))
    return candidate.model_copy(update=changes | {"rubric": rubric})


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    given = release(tmp_path)
    tasks = [with_rubric(candidate) for candidate in given.candidates]
    return write_snapshot(replace(given, candidates=tasks), tmp_path / "out").path


def attempted(
    folder: Path, tasks: ReleasedTasks, texts: Sequence[str | None], name: str = "agent"
) -> None:
    """Attempts of a configuration at the first tasks, which deliver these texts."""
    own = folder / name
    for task_id, text in zip(tasks.tasks, texts, strict=False):
        attempt = Attempt(
            attempt_id_of(tasks.digest, task_id, name, 1), tasks.digest, task_id,
            Configuration(name, "react", "fake-2"), 1,
            AttemptStatus.COMPLETED, None, 3, Usage(), 1.0, 0, "d" * 64,
        )  # fmt: skip
        write_attempt(own, AttemptRecord(attempt, Submission(answer="report.md", steps=3)))
        if text is not None:
            outputs = outputs_folder(own, task_id, 1)
            outputs.mkdir(parents=True, exist_ok=True)
            (outputs / "report.md").write_text(text, encoding="utf-8")


@pytest.fixture
def attempts(snapshot: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "attempts"
    attempted(folder, read_tasks(snapshot), [LONG, SHORT, None])
    return folder


def judged(attempts: Path, snapshot: Path, url: str, *more: object) -> str:
    given = ("judge", attempts, "--snapshot", snapshot, "--model", "fake-1", "--base-url", url)
    return run(*given, *more)
