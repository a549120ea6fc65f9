"""Writing the release: snapshot, staging file, verification, and the `latest` pointer."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from construction.sessions.config import GATES
from data.snapshot import mark_latest, verify, write_snapshot
from data.snapshot.release import (
    Authorization,
    BuildFacts,
    PrivacyStamp,
    Release,
    SnapshotRef,
)
from data.staging import build_staging, table_paths
from flows.books import read_books
from flows.lanes import LanePool
from flows.mixture import MixtureRef
from flows.pictures import pictures_of
from flows.run import Run, architecture, lock_digest
from flows.select_subset import Chosen

TOOLS = ("prefect", "polars", "duckdb", "pydantic", "numpy", "scipy", "pulp")


def publish(
    run: Run,
    chosen: Chosen,
    pool: LanePool,
    mixture: MixtureRef | None,
    folders: Sequence[Path],
    privacy: PrivacyStamp,
    run_info: Mapping[str, Any],
) -> SnapshotRef:
    """Write the snapshot and verify it; only then does `latest` point to it.

    Raises ReleaseError if it does not verify: it then stays, for `benchmint verify` to explain.
    """
    release = _release(run, chosen, pool, mixture, folders, privacy, run_info)
    ref = write_snapshot(release, run.snapshots, revision=run.runtime.revision)
    mark_latest(ref, verify(ref.path))
    return ref


def stage_for_analysts(run: Run, folders: Sequence[Path]) -> None:
    """Rebuild `staging.duckdb` from the tables of the stages and swap it in."""
    build_staging(run.staging, table_paths(folders))


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
            inputs={**pool.inputs, **(mixture.inputs if mixture else {}), **chosen.inputs},
            code_version=run.store.code_version,
            lock_digest=lock_digest(),
            architecture=architecture(),
            release_key_digest=run.key_id,
            seed=recipe.release.seed,
        ),
        books=read_books(folders, GATES),
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
        run_info=dict(run_info) | _tools(),
    )


def _tools() -> dict[str, Any]:
    return {
        "host": platform.node(),
        "platform": platform.platform(),
        "python": sys.version.split()[0],
        "tools": {name: version(name) for name in TOOLS},
    }
