"""Reads SEC Financial Statement Data Sets into the model of statements."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl

from construction.statements.model import Statements
from construction.statements.readers.sec.contracts import SecConfig
from construction.statements.readers.sec.facts import judged_facts
from construction.statements.readers.sec.filings import companies_of, judged_filings, known_filings
from construction.statements.readers.sec.frames import TableFrame, empty_table, read_table
from construction.statements.readers.sec.ledger_tables import (
    LedgerTable,
    counted_ledger,
    file_ledger,
    filing_ledger,
    line_ledger,
)
from construction.statements.readers.sec.points import Context, points_of, with_series
from construction.statements.readers.sec.series import series_of, series_table, tag_table
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
from data.contracts import LedgerRow

_READERS = 2  # threads; inflating takes longest


def read_sec(
    paths: Sequence[Path], config: SecConfig | None = None, tickers: Path | None = None
) -> Statements:
    """Read data sets: zips, or folders with the tables as text or Parquet, or with zips.

    `tickers` is a Parquet file with the columns cik, ticker, exchange: the listings of today.
    Consolidated and dimensioned facts become points of series. See `series_of` for statements and
    labels, `unit_of` for units, `judged_facts` for periods, `restate.latest` for restated values,
    `companies_of` for the listing. Names are flat; category and fiscal periods are left null. Every
    file, line, filing, row and fact is in the ledger. Raises InputError for a missing path, paths
    without any table, or unreadable tickers.
    """
    settings = config or SecConfig()
    frames, accounts = _read_tables(paths, settings)
    tags = tag_table(frames[SecTable.TAG])
    judged = judged_filings(frames[SecTable.SUB], settings.source)
    filings = known_filings(judged)
    rows = judged_rows(frames[SecTable.PRE], filings)
    facts = judged_facts(frames[SecTable.NUM], filings, tags)
    sound = facts.filter(pl.col("reason").is_null()).with_row_index("fact")
    series = series_of(sound, tag_rows_of_companies(standing(rows)), tags, settings)
    numbered = with_series(sound, series)
    points = points_of(numbered, Context(series, filings, tag_rows_in_filings(standing(rows))))
    kept = series.filter(pl.col("sid").is_in(points.sids.implode()))
    shown = rows_of(rows, numbered, kept, tags)
    rejected_facts = pl.concat([_rejected(facts), points.rejected])
    accounts += [
        filing_ledger(judged),
        counted_ledger("row", rows.height, shown, _rejected(rows)),
        counted_ledger("fact", facts.height, points.points, rejected_facts),
    ]
    return Statements(
        companies=companies_of(judged, tickers, settings),
        series=series_table(kept),
        points=points.points,
        history=points.history,
        rows=shown,
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
