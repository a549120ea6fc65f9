"""Processes one shard of session logs: read, recover, run the local gates, keep the survivors.

Sessions are streamed, so a shard needs memory for its largest file and its tables, however large
the whole input is. It writes into one directory and touches nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from construction.mentions.extensions import extension
from construction.sessions.fixtures.resolve import (
    FixtureChangedError,
    copy_fixtures,
    resolve_fixtures,
)
from construction.sessions.fixtures.roots import RootIndex
from construction.sessions.gates import fixture, restoration
from construction.sessions.gates.fixture import FixtureObservation
from construction.sessions.gates.restoration import RestoredSpan
from construction.sessions.local_gates import LOCAL_GATES, LocalGatesConfig
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile, count_lines
from construction.sessions.recovery.recover import Tasks, recover
from construction.sessions.scan import ScannedFile
from construction.sessions.shard_tables import ShardTables
from data.canonical import file_digest
from data.content_store import ContentStore
from data.contracts import (
    Fixture,
    LedgerRow,
    Outcome,
    ReadIssue,
    Scalar,
    Session,
    TaskInstance,
    run_gates,
)
from data.errors import InputError
from data.ledger import deciding, gated_row
from data.survivors import FIXTURES
from data.text.language import UNDETERMINED, language_of


@dataclass(frozen=True, slots=True)
class ShardJob:
    """The input of a worker. `roots` are the folders that hold the sessions' files.

    `tasks` is what a model answered about sessions, by their uid.
    """

    files: tuple[ScannedFile, ...]
    roots: tuple[Path, ...]
    config: LocalGatesConfig
    key: bytes
    tasks: Mapping[str, Tasks] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Shard:
    """A shard in progress: its job and the tables and store that take its results."""

    job: ShardJob
    index: RootIndex
    tables: ShardTables
    store: ContentStore


def process_shard(job: ShardJob, out: Path) -> None:
    """Write the tables of a shard and the fixtures of its survivors into `out`."""
    store = ContentStore(out / FIXTURES)
    shard = _Shard(job, _root_index(job.roots), ShardTables(job.key), store)
    for file in job.files:
        _read_file(shard, file)
    store.close()
    shard.tables.write(out)


@lru_cache(maxsize=1)
def _root_index(roots: tuple[Path, ...]) -> RootIndex:
    return RootIndex(roots)


def _read_file(shard: _Shard, file: ScannedFile) -> None:
    """Read one file: errored if its whole content is unreadable, consumed otherwise.

    A file that gave a session before it became unreadable is consumed.
    """
    tables = shard.tables
    tables.enter("file", file.relative)
    failure: ReadIssue | None = None
    sessions = 0
    for item in read_source(SourceFile(file.path, file.relative), file.format):
        if isinstance(item, Session):
            sessions += 1
            _take_session(shard, item)
        elif item.unit == "file":
            failure = item
        else:
            tables.issue(item)
    _require_unchanged(file)
    tables.lines(file.relative, count_lines(file.path))
    evidence: dict[str, Scalar] = {"path": file.relative}
    if failure is not None:
        evidence |= {"found": failure.actual, "expected": failure.expected}
    errored = failure is not None and not sessions
    tables.outcome(
        LedgerRow(
            "read",
            "file",
            file.relative,
            Outcome.ERRORED if errored else Outcome.CONSUMED,
            reason=failure.reason if failure is not None and errored else None,
            evidence=evidence,
        )
    )


def _require_unchanged(file: ScannedFile) -> None:
    """Raise InputError for a log that changed or went since it was scanned, which its key names."""
    try:
        is_same = all(
            sha256 in (None, file_digest(path))
            for path, sha256 in ((file.path, file.sha256), *file.parts)
        )
    except OSError:
        is_same = False
    if not is_same:
        raise InputError(
            file.relative, "a file that changed or disappeared after the build started",
            "the log as it was scanned", "Do not touch the logs during a build; build again.",
        )  # fmt: skip


def _take_session(shard: _Shard, session: Session) -> None:
    tasks = shard.job.tasks.get(session.uid)
    recovered = recover(session, shard.job.config.recovery, tasks)
    shard.tables.session(session, recovered.instances, recovered.left_out)
    for instance in recovered.instances:
        _gate(shard, instance)


def _gate(shard: _Shard, instance: TaskInstance) -> None:
    """Run every local gate, so that overlaps are seen; the first failure decides."""
    config, tables = shard.job.config, shard.tables
    adapters = {fixture.GATE.name: lambda item: resolve_fixtures(item, shard.index, config.fixture)}
    observations, verdicts = run_gates(LOCAL_GATES, config, instance, adapters)
    files: FixtureObservation = observations[fixture.GATE.name]
    spans: tuple[RestoredSpan, ...] = observations[restoration.GATE.name]
    said = " ".join(turn.said for turn in instance.user_turns)
    tables.instance(instance, language_of(said) or UNDETERMINED)
    for verdict in verdicts:
        tables.verdict(instance.instance_id, verdict)
    for span in spans:
        tables.restoration(restoration.audit_row(span, shard.job.key))
    decided = deciding(verdicts)
    evidence: dict[str, Scalar] = {
        "path": instance.source_path,
        "line": instance.user_turns[0].line,
    }
    row = gated_row("gates", "instance", instance.instance_id, decided, evidence)
    copies: tuple[Fixture, ...] = ()
    if decided is None:
        try:
            copies = copy_fixtures(files, shard.store, config.fixture)
        except FixtureChangedError as error:
            row = replace(row, outcome=Outcome.ERRORED, reason="fixture.changed_while_copying")
            row = replace(row, evidence={**evidence, "found": error.reason})
        else:
            tables.survivor(_without_media(restoration.apply(instance, spans)), copies)
    tables.enter("instance", instance.instance_id)
    tables.outcome(row)
    _add_file_rows(instance, files, copies, tables)


def _without_media(instance: TaskInstance) -> TaskInstance:
    """The instance without contents of files: they are stored as fixtures by now."""
    turns = tuple(
        replace(turn, attachments=tuple(replace(item, data=None) for item in turn.attachments))
        if turn.attachments
        else turn
        for turn in instance.user_turns
    )
    return replace(instance, user_turns=turns, kept=())


def _add_file_rows(
    instance: TaskInstance,
    files: FixtureObservation,
    copies: tuple[Fixture, ...],
    tables: ShardTables,
) -> None:
    for copy in copies:
        tables.file(instance.instance_id, copy.role, extension(copy.path), "resolved", copy)
    for mention in files.mentions:
        if mention.problem is not None:
            tables.file(
                instance.instance_id,
                mention.role,
                extension(mention.name),
                str(mention.problem),
                None,
            )
