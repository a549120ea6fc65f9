"""The packaging stage: survivors become candidates, and the preflight gate judges them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from construction.judging import preflight
from construction.judging.contracts import Case
from construction.judging.preflight import PreflightConfig
from construction.sessions.gates.network import NetworkConfig
from construction.sessions.packaging.package import Identity, Packaged, package
from data.contracts import LedgerRow, LineageRow, TaskInstance, Verdict
from data.ledger import deciding, gated_row
from data.survivors import Survivor

STAGE = "package"


@dataclass(frozen=True, slots=True)
class PackagedPool:
    """The stage's cases sorted by task id, its verdicts, ledger rows and lineage."""

    cases: list[Case]
    verdicts: list[tuple[str, Verdict]]
    rows: list[LedgerRow]
    lineage: list[LineageRow]


def package_survivors(
    survivors: Sequence[Survivor],
    identify: Callable[[str], Identity],
    network: NetworkConfig,
    config: PreflightConfig,
) -> PackagedPool:
    """Package each survivor; `identify` returns the released identity for an instance id."""
    pool = PackagedPool([], [], [], [])
    for survivor in survivors:
        instance = survivor.instance
        packaged = package(
            instance,
            survivor.fixtures,
            identify(instance.instance_id),
            network=network.mode != "freeze",
        )
        verdict = preflight.judge(preflight.measure(packaged, instance), config)
        decided = deciding([verdict])
        pool.verdicts.append((instance.instance_id, verdict))
        pool.rows.append(
            gated_row(STAGE, "instance", instance.instance_id, decided, survivor.evidence)
        )
        if decided is None:
            pool.cases.append(_case(packaged, instance))
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
    pool.cases.sort(key=lambda case: case.candidate.task_id)
    return pool


def _case(packaged: Packaged, instance: TaskInstance) -> Case:
    return Case(
        candidate=packaged.candidate,
        request=packaged.request,
        background=packaged.background,
        reply=instance.reply,
        asked_back=instance.asked,
    )
