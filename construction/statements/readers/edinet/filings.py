"""Companies and filings of the lines, checked field by field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from construction.statements.readers.edinet.contracts import Reason, unusable_row
from construction.statements.readers.edinet.source import Line, line_row
from data.contracts import LedgerRow, Outcome

TABLES = ("bs", "pl", "cf", "summary")  # in the order of a filing's statements
_CODE = re.compile(r"[EG][0-9]{5}")
_DOCUMENT = re.compile(r"[0-9A-Za-z]{1,32}")
_SECURITY = re.compile(r"([0-9][0-9A-Z]{3})0?")
_DATES = ("periodStart", "periodEnd", "submitDateTime")
_FIRST_YEAR, _LAST_YEAR = 1950, 2100
_LONGEST_TEXT = 500


@dataclass(frozen=True, slots=True)
class Filing:
    """One filing as it is in the file: with the dates stated there, its tables unchecked."""

    company: str
    document: str
    description: str
    start: date
    end: date
    filed: date
    tables: tuple[Mapping[str, Any], ...]  # in the order of TABLES
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Company:
    """A company as one of its lines names it; `seen` is that file and line."""

    code: str
    ticker: str | None
    name: str
    seen: tuple[str, int]


def read_line(line: Line) -> tuple[Company, list[Filing | LedgerRow]] | LedgerRow:
    """The company of a line with its filings; a ledger row instead of each unusable filing.

    A line without a company gives the row of that line.
    """
    record = line.record
    code, name, periods = (record.get(key) for key in ("edinetCode", "filerName", "periods"))
    wrong = _wrong(code, name, periods)
    if wrong is not None:
        return line_row(line.file, line.number, Reason.LINE_NOT_COMPANY, *wrong)
    security = record.get("secCode")
    match = _SECURITY.fullmatch(security) if isinstance(security, str) else None
    plain = " ".join(str(name).split())
    company = Company(str(code), match[1] if match else None, plain, (line.file, line.number))
    assert isinstance(periods, list)
    filings = [_filing(line, company, n, period) for n, period in enumerate(periods)]
    return company, filings


def _wrong(code: object, name: object, periods: object) -> tuple[str, str] | None:
    """Actual and expected content of the first field of a company that does not fit, if any."""
    if not isinstance(code, str) or not _CODE.fullmatch(code):
        return f"edinetCode: {_kind(code)}", "E and five digits"
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _LONGEST_TEXT:
        return f"filerName: {_kind(name)}", "a name"
    if not isinstance(periods, list):
        return f"periods: {_kind(periods)}", "a list"
    return None


def _filing(line: Line, company: Company, position: int, period: object) -> Filing | LedgerRow:
    item_id = f"{line.item_id}:{position}"
    if not isinstance(period, dict):
        return filing_row(item_id, line, Reason.FILING_NOT_OBJECT, _kind(period), "an object")
    document, description = period.get("docID"), period.get("docDescription")
    if not isinstance(document, str) or not _DOCUMENT.fullmatch(document):
        actual = f"docID: {_kind(document)}"
        return filing_row(item_id, line, Reason.FILING_FIELD, actual, "letters and digits")
    if not isinstance(description, str) or len(description) > _LONGEST_TEXT:
        actual = f"docDescription: {_kind(description)}"
        return filing_row(item_id, line, Reason.FILING_FIELD, actual, "a short text")
    days = [_day(period.get(key)) for key in _DATES]
    for key, day in zip(_DATES, days, strict=True):
        if day is None:
            actual = f"{key}: {_kind(period.get(key))}"
            return filing_row(item_id, line, Reason.FILING_FIELD, actual, "YYYY-MM-DD")
    tables = [period.get(key) for key in TABLES]
    for key, table in zip(TABLES, tables, strict=True):
        if not isinstance(table, dict):
            actual = f"{key}: {_kind(table)}"
            return filing_row(item_id, line, Reason.FILING_FIELD, actual, "an object")
    start, end, filed = (day for day in days if day is not None)
    kept = tuple(table for table in tables if isinstance(table, dict))
    return Filing(
        company.code, document, description, start, end, filed, kept, line.file, line.number
    )


def _day(value: object) -> date | None:
    if not isinstance(value, str):
        return None
    try:
        day = date.fromisoformat(value[:10])
    except ValueError:
        return None
    return day if _FIRST_YEAR <= day.year <= _LAST_YEAR else None


def _kind(value: object) -> str:
    """Type and length of a value, never its text."""
    return (
        f"{type(value).__name__} of {len(value)}"
        if isinstance(value, str | list)
        else ("nothing" if value is None else type(value).__name__)
    )


def filing_row(
    item_id: str, line: Line | Filing, reason: Reason, actual: str, expected: str
) -> LedgerRow:
    """The ledger row of an unusable filing."""
    location = (line.file, line.number if isinstance(line, Line) else line.line)
    return unusable_row("filing", item_id, Outcome.REJECTED, reason, location, actual, expected)


def unrepeated(filings: list[Filing]) -> tuple[list[Filing], list[LedgerRow]]:
    """Each document once, sorted by company and document, and a row for every other copy.

    Which copy is kept does not depend on their order: the one whose content sorts first.
    """
    ordered = sorted(filings, key=lambda filing: (filing.document, filing.company))
    kept: list[Filing] = []
    rows: list[LedgerRow] = []
    for filing in ordered:
        if not kept or kept[-1].document != filing.document:
            kept.append(filing)
            continue
        first, second = sorted((kept[-1], filing), key=_content)
        kept[-1] = first
        item_id = f"{second.file}:{second.line}:{second.document}"
        actual, expected = "a document of an earlier line", "each document once"
        rows.append(filing_row(item_id, second, Reason.FILING_REPEATED, actual, expected))
    return sorted(kept, key=lambda filing: (filing.company, filing.document)), rows


def _content(filing: Filing) -> tuple[str, date, date, date, str, str, str, int]:
    """The content of a filing, then its location, which decides only between equal copies."""
    days = filing.start, filing.end, filing.filed
    tables = repr([list(table.items()) for table in filing.tables])
    return filing.company, *days, filing.description, tables, filing.file, filing.line
