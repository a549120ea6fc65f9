"""The whole pipeline on one screen: from raw input to a verified snapshot."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prefect import flow

from data.errors import ReleaseError
from data.snapshot import SnapshotRef
from data.staging import record_release
from flows.anonymize_tables import anonymize_tables
from flows.artifacts import publish_funnel
from flows.lanes import joined
from flows.model_calls import one_budget
from flows.publish import inputs_of, publish, stage_for_analysts
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import building, open_run
from flows.select_subset import select_subset
from flows.sessions_to_tasks import sessions_to_tasks
from flows.signals_to_mixture import signals_to_mixture
from flows.source import with_source
from flows.tables_to_questions import tables_to_questions


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made: the snapshot, the staging file, and when the flow itself began."""

    snapshot: SnapshotRef
    staging: Path
    tasks: int
    flow_started: float  # time.perf_counter()


@flow(name="build-snapshot", validate_parameters=False)
def build_snapshot(recipe: FlowRecipe, runtime: FlowRuntime) -> Built:
    """Build, verify and publish one snapshot; nothing is redone that is done already."""
    flow_started, began = time.perf_counter(), datetime.now(UTC)
    with building(runtime.out), one_budget(recipe, runtime):
        recipe, runtime, privacy = with_source(recipe, runtime)
        run = open_run(recipe, runtime)
        mixture = signals_to_mixture(recipe, runtime)
        tables = anonymize_tables(recipe, runtime)
        lanes = [
            mixture.lane if mixture else None,
            tables.lane if tables else None,
            sessions_to_tasks(recipe, runtime),
            tables_to_questions(recipe, runtime),
        ]
        pool = joined([lane for lane in lanes if lane is not None])
        chosen = select_subset(recipe, runtime, pool.candidates, mixture)
        folders = [*pool.folders, chosen.folder]
        inputs = inputs_of(pool, mixture, chosen)
        run_id = stage_for_analysts(run, folders, inputs, privacy, pool.costs)
        publish_funnel(run.staging)
        if not chosen.candidates:
            raise ReleaseError("no task passed every gate: see `benchmint audit` for the reasons.")
        times = {"began": began.isoformat(timespec="seconds")}
        snapshot = publish(run, chosen, pool, mixture, tables, folders, privacy, times)
        record_release(run.out, run_id, snapshot, len(chosen.candidates))
        run.store.prune(set(folders))
    return Built(snapshot, run.staging, len(chosen.candidates), flow_started)
