"""The masking stage as a Prefect task, and what a release has to be searched for afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import polars as pl

from anonymization.leaks.gate import GATE as LEAKS
from anonymization.leaks.gate import measure
from construction.sessions.gates.network import ProbeResult
from construction.sessions.network.captures import frozen_path
from construction.sessions.network.reach import with_frozen_pages
from construction.sessions.packaging.survivors import Survivor, read_survivors
from data.canonical import canonical_json
from data.contracts import Candidate, Outcome, StageKind, dump_instance
from data.ledger import deciding, gated_row
from data.pool import Pool
from data.run_store import StageOutput
from data.stage_tables import write_stage_tables
from flows.guarded import Guarded, digest_of, sought_in
from flows.leak_check import STAGE as CHECK
from flows.leak_check import leaks_of, places
from flows.mask_shard import STAGE, MaskJob, mask_shard
from flows.masking_recipe import MaskingRecipe, with_approvals
from flows.prefect_adapter import stage
from flows.run import Run
from flows.shard_stage import run_shards

_SHARD = 8  # sessions: few enough that every worker has some, and progress shows


@stage("mask")
def mask_sessions(
    run: Run, survivors: Sequence[Survivor], results: Mapping[str, ProbeResult]
) -> tuple[list[Survivor], list[StageOutput]]:
    """Mask instances and their files, one vault per session; drop those with unmaskable files."""
    config = with_approvals(run.recipe.masking, run.runtime.approvals)
    pages = {
        result.sha256: frozen_path(result.sha256, run.frozen)
        for result in results.values()
        if result.sha256 is not None
    }
    whole = [with_frozen_pages(survivor, results) for survivor in survivors]
    jobs = [
        (_key(run, part, config), MaskJob(part, pages, config, run.key)) for part in _parts(whole)
    ]
    outputs = run_shards(run, STAGE, mask_shard, jobs, "mask")
    return read_survivors([output.path for output in outputs]), outputs


def _parts(survivors: Sequence[Survivor]) -> list[tuple[tuple[Survivor, ...], ...]]:
    """Whole sessions, some to a shard, in the order of their ids."""
    by_session = sorted(
        survivors, key=lambda one: (one.instance.session_uid, one.instance.instance_id)
    )
    sessions = [tuple(of) for _, of in groupby(by_session, lambda one: one.instance.session_uid)]
    return [tuple(sessions[at : at + _SHARD]) for at in range(0, len(sessions), _SHARD)]


def _key(run: Run, part: Sequence[Sequence[Survivor]], config: MaskingRecipe) -> str:
    told = [
        (dump_instance(one.instance), canonical_json(one.fixtures).decode())
        for session in part
        for one in session
    ]
    return run.store.key(STAGE, told, config, run.key_id)


@stage("leak-check")
def check_leaks(
    run: Run, pool: Pool, masked: Sequence[StageOutput]
) -> tuple[list[Candidate], StageOutput]:
    """Drop the candidates that still hold a private value, their own or another session's."""
    sought = sought_in(run, [output.path for output in masked])
    told = [[candidate.model_dump(mode="json") for candidate in pool.candidates], digest_of(sought)]
    write = partial(_write_check, pool, sought)
    output = run.store.run(CHECK, run.store.key(CHECK, told), write)
    kept = pl.read_parquet(output.path / "ledger.parquet").filter(outcome=str(Outcome.KEPT))
    ids = set(kept["item_id"])
    return [candidate for candidate in pool.candidates if candidate.task_id in ids], output


def _write_check(pool: Pool, sought: Guarded, out: Path) -> None:
    found = [(one.task_id, leaks_of(one, pool.fixtures, sought)) for one in pool.candidates]
    verdicts = [(task_id, LEAKS.judge(measure(leaks), sought.config)) for task_id, leaks in found]
    rows = [
        gated_row(CHECK, "candidate", task_id, deciding([verdict]), {"found": places(leaks)})
        for (task_id, leaks), (_, verdict) in zip(found, verdicts, strict=True)
    ]
    ids = [candidate.task_id for candidate in pool.candidates]
    kind = StageKind.FILTER
    write_stage_tables(out, kind, ids, rows, verdicts=verdicts, stage=CHECK, unit="candidate")
