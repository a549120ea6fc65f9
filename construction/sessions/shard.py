"""Processes one shard of session logs: read, recover, run the local gates, keep the survivors.

Sessions are streamed, so a shard needs memory for its largest file and its tables, however large
the whole input is. It writes into one directory and touches nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from construction.mentions.files import extension
from construction.sessions.config import LOCAL_GATES, LocalGatesConfig
from construction.sessions.fixtures.resolve import (
    FixtureChangedError,
    copy_fixtures,
    resolve_fixtures,
)
from construction.sessions.fixtures.roots import RootIndex
from construction.sessions.gates import fixture, restoration
from construction.sessions.gates.fixture import FixtureObservation
from construction.sessions.gates.restoration import RestoredSpan
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile, count_lines
from construction.sessions.recovery.recover import Tasks, recover
from construction.sessions.scan import ScannedFile
from construction.sessions.wrappers.blocks import calls_own_command
from data.canonical import canonical_json, file_digest, keyed_digest
from data.contracts import (
    Fixture,
    LedgerRow,
    Origin,
    Outcome,
    ReadIssue,
    Role,
    Scalar,
    Session,
    StageKind,
    TaskInstance,
    Turn,
    Verdict,
    run_gates,
)
from data.errors import InputError
from data.ledger import close, deciding, gated_row, tally_outcomes
from data.pool import FIXTURES, SURVIVORS, ContentStore, survivor_values
from data.schemas import FIXTURES as FIXTURE_ROWS
from data.schemas import RESTORATIONS, SESSIONS, TASK_INSTANCES, TURNS
from data.stage_tables import MISSING, write_private
from data.tables import (
    LEDGER,
    LINEAGE,
    TALLIES,
    VERDICTS,
    ledger_values,
    missing_values,
    tally_records,
    verdict_values,
    write_rows,
    write_table,
)
from data.text.language import UNDETERMINED, language_of

_USER, _HUMAN = Role.USER, Origin.HUMAN  # an enum lookup costs more than the comparison

_Row = tuple[Any, ...]
_LINE = "line"

# Stage, kind of stage and unit, in the order in which the funnel lists them.
_STAGES = (
    ("read", StageKind.DERIVE, "file"),
    ("read", StageKind.FILTER, _LINE),
    ("recover", StageKind.DERIVE, "session"),
    ("recover", StageKind.DERIVE, "turn"),
    ("gates", StageKind.FILTER, "instance"),
)


class _ShardTables:
    """Collects the rows of one shard, in the column order of their schemas; `write` stores them."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._entered: dict[str, list[str]] = {unit: [] for _, _, unit in _STAGES}
        self._outcomes: dict[str, list[tuple[str, Outcome]]] = {unit: [] for _, _, unit in _STAGES}
        self._issues_at: Counter[str] = Counter()  # a line may hold several bad records
        self._broken_lines: Counter[str] = Counter()  # by file
        self._sound_lines = 0
        self._ledger: list[_Row] = []
        self._missing: list[_Row] = []
        self._lineage: list[_Row] = []
        self._verdicts: list[_Row] = []
        self._sessions: list[_Row] = []
        self._turns: list[_Row] = []
        self._instances: list[_Row] = []
        self._fixtures: list[_Row] = []
        self._restorations: list[_Row] = []
        self._survivors: list[_Row] = []

    def enter(self, unit: str, item_id: str) -> None:
        """Record that an item entered its stage; it must leave with exactly one outcome."""
        self._entered[unit].append(item_id)

    def outcome(self, row: LedgerRow) -> None:
        self._outcomes[row.unit].append((row.item_id, row.outcome))
        self._ledger.append(ledger_values(row))
        self._missing += missing_values(row)

    def issue(self, issue: ReadIssue) -> None:
        """Record an unreadable line or record as an item of its own, with outcome errored."""
        location = f"{issue.source_path}:{issue.line}"
        self._issues_at[location] += 1
        number = self._issues_at[location]
        self._broken_lines[issue.source_path] += number == 1
        item_id = location if number == 1 else f"{location}/{number}"
        self.enter(_LINE, item_id)
        evidence: dict[str, Scalar] = {
            "path": issue.source_path,
            "line": issue.line,
            "found": issue.actual,
            "expected": issue.expected,
        }
        reason = issue.reason
        self.outcome(
            LedgerRow("read", _LINE, item_id, Outcome.ERRORED, reason=reason, evidence=evidence)
        )

    def lines(self, source_path: str, n: int) -> None:
        """Record the lines of a file whose issues are recorded: one row for those that are kept."""
        sound = max(n - self._broken_lines[source_path], 0)
        if sound:
            self._sound_lines += sound
            evidence: dict[str, Scalar] = {"path": source_path}
            row = LedgerRow(
                "read", _LINE, f"({source_path})", Outcome.KEPT, evidence=evidence, n=sound
            )
            self._ledger.append(ledger_values(row))

    def session(
        self,
        session: Session,
        instances: tuple[TaskInstance, ...],
        left_out: Mapping[int, str],
    ) -> None:
        """Record a session, its turns, and the outcome of each turn that a person typed.

        `left_out` gives the reason, by turn index, for each human turn that no instance holds.
        """
        self._session_outcome(session, instances)
        instance_of = {index: i.instance_id for i in instances for index in i.turn_indices}
        self._turns += [
            _turn_values(session.uid, turn, instance_of, left_out) for turn in session.turns
        ]
        human = [t for t in session.turns if t.origin is _HUMAN and t.role is _USER]
        for turn in human:
            reason = None if turn.index in instance_of else f"turn.{left_out[turn.index]}"
            self._human_turn(f"{session.uid}#{turn.index}", session.source_path, turn.line, reason)
        self._sessions.append(_session_values(session, len(human), len(instances)))

    def _session_outcome(self, session: Session, instances: tuple[TaskInstance, ...]) -> None:
        self.enter("session", session.uid)
        reason = None
        if not instances:
            is_command = any(calls_own_command(turn.text) for turn in session.turns)
            reason = "session.command_only" if is_command else "session.no_task"
            reason = reason if session.parent_session_id is None else "session.sub_agent"
        outcome = Outcome.CONSUMED if instances else Outcome.REJECTED
        evidence: dict[str, Scalar] = {"path": session.source_path}
        self.outcome(
            LedgerRow("recover", "session", session.uid, outcome, reason=reason, evidence=evidence)
        )

    def _human_turn(self, item_id: str, source_path: str, line: int, reason: str | None) -> None:
        outcome = Outcome.CONSUMED if reason is None else Outcome.REJECTED
        evidence: dict[str, Scalar] = {"path": source_path, "line": line}
        self.enter("turn", item_id)
        self.outcome(
            LedgerRow("recover", "turn", item_id, outcome, reason=reason, evidence=evidence)
        )

    def instance(self, instance: TaskInstance, language: str) -> None:
        instance_id, session_uid = instance.instance_id, instance.session_uid
        self._instances.append(
            (
                instance_id,
                session_uid,
                instance.source_path,
                instance.source_format,
                instance.started_by,
                instance.user_turns[0].line,
                len(instance.turn_indices),
                len(instance.user_turns),
                sum(len(turn.said) for turn in instance.user_turns),
                language,
                len(instance.acts),
                instance.asked_back,
                keyed_digest(self._key, instance.fingerprint),
            )
        )
        self._lineage.append(
            ("recover", "session", session_uid, "instance", instance_id, instance.started_by)
        )

    def verdict(self, instance_id: str, verdict: Verdict) -> None:
        self._verdicts.append(verdict_values(instance_id, verdict))

    def file(
        self, instance_id: str, role: str, extension: str, status: str, fixture: Fixture | None
    ) -> None:
        size, sha256 = (fixture.bytes, fixture.sha256) if fixture else (None, None)
        self._fixtures.append((instance_id, role, extension, status, size, sha256))

    def restoration(self, row: Mapping[str, Scalar]) -> None:
        self._restorations.append(tuple(row[name] for name in RESTORATIONS.columns))

    def survivor(self, instance: TaskInstance, fixtures: tuple[Fixture, ...]) -> None:
        self._survivors.append(survivor_values(instance, fixtures))

    def write(self, out: Path) -> None:
        """Write all tables; raises if an item did not leave its stage with exactly one outcome."""
        tallies = [record for stage in _STAGES for record in self._tally(*stage)]
        write_table(out / "tallies.parquet", tallies, TALLIES)
        for name, schema, rows in (
            ("ledger", LEDGER, self._ledger),
            ("lineage_rows", LINEAGE, self._lineage),
            ("verdicts", VERDICTS, self._verdicts),
            ("sessions", SESSIONS.schema, self._sessions),
            ("turns", TURNS.schema, self._turns),
            ("task_instances", TASK_INSTANCES.schema, self._instances),
            ("fixtures", FIXTURE_ROWS.schema, self._fixtures),
            ("restorations", RESTORATIONS.schema, self._restorations),
            ("survivors", SURVIVORS, self._survivors),
        ):
            write_rows(out / f"{name}.parquet", rows, schema)
        write_private(out, MISSING, self._missing)

    def _tally(self, stage: str, kind: StageKind, unit: str) -> list[dict[str, Any]]:
        entered, outcomes = self._entered[unit], self._outcomes[unit]
        tally = tally_outcomes(stage, kind, unit, entered, outcomes)
        if unit == _LINE:
            counts = {**tally.counts, Outcome.KEPT: self._sound_lines}
            tally = close(stage, kind, unit, tally.n_in + self._sound_lines, counts)
        return tally_records(tally)


