"""EDINET collections to the one model of statements (`construction.statements.model`).

Values are in yen, as filed; the collection names no other currency. It holds the current period
of each filing only, so that only amended and repeated filings replace an earlier value. The EDINET
code list says more about its companies.

Japanese companies name their fiscal years by fiscal term, as their reports are titled. EDINET's
descriptions name no calendar year ("第93期(2015/04/01－2016/03/31)"). Whether a company calls that
year 2015年度 or 2016年3月期 is not in them, so that only a calendar year has a name.
"""

from __future__ import annotations

import csv
import io
import os
import re
from calendar import monthrange
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from pathlib import Path

import polars as pl

from construction.statements.conventions import DaysKnown, NamingEvidence
from construction.statements.model import COMPANIES, CONVENTIONS, Statements
from construction.statements.readers.edinet.source import (
    STAGE,
    Company,
    EdinetConfig,
    Filing,
    Line,
    Reason,
    company_lines,
    filing_row,
    find_files,
    read_line,
    unrepeated,
    unusable_row,
)
from construction.statements.readers.edinet.tables import Built, Dated, build
from construction.statements.readers.edinet.values import Kind, item_words, report_of, span_of
from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.ledger import close
from data.text.folding import fold_spaces, fold_width

_LONGEST_FIELD = 131_072  # characters, as in the library
_CALENDAR = "12-31"


def _conventions_of(companies: pl.DataFrame, filings: Sequence[Filing]) -> pl.DataFrame:
    """CONVENTIONS of EDINET's companies; a term counts if all annual reports count it alike."""
    offsets: dict[str, dict[int, list[Filing]]] = {}
    for filing in filings:
        report = report_of(filing.description)
        if report is not None and report.kind is Kind.ANNUAL and report.term is not None:
            by_offset = offsets.setdefault(filing.company, {})
            by_offset.setdefault(report.term - filing.end.year, []).append(filing)
    rows = []
    for company_id, year_end in companies.select("company_id", "fiscal_year_end").iter_rows():
        by_offset = offsets.get(company_id.partition(":")[2], {})
        steady = next(iter(by_offset.items())) if len(by_offset) == 1 else None
        is_calendar = year_end == _CALENDAR
        rows.append(
            {
                "company_id": company_id,
                "named_by": None,
                "evidence": NamingEvidence.CALENDAR if is_calendar else None,
                "agreeing": len(steady[1]) if steady else 0,
                "disagreeing": 0 if steady else sum(map(len, by_offset.values())),
                "example": _example(steady[1]) if steady else None,
                "term_offset": steady[0] if steady else None,
                "days": DaysKnown.STATED,
            }
        )
    return pl.DataFrame(rows, schema=CONVENTIONS.schema).sort("company_id")


def _example(filings: Sequence[Filing]) -> str:
    newest = max(filings, key=lambda filing: (filing.end, filing.document))
    report = report_of(newest.description)
    assert report is not None
    return f"{newest.document}: term {report.term}, of the year that ended on {newest.end}"


# Columns, by their normalised names.
_CODE, _KIND, _NAME_EN = "EDINETコード", "提出者種別", "提出者名(英字)"
_INDUSTRY, _YEAR_END, _ADDRESS = "提出者業種", "決算日", "所在地"
_NAME_KANA = "提出者名(ヨミ)"  # used where the list has it
_NEEDED = (_CODE, _KIND, _NAME_EN, _INDUSTRY, _YEAR_END, _ADDRESS)
_ENCODINGS = ("utf-8-sig", "cp932")
_HEAD_LINES = 5  # the header follows a line with the date of the list
_DAY = re.compile(r"([0-9]{1,2})月(末|[0-9]{1,2})日")
_FOREIGN, _HOME = "外国", "JP"
# Countries by the start of foreign filers' addresses; others are unknown.
_COUNTRIES = {
    "アメリカ合衆国": "US",
    "米国": "US",
    "シンガポール": "SG",
    "マレーシア": "MY",
    "ケイマン諸島": "KY",
    "英国": "GB",
    "連合王国": "GB",
    "中華人民共和国": "CN",
    "香港": "HK",
    "台湾": "TW",
    "大韓民国": "KR",
    "オランダ": "NL",
    "フランス": "FR",
    "ドイツ": "DE",
    "カナダ": "CA",
    "オーストラリア": "AU",
}
_LANGUAGE = "ja"


