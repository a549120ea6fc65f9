"""The sessions lane: raw logs to candidates."""

from __future__ import annotations

from dataclasses import replace

from flows.judge_instances import judge_instances
from flows.lanes import LanePool
from flows.masking import check_leaks, mask_sessions
from flows.prefect_adapter import lane
from flows.recipe import FlowRecipe, FlowRuntime
from flows.run import open_run
from flows.session_stages import (
    input_digests,
    keep_distinct,
    package_tasks,
    probe_network,
    recover_and_gate,
    scan_files,
)


@lane("sessions-to-tasks")
def sessions_to_tasks(recipe: FlowRecipe, runtime: FlowRuntime) -> LanePool | None:
    """From logs to masked, packaged candidates; None where no sessions were given."""
    if not runtime.sessions:
        return None
    run = open_run(recipe, runtime)
    files, scanned = scan_files(run)
    gated = recover_and_gate(run, files)
    survivors, distinct = keep_distinct(run, [output.path for output in gated])
    reached, results, network = probe_network(run, survivors)
    public, masked = mask_sessions(run, reached, results)
    pool, packaged = package_tasks(run, public)
    judged = judge_instances(recipe, runtime, packaged.path)
    pool = replace(pool, candidates=judged.candidates)
    candidates, checked = check_leaks(run, pool, masked)
    outputs = [scanned, *gated, distinct, network, *masked, packaged, *judged.outputs, checked]
    return LanePool(
        candidates=candidates,
        folders=[output.path for output in outputs],
        fixtures=pool.fixtures,
        inputs={**input_digests(files), **judged.inputs},
        masked=[output.path for output in masked],
        costs=judged.costs,
    )
