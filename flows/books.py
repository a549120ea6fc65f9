"""The ledger tables of a run: ledger, verdicts and lineage of all its stages, as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from data.contracts import (
    LedgerRow,
    LineageRow,
    Outcome,
    Scalar,
    StageKind,
    StageTally,
    Status,
    Verdict,
)
from data.ledger import close
from data.snapshot.release import LedgerTables
from data.tables import LEDGER, LINEAGE, TALLIES, VERDICTS, read_table


def read_books(folders: Sequence[Path], gates: Sequence[str]) -> LedgerTables:
    """Collect the ledger tables from stage outputs, given in pipeline order."""
    return LedgerTables(
        ledger=[_ledger_row(row) for row in _rows(folders, "ledger", LEDGER)],
        verdicts=[(row["item_id"], _verdict(row)) for row in _rows(folders, "verdicts", VERDICTS)],
        lineage=[LineageRow(**row) for row in _rows(folders, "lineage_rows", LINEAGE)],
        tallies=_tallies(folders),
        gates=gates,
    )


def _rows(folders: Sequence[Path], name: str, schema: Any) -> Iterable[dict[str, Any]]:
    return _frame(folders, name, schema).iter_rows(named=True)


def _frame(folders: Sequence[Path], name: str, schema: Any) -> pl.DataFrame:
    paths = [path for folder in folders for path in sorted(folder.rglob(f"{name}.parquet"))]
    return read_table(paths, schema)


def _ledger_row(row: dict[str, Any]) -> LedgerRow:
    return LedgerRow(
        **row | {"outcome": Outcome(row["outcome"]), "evidence": orjson.loads(row["evidence"])}
    )


def _verdict(row: dict[str, Any]) -> Verdict:
    return Verdict(
        row["gate"],
        Status(row["status"]),
        row["reason"],
        _scalar(row["observed"], row["observed_text"]),
        _scalar(row["limit"], row["limit_text"]),
        orjson.loads(row["measures"]),
        row["blocked_by"],
    )


def _scalar(number: float | None, text: str | None) -> Scalar:
    if number is None:
        return text
    return int(number) if number.is_integer() else number


def _tallies(folders: Sequence[Path]) -> list[StageTally]:
    """Add the shards of each (stage, unit) up, in the order in which stages first appear."""
    counts: dict[tuple[str, str, str], Counter[Outcome]] = {}
    for row in _frame(folders, "tallies", TALLIES).iter_rows(named=True):
        stage = counts.setdefault((row["stage"], row["kind"], row["unit"]), Counter())
        stage[Outcome(row["outcome"])] += row["n"]
    return [
        close(stage, StageKind(kind), unit, total.total(), total)
        for (stage, kind, unit), total in counts.items()
    ]
