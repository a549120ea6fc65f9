"""What the project's own code makes of a demo workspace, file by file, beside the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from construction.sessions.config import LOCAL_GATES, NETWORK_GATES, NetworkRuntime, SessionsConfig
from construction.sessions.fixtures.resolve import resolve_fixtures
from construction.sessions.fixtures.roots import RootIndex
from construction.sessions.gates import fixture, network, restoration
from construction.sessions.gates.fixture import FixtureObservation
from construction.sessions.gates.network import NetworkConfig
from construction.sessions.gates.restoration import RestoredSpan
from construction.sessions.network.probe import Captures, probe_urls
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.recovery import RecoveryConfig, recover
from construction.sessions.scan import ScannedFile, scan
from data.contracts import (
    Origin,
    ReadIssue,
    Role,
    Session,
    Status,
    TaskInstance,
    Turn,
    Verdict,
    run_gates,
)
from data.ledger import deciding
from tests.data.demo.truth import (
    FileTruth,
    GateTruth,
    InstanceTruth,
    SessionTruth,
    Truth,
    load_truth,
)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """One file as scanned and read."""

    truth: FileTruth
    scanned: ScannedFile
    issues: tuple[ReadIssue, ...]
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class Gated:
    """One instance with its verdicts, where recovery found what the truth says."""

    where: str
    truth: InstanceTruth
    instance: TaskInstance
    verdicts: tuple[Verdict, ...]
    files: FixtureObservation
    spans: tuple[RestoredSpan, ...]
    urls: tuple[str, ...]

    @property
    def findings(self) -> dict[str, GateTruth]:
        """What did not pass, as the truth has it."""
        return {
            verdict.gate: GateTruth(status=str(verdict.status), reason=str(verdict.reason))
            for verdict in self.verdicts
            if verdict.status in (Status.FAILED, Status.UNVERIFIED)
        }


def human_turns(session: Session) -> list[Turn]:
    return [
        turn for turn in session.turns if turn.role is Role.USER and turn.origin is Origin.HUMAN
    ]


def read_all(folder: Path) -> tuple[Truth, list[ReadFile]]:
    """Scan and read every file of a workspace. Each file has its truth, and each truth a file."""
    truth = load_truth(folder)
    scanned = {
        file.relative.removeprefix("sessions/"): file for file in scan([folder / "sessions"])
    }
    assert set(scanned) == {file.path for file in truth.files}
    return truth, [_read(file, scanned[file.path]) for file in truth.files]


def _read(truth: FileTruth, scanned: ScannedFile) -> ReadFile:
    if scanned.format is None:
        return ReadFile(truth, scanned, (), ())
    items = list(read_source(SourceFile(scanned.path, scanned.relative), scanned.format))
    issues = tuple(item for item in items if isinstance(item, ReadIssue))
    sessions = tuple(item for item in items if isinstance(item, Session))
    return ReadFile(truth, scanned, issues, sessions)


def paired(file: ReadFile) -> Iterator[tuple[Session, SessionTruth]]:
    yield from zip(file.sessions, file.truth.sessions, strict=True)


def found_instances(session: Session) -> list[tuple[int, ...]]:
    """The positions, among the human turns, that form each recovered instance."""
    position = {turn.index: at for at, turn in enumerate(human_turns(session))}
    actual = recover(session, RecoveryConfig()).instances
    return [tuple(position[turn.index] for turn in one.user_turns) for one in actual]


def gate_all(folder: Path, files: list[ReadFile]) -> list[Gated]:
    """Every instance through the local and network gates, as an offline build does it."""
    index = RootIndex((folder / "files",))
    gated = []
    for file in files:
        for session, truth in paired(file):
            actual = recover(session, RecoveryConfig()).instances
            if len(actual) != len(truth.instances):
                continue  # told by the test of the instances
            where = file.truth.path
            gated += [
                _gate(where, one, told, index)
                for one, told in zip(actual, truth.instances, strict=True)
            ]
    return gated


def _gate(where: str, instance: TaskInstance, truth: InstanceTruth, index: RootIndex) -> Gated:
    config = SessionsConfig(network=NetworkConfig(mode="offline", unverified="keep"))
    adapters = {fixture.GATE.name: lambda item: resolve_fixtures(item, index, config.fixture)}
    observations, verdicts = run_gates(LOCAL_GATES, config, instance, adapters)
    spans: tuple[RestoredSpan, ...] = observations[restoration.GATE.name]
    restored = restoration.apply(instance, spans)
    urls = network.instance_urls(restored)
    if deciding(verdicts) is None:
        results = probe_urls(urls, config.network, NetworkRuntime(), Captures())
        reach = {network.GATE.name: lambda _: network.measure(urls, results)}
        verdicts += run_gates(NETWORK_GATES, config, restored, reach)[1]
    files: FixtureObservation = observations[fixture.GATE.name]
    return Gated(where, truth, instance, verdicts, files, spans, urls)
