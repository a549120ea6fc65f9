"""The last stage of the lane: instances become candidates, and preflight asks if they will do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from construction.judging import preflight
from construction.judging.preflight import PreflightConfig
from construction.sessions.gates.network import NetworkConfig, ProbeResult
from construction.sessions.package import Identity, Packaged, package
from construction.sessions.reach import frozen_pages
from construction.sessions.survivors import Survivor
from data.contracts import Candidate, LedgerRow, LineageRow, Verdict
from data.ledger import deciding, gated_row

STAGE = "package"


@dataclass(frozen=True, slots=True)
class PackagedPool:
    """Candidates sorted by task id, with verdicts, ledger rows and lineage of the stage."""

    candidates: list[Candidate]
    verdicts: list[tuple[str, Verdict]]
    rows: list[LedgerRow]
    lineage: list[LineageRow]


def package_survivors(
    survivors: Sequence[Survivor],
    results: Mapping[str, ProbeResult],
    identify: Callable[[str], Identity],
    network: NetworkConfig,
    config: PreflightConfig,
) -> PackagedPool:
    """Package each survivor; `identify` gives the released identity of an instance id."""
    pool = PackagedPool([], [], [], [])
    for survivor in survivors:
        instance = survivor.instance
        packaged = _package(survivor, results, identify(instance.instance_id), network)
        verdict = preflight.judge(preflight.measure(packaged, instance), config)
        decided = deciding([verdict])
        pool.verdicts.append((instance.instance_id, verdict))
        pool.rows.append(
            gated_row(STAGE, "instance", instance.instance_id, decided, survivor.evidence)
        )
        if decided is None:
            pool.candidates.append(packaged.candidate)
            pool.lineage.append(
                LineageRow(
                    STAGE,
                    "instance",
                    instance.instance_id,
                    "candidate",
                    packaged.candidate.task_id,
                    "packaged",
                )
            )
    pool.candidates.sort(key=lambda candidate: candidate.task_id)
    return pool


def _package(
    survivor: Survivor,
    results: Mapping[str, ProbeResult],
    identity: Identity,
    network: NetworkConfig,
) -> Packaged:
    pages, stands_for = frozen_pages(survivor, results)
    return package(
        survivor.instance,
        (*survivor.fixtures, *pages),
        identity,
        replacements=stands_for,
        network=network.mode != "freeze",
    )
