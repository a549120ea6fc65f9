"""Writing the books of a stage that runs in one piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from data.contracts import LedgerRow, LineageRow, StageKind, Verdict
from data.ledger import tally
from data.tables import (
    LEDGER,
    LINEAGE,
    TALLIES,
    VERDICTS,
    ledger_record,
    lineage_record,
    tally_records,
    verdict_record,
    write_table,
)


def write_books(
    out: Path,
    kind: StageKind,
    ids_in: Iterable[str],
    rows: Sequence[LedgerRow],
    *,
    verdicts: Sequence[tuple[str, Verdict]] = (),
    lineage: Sequence[LineageRow] = (),
    stage: str,
    unit: str,
) -> None:
    """Close the ledger of a stage and write its tables into `out`."""
    closed = tally(stage, kind, unit, ids_in, rows)
    write_table(out / "tallies.parquet", tally_records(closed), TALLIES)
    write_table(out / "ledger.parquet", map(ledger_record, rows), LEDGER)
    records = (verdict_record(item_id, verdict) for item_id, verdict in verdicts)
    write_table(out / "verdicts.parquet", records, VERDICTS)
    write_table(out / "lineage_rows.parquet", map(lineage_record, lineage), LINEAGE)