@dataclass(frozen=True, slots=True)
class _Listed:
    """What the code list says about a filer; None for what is missing or unusable."""

    name: str | None
    industry: str | None
    year_end: str | None  # MM-DD
    country: str | None  # ISO 3166 alpha-2
    kana: str | None = None  # how the name is read


def _read_code_lists(
    paths: Sequence[Path], config: EdinetConfig
) -> tuple[dict[str, _Listed], list[LedgerRow]]:
    """Filers by EDINET code (the last list takes precedence), and a ledger row per list."""
    listed: dict[str, _Listed] = {}
    rows: list[LedgerRow] = []
    for path, name in zip(paths, _short_names(paths), strict=True):
        filers = _read(path, config)
        if isinstance(filers, str):
            reason, location = Reason.FILE_NO_CODE_LIST, (name, 0)
            row = unusable_row(
                "file", name, Outcome.ERRORED, reason, location, filers, "a code list"
            )
        else:
            listed.update(filers)
            row = LedgerRow(STAGE, "file", name, Outcome.KEPT, evidence={"filers": len(filers)})
        rows.append(row)
    return listed, rows


def _short_names(paths: Sequence[Path]) -> list[str]:
    """POSIX paths relative to the common folder: one name per file, without machine paths."""
    if not paths:
        return []
    root = os.path.commonpath([path.parent for path in paths])
    return [path.relative_to(root).as_posix() for path in paths]


def _read(path: Path, config: EdinetConfig) -> dict[str, _Listed] | str:
    """The filers of a list, or a description of what the file holds instead."""
    try:
        with path.open("rb") as handle:
            raw = handle.read(config.max_code_list_bytes + 1)
    except OSError as error:
        return type(error).__name__
    if len(raw) > config.max_code_list_bytes:
        return f"more than {config.max_code_list_bytes:,} bytes"
    text = _decoded(raw)
    if text is None:
        return "text in another encoding than UTF-8 and Shift JIS"
    try:
        csv.field_size_limit(_LONGEST_FIELD)  # of the process: others may have raised it
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        return "broken CSV"
    return _filers(rows)


def _decoded(raw: bytes) -> str | None:
    for encoding in _ENCODINGS:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _filers(rows: list[list[str]]) -> dict[str, _Listed] | str:
    for number, row in enumerate(rows[:_HEAD_LINES]):
        header = [_plain(cell) for cell in row]
        if all(name in header for name in _NEEDED):
            known = [name for name in (*_NEEDED, _NAME_KANA) if name in header]
            columns = {name: header.index(name) for name in known}
            widest = max(columns.values())
            bodies = (body for body in rows[number + 1 :] if len(body) > widest)
            cells = ({name: body[at] for name, at in columns.items()} for body in bodies)
            return {_plain(told[_CODE]): _listing(told) for told in cells}
    return "no header of a code list"


def _listing(cells: dict[str, str]) -> _Listed:
    kind, industry = _plain(cells[_KIND]), _plain(cells[_INDUSTRY])
    # Filers without statements of their own have their kind as industry.
    sector = industry if industry and industry != kind and "提出義務者" not in industry else None
    country = _country(cells[_ADDRESS]) if kind.startswith(_FOREIGN) else _HOME
    kana = _plain(cells.get(_NAME_KANA, "")) or None
    ends = _year_end(cells[_YEAR_END])
    return _Listed(_plain(cells[_NAME_EN]) or None, sector, ends, country, kana)


def _country(address: str) -> str | None:
    plain = _plain(address)
    return next((code for name, code in _COUNTRIES.items() if plain.startswith(name)), None)


def _year_end(text: str) -> str | None:
    """`3月31日`, `3月末日` -> 03-31; the end of February is 02-28, whatever the year."""
    match = _DAY.fullmatch(_plain(text))
    if match is None or not 1 <= int(match[1]) <= 12:
        return None
    month = int(match[1])
    last = monthrange(2023, month)[1]  # no leap year
    day = last if match[2] == "末" else int(match[2])
    return f"{month:02d}-{day:02d}" if 1 <= day <= last else None


def _plain(text: str) -> str:
    return fold_spaces(fold_width(text))


_NAME_WORD = re.compile(r"[A-Za-z]{5,20}")
_NAME_ALIKE = 0.9  # of two spellings of one name or word, one letter wrong or missing
_UNLISTED = _Listed(name=None, industry=None, year_end=None, country="JP")


