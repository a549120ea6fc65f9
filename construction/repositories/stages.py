"""What the stages of the lane compute and write: tasks, proofs, candidates, and their ledgers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from construction.grading.programs_box import ProgramNotRun
from construction.judging.settings import Judges
from construction.judging.stages import read_cases, write_cases
from construction.repositories.candidates import BY_RUBRIC, HiddenTests, Origin, candidate_of
from construction.repositories.contracts import (
    EvidenceKind,
    ProofOfTests,
    RepositoriesConfig,
    RepositoryReason,
    RepositoryTask,
    TestPlan,
    dump,
    load,
)
from construction.repositories.environment import Built, Environments, build, name_of
from construction.repositories.git import GitFailed, archive
from construction.repositories.proof import Proofs, Prover, proof_key
from construction.repositories.recovery import Repository, matching
from construction.repositories.requests import Request, Unwritten, write_requests
from construction.repositories.suites import Change, Suite, suite_of
from construction.repositories.tasks import (
    STAGE,
    Found,
    Mask,
    Turned,
    case_of,
    masked_task,
    opened,
    take,
    tasks_of,
    write_rubrics,
)
from construction.repositories.written_tests import (
    MODEL_STAGE,
    VERSION,
    Untested,
    prove_written,
    untested_of,
    with_hidden,
    write_tests,
)
from construction.sandbox.sandbox import SandboxFailed
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.scan import ScannedFile
from data.atomic import write_bytes
from data.canonical import canonical_json, digest
from data.contracts import Candidate, LedgerRow, LineageRow, Outcome, Scalar, Session, StageKind
from data.errors import InputError
from data.ledger import tally
from data.pool import write_pool
from data.stage_tables import StageRecords, write_records, write_stage_tables

RECOVER, PROVE, REQUEST = "repository_tasks", "repository_tests", "repository_requests"
TASK, FILTER, _DERIVE = "task", StageKind.FILTER, StageKind.DERIVE
_TASKS, _PROOFS, STORES, _FILES = "tasks.jsonl", "proofs.jsonl", "git", "files"


def write_tasks(
    sources: Sequence[tuple[str, Path]],
    files: Sequence[ScannedFile],
    config: RepositoriesConfig,
    out: Path,
    licence: str | None = None,
    mask: Mask | None = None,
    *,
    untested: bool = False,
) -> None:
    """Read the repositories into stores below `out`, and recover the tasks of all sessions.

    `licence` is what their owner states of repositories that state none; without `mask`, trees and
    words stay as they are. `untested`: tasks without a test are kept, so that a model writes them.
    """
    repositories, rows = _taken(sources, out / STORES, licence)
    sessions: list[LedgerRow] = []
    items: list[tuple[str, Found]] = []
    lineage = []
    for session, copies in _sessions(files):
        made = _of_session(session, copies, repositories, config, untested=untested)
        reason = made if isinstance(made, RepositoryReason) else None
        path, consumed = session.source_path, Outcome.CONSUMED
        sessions.append(_row(RECOVER, "session", session.uid, reason, consumed, path=path))
        for number, item in enumerate(() if isinstance(made, RepositoryReason) else made):
            name = f"{session.uid}#{number}"
            items.append((name, item))
            lineage.append(LineageRow(RECOVER, "session", session.uid, TASK, name, "recovered"))
    stores = {repository.name: repository.store for repository in repositories}
    tasks, of_tasks = [], []
    for name, item in _distinct(items):
        if isinstance(item, RepositoryTask) and mask is not None:
            item = masked_task(item, stores[item.repository], mask)
        of_tasks.append(_row(RECOVER, TASK, name, getattr(item, "reason", None)))
        tasks += [item] if isinstance(item, RepositoryTask) else []
    units = (("repository", FILTER, rows), ("session", _DERIVE, sessions), (TASK, FILTER, of_tasks))
    tallies = [tally(RECOVER, k, unit, [r.item_id for r in of], of) for unit, k, of in units]
    write_records(out, StageRecords([*rows, *sessions, *of_tasks], tallies, (), lineage))
    write_bytes(out / _TASKS, b"".join(map(dump, tasks)))


def _row(
    stage: str,
    unit: str,
    name: str,
    reason: str | None,
    otherwise: Outcome = Outcome.KEPT,
    **evidence: Scalar,
) -> LedgerRow:
    """What became of a unit: rejected for a reason, or else something."""
    if reason is None:
        return LedgerRow(stage, unit, name, otherwise, evidence=evidence)
    return LedgerRow(stage, unit, name, Outcome.REJECTED, reason=str(reason), evidence=evidence)


def _taken(
    sources: Sequence[tuple[str, Path]], folder: Path, licence: str | None
) -> tuple[list[Repository], list[LedgerRow]]:
    repositories, rows = [], []
    for name, source in sources:
        reason = None
        try:
            repositories.append(take(name, source, folder, licence))
        except GitFailed:
            shutil.rmtree(folder / f"{name}.git", ignore_errors=True)
            reason = RepositoryReason.UNREADABLE
        rows.append(_row(RECOVER, "repository", name, reason))
    return repositories, rows


def _sessions(files: Sequence[ScannedFile]) -> Iterator[tuple[Session, list[str]]]:
    """The sessions of all logs, each with the paths of further copies of its log."""
    paths: dict[str | None, list[str]] = {}
    for file in files:
        paths.setdefault(file.sha256, []).append(file.relative)
    for file in files:
        if file.format is not None:
            copies = [path for path in paths[file.sha256] if path != file.relative]
            for item in read_source(SourceFile(file.path, file.relative), file.format):
                if isinstance(item, Session):
                    yield item, copies if file.sha256 else []


def _of_session(
    session: Session,
    copies: Sequence[str],
    repositories: Sequence[Repository],
    config: RepositoriesConfig,
    *,
    untested: bool,
) -> list[Found] | RepositoryReason:
    try:
        repository = matching(session, repositories, copies)
        if repository is None:
            return RepositoryReason.UNMATCHED
        if repository.licence is None:
            return RepositoryReason.NO_LICENCE
        tasks = list(tasks_of(session, repository, config, copies, untested=untested))
        return tasks or RepositoryReason.NO_TASK
    except GitFailed:
        return RepositoryReason.UNREADABLE


def _distinct(items: Sequence[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Of several tasks with one change the one whose log tells most; the others are turned."""
    closest: dict[str, tuple[tuple[float, ...], str]] = {}
    for name, item in sorted(items, key=itemgetter(0)):
        if isinstance(item, RepositoryTask):
            rank = _closeness(item)
            if item.task not in closest or rank > closest[item.task][0]:
                closest[item.task] = rank, name
    kept = {
        name: Turned(item.task, RepositoryReason.SAME_CHANGE)
        if isinstance(item, RepositoryTask) and closest[item.task][1] != name
        else item
        for name, item in items
    }
    return sorted(kept.items(), key=lambda pair: (pair[1].task, pair[0]))


