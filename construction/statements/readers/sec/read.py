"""Reads SEC Financial Statement Data Sets into the model of statements.

Every file, line, filing, row and fact has its outcome in the ledger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import polars as pl

from construction.statements.model import Statements
from construction.statements.readers.sec.contracts import STAGE, SecConfig, SecReason
from construction.statements.readers.sec.conventions import conventions_of
from construction.statements.readers.sec.facts import judged_facts
from construction.statements.readers.sec.filings import companies_of, judged_filings, known_filings
from construction.statements.readers.sec.frames import TableFrame, empty_table, read_table
from construction.statements.readers.sec.points import (
    Context,
    points_of,
    series_of,
    series_table,
    tag_table,
    with_series,
)
from construction.statements.readers.sec.source import (
    SecTable,
    SourceError,
    SourceTable,
    file_row,
    find_tables,
)
from construction.statements.readers.sec.statement_rows import (
    judged_rows,
    rows_of,
    standing,
    tag_rows_in_filings,
    tag_rows_of_companies,
)
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


_READERS = 2  # threads; inflating takes longest


def read_sec(
    paths: Sequence[Path], config: SecConfig | None = None, tickers: Path | None = None
) -> Statements:
    """Read data sets: zips, or folders with the tables as text or Parquet, or with zips.

    `tickers` is a Parquet file with the columns cik, ticker, exchange: the listings of today.
    Consolidated and dimensioned facts become points of series. See `series_of` for statements and
    labels, `unit_of` for units, `judged_facts` for periods, `restate.latest` for restated values,
    `companies_of` for the listing. Names are flat; category and fiscal periods are null. Everything
    read is in the ledger. Raises InputError as `find_tables`, and for unreadable tickers.
    """
    settings = config or SecConfig()
    frames, accounts = _read_tables(paths, settings)
    tags = tag_table(frames[SecTable.TAG])
    judged = judged_filings(frames[SecTable.SUB], settings.source)
    filings = known_filings(judged)
    rows = judged_rows(frames[SecTable.PRE], filings)
    conventions, closings = conventions_of(filings, frames[SecTable.PRE], frames[SecTable.NUM])
    facts = judged_facts(frames[SecTable.NUM].drop("footnote"), filings, tags)
    sound = facts.filter(pl.col("reason").is_null()).with_row_index("fact")
    series = series_of(sound, tag_rows_of_companies(standing(rows)), tags, settings)
    numbered = with_series(sound, series)
    points = points_of(numbered, Context(series, filings, tag_rows_in_filings(standing(rows))))
    kept = series.filter(pl.col("sid").is_in(points.sids.implode()))
    shown = rows_of(rows, numbered, kept, tags)
    lost = pl.concat([_rejected(facts), points.rejected])
    row_ledger = counted_ledger("row", rows.height, shown, _rejected(rows))
    fact_ledger = counted_ledger("fact", facts.height, points.points, lost)
    accounts += [filing_ledger(judged), row_ledger, fact_ledger]
    return Statements(
        companies=companies_of(judged, tickers, settings),
        series=series_table(kept),
        points=points.points,
        history=points.history,
        rows=shown,
        conventions=conventions,
        closings=closings,
        ledger=[row for ledger, _ in accounts for row in ledger],
        tallies=[tally for _, tally in accounts],
    )


def _read_tables(
    paths: Sequence[Path], config: SecConfig
) -> tuple[dict[SecTable, pl.DataFrame], list[LedgerTable]]:
    """All data sets together, one frame per table, and the ledger of files and lines."""
    sources, others = find_tables(paths, config)
    with ThreadPoolExecutor(_READERS) as pool:
        results = list(pool.map(lambda source: _try_table(source, config), sources))
    read = [
        (source, table)
        for source, table in zip(sources, results, strict=True)
        if isinstance(table, TableFrame)
    ]
    others = [*others, *(row for row in results if isinstance(row, LedgerRow))]
    frames = {
        name: pl.concat(
            [table.frame for source, table in read if source.table is name] or [empty_table(name)]
        )
        for name in SecTable
    }
    return frames, [file_ledger(read, others), line_ledger(read, config)]


def _try_table(source: SourceTable, config: SecConfig) -> TableFrame | LedgerRow:
    try:
        return read_table(source, config)
    except SourceError as error:
        return file_row(source.label, error.reason, error.actual, error.expected)


def _rejected(judged: pl.DataFrame) -> pl.DataFrame:
    """Filing and reason of what was not kept; the filing is null if it is unknown."""
    return judged.filter(pl.col("reason").is_not_null()).select(
        pl.when(pl.col("nth").is_not_null()).then("adsh").cast(pl.String).alias("adsh"), "reason"
    )