def _company_frame(
    companies: Sequence[Company],
    filings: Sequence[Filing],
    listed: Mapping[str, _Listed],
    config: EdinetConfig,
) -> pl.DataFrame:
    """COMPANIES, one row per code, named by its first line in order of file and number.

    Without an entry in the code list the name stays Japanese, the country is assumed to be Japan,
    and the fiscal year ends as in the newest annual report. The exchange is unknown.
    """
    first = {c.code: c for c in sorted(companies, key=lambda c: (c.seen, c.code), reverse=True)}
    ends = _year_ends(filings)
    rows = []
    for code, company in first.items():
        listing = listed.get(code, _UNLISTED)
        rows.append(
            {
                "company_id": f"{config.source}:{code}",
                "source": config.source,
                "disclosure": config.disclosure.value,
                "ticker": company.ticker,
                "name": _mended_name(listing.name, company.name) or company.name,
                "name_local": company.name,
                "name_kana": listing.kana,
                "country": listing.country,
                "exchange": None,
                "us": code in config.us_traded,
                "industry": listing.industry,
                "fiscal_year_end": listing.year_end or ends.get(code),
                "language": _LANGUAGE,
            }
        )
    return pl.DataFrame(rows, schema=COMPANIES.schema).sort("company_id")


def _mended_name(listed: str | None, filed: str) -> str | None:
    """The code list's English name without its slips: as the filing has it, if that is in Latin
    letters and all but the same, else with common words spelled right ("Corpolation")."""
    if listed is None:
        return None
    own = _plain(filed)
    alike = SequenceMatcher(None, listed.casefold(), own.casefold()).ratio()
    if own.isascii() and _NAME_ALIKE <= alike < 1:
        return own
    return _NAME_WORD.sub(_respelled, listed)


def _respelled(match: re.Match[str]) -> str:
    word = match[0]
    plain = word.lower()
    for known in map(str, item_words()["named"]):
        if plain.rstrip("s") == known.rstrip("s") or not match.start():
            return word  # as it is, another number, or the name itself (COMANY)
        near = abs(len(plain) - len(known)) < 2 and not plain.startswith(known)
        if near and SequenceMatcher(None, plain, known).ratio() >= _NAME_ALIKE:
            return known.upper() if word.isupper() else known.capitalize()
    return word


def _year_ends(filings: Sequence[Filing]) -> dict[str, str]:
    """MM-DD of the newest annual report by company; the end of February is 02-28."""
    ends: dict[str, str] = {}
    for filing in sorted(filings, key=lambda filing: (filing.end, filing.document)):
        report = report_of(filing.description)
        if report is not None and report.kind is Kind.ANNUAL:
            day = filing.end.strftime("%m-%d")
            ends[filing.company] = "02-28" if day == "02-29" else day
    return ends


_KINDS = "an annual, half-year or quarterly report"
_ENDED = "a period that ends before the filing"


def _close_ledger(
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
    listed, ledger = _read_code_lists(lists, config)
    companies, filings, rows = _read_files(files, config)
    n_lines = len(companies) + sum(row.unit == "line" for row in rows)
    n_filings = len(filings) + sum(row.unit == "filing" for row in rows)
    filings, repeated = unrepeated(filings)
    usable, rejected = _with_spans(filings)
    built = build(usable, config.source)
    ledger, tallies = _close_ledger(
        [*ledger, *rows, *repeated, *rejected],
        (len(files) + len(lists), n_lines, n_filings),
        built,
    )
    known = [filing for filing, _ in usable]
    named = _company_frame(companies, known, listed, config)
    return Statements(
        named,
        built.series,
        built.points,
        built.history,
        built.rows,
        _conventions_of(named, known),
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
    for path, name in zip(files, _short_names(files), strict=True):
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
    terms = _term_starts(filings)
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


def _term_starts(filings: Sequence[Filing]) -> dict[tuple[str, int], date]:
    """First day of each fiscal term (company, term), from the newest of its annual reports."""
    starts: dict[tuple[str, int], date] = {}
    for filing in sorted(filings, key=lambda filing: (filing.filed, filing.document)):
        report = report_of(filing.description)
        if report is not None and report.kind is Kind.ANNUAL and report.term is not None:
            starts[filing.company, report.term] = filing.start
    return starts
