"""Candidates tried in boxes of this machine: upload, the scripted agent, download. No Inspect."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from construction.grading.bundle import GRADER, Bundle, bundle_files
from construction.grading.bundle_command import OUTPUTS
from construction.grading.sandbox_gate import STAGE, Fault
from construction.grading.trial import Returned, Trial, sandbox_faults
from construction.sandbox.box import Box
from construction.sandbox.delivery import fetch_outputs
from construction.sandbox.escapes import assert_isolated
from construction.sandbox.sandbox import FileRefused, Sandbox, SandboxFailed
from construction.sandbox.toolset import PACKAGES, installed, library_paths
from data.canonical import canonical_json, file_digest
from data.errors import BenchmintError
from data.progress import track
from data.snapshot.layout import INSTRUCTION

_AGENT = "/tmp/agent"  # noqa: S108 (inside the box)
_SCRIPTED = Bundle(
    "benchmint_agent",
    "Reads what it is given and writes what is asked for",
    "construction.grading.scripted_agent",
    libraries=GRADER.libraries,
)
_SECONDS = 180.0
_START = ("sh", "-c", f"mkdir -p {OUTPUTS} && exec python3 {_AGENT}")
Found = Callable[[Trial, tuple[Fault, ...]], None]


class TrialStopped(BenchmintError):
    """The infrastructure ended a trial: nothing is known about the task."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes of this machine, `at_once` of them at a time; `quiet`: without a progress bar."""

    at_once: int = 1
    quiet: bool = True
    box: Box = field(default_factory=lambda: Box(libraries=library_paths()))

    def problem(self) -> str | None:
        """Why no sandbox works here; None if one starts, holds, and has the libraries."""
        missing = [name for name in PACKAGES if name not in installed()]
        if missing:
            return f"the toolset lacks {', '.join(missing)}: `make install` installs it"
        try:
            with Sandbox(self.box) as sandbox:
                assert_isolated(sandbox)
        except SandboxFailed as error:
            return str(error)
        return None

    def run(self, trials: Sequence[Trial], report: Found) -> None:
        """Try each, and tell what was found as soon as it is known, in any order.

        Raises TrialStopped at the first trial that the infrastructure ended; those that are under
        way then end first, and those that wait are not begun.
        """
        with ThreadPoolExecutor(self.at_once) as pool:
            futures = {pool.submit(faults_in_box, trial, self.box): trial for trial in trials}
            try:
                done = as_completed(futures)
                for future in track(done, STAGE, len(trials), "candidate", quiet=self.quiet):
                    report(futures[future], future.result())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def faults_in_box(trial: Trial, box: Box) -> tuple[Fault, ...]:
    """What goes wrong with a task in a box of its own. Raises TrialStopped, OSError."""
    try:
        with Sandbox(box) as sandbox, TemporaryDirectory() as folder:
            refused = _upload(sandbox, trial)
            report = _act(sandbox, trial)
            fetch_outputs(sandbox, Path(folder, OUTPUTS))
            returned = Returned(refused, report, _digests(Path(folder, OUTPUTS)))
            return tuple(sandbox_faults(trial, returned))
    except (SandboxFailed, ValueError, KeyError, TypeError) as error:
        why = str(error) if isinstance(error, SandboxFailed) else "the report is damaged"
        raise TrialStopped(
            f"{STAGE}: {trial.task.task_id}: {why}. Nothing is decided about this task, "
            "and what was tried is kept: run the same command again."
        ) from error


def _upload(sandbox: Sandbox, trial: Trial) -> dict[str, str]:
    """Write what an agent is given into the box; the files that it refused, and why."""
    refused = {}
    sandbox.write(INSTRUCTION, trial.instruction.encode())
    for path, fixture in trial.inputs:
        if fixture.bytes > sandbox.box.limits.disk_bytes:
            refused[path] = "too large"
            continue
        try:
            sandbox.write(path, trial.files[fixture.sha256].read_bytes())
        except FileRefused as error:
            refused[path] = error.reason
    return refused


def _act(sandbox: Sandbox, trial: Trial) -> dict[str, list[object]]:
    """Run the scripted agent; its report. Raises SandboxFailed where it does not end well."""
    for name, content in bundle_files(_SCRIPTED).items():
        sandbox.write(f"{_AGENT}/{name}", content)
    done = sandbox.run(_START, seconds=_SECONDS, stdin=canonical_json(trial.plan))
    if done.timed_out or done.code != 0:
        how = f"took longer than {_SECONDS:.0f} s" if done.timed_out else f"ended with {done.code}"
        raise SandboxFailed(f"the scripted agent {how}")
    report: dict[str, list[object]] = json.loads(done.stdout)
    return report


def _digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in files}