def _turn_values(
    session_uid: str, turn: Turn, instance_of: Mapping[int, str], left_out: Mapping[int, str]
) -> _Row:
    """A row of TURNS."""
    return (
        session_uid,
        turn.index,
        turn.line,
        turn.role,
        turn.origin,
        turn.at,
        len(turn.text),
        len(turn.said),
        len(turn.attachments),
        len(turn.tool_calls),
        instance_of.get(turn.index),
        left_out.get(turn.index),
    )


def _session_values(session: Session, human_turns: int, instances: int) -> _Row:
    """A row of SESSIONS."""
    agent = " ".join(filter(None, (session.agent_name, session.agent_version))) or None
    return (
        session.uid,
        session.source_path,
        session.source_format,
        session.format_version,
        agent,
        session.started_at,
        len(session.turns),
        human_turns,
        sum(len(turn.tool_calls) for turn in session.turns),
        instances,
        session.parent_session_id is not None,
        canonical_json(session.dropped).decode(),
    )


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
    tables: _ShardTables
    store: ContentStore


def process_shard(job: ShardJob, out: Path) -> None:
    """Write the tables of a shard and the fixtures of its survivors into `out`."""
    store = ContentStore(out / FIXTURES)
    shard = _Shard(job, _root_index(job.roots), _ShardTables(job.key), store)
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
    tables: _ShardTables,
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
