"""The sessions lane: raw logs to candidates."""

from __future__ import annotations

from prefect import flow

from flows.lanes import LanePool
from flows.recipe import Recipe, Runtime
from flows.run import open_run
from flows.session_stages import (
    input_digests,
    keep_distinct,
    package_tasks,
    probe_network,
    recover_and_gate,
    scan_files,
)


@flow(name="sessions-to-tasks", validate_parameters=False)
def sessions_to_tasks(recipe: Recipe, runtime: Runtime) -> LanePool | None:
    """Read, recover, gate, drop copies, probe, package; None where no sessions were given."""
    if not runtime.sessions:
        return None
    run = open_run(recipe, runtime)
    files, scanned = scan_files(run)
    gated = recover_and_gate(run, files)
    survivors, distinct = keep_distinct(run, [output.path for output in gated])
    reached, results, network = probe_network(run, survivors)
    pool, packaged = package_tasks(run, reached, results)
    outputs = [scanned, *gated, distinct, network, packaged]
    return LanePool(
        candidates=pool.candidates,
        folders=[output.path for output in outputs],
        fixtures=pool.fixtures,
        inputs=input_digests(files),
    )
