"""One trial of a task in a sandbox without a model: what is tried, what counts as a fault.

The runner uploads what an agent would be given, runs the scripted agent (`scripted_agent`) there,
and downloads what it wrote; this module says what goes in and judges what came out. An outcome
holds no times and nothing about the machine, so that a rebuild may replay it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from construction.grading.bundle_command import ANSWER, OUTPUTS
from construction.grading.oracle import OracleError, computable, oracle
from construction.grading.routes import unresolved
from construction.grading.sandbox_gate import Fault, TrialOutcome, TrialStep
from construction.grading.scripted_agent import slug
from construction.grading.spec import spec_of
from construction.statements.tools.agent_tools import BY_NAME, ToolSpec, answer
from construction.statements.tools.database import Database
from data.canonical import digest, file_digest
from data.captures import CaptureFile
from data.contracts import Candidate, Fixture
from data.snapshot.layout import INPUTS, INSTRUCTION

VERSION = "benchmint-trial/1"  # raised when a trial tries something else: outcomes are then renewed
SHELL_TOOLS = frozenset({"shell", "read_file", "write_file"})  # served by the shell of the sandbox
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
class Returned:
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
    return digest([VERSION, content, made_from])


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


def sandbox_faults(trial: Trial, returned: Returned) -> Iterator[Fault]:
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
