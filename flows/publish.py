"""Writing the release: snapshot, staging file, verification, and the `latest` pointer."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from data.canonical import file_digest
from data.releases import changes_between, facts_of_release, previous_release
from data.snapshot import layout, mark_latest, verify, write_snapshot
from data.snapshot.release import (
    Authorization,
    BuildFacts,
    LedgerTables,
    PrivacyStamp,
    Release,
    SnapshotRef,
)
from data.stage_tables import read_records
from data.staging import RunFacts, stage_run
from flows.gates import GATE_ORDER
from flows.guarded import sought_in
from flows.lanes import LanePool
from flows.leak_check import guard_release
from flows.mixture import MixtureRef
from flows.pictures import pictures_of
from flows.privacy import masking_report
from flows.run import Run, architecture, lock_digest
from flows.select_subset import Chosen
from flows.table_release import AnonymizedTables

TOOLS = ("prefect", "polars", "duckdb", "pydantic", "numpy", "scipy", "pulp")


def publish(
    run: Run,
    chosen: Chosen,
    pool: LanePool,
    mixture: MixtureRef | None,
    tables: AnonymizedTables | None,
    folders: Sequence[Path],
    privacy: PrivacyStamp,
    run_info: Mapping[str, Any],
) -> SnapshotRef:
    """Write the snapshot and verify it; only then does `latest` point to it.

    Raises ReleaseError if it does not verify: it then stays, for `benchmint verify` to explain.
    """
    sought = sought_in(run, pool.masked, tables.identifiers if tables else ())
    release = _release(run, chosen, pool, mixture, folders, privacy, run_info)
    release = _with_privacy(release, masking_report(pool.masked, sought), tables)
    release = _with_changes(run, release)
    guard = partial(guard_release, candidates=chosen.candidates, guarded=sought)
    ref = write_snapshot(release, run.snapshots, revision=run.runtime.revision, guard=guard)
    mark_latest(ref, verify(ref.path))
    return ref


def stage_for_analysts(
    run: Run,
    folders: Sequence[Path],
    inputs: Mapping[str, str],
    privacy: PrivacyStamp,
    costs: Sequence[Mapping[str, Any]],
) -> str:
    """Keep the tables of the stages as a run, swap in `staging.duckdb`, return the run's id."""
    release = run.recipe.release
    facts = RunFacts(
        snapshot=layout.snapshot_id(release.name, release.release_date),
        released=release.release_date,
        recipe_digest=run.recipe.digest(),
        code_version=run.store.code_version,
        release_key_digest=run.key_id,
        inputs=inputs,
        privacy=str(privacy),
    )
    return stage_run(run.out, facts, folders, costs)


def inputs_of(pool: LanePool, mixture: MixtureRef | None, chosen: Chosen) -> dict[str, str]:
    """The digests of all that went in, by public name."""
    return {**pool.inputs, **(mixture.inputs if mixture else {}), **chosen.inputs}


def _with_privacy(
    release: Release, masking: Mapping[str, Any] | None, tables: AnonymizedTables | None
) -> Release:
    """The release with its privacy report, of sessions and of tables."""
    if tables is None:
        return replace(release, privacy_report={"masking": masking})
    return replace(
        release,
        privacy_report={"masking": masking, "tables": tables.report},
        pictures={**release.pictures, **tables.pictures},
    )


def _with_changes(run: Run, release: Release) -> Release:
    """The release with its CHANGELOG against the last one, which is an input then (law 5)."""
    last = run.runtime.last_release or previous_release(
        run.snapshots, release.name, release.released
    )
    if last is None:
        return release
    public, _ = layout.halves(last)
    inputs = {**release.build.inputs, "last-release": file_digest(public / layout.SUMS)}
    changes = changes_between(last, facts_of_release(release))
    return replace(release, changes=changes, build=replace(release.build, inputs=inputs))


def _release(
    run: Run,
    chosen: Chosen,
    pool: LanePool,
    mixture: MixtureRef | None,
    folders: Sequence[Path],
    privacy: PrivacyStamp,
    run_info: Mapping[str, Any],
) -> Release:
    recipe, source = run.recipe, run.recipe.source
    return Release(
        name=recipe.release.name,
        released=recipe.release.release_date,
        version=recipe.release.version,
        card=recipe.release.card,
        candidates=chosen.candidates,
        fixture_file=pool.fixtures.__getitem__,
        opaque=lambda item_id: run.opaque("x", item_id),
        build=BuildFacts(
            recipe=recipe.model_dump(mode="json"),
            inputs=inputs_of(pool, mixture, chosen),
            code_version=run.store.code_version,
            lock_digest=lock_digest(),
            architecture=architecture(),
            release_key_digest=run.key_id,
            seed=recipe.release.seed,
        ),
        ledger_tables=_records(folders),
        privacy=privacy,
        authorization=Authorization(
            source.name, source.authorization, source.reviewer, source.reviewed, source.retention
        ),
        selection={
            **chosen.report,
            "mixture": mixture.public if mixture else None,
            "questions": dict(pool.report) or None,
        },
        tables=pool.tables,
        answers=pool.answers,
        pictures=pictures_of(mixture, chosen.report),
        run_info=dict(run_info) | {"judging": list(pool.costs)} | _tools(),
    )


def _records(folders: Sequence[Path]) -> LedgerTables:
    records = read_records(folders)
    return LedgerTables(
        records.ledger, records.verdicts, records.lineage, records.tallies, GATE_ORDER
    )


def _tools() -> dict[str, Any]:
    return {
        "host": platform.node(),
        "platform": platform.platform(),
        "python": sys.version.split()[0],
        "tools": {name: version(name) for name in TOOLS},
    }
