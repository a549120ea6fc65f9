"""A stage over shards: what is there already is not even looked at by a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from data.progress import track
from data.run_store import StageOutput
from data.sharding import Compute, compute_shard, map_shards
from flows.run import Run

Job = TypeVar("Job")


def run_shards(
    run: Run, stage: str, compute: Compute[Job], jobs: Sequence[tuple[str, Job]], title: str
) -> list[StageOutput]:
    """The outputs of all jobs, in their order; each job stands behind its key.

    `compute` and the jobs must be picklable. `title` names the progress bar.
    """
    todo = [
        (run.store, stage, key, compute, job)
        for key, job in jobs
        if not run.store.is_done(stage, key)
    ]
    computed = map_shards(compute_shard, todo, *run.runtime.shards)
    done = {
        output.path: output
        for output in track(computed, title, len(todo), quiet=run.runtime.quiet or not todo)
    }
    paths = [run.store.path(stage, key) for key, _ in jobs]
    return [done.get(path) or StageOutput(stage, path, cached=True) for path in paths]