def _closeness(task: RepositoryTask) -> tuple[float, ...]:
    """How near a session is to a commit: a checkpoint that a trailer names may hold several."""
    printed = not {EvidenceKind.LOGGED, EvidenceKind.SUBJECT}.isdisjoint(task.base.evidence)
    return bool(task.messages), printed, task.replayed or 0.0, task.base.confidence


def read_tasks(folder: Path) -> list[RepositoryTask]:
    """The tasks that `write_tasks` left."""
    return load(RepositoryTask, (folder / _TASKS).read_bytes())


@dataclass(frozen=True, slots=True)
class Outside:
    """What running needs: settings, captures, where environments are kept, and what is there.

    With `replays` nothing is built or run: what was not captured counts as absent.
    """

    config: RepositoriesConfig
    captures: Path
    environments: Path
    has_sandbox: bool
    replays: bool = False


class _Running:
    """What was built and proven before, as captured, and what is built and run now (law 5)."""

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.environments = Environments.load(outside.captures / "environments.jsonl")
        self.proofs = Proofs.load(outside.captures / "repository-tests.jsonl")

    def save(self) -> None:
        """Write what was captured."""
        for captures in (self.environments, self.proofs):
            if len(captures):
                captures.save()

    def proof_of(self, change: Change) -> ProofOfTests:
        """The proof of a task's own tests. Raises InputError."""
        suite = suite_of(change, self.outside.config)
        if isinstance(suite, RepositoryReason):
            return _unproven(change, suite)
        key = proof_key(change, suite, self.outside.config)
        return self.problem(change, suite) or self.proven(key, change, suite, Prover.prove)

    def proof_of_written(self, change: Change, suite: Suite, path: str) -> ProofOfTests:
        """The proof of tests that a model wrote. Raises InputError."""
        key = digest(canonical_json([VERSION, proof_key(change, suite, self.outside.config)]))
        return self.proven(key, change, suite, lambda prover: prove_written(prover, path))

    def proven(
        self, key: str, change: Change, suite: Suite, prove: Callable[[Prover], ProofOfTests]
    ) -> ProofOfTests:
        """A captured proof, else a new one. Raises InputError."""
        outside, name = self.outside, name_of(suite.spec)
        known = self.proofs.find(key)
        if known is not None:
            return known
        if outside.replays or not outside.has_sandbox:
            return _unproven(change, RepositoryReason.NO_SANDBOX, "", name)
        try:
            proof = prove(Prover(change, suite, outside.environments / name, outside.config))
        except ProgramNotRun as error:
            raise _broken(error) from error
        self.proofs.keep(key, proof)
        return proof

    def problem(self, change: Change, suite: Suite) -> ProofOfTests | None:
        """Why the environment of a task cannot be had, None if it is there. Raises InputError.

        It is built again where it was captured and is gone.
        """
        outside, name = self.outside, name_of(suite.spec)
        known, location = self.environments.find(name), outside.environments / name
        is_there = known is not None and (known.reason is not None or location.is_dir())
        if is_there or outside.replays or not outside.has_sandbox:
            built = known or Built(reason=RepositoryReason.NO_SANDBOX)
        elif not outside.config.build_environments:
            built = known or Built(reason=RepositoryReason.BUILDS_OFF)
        else:
            try:
                made = build(suite.spec, location, outside.config.build_seconds)
            except SandboxFailed as error:
                raise _broken(error) from error
            built = known or made
            self.environments.keep(name, built)
        if built.reason is None:
            return None
        return _unproven(change, RepositoryReason(built.reason), built.note, name)


