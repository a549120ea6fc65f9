"""Web pages that print financial statements, by rule from a release's public tables.

One page for each company, statement and period, as a site would show it: under headings, rounded to
whole millions, or to thousands where no amount reaches a hundred million. So not every question
can be answered exactly from them; answers are never looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import takewhile
from pathlib import Path
from typing import Any

from construction.statements.model import COMPANIES, POINTS, SEPARATOR, SERIES, read_tables
from construction.webpages.importing import PLAIN
from construction.webpages.pages import Page

_SITE = "https://statements.example"  # RFC 2606: a name that never resolves
_SCALES = ((10**6, "millions", 10**8), (10**3, "thousands", 0))
_CURRENCY = re.compile(r"[A-Z]{3}")
_PAGE = ("company_id", "statement", "period_start", "period_end", "months")
_NOT_IN_PATH = re.compile(r"[^a-z0-9]+")
_PARTS = {
    "FY": "all",
    "H1": "first half",
    "H2": "second half",
    "9M": "first nine months",
    "Q1": "first quarter",
    "Q2": "second quarter",
    "Q3": "third quarter",
    "Q4": "fourth quarter",
}
_Row = Mapping[str, Any]


def statement_pages(tables: Path) -> Iterator[Page]:
    """A page for each statement and period in the tables. Raises InputError as `read_tables`."""
    frames = read_tables(tables, (COMPANIES, SERIES, POINTS))
    companies = {row["company_id"]: row for row in frames["companies"].iter_rows(named=True)}
    rows = frames["points"].join(frames["series"].drop("company_id"), on="series_id")
    order = [*_PAGE, "row_order", "name", "series_id"]
    for group in rows.sort(order, nulls_last=True).partition_by(_PAGE, maintain_order=True):
        lines = group.to_dicts()
        yield _page(companies[lines[0]["company_id"]], lines)


def _page(company: _Row, rows: Sequence[_Row]) -> Page:
    first = rows[0]
    name, ticker = company["name"], company["ticker"]
    who = f"{name} ({ticker})" if ticker else name
    title = f"{who}: {first['statement']} {_days(first)}{_fiscal(first)}"
    filed = max((str(row["filed"]) for row in rows if row["filed"]), default=None)
    divisor, scale = _scale(rows)
    currency = next((row["unit"] for row in rows if _CURRENCY.fullmatch(row["unit"])), None)
    head = [
        title,
        *([company["name_local"]] if company["name_local"] else []),
        *([f"Amounts in {scale} of {currency}, rounded"] if currency else []),
        *([f"Filed {filed}"] if filed else []),
        "",
    ]
    text = "\n".join([*head, *_lines(rows, divisor, currency)])
    return Page(_url(first), title, filed, PLAIN, text)


def _lines(rows: Sequence[_Row], divisor: int, currency: str | None) -> Iterator[str]:
    """The rows under the headings of their sections."""
    above: list[str] = []
    for row in rows:
        sections = row["name"].split(SEPARATOR)[1:-1]
        yield from sections[_shared(above, sections) :]
        above = sections
        if row["unit"] == currency:
            yield f"{_label(row)}\t{_amount(Decimal(row['value']) / divisor)}"
        else:
            yield f"{_label(row)} ({row['unit']})\t{_plain(Decimal(row['value']))}"


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    """How many headings are the same from the outermost on."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _label(row: _Row) -> str:
    """The label, the one of the filing's language, and the part of the company that it is of."""
    names = [row["label"]]
    if row["name_local"]:
        names.append(row["name_local"].rpartition(SEPARATOR)[2])
    part = f" [{row['dimensions']}]" if row["dimensions"] else ""
    return " / ".join(dict.fromkeys(names)) + part


def _scale(rows: Sequence[_Row]) -> tuple[int, str]:
    """What amounts are divided by, and its name."""
    amounts = [abs(Decimal(row["value"])) for row in rows if _CURRENCY.fullmatch(row["unit"])]
    largest = max(amounts, default=Decimal(0))
    return next((divisor, word) for divisor, word, least in _SCALES if largest >= least)


def _amount(value: Decimal) -> str:
    return _plain(value.quantize(Decimal(1), ROUND_HALF_UP))


def _plain(value: Decimal) -> str:
    """With separators; negative numbers in brackets, as statements write them."""
    return f"({abs(value):,f})" if value < 0 else f"{value:,f}"


def _fiscal(row: _Row) -> str:
    if row["fiscal_year"] is None:
        return ""
    part = row["fiscal_period"] or "FY"
    return f", {_PARTS.get(part, part)} of fiscal year {row['fiscal_year']}"


def _days(row: _Row) -> str:
    if row["period_start"] is None:
        return f"as of {_day(row['period_end'])}"
    return f"from {_day(row['period_start'])} to {_day(row['period_end'])}"


def _day(day: Any) -> str:
    return f"{day:%B} {day.day}, {day.year}"


def _url(row: _Row) -> str:
    start = f"{row['period_start']}--" if row["period_start"] else ""
    company, statement = (_slug(row[name]) for name in ("company_id", "statement"))
    return f"{_SITE}/{company}/{statement}/{start}{row['period_end']}-{row['months']}m"


def _slug(text: str) -> str:
    return _NOT_IN_PATH.sub("-", text.lower()).strip("-")
