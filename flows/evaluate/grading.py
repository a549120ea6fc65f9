"""The scores of a folder of attempts, written beside them."""

from __future__ import annotations

from pathlib import Path

from construction.grading.logs import GradedRun, grade_attempts
from construction.grading.retrieval_tables import write_retrieval_tables
from data.attempts import write_tables
from data.releases.tasks import read_tasks, require_outside


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
