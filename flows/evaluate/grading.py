"""The scores of attempts, written beside them; attempts against services that stood alone.

What judges or runs attempts does so in a process of our own that cannot read keys, vaults and
originals. It begins inside bubblewrap: an empty folder lies over each folder that it must not read,
and nothing over each file. It looks for itself before it begins its work (`require_closed_off`).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from construction.grading.logs import GradedRun, grade_attempts
from construction.grading.retrieval_tables import write_retrieval_tables
from construction.sandbox.sandbox import bubblewrap
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
from data.errors import BenchmintError, InputError, error_line
from data.neutralise import one_line
from data.releases.tasks import ReleasedTasks, read_tasks, require_outside
from flows.evaluate.foreign import deliver, regular_files
from flows.services.instance import recorded, start_of

_LONGEST_ERROR = 500
_STOPPED = 2  # exit code of a process that ended with one line on standard error


class ClosedOffStopped(BenchmintError):
    """A process that was closed off has ended before its work was done."""


def readable(hidden: Iterable[Path]) -> list[Path]:
    """Those of the paths of which this process can read anything."""
    return [path for path in hidden if _is_readable(path)]


def _is_readable(path: Path) -> bool:
    try:
        return any(path.iterdir()) if path.is_dir() else bool(path.read_bytes()[:1])
    except OSError:
        return False


def run_closed_off(module: str, job: bytes, hidden: Sequence[Path]) -> None:
    """Run `python -m module` with the job as its standard input; its lines are printed here.

    `module` is a trusted module of this project. Raises InputError without bubblewrap,
    ClosedOffStopped where the process does not end well.
    """
    binary = bubblewrap()
    if binary is None:
        raise InputError(
            "sandbox", "no bwrap", "bubblewrap, to keep keys from models",
            "Run `make system`.",
        )  # fmt: skip
    command = [binary, "--dev-bind", "/", "/", "--die-with-parent", *_covers(hidden)]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603 (bubblewrap and our own program)
            [*command, "--", sys.executable, "-m", module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
        ) as process,
    ):  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(job)
        process.stdin.close()
        for line in process.stdout:
            print(line.decode(errors="replace").rstrip("\n"), flush=True)
        code = process.wait()
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    if code:
        why = one_line(lines[-1])[:_LONGEST_ERROR] if lines else f"code {code}"
        raise ClosedOffStopped(f"{why}. Run the same command again to continue.")


def _covers(hidden: Sequence[Path]) -> list[str]:
    """Arguments of bubblewrap that put nothing over each path."""
    covers = []
    for path in sorted({path.resolve() for path in hidden}):
        if path.is_dir():
            covers += ["--tmpfs", str(path), "--remount-ro", str(path)]
        elif path.exists():
            covers += ["--ro-bind", "/dev/null", str(path)]
    return covers


def work_closed_off(work: Callable[[bytes], None]) -> None:
    """The process itself: its job from standard input, and one line where it cannot go on."""
    try:
        work(sys.stdin.buffer.read())
    except BenchmintError as error:
        print(error_line(error), file=sys.stderr)
        sys.exit(_STOPPED)


def require_closed_off(hidden: Iterable[Path]) -> None:
    """Raises ClosedOffStopped where this process can read any of the paths."""
    if seen := readable(hidden):
        raise ClosedOffStopped(f"{seen[0]} can be read where models run; expected that nothing can")


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
