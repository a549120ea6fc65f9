"""One trial of a task in a sandbox without a model: what is tried, what counts as a fault.

The runner uploads what an agent would be given, runs the scripted agent (`scripted_agent`) there,
and downloads what it wrote; this module says what goes in and judges what came out. An outcome
holds no times and nothing about the machine, so that a rebuild may replay it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from construction.grading.bundle_command import ANSWER, OUTPUTS
from construction.grading.exports.writing import GRADER, Bundle, bundle_files
from construction.grading.gate import unresolved
from construction.grading.oracle import OracleError, computable, oracle
from construction.grading.sandbox_preflight import STAGE, Fault, TrialOutcome, TrialStep
from construction.grading.scripted_agent import slug
from construction.grading.spec import spec_of
from construction.sandbox.escapes import assert_isolated
from construction.sandbox.sandbox import Box, FileRefused, Sandbox, SandboxFailed, fetch_outputs
from construction.sandbox.toolset import PACKAGES, SHELL_TOOLS, installed, library_paths
from construction.statements.tools.agent_tools import BY_NAME, ToolSpec, answer
from construction.statements.tools.database import Database
from data.canonical import canonical_json, digest, file_digest
from data.captures import CaptureFile
from data.contracts import Candidate, Fixture
from data.errors import BenchmintError
from data.progress import track
from data.snapshot.layout import INPUTS, INSTRUCTION

_VERSION = (
    "benchmint-trial/1"  # raised when a trial tries something else: outcomes are then renewed
)
_NOT_TRIED = {"task_id", "provenance", "preflight"}
_ANSWERED = ("ok", "refused")


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate to be tried.

    `key` says what the outcome depends on; `files` are the stored input files by SHA-256, and
    `instruction` is the text of `instruction.md`.
    """

    task: Candidate
    key: str
    instruction: str
    files: Mapping[str, Path]

    @property
    def inputs(self) -> list[tuple[str, Fixture]]:
        """The input files by their paths in the work folder."""
        return [(f"{INPUTS}/{fixture.path}", fixture) for fixture in self.task.fixtures]

    @property
    def outputs(self) -> list[tuple[str, str]]:
        """The files to deliver, by path from the work folder, and their types."""
        named = dict(_deliverables(self.task)) or {ANSWER: "txt"}
        return [(str(PurePosixPath(OUTPUTS, name)), kind) for name, kind in named.items()]

    @property
    def plan(self) -> dict[str, Any]:
        """What the scripted agent is told, as JSON values."""
        given = [(INSTRUCTION, digest(self.instruction.encode()))]
        given += [(path, fixture.sha256) for path, fixture in self.inputs]
        return {"inputs": given, "outputs": self.outputs}


@dataclass(frozen=True, slots=True)
class _Returned:
    """What came back from a sandbox.

    `refused`: the files of the plan that could not be uploaded, by path, and why. `report` is the
    scripted agent's. `downloaded`: path below `outputs/` -> SHA-256.
    """

    refused: Mapping[str, str]
    report: Mapping[str, Any]
    downloaded: Mapping[str, str]


def trial_key(task: Candidate, made_from: Any) -> str:
    """What an outcome depends on: the task as an agent meets it, and `made_from` around it.

    The ids are left out: they differ in a rebuild with another key.
    """
    content = task.model_dump(mode="json", exclude=_NOT_TRIED)
    return digest([_VERSION, content, made_from])


def stored_faults(trial: Trial) -> tuple[Fault, ...]:
    """Input files whose stored content is not what the candidate says. Raises OSError."""
    return tuple(
        Fault(TrialStep.UPLOAD, "not_as_recorded", f"input {number}")
        for number, (_, fixture) in enumerate(trial.inputs, 1)
        if not _is_as_recorded(fixture, trial.files.get(fixture.sha256))
    )


def _is_as_recorded(fixture: Fixture, path: Path | None) -> bool:
    if path is None or path.is_symlink() or not path.is_file():
        return False
    return path.stat().st_size == fixture.bytes and file_digest(path) == fixture.sha256


def outcome_of(trial: Trial, faults: Iterable[Fault]) -> TrialOutcome:
    """The outcome of a trial from all faults that were found."""
    task, order = trial.task, list(TrialStep)
    return TrialOutcome(
        inputs=len(task.fixtures),
        tools=len(task.tools),
        outputs=len(trial.outputs),
        criteria=len(task.rubric.criteria) if task.rubric else 0,
        faults=tuple(sorted(faults, key=lambda fault: order.index(fault.step))),
    )


def outside_faults(
    task: Candidate, database: Database | None, elsewhere: Collection[str] = ()
) -> tuple[Fault, ...]:
    """What goes wrong with all that is served or shown outside the sandbox: tools, judges.

    `elsewhere` are tools that are tried at another stage.
    """
    return (*_tool_faults(task, database, elsewhere), *_route_faults(task))


