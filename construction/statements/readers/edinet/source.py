"""The files of an EDINET collection and their lines, read within limits.

The companies and filings of the lines are checked field by field.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Any, cast

import orjson
from pydantic import Field

from data.contracts import Disclosure, LedgerRow, Outcome, StageConfig
from data.errors import InputError

# Settings (part of the recipe), reasons and ledger rows of the EDINET reader.

_EdinetCode = Annotated[str, Field(pattern=r"^[EG][0-9]{5}$")]
STAGE = "edinet.read"


class EdinetConfig(StageConfig):
    """`us_traded`: EDINET codes of companies whose shares or depositary receipts are traded on a US
    exchange. EDINET does not provide this, and without the list no company counts as US.
    `max_line_bytes` and `max_inflated_bytes` (per file) limit what is read.
    """

    source: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")] = "edinet"
    disclosure: Disclosure = Disclosure.PUBLIC
    us_traded: tuple[_EdinetCode, ...] = ()
    max_line_bytes: Annotated[int, Field(ge=1)] = 64 << 20
    max_inflated_bytes: Annotated[int, Field(ge=1)] = 16 << 30
    max_code_list_bytes: Annotated[int, Field(ge=1)] = 64 << 20


class Reason(StrEnum):
    FILE_TOO_LARGE = "file.too_large"
    FILE_BROKEN = "file.broken"
    FILE_NO_CODE_LIST = "file.no_code_list"

    LINE_TOO_LONG = "line.too_long"
    LINE_NOT_JSON = "line.not_json"
    LINE_NOT_COMPANY = "line.not_company"

    FILING_NOT_OBJECT = "filing.not_object"
    FILING_FIELD = "filing.field"
    FILING_REPEATED = "filing.repeated"
    FILING_UNKNOWN_KIND = "filing.unknown_kind"
    FILING_PERIOD = "filing.period"  # ends after the filing, or before it starts
    FILING_EMPTY = "filing.empty"

    VALUE_MISSING = "value.missing"
    VALUE_NOT_A_NUMBER = "value.not_a_number"
    VALUE_LABEL = "value.label"
    VALUE_REPEATED_LABEL = "value.repeated_label"
    VALUE_SUMMARY_SAME = "value.summary_same"  # the statement has the same value
    VALUE_SUMMARY_DIFFERS = "value.summary_differs"  # may be of the parent company only
    # The filing has no such statement; the value may be of the parent company only.
    VALUE_SUMMARY_ALONE = "value.summary_alone"
    VALUE_CUT = "value.cut_to_millions"  # the summary's figure in a statement in thousands
    VALUE_PERIOD_IRREGULAR = "value.period_irregular"  # not 3, 6, 9 or 12 months
    VALUE_PERIOD_UNCLEAR = "value.period_unclear"  # the quarter, or the year to date?

    POINT_RESTATED = "point.restated"
    POINT_FILED_AGAIN = "point.filed_again"


def unusable_row(
    unit: str,
    item_id: str,
    outcome: Outcome,
    reason: Reason,
    location: tuple[str, int],
    actual: str,
    expected: str,
) -> LedgerRow:
    """The ledger row of an unusable file, line or filing; `location`: file and line."""
    return LedgerRow(
        STAGE,
        unit,
        item_id,
        outcome,
        reason=str(reason),
        evidence={
            "source_path": location[0],
            "line": location[1],
            "found": actual,
            "expected": expected,
        },
    )


_SUMMARIES = "edinet_summaries_*.jsonl.gz"
CODE_LIST = "EdinetcodeDlInfo.csv"
_BROKEN = (OSError, EOFError, zlib.error)


class Repeated(tuple[Any, ...]):
    """The values of a label that occurs several times in one JSON object."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line that holds a JSON object."""

    file: str
    number: int
    record: dict[str, Any]

    @property
    def item_id(self) -> str:
        return f"{self.file}:{self.number}"


