"""The ledger closes (law 2): every unit that enters a stage leaves it under one outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from data.contracts import LedgerRow, Outcome, Scalar, StageKind, StageTally, Status, Verdict
from data.errors import LedgerError

OUTCOMES: Mapping[StageKind, tuple[Outcome, ...]] = {
    StageKind.FILTER: (Outcome.KEPT, Outcome.REJECTED, Outcome.ERRORED),
    StageKind.DERIVE: (Outcome.CONSUMED, Outcome.REJECTED, Outcome.ERRORED),
    StageKind.CHOOSE: (Outcome.CHOSEN, Outcome.NOT_CHOSEN),
}


def close(
    stage: str, kind: StageKind, unit: str, n_in: int, outcomes: Mapping[Outcome, int]
) -> StageTally:
    """Check that the outcomes add up to `n_in` and belong to the kind of stage.

    Raises LedgerError otherwise: a unit was lost or counted twice, which is a bug.
    """
    allowed = OUTCOMES[kind]
    strange = sorted(str(o) for o in outcomes if o not in allowed)
    if strange:
        raise LedgerError(f"stage {stage}: a {kind} stage has no outcome {', '.join(strange)}")
    counts = {outcome: outcomes.get(outcome, 0) for outcome in allowed}
    if sum(counts.values()) != n_in:
        summary = ", ".join(f"{outcome} {n}" for outcome, n in counts.items())
        raise LedgerError(f"stage {stage}: {n_in} {unit}s came in, but {summary} left")
    return StageTally(stage, kind, unit, n_in, counts)


def tally(
    stage: str, kind: StageKind, unit: str, ids_in: Iterable[str], rows: Sequence[LedgerRow]
) -> StageTally:
    """Close a stage from its rows: each id that came in has exactly one row, and no other has.

    Raises LedgerError naming how many ids are missing, doubled or unknown.
    """
    outcomes = [(row.item_id, row.outcome) for row in rows]
    return tally_outcomes(stage, kind, unit, ids_in, outcomes)


def tally_outcomes(
    stage: str,
    kind: StageKind,
    unit: str,
    ids_in: Iterable[str],
    outcomes: Sequence[tuple[str, Outcome]],
) -> StageTally:
    """As `tally`, from pairs of an id and its outcome."""
    entered = set(ids_in)
    seen = Counter(item_id for item_id, _ in outcomes)
    doubled = sum(n > 1 for n in seen.values())
    unknown = len(seen.keys() - entered)
    missing = len(entered - seen.keys())
    if doubled or unknown or missing:
        raise LedgerError(
            f"stage {stage}: of {len(entered)} {unit}s, {missing} have no outcome, "
            f"{doubled} have several, and {unknown} rows belong to none"
        )
    counts = Counter(outcome for _, outcome in outcomes)
    return close(stage, kind, unit, len(entered), counts)


def completed(rows: Sequence[LedgerRow], tallies: Iterable[StageTally]) -> list[LedgerRow]:
    """`rows` with one more per (stage, unit) for the units that were kept without a row.

    Stages over hundreds of thousands of units list those that they turn away.
    """
    kept_rows: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row.outcome is Outcome.KEPT:
            kept_rows[(row.stage, row.unit)] += row.n
    unnamed = [
        LedgerRow(tally.stage, tally.unit, "(kept)", Outcome.KEPT, n=missing)
        for tally in _merge(tallies)
        if (missing := tally.counts.get(Outcome.KEPT, 0) - kept_rows[(tally.stage, tally.unit)]) > 0
    ]
    return [*rows, *unnamed]


def _merge(tallies: Iterable[StageTally]) -> list[StageTally]:
    """Add up the tallies of the shards of each (stage, unit), in order of first appearance."""
    merged: dict[tuple[str, str], StageTally] = {}
    for part in tallies:
        key = (part.stage, part.unit)
        known = merged.get(key)
        if known is None:
            merged[key] = part
            continue
        counts = Counter(known.counts) + Counter(part.counts)
        merged[key] = close(part.stage, part.kind, part.unit, known.n_in + part.n_in, counts)
    return list(merged.values())


def deciding(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The first failed verdict, in declared order; None if none failed.

    Whether something unverified fails is the gate's own policy, and so settled by now.
    """
    return next((verdict for verdict in verdicts if verdict.status is Status.FAILED), None)


def gated_row(
    stage: str,
    unit: str,
    item_id: str,
    decided: Verdict | None,
    evidence: Mapping[str, Scalar],
) -> LedgerRow:
    """The row of an item that went through gates: kept, or rejected by `decided`."""
    if decided is None:
        return LedgerRow(stage, unit, item_id, Outcome.KEPT, evidence=evidence)
    return LedgerRow(
        stage,
        unit,
        item_id,
        Outcome.REJECTED,
        gate=decided.gate,
        reason=decided.reason,
        observed=decided.observed,
        limit=decided.limit,
        evidence=evidence,
        missing=decided.missing,
    )
