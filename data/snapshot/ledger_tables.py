"""The ledger tables of a release as frames: cleaned and sorted, the same for any order of input."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from data.contracts import LedgerRow, LineageRow, Scalar, Verdict
from data.neutralise import storable
from data.snapshot import layout
from data.snapshot.ledger import LedgerCounts, connect, files_in
from data.snapshot.release import LedgerTables
from data.tables import (
    LEDGER,
    LINEAGE,
    VERDICTS,
    Schema,
    ledger_record,
    lineage_record,
    verdict_record,
    write_frame,
)


@dataclass(frozen=True, slots=True)
class Frames:
    """Ledger, verdicts and lineage with the schemas of `data.tables`."""

    ledger: pl.DataFrame
    verdicts: pl.DataFrame
    lineage: pl.DataFrame


def ledger_frames(tables: LedgerTables) -> Frames:
    """The ledger tables as sorted frames."""
    return Frames(
        _frame((ledger_record(_clean_ledger(row)) for row in tables.ledger), LEDGER),
        _frame(
            (verdict_record(_text(item), _clean_verdict(v)) for item, v in tables.verdicts),
            VERDICTS,
        ),
        _frame((lineage_record(_clean_lineage(row)) for row in tables.lineage), LINEAGE),
    )


def write(folder: Path, frames: Frames) -> None:
    """Write the three Parquet tables of the private half."""
    write_frame(folder / layout.LEDGER_TABLE, frames.ledger)
    write_frame(folder / layout.VERDICTS_TABLE, frames.verdicts)
    write_frame(folder / layout.LINEAGE_TABLE, frames.lineage)


@contextmanager
def counted(frames: Frames) -> Iterator[LedgerCounts]:
    """Counts over tables of a release that is not written."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), frames)
        with connect() as connection:
            yield LedgerCounts(connection, files_in(Path(folder)))


def gate_order(tables: LedgerTables) -> list[str]:
    """Gates in declared order, then by name any others that judged or rejected something."""
    seen = {verdict.gate for _, verdict in tables.verdicts}
    seen.update(row.gate for row in tables.ledger if row.gate is not None)
    declared = list(dict.fromkeys(tables.gates))
    return declared + sorted(seen - set(declared))


def _frame(records: Iterable[dict[str, Any]], schema: Schema) -> pl.DataFrame:
    """Rows sorted by all columns: a total order, independent of the input order."""
    rows = pl.DataFrame(list(records), schema=dict(schema), orient="row")
    return rows.sort(list(schema), nulls_last=False)


def _clean_ledger(row: LedgerRow) -> LedgerRow:
    return replace(
        row,
        item_id=_text(row.item_id),
        observed=storable(row.observed),
        limit=storable(row.limit),
        evidence=_clean_map(row.evidence),
    )


def _clean_verdict(verdict: Verdict) -> Verdict:
    return replace(
        verdict,
        observed=storable(verdict.observed),
        limit=storable(verdict.limit),
        measures=_clean_map(verdict.measures),
    )


def _clean_lineage(row: LineageRow) -> LineageRow:
    return replace(row, parent=_text(row.parent), child=_text(row.child), why=_text(row.why))


def _clean_map(values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {_text(key): storable(value) for key, value in values.items()}


def _text(value: str) -> str:
    return str(storable(value))