def find_files(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Summary files and code lists among `paths`: files, or folders that contain them.

    Code lists in the folders of the summaries count too. Both are sorted by name; each file occurs
    once. Raises InputError for a path that does not exist and for paths without any summary file.
    """
    summaries: set[Path] = set()
    lists: set[Path] = set()
    for path in (given.resolve() for given in paths):
        if path.is_dir():
            summaries.update(inner for inner in path.glob(_SUMMARIES) if inner.is_file())
        elif not path.is_file():
            raise InputError(str(path), "nothing", "a file or folder", "Check the path.")
        elif path.suffix == ".csv":
            lists.add(path)
        else:
            summaries.add(path)
    if not summaries:
        given = ", ".join(str(path) for path in paths) or "no path"
        raise InputError(given, "no summaries", _SUMMARIES, "Pass a file or its folder.")
    folders = {path.parent for path in summaries} | {p.resolve() for p in paths if p.is_dir()}
    lists.update(path for folder in folders if (path := folder / CODE_LIST).is_file())
    return (sorted(summaries, key=_by_name), sorted(lists, key=_by_name))


def _by_name(path: Path) -> tuple[str, str]:
    return path.name, path.as_posix()


def company_lines(path: Path, name: str, config: EdinetConfig) -> Iterator[Line | LedgerRow]:
    """The lines of a file, and a ledger row for each that is not a JSON object.

    The last item is the row of the file itself: kept, or errored if it could not be read to its
    end; the lines before the break are kept.
    """
    number, remaining_bytes = 0, config.max_inflated_bytes
    try:
        with _opened(path) as handle:
            for number, raw, size in _raw_lines(handle, config.max_line_bytes):
                remaining_bytes -= size
                if remaining_bytes < 0:
                    limit = f"at most {config.max_inflated_bytes:,} bytes"
                    yield _file_row(name, number, Reason.FILE_TOO_LARGE, "more bytes", limit)
                    return
                item = None if raw is None else _parsed(name, number, raw, config)
                if item is not None:
                    yield item
    except _BROKEN as error:
        actual = f"{type(error).__name__} after line {number}"
        yield _file_row(name, number, Reason.FILE_BROKEN, actual, "a whole gzip or text file")
        return
    yield LedgerRow(STAGE, "file", name, Outcome.KEPT, evidence={"lines": number})


def _raw_lines(handle: IO[bytes], limit: int) -> Iterator[tuple[int, bytes | None, int]]:
    """Number, bytes and size of each line; the remainder of an overlong line is None."""
    number = 0
    inside = False
    while raw := handle.readline(limit + 1):
        number += not inside
        yield number, None if inside else raw, len(raw)
        inside = len(raw) > limit and not raw.endswith(b"\n")


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def _parsed(name: str, number: int, raw: bytes, config: EdinetConfig) -> Line | LedgerRow | None:
    """The object of a line, the ledger row of a line without one, None for a blank line."""
    if len(raw) > config.max_line_bytes:
        actual = f"more than {config.max_line_bytes:,} bytes"
        return _line_row(name, number, Reason.LINE_TOO_LONG, actual, "a shorter line")
    raw = raw.strip().removeprefix(BOM_UTF8 if number == 1 else b"")
    if not raw:
        return None
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError:
        actual = f"text, {len(raw)} bytes, not JSON"
        return _line_row(name, number, Reason.LINE_NOT_JSON, actual, "a JSON object")
    if not isinstance(record, dict):
        actual = f"{type(record).__name__}, {len(raw)} bytes"
        return _line_row(name, number, Reason.LINE_NOT_COMPANY, actual, "a JSON object")
    if raw.count(b'":') != _keys(record):
        record = _with_repeats(raw, record)
    return Line(name, number, record)


def _keys(record: dict[str, Any]) -> int:
    """How many keys a company's object has, tables of its filings included."""
    periods = record.get("periods")
    total = len(record)
    for period in periods if isinstance(periods, list) else ():
        if isinstance(period, dict):
            total += len(period) + sum(len(v) for v in period.values() if isinstance(v, dict))
    return total


def _with_repeats(raw: bytes, record: dict[str, Any]) -> dict[str, Any]:
    """The object with repeated keys kept as `Repeated`; the fast parser drops them.

    Needed only if the colons of the line do not match the number of keys.
    """
    try:
        return cast(dict[str, Any], json.loads(raw, object_pairs_hook=_object))
    except (ValueError, RecursionError):
        return record


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key not in values:
            values[key] = value
        elif isinstance(values[key], Repeated):
            values[key] = Repeated((*values[key], value))
        else:
            values[key] = Repeated((values[key], value))
    return values


def _file_row(name: str, line: int, reason: Reason, actual: str, expected: str) -> LedgerRow:
    return unusable_row("file", name, Outcome.ERRORED, reason, (name, line), actual, expected)


def _line_row(name: str, line: int, reason: Reason, actual: str, expected: str) -> LedgerRow:
    """The ledger row of an unusable line."""
    item_id = f"{name}:{line}"
    return unusable_row("line", item_id, Outcome.ERRORED, reason, (name, line), actual, expected)


TABLES = ("bs", "pl", "cf", "summary")  # in the order of a filing's statements
_CODE = re.compile(r"[EG][0-9]{5}")
_LONGEST_DOCUMENT = 32  # characters of its id
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
        return _line_row(line.file, line.number, Reason.LINE_NOT_COMPANY, *wrong)
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


def _is_document(text: str) -> bool:
    return text.isascii() and text.isalnum() and len(text) <= _LONGEST_DOCUMENT


def _filing(line: Line, company: Company, position: int, period: object) -> Filing | LedgerRow:
    item_id = f"{line.item_id}:{position}"
    if not isinstance(period, dict):
        return filing_row(item_id, line, Reason.FILING_NOT_OBJECT, _kind(period), "an object")
    document, description = period.get("docID"), period.get("docDescription")
    if not isinstance(document, str) or not _is_document(document):
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
