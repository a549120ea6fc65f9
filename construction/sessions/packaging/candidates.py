"""The packaging stage: survivors become candidates, and the preflight gate judges them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from construction.judging import preflight
from construction.judging.contracts import Case
from construction.judging.signals import measure
from construction.sessions.config import PACKAGE_GATES, SessionsConfig
from construction.sessions.packaging.package import Identity, package
from data.contracts import LedgerRow, LineageRow, Verdict, run_gates
from data.ledger import deciding, gated_row
from data.survivors import Survivor

STAGE = preflight.GATE.stage


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
    config: SessionsConfig,
) -> PackagedPool:
    """Package each survivor; `identify` returns the released identity for an instance id."""
    pool = PackagedPool([], [], [], [])
    for survivor in survivors:
        instance = survivor.instance
        packaged = package(
            instance,
            survivor.fixtures,
            identify(instance.instance_id),
            network=config.network.mode != "freeze",
        )
        adapters = {preflight.GATE.name: partial(measure, conversation=packaged.conversation)}
        _, verdicts = run_gates(PACKAGE_GATES, config, packaged.case, adapters)
        decided = deciding(verdicts)
        pool.verdicts.extend((instance.instance_id, verdict) for verdict in verdicts)
        pool.rows.append(
            gated_row(STAGE, "instance", instance.instance_id, decided, survivor.evidence)
        )
        if decided is None:
            pool.cases.append(packaged.case)
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
