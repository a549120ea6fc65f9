"""Drops copies of instances; turns the others into candidates, which the preflight gate judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from construction.judging import preflight
from construction.judging.contracts import Case
from construction.judging.signals import measure
from construction.sessions.config import PACKAGE_GATES, SessionsConfig
from construction.sessions.packaging.package import Identity, package
from data.contracts import LedgerRow, LineageRow, Outcome, Verdict, run_gates
from data.ledger import deciding, gated_row
from data.survivors import Survivor


def drop_copies(survivors: Sequence[Survivor]) -> tuple[list[Survivor], list[LedgerRow]]:
    """Of instances with the same typed text, keep the one whose source path comes first.

    Copies arise because resumed sessions replay their beginning and backups repeat whole files.
    """
    first: dict[str, str] = {}
    rows: dict[str, LedgerRow] = {}
    kept: list[Survivor] = []
    by_path = sorted(survivors, key=lambda s: (s.instance.source_path, s.instance.instance_id))
    for survivor in by_path:
        instance = survivor.instance
        original = first.setdefault(instance.fingerprint, instance.instance_id)
        outcome, reason = Outcome.KEPT, None
        evidence = survivor.evidence
        if original == instance.instance_id:
            kept.append(survivor)
        else:
            outcome, reason = Outcome.REJECTED, "instance.duplicate"
            evidence = evidence | {"copy_of": original}
        rows[instance.instance_id] = LedgerRow(
            "distinct", "instance", instance.instance_id, outcome, reason=reason, evidence=evidence
        )
    kept.sort(key=lambda survivor: survivor.instance.instance_id)
    return kept, [rows[name] for name in sorted(rows)]


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
