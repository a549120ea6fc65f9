"""The companies of a collection, and what the EDINET code list says about them."""

from __future__ import annotations

import csv
import io
import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from construction.statements.model import COMPANIES
from construction.statements.readers.edinet.contracts import (
    STAGE,
    EdinetConfig,
    Reason,
    unusable_row,
)
from construction.statements.readers.edinet.filings import Company, Filing
from construction.statements.readers.edinet.periods import Kind, report_of
from construction.statements.readers.edinet.source import short_names
from data.contracts import LedgerRow, Outcome
from data.text.folding import fold_spaces, fold_width

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
class Listed:
    """What the code list says about a filer; None for what is missing or unusable."""

    name: str | None
    industry: str | None
    year_end: str | None  # MM-DD
    country: str | None  # ISO 3166 alpha-2
    kana: str | None = None  # how the name is read


def read_code_lists(
    paths: Sequence[Path], config: EdinetConfig
) -> tuple[dict[str, Listed], list[LedgerRow]]:
    """Filers by EDINET code (the last list takes precedence), and a ledger row per list."""
    listed: dict[str, Listed] = {}
    rows: list[LedgerRow] = []
    for path, name in zip(paths, short_names(paths), strict=True):
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


def _read(path: Path, config: EdinetConfig) -> dict[str, Listed] | str:
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


def _filers(rows: list[list[str]]) -> dict[str, Listed] | str:
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


def _listing(cells: dict[str, str]) -> Listed:
    kind, industry = _plain(cells[_KIND]), _plain(cells[_INDUSTRY])
    # Filers without statements of their own have their kind as industry.
    sector = industry if industry and industry != kind and "提出義務者" not in industry else None
    country = _country(cells[_ADDRESS]) if kind.startswith(_FOREIGN) else _HOME
    kana = _plain(cells.get(_NAME_KANA, "")) or None
    ends = year_end(cells[_YEAR_END])
    return Listed(_plain(cells[_NAME_EN]) or None, sector, ends, country, kana)


def _country(address: str) -> str | None:
    plain = _plain(address)
    return next((code for name, code in _COUNTRIES.items() if plain.startswith(name)), None)


def year_end(text: str) -> str | None:
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


_UNLISTED = Listed(name=None, industry=None, year_end=None, country="JP")


def company_frame(
    companies: Sequence[Company],
    filings: Sequence[Filing],
    listed: Mapping[str, Listed],
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
                "name": listing.name or company.name,
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


def _year_ends(filings: Sequence[Filing]) -> dict[str, str]:
    """MM-DD of the newest annual report by company; the end of February is 02-28."""
    ends: dict[str, str] = {}
    for filing in sorted(filings, key=lambda filing: (filing.end, filing.document)):
        report = report_of(filing.description)
        if report is not None and report.kind is Kind.ANNUAL:
            day = filing.end.strftime("%m-%d")
            ends[filing.company] = "02-28" if day == "02-29" else day
    return ends
