"""The process in which pilots run: all their attempts, where no key can be read.

    python -m flows.evaluate.pilot_process      reads the job from standard input, as JSON

Each attempt still has a box of its own inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from data.attempts import TABLES_FOLDER
from flows.evaluate.grading import require_closed_off, run_closed_off, work_closed_off
from flows.evaluate.plan import Request, plan_of


@dataclass(frozen=True, slots=True)
class Job:
    """What is run, and what the process that runs it must not be able to read."""

    requests: tuple[Request, ...]
    hidden: tuple[Path, ...]


_JOB = TypeAdapter(Job)


def run_pilots(job: Job) -> None:
    """Run and grade all requests; what is done already is not run again.

    Raises InputError without bubblewrap, ClosedOffStopped where the process does not end well.
    """
    run_closed_off("flows.evaluate.pilot_process", _JOB.dump_json(job), job.hidden)


def _work(given: bytes) -> None:
    job = _JOB.validate_json(given)
    require_closed_off(job.hidden)
    from flows.evaluate.grading import grade_folder
    from flows.evaluate.run import evaluate

    for request in job.requests:
        ended = evaluate(plan_of(request))
        print(f"{request.title}: {ended.done} of {ended.wanted} attempts", flush=True)
        if ended.done:
            grade_folder(request.snapshot, ended.folder, ended.folder / TABLES_FOLDER)


if __name__ == "__main__":
    work_closed_off(_work)
