"""The stages of the sessions lane, from raw logs to packaged, searched candidates."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson
import polars as pl
from pydantic import TypeAdapter

from anonymization.leaks.candidate_leaks import STAGE as LEAK_CHECK_STAGE
from anonymization.leaks.candidate_leaks import leaks_of, places
from anonymization.leaks.gate import GATE as LEAKS
from anonymization.leaks.gate import measure
from anonymization.leaks.leak_targets import LeakTargets, leak_targets, read_tripwires
from anonymization.masking_recipe import with_approvals
from anonymization.session_masking import STAGE as MASKING_STAGE
from anonymization.session_masking import MaskJob, mask_shard
from construction.judging.stage_output import read_labelled, with_excerpts, write_cases
from construction.mentions.spans import find_file_spans
from construction.sessions.config import NETWORK_GATES, PACKAGE_GATES
from construction.sessions.gates.network import ProbeResult
from construction.sessions.local_gates import LocalGatesConfig
from construction.sessions.network.captures import Captures, frozen_path
from construction.sessions.network.probe import probe_urls
from construction.sessions.network.reach import STAGE as NETWORK_STAGE
from construction.sessions.network.reach import judge_reach, urls_of, with_frozen_pages
from construction.sessions.packaging.candidates import STAGE as PACKAGE_STAGE
from construction.sessions.packaging.candidates import package_survivors
from construction.sessions.packaging.copies import drop_copies
from construction.sessions.packaging.package import Identity
from construction.sessions.scan import ScannedFile, files_below, scan, shards
from construction.sessions.shard import ShardJob, process_shard
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import canonical_json, digest
from data.contracts import Gate, LedgerRow, SourceFormat, StageKind, dump_instance
from data.errors import ConfigError
from data.ledger import deciding, gated_row
from data.pool import read_pool, write_pool
from data.schemas import FILES
from data.stage_tables import kept_ids, write_stage_tables
from data.survivors import FIXTURES, Survivor, read_survivors, unpack_fixtures
from data.tables import write_table
from flows.excerpts import document_texts
from flows.run import Run
from flows.stage import Folders, Observed, Shard, Stage, Unit, Work

FILTER, DERIVE = StageKind.FILTER, StageKind.DERIVE
_SESSIONS_PER_SHARD = 8  # few enough that every worker has some, and progress shows
_SOURCES = "sources.json"
_PROBES = "probes.json"
_RESULTS = TypeAdapter(dict[str, ProbeResult])


def _settings_of(gates: Sequence[Gate[Any, Any]]) -> tuple[str, ...]:
    return tuple(f"sessions.{gate.name}" for gate in gates)


def is_given(run: Run) -> bool:
    """Are there session logs?"""
    return bool(run.runtime.sessions)


def _scan(work: Work) -> Observed:
    """Identify every file that was given. Raises ConfigError if there is none."""
    sessions = work.run.runtime.sessions
    files = scan(sessions, work.run.recipe.source.format)
    if not files:
        given = ", ".join(str(path) for path in sessions)
        raise ConfigError(f"{given}: found no file; expected session logs.")
    return Observed([(f.relative, f.sha256, f.label, f.outcome) for f in files], files)


def _write_scan(work: Work, out: Path) -> None:
    files: Sequence[ScannedFile] = work.observed
    rows = [_file_row(file) for file in files]
    ids = [file.relative for file in files]
    write_stage_tables(out, FILTER, ids, rows, stage=SCAN.name, unit="file")
    records = (
        {
            "path": file.relative,
            "bytes": file.bytes,
            "sha256": file.sha256,
            "format": file.label,
            "outcome": str(file.outcome),
            "reason": file.reason,
        }
        for file in files
    )
    write_table(out / "files.parquet", records, FILES.schema)


def _file_row(file: ScannedFile) -> LedgerRow:
    evidence = {"path": file.relative, "found": file.label, "note": file.note}
    return LedgerRow(
        SCAN.name, "file", file.relative, file.outcome, reason=file.reason, evidence=evidence
    )


def _remember_sources(work: Work, _folders: Folders) -> None:
    """Write down where each file lies on this machine: private, for `audit --private`."""
    known = {file.relative: str(file.path) for file in work.observed}
    content = json.dumps(known).encode()  # as ASCII, for paths that are no UTF-8
    write_bytes(work.run.private / _SOURCES, content, mode=PRIVATE_FILE)


def _session_inputs(work: Work) -> Mapping[str, str]:
    """The digests of the files that are read, under names that reveal nothing (manifest)."""
    files: Sequence[ScannedFile] = work.observed
    known = sorted(file.sha256 for file in files if file.format is not None and file.sha256)
    return {f"session-{number:06d}": sha256 for number, sha256 in enumerate(known, start=1)}


SCAN = Stage(
    name="scan",
    meaning="Is each file a session log that can be read?",
    units=(Unit("file", FILTER),),
    settings=("source.format",),
    observe=_scan,
    inputs=_session_inputs,
    compute=_write_scan,
    deliver=_remember_sources,
    is_cheap=True,
)


def _scanned(work: Work) -> list[ScannedFile]:
    """The files to read, as the scan identified them."""
    paths = orjson.loads((work.run.private / _SOURCES).read_bytes())
    rows = pl.read_parquet(work.folder(SCAN.name) / "files.parquet").iter_rows(named=True)
    return [
        ScannedFile(
            path=Path(paths[row["path"]]),
            relative=row["path"],
            bytes=row["bytes"],
            sha256=row["sha256"],
            format=SourceFormat(row["format"]) if row["outcome"] == "kept" else None,
            label=row["format"],
            outcome=row["outcome"],
        )
        for row in rows
    ]


def _recover_shards(work: Work) -> list[Shard]:
    """Shard by shard: read, recover, and measure the gates that need no network."""
    run, config = work.run, work.run.recipe.sessions.local_gates
    roots = tuple(sorted(path.resolve() for path in run.runtime.files))
    state = _state_of(roots)
    return [
        Shard(
            [state, [(file.relative, file.sha256, file.format) for file in files]],
            partial(process_shard, ShardJob(files, roots, config, run.key)),
        )
        for files in shards(_scanned(work), run.runtime.shard_bytes)
    ]


def _state_of(roots: Sequence[Path]) -> str:
    """Changes when any file below the roots does: names, sizes and times, not contents.

    Contents that matter are digested where they are copied.
    """
    entries = []
    for root in roots:
        for path in sorted(files_below(root)):
            status = path.lstat()
            name = os.fsencode(path.relative_to(root)).hex()
            entries.append([name, status.st_mode, status.st_size, status.st_mtime_ns])
    return digest(entries)


RECOVER = Stage(
    name="recover",
    meaning="Which turns belong to one task, and does it pass the gates that need no network?",
    units=(
        Unit("file", DERIVE, "read"),
        Unit("line", DERIVE, "read"),
        Unit("session", DERIVE),
        Unit("turn", DERIVE),
        Unit("instance", FILTER, "gates"),
    ),
    settings=tuple(f"sessions.{name}" for name in LocalGatesConfig.model_fields),
    reads=(SCAN.name,),
    shards=_recover_shards,
    uses_key=True,
)


def _distinct(work: Work, out: Path) -> None:
    survivors = read_survivors(work.folders(RECOVER.name))
    _, rows = drop_copies(survivors)
    ids = [survivor.instance.instance_id for survivor in survivors]
    write_stage_tables(out, FILTER, ids, rows, stage=DISTINCT.name, unit="instance")


DISTINCT = Stage(
    name="distinct",
    meaning="Is the instance a copy of another one?",
    units=(Unit("instance", FILTER),),
    reads=(RECOVER.name,),
    compute=_distinct,
    is_cheap=True,
)


def _survivors(work: Work, *filters: str) -> list[Survivor]:
    """The recovered instances that all of the named stages kept."""
    kept = [kept_ids(work.folder(stage)) for stage in filters]
    survivors = read_survivors(work.folders(RECOVER.name))
    return [s for s in survivors if all(s.instance.instance_id in ids for ids in kept)]


def _probe(work: Work) -> Observed:
    """Probe the URLs of the survivors, replaying what was captured before."""
    run = work.run
    captures = Captures.load(run.private / "captures" / "network.jsonl")
    urls = urls_of(_survivors(work, DISTINCT.name))
    config = run.recipe.sessions.network
    results = probe_urls(urls, config, run.runtime.network, captures, run.frozen, run.wire)
    if len(captures):
        captures.save()
    return Observed([asdict(result) for result in results.values()], results)


def _reach(work: Work, out: Path) -> None:
    survivors = _survivors(work, DISTINCT.name)
    judged = judge_reach(survivors, work.observed, work.run.recipe.sessions)
    write_stage_tables(
        out,
        FILTER,
        [survivor.instance.instance_id for survivor in survivors],
        judged.rows,
        verdicts=judged.verdicts,
        stage=NETWORK.name,
        unit="instance",
    )
    write_bytes(out / _PROBES, _RESULTS.dump_json(work.observed))


NETWORK = Stage(
    name=NETWORK_STAGE,
    meaning="Does every URL answer?",
    units=(Unit("instance", FILTER),),
    settings=_settings_of(NETWORK_GATES),
    reads=(RECOVER.name, DISTINCT.name),
    observe=_probe,
    compute=_reach,
    is_cheap=True,
)


def find_file_names(text: str) -> list[tuple[int, int]]:
    """Start and end of each file name in a text."""
    return [(span.start, span.end) for span in find_file_spans(text)]


def _mask_shards(work: Work) -> list[Shard]:
    """Whole sessions, some to a shard, in the order of their ids; one vault per session."""
    run = work.run
    config = with_approvals(run.recipe.masking, run.runtime.approvals)
    results = _RESULTS.validate_json((work.folder(NETWORK.name) / _PROBES).read_bytes())
    pages = {
        result.sha256: frozen_path(result.sha256, run.frozen)
        for result in results.values()
        if result.sha256 is not None
    }
    survivors = [
        with_frozen_pages(s, results) for s in _survivors(work, DISTINCT.name, NETWORK.name)
    ]
    return [
        Shard(
            [sorted(config.documents.approvals), *map(_payloads, sessions)],
            partial(mask_shard, MaskJob(sessions, pages, config, run.key, find_file_names)),
        )
        for sessions in _session_groups(survivors)
    ]


def _session_groups(survivors: Sequence[Survivor]) -> list[tuple[tuple[Survivor, ...], ...]]:
    by_session = sorted(survivors, key=lambda s: (s.instance.session_uid, s.instance.instance_id))
    sessions = [tuple(of) for _, of in groupby(by_session, lambda s: s.instance.session_uid)]
    step = _SESSIONS_PER_SHARD
    return [tuple(sessions[start : start + step]) for start in range(0, len(sessions), step)]


def _payloads(session: Sequence[Survivor]) -> list[tuple[str, str]]:
    return [(dump_instance(s.instance), canonical_json(s.fixtures).decode()) for s in session]


MASKING = Stage(
    name=MASKING_STAGE,
    meaning="Can every file be masked, or has a person approved it?",
    units=(Unit("instance", FILTER),),
    settings=("masking",),
    reads=(RECOVER.name, DISTINCT.name, NETWORK.name),
    shards=_mask_shards,
    uses_key=True,
)


def _package(work: Work, out: Path) -> None:
    run, source = work.run, work.run.recipe.source
    survivors = read_survivors(work.folders(MASKING.name))
    packaged = package_survivors(
        survivors,
        lambda item: Identity(
            run.opaque("s", item), source.name, source.disclosure, source.licence
        ),
        run.recipe.sessions,
    )
    write_stage_tables(
        out,
        FILTER,
        [survivor.instance.instance_id for survivor in survivors],
        packaged.rows,
        verdicts=packaged.verdicts,
        lineage=packaged.lineage,
        stage=PACKAGE.name,
        unit="instance",
    )
    candidates = [case.candidate for case in packaged.cases]
    released = {item.sha256 for candidate in candidates for item in candidate.fixtures}
    (out / FIXTURES).mkdir()
    unpack_fixtures(survivors, released, out / FIXTURES)
    copies = {sha256: Path(FIXTURES, sha256) for sha256 in sorted(released)}
    write_pool(out, candidates, copies)
    files = {sha256: out / path for sha256, path in copies.items()}
    write_cases(out, [with_excerpts(case, files, document_texts) for case in packaged.cases])


PACKAGE = Stage(
    name=PACKAGE_STAGE,
    meaning="Could a fresh agent do the task as written?",
    units=(Unit("instance", FILTER),),
    settings=("source", *_settings_of((*NETWORK_GATES, *PACKAGE_GATES))),
    reads=(MASKING.name,),
    compute=_package,
    uses_key=True,
)


def release_targets(run: Run, masked: Folders, identifiers: Sequence[str] = ()) -> LeakTargets:
    """The private values that must not surface in a release."""
    config, tripwires = run.recipe.masking.leaks, run.runtime.tripwires
    return leak_targets(masked, run.key, config, tripwires, identifiers)


def _tripwires(work: Work) -> Observed:
    run = work.run
    planted = read_tripwires(run.runtime.tripwires, run.recipe.masking.leaks)
    return Observed(digest(planted), None)


def _check_leaks(work: Work, out: Path) -> None:
    """Drop the candidates that still hold a private value, their own or another session's."""
    targets = release_targets(work.run, work.folders(MASKING.name))
    fixtures = read_pool([work.folder(PACKAGE.name)]).fixtures
    candidates = read_labelled(work.folder("labels"))
    leaks = {task.task_id: leaks_of(task, fixtures, targets) for task in candidates}
    verdicts = {
        task_id: LEAKS.judge(measure(found), targets.config) for task_id, found in leaks.items()
    }
    rows = [
        gated_row(
            LEAK_CHECK.name,
            "candidate",
            task_id,
            deciding([verdict]),
            {"found": places(leaks[task_id])},
        )
        for task_id, verdict in verdicts.items()
    ]
    pairs, ids = list(verdicts.items()), list(verdicts)
    write_stage_tables(
        out, FILTER, ids, rows, verdicts=pairs, stage=LEAK_CHECK.name, unit="candidate"
    )
    kept = [candidate for candidate in candidates if not leaks[candidate.task_id]]
    write_pool(out, kept, {})


LEAK_CHECK = Stage(
    name=LEAK_CHECK_STAGE,
    meaning="Is a private value left, the session's own or another's?",
    units=(Unit("candidate", FILTER),),
    settings=("masking.leaks",),
    reads=(MASKING.name, PACKAGE.name, "labels"),
    observe=_tripwires,
    compute=_check_leaks,
    uses_key=True,
)
