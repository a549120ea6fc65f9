"""The books of a reading: what became of files, lines, filings, values and points (law 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from construction.statements.readers.edinet.build import Built
from construction.statements.readers.edinet.reasons import STAGE, Reason
from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.ledger import close


def close_books(
    rows: Sequence[LedgerRow],
    units: tuple[int, int, int],
    built: Built,
) -> tuple[list[LedgerRow], list[StageTally]]:
    """All rows with those of values and points added, and the tallies of the five units.

    `units`: files, lines and filings that came in. There are too many values for a row each: one
    row per reason tells their number.
    """
    files, lines, filings = units
    tallies = [_counted("file", files, rows), _counted("line", lines, rows)]
    tallies.append(_counted("filing", filings, rows))
    told, closed = _aggregated("value", built.n_values, built.reasons)
    kept = built.n_values - built.reasons.total()
    restated = built.history.height
    again = kept - built.points.height - restated
    replaced = {str(Reason.POINT_RESTATED): restated, str(Reason.POINT_FILED_AGAIN): again}
    more, closed_points = _aggregated("point", kept, replaced)
    every = sorted([*rows, *told, *more], key=lambda row: (row.unit, row.item_id))
    return every, [*tallies, closed, closed_points]


def _counted(unit: str, n_in: int, rows: Sequence[LedgerRow]) -> StageTally:
    """Kept is what has no row of rejection or error; each such row is a unit of its own."""
    outcomes = Counter(row.outcome for row in rows if row.unit == unit)
    lost = outcomes[Outcome.REJECTED] + outcomes[Outcome.ERRORED]
    outcomes[Outcome.KEPT] = n_in - lost
    return close(STAGE, StageKind.FILTER, unit, n_in, outcomes)


def _aggregated(
    unit: str, n_in: int, reasons: Mapping[str, int]
) -> tuple[list[LedgerRow], StageTally]:
    rows = [
        LedgerRow(STAGE, unit, f"({reason})", Outcome.REJECTED, reason=reason, n=count)
        for reason, count in sorted(reasons.items())
        if count
    ]
    lost = sum(reasons.values())
    counts = {Outcome.KEPT: n_in - lost, Outcome.REJECTED: lost}
    return rows, close(STAGE, StageKind.FILTER, unit, n_in, counts)
