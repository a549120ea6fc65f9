"""The scores of attempts, written beside them; attempts against services that stood alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from construction.grading.logs import GradedRun, grade_attempts
from construction.grading.retrieval_tables import write_retrieval_tables
from construction.workflows.declaration import has_services
from construction.workflows.world_file import read_world, world_bytes
from data.attempts import (
    AttemptRecord,
    attempt_id_of,
    check_name,
    outputs_folder,
    write_attempt,
    write_tables,
)
from data.canonical import digest
from data.contracts.attempt import Attempt, AttemptStatus, Configuration, Submission, Usage
from data.errors import InputError
from data.releases.tasks import ReleasedTasks, read_tasks, require_outside
from flows.evaluate.foreign import deliver, regular_files
from flows.services.instance import recorded, start_of


def grade_folder(snapshot: Path, logs: Path, out: Path, workers: int = 1) -> GradedRun:
    """Grade the attempts below `logs` and write the tables of scores into `out`.

    Raises InputError for attempts on another release, or an `out` inside the release.
    """
    require_outside(snapshot, out)
    release = read_tasks(snapshot)
    run = grade_attempts(release, logs, workers=workers)
    # First what reads the release, which may refuse: then no table has changed.
    write_retrieval_tables(out / "retrieval", release, run.attempts, run.scores)
    write_tables(out, run.attempts, run.scores, release.notice_digest)
    return run


@dataclass(frozen=True, slots=True)
class Done:
    """What somebody did against `benchmint agents services`, and what they deliver beside it.

    `task` is needed only where several tasks begin with the same world.
    """

    state: Path
    name: str
    task: str | None = None
    answer: str | None = None
    outputs: Path | None = None


def write_done(snapshot: Path, done: Done, out: Path) -> Path:
    """Write it down as an attempt below `out`; the folder of its configuration.

    Raises InputError for a file that belongs to no task of the release, BrokenChain for one whose
    log was altered.
    """
    require_outside(snapshot, out)
    check_name(done.name)
    release = read_tasks(snapshot)
    task_id = _task_of(release, done)
    audit, changes = recorded(done.state)
    folder = out / release.snapshot / done.name
    submission = Submission(
        answer=done.answer, audit=tuple(audit), changes=changes, steps=len(audit)
    )
    attempt = Attempt(
        attempt_id=attempt_id_of(release.digest, task_id, done.name, 1),
        release_digest=release.digest,
        task_id=task_id,
        configuration=Configuration(done.name, "services", "none"),
        epoch=1,
        status=AttemptStatus.COMPLETED,
        termination=None,
        steps=submission.steps,
        usage=Usage(),
        seconds=0.0,
        retries=0,
        log_digest=digest([asdict(row) for row in audit]),
        error=None,
    )
    if done.outputs is not None:
        deliver(regular_files(done.outputs), outputs_folder(folder, task_id, 1))
    write_attempt(folder, AttemptRecord(attempt, submission))
    return folder


def _task_of(release: ReleasedTasks, done: Done) -> str:
    """The task with whose world a file began. Raises InputError."""
    began = start_of(done.state)
    tasks = [
        task_id
        for task_id, task in release.tasks.items()
        if has_services(task.candidate)
        and done.task in (None, task_id)
        and world_bytes(read_world(release.world(task_id))) == began
    ]
    if len(tasks) != 1:
        expected = f"services that started from the world of one task in {release.snapshot}"
        raise InputError(
            str(done.state), f"the world of {len(tasks)} tasks", expected,
            "Pass the release that was served, or the task with --task.",
        )  # fmt: skip
    return tasks[0]
