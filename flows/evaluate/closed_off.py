"""Attempts in a process of their own that cannot read keys, vaults and originals.

    python -m flows.evaluate.closed_off      reads the job from standard input, as JSON

The process begins inside bubblewrap: an empty folder lies over each folder that it must not read,
and nothing over each file. It looks for itself before the first agent is let in, and ends if it
can read any of them. Each attempt still has a box of its own inside.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from construction.sandbox.box import bubblewrap
from data.attempts import TABLES_FOLDER
from data.errors import BenchmintError, InputError, error_line
from data.neutralise import one_line
from flows.evaluate.request import Request, plan_of

_LONGEST_ERROR = 500


class PilotsStopped(BenchmintError):
    """The process in which the pilots run has ended before them."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is run, and what the process that runs it must not be able to read."""

    requests: tuple[Request, ...]
    hidden: tuple[Path, ...]


_JOB = TypeAdapter(Job)


def readable(hidden: Iterable[Path]) -> list[Path]:
    """Those of the paths of which this process can read anything."""
    return [path for path in hidden if _is_readable(path)]


def _is_readable(path: Path) -> bool:
    try:
        return any(path.iterdir()) if path.is_dir() else bool(path.read_bytes()[:1])
    except OSError:
        return False


def run_closed_off(job: Job) -> None:
    """Run and grade all requests; what is done already is not run again.

    Raises InputError without bubblewrap, PilotsStopped where the process does not end well.
    """
    binary = bubblewrap()
    if binary is None:
        raise InputError(
            "pilot", "no bubblewrap (bwrap)", "it, to keep keys and vaults from the agents",
            "Run `make system`.",
        )  # fmt: skip
    command = [binary, "--dev-bind", "/", "/", "--die-with-parent", *_covers(job.hidden)]
    done = subprocess.run(  # noqa: S603 (bubblewrap and our own program)
        [*command, "--", sys.executable, "-m", "flows.evaluate.closed_off"],
        input=_JOB.dump_json(job),
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        why = one_line(lines[-1])[:_LONGEST_ERROR] if lines else f"code {done.returncode}"
        raise PilotsStopped(f"pilots: {why}. The same command goes on from here.")


def _covers(hidden: Sequence[Path]) -> list[str]:
    """Arguments of bubblewrap that put nothing over each path."""
    covers = []
    for path in sorted({path.resolve() for path in hidden}):
        if path.is_dir():
            covers += ["--tmpfs", str(path), "--remount-ro", str(path)]
        elif path.exists():
            covers += ["--ro-bind", "/dev/null", str(path)]
    return covers


def main() -> None:
    """The process itself: exit code 2 and one line on standard error where it cannot go on."""
    try:
        _work(_JOB.validate_json(sys.stdin.buffer.read()))
    except BenchmintError as error:
        print(error_line(error), file=sys.stderr)
        sys.exit(2)


def _work(job: Job) -> None:
    if seen := readable(job.hidden):
        raise PilotsStopped(f"{seen[0]} can be read where pilots run; expected that nothing can")
    from flows.evaluate.grading import grade_folder
    from flows.evaluate.run import evaluate

    for request in job.requests:
        ended = evaluate(plan_of(request))
        print(f"{request.title}: {ended.done} of {ended.wanted} attempts", flush=True)
        if ended.done:
            grade_folder(request.snapshot, ended.folder, ended.folder / TABLES_FOLDER)


if __name__ == "__main__":
    main()
