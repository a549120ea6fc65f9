"""The ledger of the SEC reader: the outcome of every file, line, filing, row and fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from construction.statements.readers.sec.contracts import STAGE, SecConfig, SecReason
from construction.statements.readers.sec.frames import TableFrame
from construction.statements.readers.sec.source import SourceTable
from data.contracts import LedgerRow, Outcome, Scalar, StageKind, StageTally
from data.ledger import close, tally

_BROKEN = frozenset(
    {
        SecReason.COLUMN_COUNT,
        SecReason.BAD_FILING,
        SecReason.BAD_ROW,
        SecReason.BAD_VALUE,
        SecReason.BAD_PERIOD,
    }
)
LedgerTable = tuple[list[LedgerRow], StageTally]


def file_ledger(
    read: Sequence[tuple[SourceTable, TableFrame]], others: Sequence[LedgerRow]
) -> LedgerTable:
    """One row per file; `replaced` counts the byte sequences that are not UTF-8."""
    kept = [
        LedgerRow(
            STAGE,
            "file",
            source.label,
            Outcome.KEPT,
            evidence={"lines": table.lines, "replaced": table.replaced},
        )
        for source, table in read
    ]
    rows = sorted([*kept, *others], key=lambda row: row.item_id)
    return rows, tally(STAGE, StageKind.FILTER, "file", [row.item_id for row in rows], rows)


def line_ledger(read: Sequence[tuple[SourceTable, TableFrame]], config: SecConfig) -> LedgerTable:
    """A row per broken line, up to a limit per file, and one row for the others of a file."""
    rows = []
    for source, table in read:
        listed = table.broken[: config.max_listed_lines]
        for line, n_columns in listed:
            at: dict[str, Scalar] = {
                "line": line,
                "found": f"{n_columns} columns",
                "expected": table.columns,
            }
            rows.append(_line_row(f"{source.label}:{line}", source.label, at))
        if more := len(table.broken) - len(listed):
            others: dict[str, Scalar] = {"found": "other columns", "expected": table.columns}
            rows.append(replace(_line_row(source.label, source.label, others), n=more))
    lines = sum(table.lines for _, table in read)
    broken = sum(len(table.broken) for _, table in read)
    counts = {Outcome.KEPT: lines - broken, Outcome.ERRORED: broken}
    return rows, close(STAGE, StageKind.FILTER, "line", lines, counts)


def filing_ledger(judged: pl.DataFrame) -> LedgerTable:
    """One row per row of `sub`; one without an accession number is named by file and position."""
    rows = []
    names = ("adsh", "form", "source", "reason")
    ordered = judged.select(names).sort("source", "adsh", *names, nulls_last=True)
    for number, (adsh, form, source, reason) in enumerate(ordered.iter_rows()):
        outcome, why = _outcome(reason)
        evidence: dict[str, Scalar] = {"source_path": source}
        if why is SecReason.BAD_FILING:
            item, evidence["expected"] = (
                f"{source}#{number}",
                "accession number, cik, day of filing",
            )
        elif why is SecReason.DUPLICATE_FILING:
            item = f"{adsh}#{number}"
        else:
            item, evidence["form"] = adsh, form
        rows.append(LedgerRow(STAGE, "filing", item, outcome, reason=why, evidence=evidence))
    return rows, tally(STAGE, StageKind.FILTER, "filing", [row.item_id for row in rows], rows)


def counted_ledger(unit: str, n_in: int, kept: pl.DataFrame, rejected: pl.DataFrame) -> LedgerTable:
    """One row per filing and outcome, with the number of its units as `n`.

    `kept` has the column document; `rejected` has adsh (null if unknown) and reason.
    """
    kept_counts = kept.group_by("document").len("n").with_columns(reason=pl.lit(None, pl.String))
    rejected_counts = rejected.group_by(
        pl.col("adsh").cast(pl.String).alias("document"), "reason"
    ).len("n")
    counted = pl.concat([kept_counts, rejected_counts.select(kept_counts.columns)]).select(
        "document", "reason", "n"
    )
    rows, counts = [], Counter[Outcome]()
    for document, reason, n in counted.sort("document", "reason").iter_rows():
        outcome, why = _outcome(reason)
        counts[outcome] += n
        item = f"{document or 'unknown'}:{why or 'kept'}"
        rows.append(LedgerRow(STAGE, unit, item, outcome, reason=why, n=n))
    return rows, close(STAGE, StageKind.FILTER, unit, n_in, counts)


def _outcome(reason: str | None) -> tuple[Outcome, SecReason | None]:
    if reason is None:
        return Outcome.KEPT, None
    why = SecReason(reason)
    return (Outcome.ERRORED if why in _BROKEN else Outcome.REJECTED), why


def _line_row(item: str, source: str, evidence: Mapping[str, Scalar]) -> LedgerRow:
    reason = SecReason.COLUMN_COUNT
    located = {"source_path": source, **evidence}
    return LedgerRow(STAGE, "line", item, Outcome.ERRORED, reason=reason, evidence=located)
