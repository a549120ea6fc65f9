"""What the stages of the sessions lane write: copies dropped, probe results, packaged cases.

In the network stage, the survivors' URLs are probed once each, then every instance is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from construction.judging.stages import write_cases
from construction.prompt_frame import with_page_paths
from construction.sessions.config import NETWORK_GATES, SessionsConfig
from construction.sessions.gates import network
from construction.sessions.gates.network import ProbeResult
from construction.sessions.network.probe import frozen_fixture
from construction.sessions.package import STAGE as PACKAGE
from construction.sessions.package import (
    Identity,
    drop_copies,
    package_survivors,
    with_files,
)
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from construction.sessions.scan import ScannedFile, scan
from data.atomic import write_bytes
from data.contracts import (
    Fixture,
    LedgerRow,
    Origin,
    Role,
    Session,
    SourceFormat,
    StageKind,
    Verdict,
    run_gates,
)
from data.errors import InputError
from data.ledger import deciding, gated_row
from data.pool import FIXTURES, Survivor, unpack_fixtures, write_pool
from data.stage_tables import write_stage_tables

_NAMED = 3  # files by name
_PROBES = "probes.json"
_Row = tuple[object, ...]
_RESULTS = TypeAdapter(dict[str, ProbeResult])


NETWORK = network.GATE.stage


@dataclass(frozen=True, slots=True)
class _Judged:
    """The survivors that passed, every verdict, and one ledger row per instance."""

    kept: list[Survivor]
    verdicts: list[tuple[str, Verdict]]
    rows: list[LedgerRow]


def urls_of(survivors: Sequence[Survivor]) -> set[str]:
    """All URLs that people gave in these instances."""
    return {url for survivor in survivors for url in network.instance_urls(survivor.instance)}


def _judge_reach(
    survivors: Sequence[Survivor], results: Mapping[str, ProbeResult], config: SessionsConfig
) -> _Judged:
    """Judge each instance by the probe results of its URLs."""
    judged = _Judged([], [], [])
    adapters = {
        network.GATE.name: lambda item: network.measure(network.instance_urls(item), results)
    }
    for survivor in survivors:
        instance = survivor.instance
        _, verdicts = run_gates(NETWORK_GATES, config, instance, adapters)
        decided = deciding(verdicts)
        if decided is None:
            judged.kept.append(survivor)
        judged.verdicts.extend((instance.instance_id, verdict) for verdict in verdicts)
        judged.rows.append(
            gated_row(NETWORK, "instance", instance.instance_id, decided, survivor.evidence)
        )
    return judged


def with_frozen_pages(survivor: Survivor, results: Mapping[str, ProbeResult]) -> Survivor:
    """The survivor with its frozen pages as fixtures, their paths replacing the URLs."""
    pages: list[Fixture] = []
    path_of: dict[str, str] = {}
    for url in network.instance_urls(survivor.instance):
        result = results[url]
        if result.sha256 is not None:
            page = frozen_fixture(result, len(pages) + 1)
            pages.append(page)
            path_of[url] = page.path
    if not pages:
        return survivor
    turns = tuple(
        replace(turn, said=with_page_paths(turn.said, path_of))
        for turn in survivor.instance.user_turns
    )
    instance = replace(survivor.instance, user_turns=turns)
    return replace(survivor, instance=instance, fixtures=(*survivor.fixtures, *pages))


def scan_given(sessions: Sequence[Path], format: SourceFormat | None) -> Sequence[ScannedFile]:
    """Identify every file that was given. Raises InputError if none of them is a session log."""
    files = scan(sessions, format)
    if any(file.format is not None for file in files):
        return files
    given = ", ".join(str(path) for path in sessions)
    actual = "no file"
    if files:
        count = "one file" if len(files) == 1 else f"{len(files):,} files"
        names = ", ".join(f"{file.relative} ({file.label})" for file in files[:_NAMED])
        actual = (
            f"{count}, of which none is a session log: {names}{' …'[: 2 * (len(files) > _NAMED)]}"
        )
    formats = ", ".join(SourceFormat)
    raise InputError(given, actual, f"session logs ({formats})", "Check the path, or --format.")


def log_rows(sessions: Sequence[Path], format: SourceFormat | None) -> Iterator[_Row]:
    """Per file: path, format, sessions, turns of persons, calls, and what is not read and why."""
    for file in scan(sessions, format):
        if file.format is None:
            note = f"{file.reason}: {file.note}" if file.note else str(file.reason)
            yield file.relative, file.label, "", "", "", note
            continue
        counts, notes = Counter[str](), Counter[str]()
        for item in read_source(SourceFile(file.path, file.relative), file.format):
            if isinstance(item, Session):
                people = [t for t in item.turns if (t.role, t.origin) == (Role.USER, Origin.HUMAN)]
                calls = sum(len(turn.tool_calls) for turn in item.turns)
                counts.update(sessions=1, turns=len(people), calls=calls)
            else:
                notes[f"{item.reason}: {item.actual}" if item.unit == "file" else item.reason] += 1
        if counts["sessions"] and not counts["turns"]:
            notes["no words of a person"] += 1
        note = ", ".join(text if n == 1 else f"{text} ×{n}" for text, n in notes.items())
        yield file.relative, file.label, counts["sessions"], counts["turns"], counts["calls"], note


LOG_HEAD = ("file", "format", "sessions", "turns", "calls", "not read")


def write_distinct(survivors: Sequence[Survivor], stage: str, out: Path) -> None:
    """Write which instances are copies of another one."""
    _, rows = drop_copies(survivors)
    write_stage_tables(out, StageKind.FILTER, _ids(survivors), rows, stage=stage, unit="instance")


def write_reach(
    survivors: Sequence[Survivor],
    results: Mapping[str, ProbeResult],
    config: SessionsConfig,
    out: Path,
) -> None:
    """Write the verdict on the URLs of each instance, and the probe results."""
    judged = _judge_reach(survivors, results, config)
    write_stage_tables(
        out,
        StageKind.FILTER,
        _ids(survivors),
        judged.rows,
        verdicts=judged.verdicts,
        stage=NETWORK,
        unit="instance",
    )
    write_bytes(out / _PROBES, _RESULTS.dump_json(dict(results)))


def read_probes(folder: Path) -> dict[str, ProbeResult]:
    """The probe results that `write_reach` wrote."""
    return _RESULTS.validate_json((folder / _PROBES).read_bytes())


def write_packaged(
    survivors: Sequence[Survivor],
    identify: Callable[[str], Identity],
    config: SessionsConfig,
    out: Path,
) -> None:
    """Write candidates, their fixtures and cases, and what became of every instance."""
    packaged = package_survivors(survivors, identify, config)
    write_stage_tables(
        out,
        StageKind.FILTER,
        _ids(survivors),
        packaged.rows,
        lineage=packaged.lineage,
        stage=PACKAGE,
        unit="instance",
    )
    candidates = [case.candidate for case in packaged.cases]
    released = {item.sha256 for candidate in candidates for item in candidate.fixtures}
    (out / FIXTURES).mkdir()
    unpack_fixtures(survivors, released, out / FIXTURES)
    copies = {sha256: Path(FIXTURES, sha256) for sha256 in sorted(released)}
    write_pool(out, candidates, copies)
    files = {sha256: out / path for sha256, path in copies.items()}
    write_cases(out, with_files(packaged.cases, files))


def _ids(survivors: Sequence[Survivor]) -> list[str]:
    return [survivor.instance.instance_id for survivor in survivors]
