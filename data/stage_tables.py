"""The tables in which a stage records what became of its items: ledger, verdicts, lineage, tallies.

A stage writes them beside its output; a release and the staging database read them back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from data import schemas
from data.contracts import (
    MISSING_NAMES,
    LedgerRow,
    LineageRow,
    Outcome,
    Scalar,
    StageKind,
    StageTally,
    Status,
    Verdict,
)
from data.ledger import close, tally
from data.schemas import Table
from data.tables import (
    LEDGER,
    LINEAGE,
    TALLIES,
    VERDICTS,
    Schema,
    ledger_record,
    lineage_record,
    missing_values,
    read_table,
    tally_records,
    verdict_record,
    write_rows,
    write_table,
)

LEDGER_FILE, _VERDICTS_FILE = "ledger.parquet", "verdicts.parquet"
_LINEAGE_FILE, TALLIES_FILE = "lineage_rows.parquet", "tallies.parquet"


# A stage writes these beside its ledger only if they have rows; they are never released.
MISSING, CHANGED = schemas.MISSING_INPUTS, schemas.CHANGED_PARTS


@dataclass(frozen=True, slots=True)
class StageRecords:
    """What stages record of their items: ledger rows, checked counts, verdicts and lineage."""

    ledger: Sequence[LedgerRow]
    tallies: Sequence[StageTally]
    verdicts: Sequence[tuple[str, Verdict]] = ()
    lineage: Sequence[LineageRow] = field(default_factory=tuple)


def write_stage_tables(
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
    """Check that every item of `ids_in` has exactly one outcome, and write the tables into `out`.

    Raises LedgerError for an item that is missing, doubled or unknown.
    """
    counts = tally(stage, kind, unit, ids_in, rows)
    write_records(out, StageRecords(rows, [counts], verdicts, lineage))


def write_records(out: Path, records: StageRecords) -> None:
    """Write the tables of a stage whose tallies are closed already; verdicts only if it has any."""
    tallies = [row for counts in records.tallies for row in tally_records(counts)]
    write_table(out / TALLIES_FILE, tallies, TALLIES)
    write_table(out / LEDGER_FILE, map(ledger_record, records.ledger), LEDGER)
    verdicts = (verdict_record(item_id, verdict) for item_id, verdict in records.verdicts)
    write_table(out / _VERDICTS_FILE, verdicts, VERDICTS)
    write_table(out / _LINEAGE_FILE, map(lineage_record, records.lineage), LINEAGE)
    missing = [values for row in records.ledger for values in missing_values(row)]
    write_private(out, MISSING, missing)


def write_private(out: Path, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write the rows of a private table beside the ledger, if there are any."""
    if rows:
        write_rows(out / f"{table.name}.parquet", rows, table.schema)


def read_private(folders: Sequence[Path], table: Table) -> list[dict[str, Any]]:
    """The rows of a private table that stages wrote beside their ledgers."""
    return list(_rows(folders, f"{table.name}.parquet", table.schema))


def kept_ids(folder: Path) -> set[str]:
    """The ids of the items that a filter kept, from the ledger in its output."""
    ledger = pl.read_parquet(folder / LEDGER_FILE)
    return set(ledger.filter(outcome=str(Outcome.KEPT))["item_id"])


def outcome_counts(folder: Path) -> dict[str, int]:
    """How many items of a stage's output have each outcome; those with none are left out."""
    counts: Counter[str] = Counter()
    for path in sorted(folder.rglob(TALLIES_FILE)):
        for outcome, n in pl.read_parquet(path).select("outcome", "n").iter_rows():
            counts[outcome] += n
    return {outcome: n for outcome, n in sorted(counts.items()) if n}


def read_records(folders: Sequence[Path]) -> StageRecords:
    """The records of all stages, read from their outputs in pipeline order.

    The evidence of a ledger row names the missing inputs: these records are private.
    """
    names: dict[tuple[str, str], list[str]] = {}
    for row in read_private(folders, MISSING):
        names.setdefault((row["stage"], row["item_id"]), []).append(row["name"])
    return StageRecords(
        ledger=[
            _ledger_row(row, names.get((row["stage"], row["item_id"]), ()))
            for row in _rows(folders, LEDGER_FILE, LEDGER)
        ],
        verdicts=[
            (row["item_id"], _verdict(row)) for row in _rows(folders, _VERDICTS_FILE, VERDICTS)
        ],
        lineage=[LineageRow(**row) for row in _rows(folders, _LINEAGE_FILE, LINEAGE)],
        tallies=_tallies(folders),
    )


def _rows(folders: Sequence[Path], file: str, schema: Schema) -> Iterable[dict[str, Any]]:
    return _frame(folders, file, schema).iter_rows(named=True)


def _frame(folders: Sequence[Path], file: str, schema: Schema) -> pl.DataFrame:
    return read_table([path for folder in folders for path in sorted(folder.rglob(file))], schema)


def _ledger_row(row: Mapping[str, Any], missing_names: Sequence[str]) -> LedgerRow:
    evidence = orjson.loads(row["evidence"])
    if missing_names:
        evidence[MISSING_NAMES] = "; ".join(missing_names)
    parsed = {"outcome": Outcome(row["outcome"]), "evidence": evidence}
    return LedgerRow(**{**row, **parsed})


def _verdict(row: Mapping[str, Any]) -> Verdict:
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
    for row in _frame(folders, TALLIES_FILE, TALLIES).iter_rows(named=True):
        stage = counts.setdefault((row["stage"], row["kind"], row["unit"]), Counter())
        stage[Outcome(row["outcome"])] += row["n"]
    return [
        close(stage, StageKind(kind), unit, total.total(), total)
        for (stage, kind, unit), total in counts.items()
    ]
