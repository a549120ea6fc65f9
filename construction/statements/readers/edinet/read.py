"""EDINET collections to the one model of statements (`construction.statements.model`).

Values are in yen, as filed; the collection names no other currency. It holds the current period
of each filing only, so that only amended and repeated filings replace an earlier value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from construction.statements.model import Statements
from construction.statements.readers.edinet.companies import company_frame, read_code_lists
from construction.statements.readers.edinet.contracts import STAGE, EdinetConfig, Reason
from construction.statements.readers.edinet.conventions import conventions_of
from construction.statements.readers.edinet.filings import (
    Company,
    Filing,
    filing_row,
    read_line,
    unrepeated,
)
from construction.statements.readers.edinet.periods import report_of, span_of, term_starts
from construction.statements.readers.edinet.source import (
    Line,
    company_lines,
    find_files,
    short_names,
)
from construction.statements.readers.edinet.tables import Built, Dated, build
from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.ledger import close

_KINDS = "an annual, half-year or quarterly report"
_ENDED = "a period that ends before the filing"


def close_ledger(
    rows: Sequence[LedgerRow],
    units: tuple[int, int, int],
    built: Built,
) -> tuple[list[LedgerRow], list[StageTally]]:
    """All ledger rows, with those of values and points added, and the tallies of the five units.

    `units`: the numbers of incoming files, lines and filings. Values are too many for a row each:
    one row per reason has their number.
    """
    files, lines, filings = units
    tallies = [_counted("file", files, rows), _counted("line", lines, rows)]
    tallies.append(_counted("filing", filings, rows))
    value_rows, value_tally = _aggregated("value", built.n_values, built.reasons)
    kept = built.n_values - built.reasons.total()
    restated = built.history.height
    again = kept - built.points.height - restated
    replaced = {str(Reason.POINT_RESTATED): restated, str(Reason.POINT_FILED_AGAIN): again}
    point_rows, point_tally = _aggregated("point", kept, replaced)
    every = sorted([*rows, *value_rows, *point_rows], key=lambda row: (row.unit, row.item_id))
    return every, [*tallies, value_tally, point_tally]


def _counted(unit: str, n_in: int, rows: Sequence[LedgerRow]) -> StageTally:
    """Kept are the units without a row of rejection or error; each such row is one unit."""
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


def read_edinet(paths: Sequence[Path], config: EdinetConfig) -> Statements:
    """Read `edinet_summaries_*.jsonl.gz`: files, or folders that contain them.

    The code list `EdinetcodeDlInfo.csv` is read from `paths` or from the folders of the summaries.
    Neither the order of `paths` nor that of lines matters. Raises InputError if there is nothing to
    read; unusable input is in the ledger.
    """
    files, lists = find_files(paths)
    listed, ledger = read_code_lists(lists, config)
    companies, filings, rows = _read_files(files, config)
    n_lines = len(companies) + sum(row.unit == "line" for row in rows)
    n_filings = len(filings) + sum(row.unit == "filing" for row in rows)
    filings, repeated = unrepeated(filings)
    usable, rejected = _with_spans(filings)
    built = build(usable, config.source)
    ledger, tallies = close_ledger(
        [*ledger, *rows, *repeated, *rejected],
        (len(files) + len(lists), n_lines, n_filings),
        built,
    )
    known = [filing for filing, _ in usable]
    named = company_frame(companies, known, listed, config)
    return Statements(
        named,
        built.series,
        built.points,
        built.history,
        built.rows,
        conventions_of(named, known),
        ledger=ledger,
        tallies=tallies,
    )


def _read_files(
    files: Sequence[Path], config: EdinetConfig
) -> tuple[list[Company], list[Filing], list[LedgerRow]]:
    """Companies (one per line) and filings of all files, and ledger rows of unusable ones."""
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
            filings += [item for item in read[1] if isinstance(item, Filing)]
            rows += [item for item in read[1] if isinstance(item, LedgerRow)]
    return companies, filings, rows


def _with_spans(filings: Sequence[Filing]) -> tuple[list[Dated], list[LedgerRow]]:
    """The filings whose period is known, with their spans, and ledger rows of the others."""
    terms = term_starts(filings)
    usable: list[Dated] = []
    rows: list[LedgerRow] = []
    for filing in filings:
        report = report_of(filing.description)
        item_id = f"{filing.company}/{filing.document}"
        if report is None:
            actual = f"text of {len(filing.description)}"
            rows.append(filing_row(item_id, filing, Reason.FILING_UNKNOWN_KIND, actual, _KINDS))
            continue
        if not any(filing.tables):
            rows.append(filing_row(item_id, filing, Reason.FILING_EMPTY, "none", "a statement"))
            continue
        span = span_of(filing, report, terms)
        if span.start <= span.end <= filing.filed:
            usable.append((filing, span))
            continue
        actual = f"{span.start} to {span.end}, filed {filing.filed}"
        rows.append(filing_row(item_id, filing, Reason.FILING_PERIOD, actual, _ENDED))
    return usable, rows