def _unproven(
    change: Change, reason: RepositoryReason, note: str = "", name: str = ""
) -> ProofOfTests:
    return ProofOfTests(change.task.task, name, TestPlan((), ()), reason, note)


def _broken(error: Exception) -> InputError:
    return InputError(
        "the sandbox for repositories", str(error), "the sandbox that the build has used so far",
        "Completed proofs are kept: run the same command again.",
    )  # fmt: skip


def prove_all(
    folder: Path, outside: Outside, tasks: Sequence[RepositoryTask] | None = None
) -> list[ProofOfTests]:
    """The proof of all tasks or of some, replayed where it was captured (law 5).

    Raises InputError.
    """
    running = _Running(outside)
    with TemporaryDirectory() as scratch:
        changes = _changes(folder, read_tasks(folder) if tasks is None else tasks, Path(scratch))
        proofs = [running.proof_of(change) for change in changes]
    running.save()
    return proofs


def _changes(folder: Path, tasks: Sequence[RepositoryTask], scratch: Path) -> Iterator[Change]:
    """Tasks with their stores; what is added to these goes below `scratch`."""
    for task in tasks:
        yield Change(task, opened(task.repository, folder / STORES, scratch))


def with_written_tests(
    folder: Path, proofs: Sequence[ProofOfTests], outside: Outside, judges: Judges, out: Path
) -> list[ProofOfTests]:
    """The proofs, with those of tests that a model writes where a session brought none.

    Raises InputError, UnansweredError.
    """
    untested = {proof.task for proof in proofs if proof.reason is RepositoryReason.NO_TESTS}
    if not untested or not judges.config.model.does(MODEL_STAGE):
        return [*proofs]
    running, cases, config = _Running(outside), list[Untested](), outside.config
    by_task = {proof.task: proof for proof in proofs}
    with TemporaryDirectory() as scratch:
        tasks = [task for task in read_tasks(folder) if task.task in untested]
        for change in _changes(folder, tasks, Path(scratch)):
            case = untested_of(change, config)
            if isinstance(case, RepositoryReason):
                by_task[change.task.task] = _unproven(change, case)
            elif problem := running.problem(change, case.suite):
                by_task[change.task.task] = problem
            else:
                cases.append(case)
        written = write_tests(cases, judges, config, running.proof_of_written, out)
    running.save()
    return [*(by_task | {proof.task: proof for proof in written}).values()]


