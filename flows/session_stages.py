"""The stages of the sessions lane as Prefect tasks: each task is a stage, none is a session."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from construction.judging.stage_output import with_excerpts, write_cases
from construction.sessions.gates.network import ProbeResult
from construction.sessions.network.captures import Captures
from construction.sessions.network.probe import probe_urls
from construction.sessions.network.reach import STAGE as NETWORK
from construction.sessions.network.reach import judge_reach, urls_of
from construction.sessions.packaging.candidates import STAGE as PACKAGE
from construction.sessions.packaging.candidates import package_survivors
from construction.sessions.packaging.package import Identity
from construction.sessions.packaging.survivors import (
    Survivor,
    drop_copies,
    read_survivors,
    unpack_fixtures,
)
from construction.sessions.scan import ScannedFile, files_below, scan, shards
from construction.sessions.shard import FIXTURES, ShardJob, process_shard
from data.atomic import PRIVATE_FILE, write_bytes
from data.canonical import digest
from data.contracts import LedgerRow, StageKind, dump_instance
from data.errors import ConfigError
from data.pool import Pool, read_pool, write_pool
from data.run_store import StageOutput
from data.schemas import FILES
from data.stage_tables import write_stage_tables
from data.tables import write_table
from flows.excerpts import document_texts
from flows.prefect_adapter import stage
from flows.run import Run
from flows.shard_stage import run_shards


@stage("scan")
def scan_files(run: Run) -> tuple[list[ScannedFile], StageOutput]:
    """Identify every file that was given."""
    files = scan(run.runtime.sessions, run.recipe.source.format)
    if not files:
        given = ", ".join(str(path) for path in run.runtime.sessions)
        raise ConfigError(f"{given}: found no file; expected session logs.")
    _remember_sources(run, files)
    told = [(file.relative, file.sha256, file.label, file.outcome) for file in files]
    output = run.store.run("scan", run.store.key("scan", told), partial(_write_scan, files))
    return files, output


def _remember_sources(run: Run, files: Sequence[ScannedFile]) -> None:
    """Where each file lies on this machine: private, for `audit --private` alone."""
    known = {file.relative: str(file.path) for file in files}
    content = json.dumps(known).encode()  # as ASCII, for paths that are no UTF-8
    write_bytes(run.private / "sources.json", content, mode=PRIVATE_FILE)


def _write_scan(files: Sequence[ScannedFile], out: Path) -> None:
    rows = [
        LedgerRow(
            "scan",
            "file",
            file.relative,
            file.outcome,
            reason=file.reason,
            evidence={"path": file.relative, "found": file.label, "note": file.note},
        )
        for file in files
    ]
    ids = [file.relative for file in files]
    write_stage_tables(out, StageKind.FILTER, ids, rows, stage="scan", unit="file")
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


@stage("recover-and-gate")
def recover_and_gate(run: Run, files: Sequence[ScannedFile]) -> list[StageOutput]:
    """Shard by shard: read, recover, and measure the gates that need no network."""
    config = run.recipe.sessions.local_gates
    roots = tuple(sorted(path.resolve() for path in run.runtime.files))
    state = _state_of(roots)
    jobs = []
    for shard in shards(files, run.runtime.shard_bytes):
        told = [(file.relative, file.sha256, file.format) for file in shard]
        key = run.store.key("recover", told, config, mentioned_files=state, release_key=run.key_id)
        jobs.append((key, ShardJob(shard, roots, config, run.key)))
    return run_shards(run, "recover", process_shard, jobs, "read, recover, gate")


def _state_of(roots: Sequence[Path]) -> str:
    """Changes when any file below the roots does: names, sizes and times, not contents.

    Contents that matter are digested where they are copied.
    """
    told = []
    for root in roots:
        for path in sorted(files_below(root)):
            status = path.lstat()
            name = os.fsencode(path.relative_to(root)).hex()
            told.append([name, status.st_mode, status.st_size, status.st_mtime_ns])
    return digest(told)


@stage("keep-distinct")
def keep_distinct(run: Run, gated: Sequence[Path]) -> tuple[list[Survivor], StageOutput]:
    """Instances that stand in several files are kept once."""
    survivors = read_survivors(gated)
    kept, rows = drop_copies(survivors)
    ids = [survivor.instance.instance_id for survivor in survivors]
    told = [(row.item_id, row.outcome, row.evidence) for row in rows]
    write = partial(
        write_stage_tables,
        kind=StageKind.FILTER,
        ids_in=ids,
        rows=rows,
        stage="distinct",
        unit="instance",
    )
    return kept, run.store.run("distinct", run.store.key("distinct", told), write)


@stage("probe-network")
def probe_network(
    run: Run, survivors: Sequence[Survivor]
) -> tuple[list[Survivor], dict[str, ProbeResult], StageOutput]:
    """Probe the URLs of the survivors, replaying what was captured before."""
    config = run.recipe.sessions.network
    captures = Captures.load(run.private / "captures" / "network.jsonl")
    urls = urls_of(survivors)
    results = probe_urls(urls, config, run.runtime.network, captures, run.frozen, run.wire)
    if len(captures):
        captures.save()
    judged = judge_reach(survivors, results, run.recipe.sessions)
    told = [
        run.key_id,
        run.recipe.sessions.of_stage(NETWORK),
        [asdict(result) for result in results.values()],
        [survivor.instance.instance_id for survivor in survivors],
    ]
    write = partial(
        write_stage_tables,
        kind=StageKind.FILTER,
        ids_in=[survivor.instance.instance_id for survivor in survivors],
        rows=judged.rows,
        verdicts=judged.verdicts,
        stage=NETWORK,
        unit="instance",
    )
    return judged.kept, results, run.store.run(NETWORK, run.store.key(NETWORK, told), write)


@stage("package")
def package_tasks(run: Run, survivors: Sequence[Survivor]) -> tuple[Pool, StageOutput]:
    """Package what is left into candidates, and ask of each whether it will do."""
    told = [
        run.recipe.sessions,
        run.recipe.source,
        run.key_id,
        [(dump_instance(s.instance), s.fixtures, s.store) for s in survivors],
    ]
    write = partial(_write_package, run, survivors)
    output = run.store.run(PACKAGE, run.store.key(PACKAGE, told), write)
    return read_pool([output.path]), output


def _write_package(run: Run, survivors: Sequence[Survivor], out: Path) -> None:
    source = run.recipe.source
    pool = package_survivors(
        survivors,
        lambda item: Identity(
            run.opaque("s", item), source.name, source.disclosure, source.licence
        ),
        run.recipe.sessions,
    )
    write_stage_tables(
        out,
        StageKind.FILTER,
        [survivor.instance.instance_id for survivor in survivors],
        pool.rows,
        verdicts=pool.verdicts,
        lineage=pool.lineage,
        stage=PACKAGE,
        unit="instance",
    )
    candidates = [case.candidate for case in pool.cases]
    released = {item.sha256 for candidate in candidates for item in candidate.fixtures}
    (out / FIXTURES).mkdir()
    unpack_fixtures(survivors, released, out / FIXTURES)
    copies = {sha256: Path(FIXTURES, sha256) for sha256 in sorted(released)}
    write_pool(out, candidates, copies)
    files = {sha256: out / path for sha256, path in copies.items()}
    write_cases(out, [with_excerpts(case, files, document_texts) for case in pool.cases])


def input_digests(files: Sequence[ScannedFile]) -> dict[str, str]:
    """The digests of the files that were read, under names that tell nothing (manifest)."""
    known = sorted(file.sha256 for file in files if file.format is not None and file.sha256)
    return {f"session-{number:06d}": sha256 for number, sha256 in enumerate(known, start=1)}
