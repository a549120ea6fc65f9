"""Verification of a snapshot, the public half alone or both halves.

Every problem is a finding, never an exception, for any content of the directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from pydantic import ValidationError

from data.canonical import digest
from data.snapshot import layout
from data.snapshot.ledger import LedgerCounts, connect
from data.snapshot.manifest import Manifest, fields_of
from data.snapshot.verification.content import (
    check_counts,
    check_funnel,
    check_metadata,
    check_recount,
    check_summary,
    check_tasks,
    load_rows,
    sound_tables,
)
from data.snapshot.verification.files import (
    NO_WRITING,
    OWNER_ONLY,
    Check,
    Finding,
    Findings,
    Half,
    VerifyReport,
    check_canary,
    check_content,
    check_link,
    check_modes,
    check_name,
    check_report,
    check_root,
    check_run,
    check_tables,
    check_task_folders,
    load_half,
    read_object,
    report_lines,
)

__all__ = ["Check", "Finding", "VerifyReport", "report_lines", "verify"]


def verify(snapshot: Path) -> VerifyReport:
    """Check a snapshot directory, or a public half on its own.

    Sums, paths, manifest, tasks with their fixtures, tables, canary, ledger, statistics, report
    policy; with both halves also that they belong together, that `run.json` has their digest,
    that the private tables add up to the public counts, and that the public half holds nothing
    private.
    """
    findings = Findings()
    folder = snapshot.resolve()
    public_root, private_root = layout.halves(folder)
    for root in (public_root, private_root):
        if root is not None and root.is_symlink():
            findings.add(Check.SYMLINK, root.name, "a symbolic link is never followed")
            return _report(findings, None, None, None)
    if not public_root.is_dir():
        problem = "found no public/ and no manifest.json; expected a snapshot directory"
        findings.add(Check.NOT_A_SNAPSHOT, snapshot.resolve().name, problem)
        return _report(findings, None, None, None)
    with connect() as connection:
        public = _verify_public(public_root, connection, findings)
        private = (
            None
            if private_root is None
            else _verify_private(private_root, public, connection, findings)
        )
    whole = _digest(public.half, private)
    check_name(folder.name, public.manifest, findings)
    if public_root != folder:
        check_root(folder, findings, with_private=private is not None)
        check_run(folder, public.manifest, whole, findings)
    return _report(findings, public, private, whole)


@dataclass(frozen=True, slots=True)
class _Public:
    """What the checks of the private half need from the public one."""

    half: Half
    manifest: Manifest | None
    task_ids: frozenset[str]
    stages: Sequence[Mapping[str, Any]]
    summary: Mapping[str, Any]


def _verify_public(
    root: Path, connection: duckdb.DuckDBPyConnection, findings: Findings
) -> _Public:
    half = load_half(root, layout.PUBLIC, findings)
    manifest = _manifest(half, findings)
    rows = load_rows(half, findings)
    check_modes(half, NO_WRITING, findings)
    check_tasks(half, rows, manifest, findings)
    check_metadata(half, findings)
    check_tables(half, connection, findings)
    stages = check_funnel(half, findings)
    summary = check_summary(half, stages, findings)
    check_report(half, findings)
    if manifest is not None:
        check_counts(half, rows, manifest, findings)
        check_canary(half, manifest.canary, findings)
    return _Public(half, manifest, frozenset(rows), stages, summary)


def _verify_private(
    root: Path, public: _Public, connection: duckdb.DuckDBPyConnection, findings: Findings
) -> Half:
    half = load_half(root, layout.PRIVATE, findings)
    check_modes(half, OWNER_ONLY, findings)
    check_link(half, public.half, public.manifest, findings)
    check_task_folders(half, public.task_ids, findings)
    check_tables(half, connection, findings)
    files = sound_tables(half, connection, findings)
    counts = None if files is None else LedgerCounts(connection, files)
    if counts is not None:
        check_recount(counts, public.stages, public.summary, public.manifest, findings)
    check_content(half, public.half, counts, public.task_ids, findings)
    if public.manifest is not None:
        check_canary(half, public.manifest.canary, findings)
    return half


def _manifest(public: Half, findings: Findings) -> Manifest | None:
    """The manifest, with its derived fields checked; None if it is invalid."""
    document = read_object(public, layout.MANIFEST, Check.MANIFEST, findings)
    if document is None:
        return None
    where = f"{public.name}/{layout.MANIFEST}"
    try:
        manifest = Manifest.model_validate(document)
    except ValidationError as error:
        findings.add(Check.MANIFEST, where, fields_of(error))
        return None
    if manifest.snapshot != layout.snapshot_id(manifest.name, manifest.released, manifest.revision):
        findings.add(Check.MANIFEST, where, "the snapshot id is not name, date and revision")
    if manifest.recipe_digest != digest(manifest.recipe):
        findings.add(Check.MANIFEST_DIGEST, where, "recipe_digest is not the digest of the recipe")
    if manifest.canary != layout.canary(manifest.snapshot, manifest.recipe_digest):
        findings.add(Check.MANIFEST_DIGEST, where, "the canary does not follow from the recipe")
    return manifest


def _digest(public: Half, private: Half | None) -> str | None:
    """The digest of the snapshot, None unless both halves and their sums are there."""
    if private is None or public.sums is None or private.sums is None:
        return None
    return layout.snapshot_digest(public.sums, private.sums)


def _report(
    findings: Findings, public: _Public | None, private: Half | None, whole: str | None
) -> VerifyReport:
    halves = [half for half in (public.half if public else None, private) if half is not None]
    return VerifyReport(
        snapshot=public.manifest.snapshot if public and public.manifest else None,
        digest=whole,
        public_digest=digest(public.half.sums) if public and public.half.sums else None,
        with_private=private is not None,
        files=sum(len(half.files) for half in halves),
        tasks=len(public.task_ids) if public else 0,
        findings=tuple(findings.items),
    )