def write_proofs(
    proofs: Sequence[ProofOfTests], out: Path, rubrics: Collection[RepositoryReason] = ()
) -> None:
    """Write the proofs, and what became of each task.

    Tasks without a proof for one of the reasons of `rubrics` are kept, to be graded by a rubric.
    """
    rows = []
    for proof in proofs:
        evidence: dict[str, Scalar] = {"flaky": proof.flaky, "note": proof.note[-300:]}
        reason = proof.reason
        if reason in rubrics:
            reason, evidence = None, {**evidence, "decides": f"{BY_RUBRIC}: {proof.reason}"}
        rows.append(_row(PROVE, TASK, proof.task, reason, Outcome.KEPT, **evidence))
    ids = [proof.task for proof in proofs]
    write_stage_tables(out, FILTER, ids, rows, stage=PROVE, unit=TASK)
    write_bytes(out / _PROOFS, b"".join(dump(proof) for proof in proofs))


@dataclass(frozen=True, slots=True)
class Releasing:
    """What makes a candidate of a task: its judges, its origin, the search for private text.

    Tasks without a proof for one of the reasons of `rubrics` become cases, which need a rubric.
    """

    config: RepositoriesConfig
    judges: Judges
    leaks: Callable[[Candidate, Path], str | None]  # the reason why it may not leave
    origin: Callable[[str], Origin]
    captures: Path
    rubrics: Collection[RepositoryReason] = ()


def write_candidates(tasks: Path, proofs: Path, releasing: Releasing, out: Path) -> None:
    """Write the candidates of proven tasks, and what became of each."""
    by_task = {task.task: task for task in read_tasks(tasks)}
    wanted = {None, *releasing.rubrics}
    kept = [p for p in load(ProofOfTests, (proofs / _PROOFS).read_bytes()) if p.reason in wanted]
    with TemporaryDirectory() as scratch:
        changes = _changes(tasks, [by_task[proof.task] for proof in kept], Path(scratch))
        cases = [
            Unwritten(change if proof.reason else with_hidden(change, proof), proof)
            for change, proof in zip(changes, kept, strict=True)
        ]
        _write_candidates(cases, releasing, out)


def _write_candidates(cases: Sequence[Unwritten], releasing: Releasing, out: Path) -> None:
    written = write_requests(cases, releasing.judges, releasing.config, out)
    environments = Environments.load(releasing.captures / "environments.jsonl")
    candidates, rows, paths, ungraded = [], [], {}, []
    for case, judged in zip(cases, written, strict=True):
        request = judged.value
        reason = None if isinstance(request, Request) else str(request)
        if isinstance(request, Request):
            tar = archive(case.change.store, case.task.base_tree)
            candidate = _candidate(case, request, tar, environments, releasing)
            name = Path(_FILES, digest(tar))
            write_bytes(out / name, tar)
            reason = releasing.leaks(candidate, out / name)
            if reason is None:
                paths[digest(tar)] = name
                if case.proof.reason is None:
                    candidates.append(candidate)
                else:
                    ungraded.append(case_of(case, candidate, request.text))
        evidence: dict[str, Any] = {"note": "; ".join(judged.notes)} if judged.notes else {}
        rows.append(_row(REQUEST, TASK, case.task.task, reason, **evidence))
    ids = [case.task.task for case in cases]
    write_stage_tables(out, FILTER, ids, rows, stage=REQUEST, unit=TASK)
    write_pool(out, candidates, paths)
    write_cases(out, ungraded)


def _candidate(
    case: Unwritten,
    request: Request,
    tar: bytes,
    environments: Environments,
    releasing: Releasing,
) -> Candidate:
    tests = None
    if case.proof.reason is None:
        suite = suite_of(case.change, releasing.config)
        assert isinstance(suite, Suite)
        tests = HiddenTests(suite, environments.find(case.proof.environment) or Built())
    return candidate_of(case, request, tar, releasing.origin(case.task.task), tests)


def write_graded(requests: Path, judges: Judges, out: Path) -> None:
    """Write the candidates that are graded by a rubric, and what became of each task.

    Raises UnansweredError.
    """
    cases = read_cases(requests)
    candidates, reasons = write_rubrics(cases, judges, out)
    ids = [case.candidate.provenance.item_id for case in cases]
    rows = [
        _row(STAGE, TASK, task, reasons[case.candidate.task_id])
        for task, case in zip(ids, cases, strict=True)
    ]
    write_stage_tables(out, FILTER, ids, rows, stage=STAGE, unit=TASK)
    write_pool(out, candidates, {})