def _sandbox_faults(trial: Trial, returned: _Returned) -> Iterator[Fault]:
    """What went wrong between upload and download."""
    seen = zip(trial.plan["inputs"], returned.report["inputs"], strict=True)
    for number, ((path, _), fault) in enumerate(seen):
        what = slug(returned.refused[path]) if path in returned.refused else fault
        if what is not None:
            where = f"input {number}" if number else INSTRUCTION
            yield Fault(TrialStep.UPLOAD, what, where)
    written = zip(trial.outputs, returned.report["outputs"], strict=True)
    for number, ((path, _), done) in enumerate(written, 1):
        what = done["fault"] or _not_delivered(path, done["sha256"], returned.downloaded)
        if what is not None:
            yield Fault(TrialStep.DOWNLOAD, what, f"output {number}")


def _not_delivered(path: str, sha256: str, downloaded: Mapping[str, str]) -> str | None:
    came = downloaded.get(path.removeprefix(f"{OUTPUTS}/"))
    if came is None:
        return "not_downloaded"
    return None if came == sha256 else "changed"


def _deliverables(task: Candidate) -> Iterator[tuple[str, str]]:
    """A name for every file that is asked for: those that the task names, then made up ones."""
    for position, item in enumerate(task.deliverables, 1):
        named = item.name_hints
        made_up = (
            f"file-{position}-{number}.{item.file_type}"
            for number in range(len(named) + 1, item.count + 1)
        )
        yield from ((name, item.file_type) for name in (*named, *made_up))


def _tool_faults(
    task: Candidate, database: Database | None, elsewhere: Collection[str]
) -> Iterator[Fault]:
    """Tools that nobody provides, or that do not answer."""
    walked = _walked(task, database)
    for name in task.tools:
        if name in walked or name in elsewhere or _is_in_the_box(name, task):
            continue
        what = _unanswered(BY_NAME.get(name), database)
        if what is not None:
            yield Fault(TrialStep.EXECUTION, what, name)


def _is_in_the_box(name: str, task: Candidate) -> bool:
    """Is it the shell, or the proxy through which the shell reaches the hosts that are listed?"""
    return name in SHELL_TOOLS or (name == "fetch" and task.network.mode == "list")


def _walked(task: Candidate, database: Database | None) -> set[str]:
    """The data tools that answer when the reference steps are walked."""
    spec = spec_of(task.model_dump(mode="json"))
    if database is None or not computable(spec):
        return set()
    try:
        return {call.name for call in oracle(spec, database).calls}
    except OracleError:
        return set()


def _unanswered(tool: ToolSpec | None, database: Database | None) -> str | None:
    if tool is None:
        return "no_such_tool"
    if database is None:
        return "not_served"
    least = {
        name: "a" for name, field in tool.arguments.model_fields.items() if field.is_required()
    }
    reply = answer(database, tool.name, least)
    return None if reply.outcome in _ANSWERED else reply.outcome


def _route_faults(task: Candidate) -> Iterator[Fault]:
    return (Fault(TrialStep.ROUTE, what, where) for what, where in unresolved(task))


class Outcomes(CaptureFile[str, TrialOutcome]):
    """Outcomes by the key of the trial: one of a task that has changed since is not found."""

    EXPECTED = "the outcome of a trial"
    REMEDY = "Restore the file, or delete it to try again."

    def _record(self, key: str, outcome: TrialOutcome) -> dict[str, Any]:
        return {"trial": key, **asdict(outcome)}

    def _entry(self, record: dict[str, Any]) -> tuple[str, TrialOutcome]:
        faults = tuple(
            Fault(TrialStep(fault["step"]), str(fault["what"]), str(fault["where"]))
            for fault in record.pop("faults")
        )
        return str(record.pop("trial")), TrialOutcome(faults=faults, **record)


# Candidates tried in boxes of this machine: upload, the scripted agent, download. No Inspect.

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


class _TrialStopped(BenchmintError):
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
            futures = {pool.submit(_faults_in_box, trial, self.box): trial for trial in trials}
            try:
                done = as_completed(futures)
                for future in track(done, STAGE, len(trials), "candidate", quiet=self.quiet):
                    report(futures[future], future.result())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _faults_in_box(trial: Trial, box: Box) -> tuple[Fault, ...]:
    """What goes wrong with a task in a box of its own. Raises TrialStopped, OSError."""
    try:
        with Sandbox(box) as sandbox, TemporaryDirectory() as folder:
            refused = _upload(sandbox, trial)
            report = _act(sandbox, trial)
            fetch_outputs(sandbox, Path(folder, OUTPUTS))
            returned = _Returned(refused, report, _digests(Path(folder, OUTPUTS)))
            return tuple(_sandbox_faults(trial, returned))
    except (SandboxFailed, ValueError, KeyError, TypeError) as error:
        why = str(error) if isinstance(error, SandboxFailed) else "the report is damaged"
        raise _TrialStopped(
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
