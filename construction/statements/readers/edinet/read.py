"""EDINET collections to the one model of statements (`construction.statements.model`).

Values are in yen, as filed; the collection names no other currency. It holds the current period
of each filing only, so that amended and repeated filings alone replace an earlier value.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from construction.statements.model import Statements
from construction.statements.readers.edinet.books import close_books
from construction.statements.readers.edinet.build import Dated, build
from construction.statements.readers.edinet.codelist import read_code_lists
from construction.statements.readers.edinet.companies import company_frame
from construction.statements.readers.edinet.config import EdinetConfig
from construction.statements.readers.edinet.filings import (
    Company,
    Filing,
    filing_row,
    read_line,
    unrepeated,
)
from construction.statements.readers.edinet.reasons import Reason
from construction.statements.readers.edinet.source import (
    Line,
    company_lines,
    find_files,
    short_names,
)
from construction.statements.readers.edinet.spans import report_of, span_of, term_starts
from data.contracts import LedgerRow

_KINDS = "an annual, half-year or quarterly report"
_ENDED = "a period that ends before the filing"


def read_edinet(paths: Sequence[Path], config: EdinetConfig) -> Statements:
    """Read `edinet_summaries_*.jsonl.gz`: files, or folders that hold them.

    The code list `EdinetcodeDlInfo.csv` is taken from `paths` or from beside the summaries.
    Neither the order of `paths` nor that of lines matters. Raises InputError if there is nothing
    to read; what cannot be used is in the ledger.
    """
    files, lists = find_files(paths)
    listed, ledger = read_code_lists(lists, config)
    companies, filings, rows = _read_files(files, config)
    n_lines = len(companies) + sum(row.unit == "line" for row in rows)
    n_filings = len(filings) + sum(row.unit == "filing" for row in rows)
    filings, repeated = unrepeated(filings)
    usable, rejected = _with_spans(filings)
    built = build(usable, config.source)
    ledger, tallies = close_books(
        [*ledger, *rows, *repeated, *rejected],
        (len(files) + len(lists), n_lines, n_filings),
        built,
    )
    known = [filing for filing, _ in usable]
    return Statements(
        company_frame(companies, known, listed, config),
        built.series,
        built.points,
        built.history,
        built.rows,
        ledger,
        tallies,
    )


def _read_files(
    files: Sequence[Path], config: EdinetConfig
) -> tuple[list[Company], list[Filing], list[LedgerRow]]:
    """Companies (one per line) and filings of all files, and the rows of what was not usable."""
    companies: list[Company] = []
    filings: list[Filing] = []
    rows: list[LedgerRow] = []
    for path, name in zip(files, short_names(files), strict=True):
        for line in company_lines(path, name, config):
            read = read_line(line) if isinstance(line, Line) else line
            if isinstance(read, LedgerRow):
                rows.append(read)
                continue
            companies.append(read[0])
            filings += [found for found in read[1] if isinstance(found, Filing)]
            rows += [found for found in read[1] if isinstance(found, LedgerRow)]
    return companies, filings, rows


def _with_spans(filings: Sequence[Filing]) -> tuple[list[Dated], list[LedgerRow]]:
    """The filings whose period is known, with their spans, and the rows of the others."""
    terms = term_starts(filings)
    usable: list[Dated] = []
    rows: list[LedgerRow] = []
    for filing in filings:
        report = report_of(filing.description)
        item_id = f"{filing.company}/{filing.document}"
        if report is None:
            found = f"text of {len(filing.description)}"
            rows.append(filing_row(item_id, filing, Reason.FILING_UNKNOWN_KIND, found, _KINDS))
            continue
        if not any(filing.tables):
            rows.append(filing_row(item_id, filing, Reason.FILING_EMPTY, "none", "a statement"))
            continue
        span = span_of(filing, report, terms)
        if span.start <= span.end <= filing.filed:
            usable.append((filing, span))
            continue
        found = f"{span.start} to {span.end}, filed {filing.filed}"
        rows.append(filing_row(item_id, filing, Reason.FILING_PERIOD, found, _ENDED))
    return usable, rows
