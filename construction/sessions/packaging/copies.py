"""Instances that stand in several files are kept once."""

from __future__ import annotations

from collections.abc import Sequence

from data.contracts import LedgerRow, Outcome
from data.survivors import Survivor


def drop_copies(survivors: Sequence[Survivor]) -> tuple[list[Survivor], list[LedgerRow]]:
    """Of instances with the same words in several files, keep the one of the first path.

    Resumed sessions replay their beginning, and backups repeat whole files.
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
