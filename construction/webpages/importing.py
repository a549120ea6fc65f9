"""Folders of pages are made: from saved pages, or by rule from a release's public tables.

Saved pages are files and a CSV table of their addresses, with the columns `file`, relative to the
folder, and `url`; `captured` (an ISO day) and `title` are optional. Every row of the table and
every file that it does not name has an outcome in the ledger beside the pages.

Pages that print financial statements, one for each company, statement and period, are as a site
would show them: under headings, rounded to whole millions, or to thousands where no amount reaches
a hundred million. So not every question can be answered exactly from them; answers are never looked
at.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import takewhile
from pathlib import Path
from typing import Any

from lxml import etree, html

from construction.grading.file_child import regular_files
from construction.grading.openers import decode
from construction.mentions.urls import normalise
from construction.statements.model import COMPANIES, POINTS, SEPARATOR, SERIES, read_tables
from construction.webpages.pages import Page, PageFolder, address, open_pages, write_pages
from data.atomic import replacing_dir
from data.child import Child, ChildFailed, ChildLimits, confine, read_frame, write_frame
from data.contracts import LedgerRow, Outcome, StageKind
from data.errors import InputError
from data.neutralise import one_line, visible
from data.stage_tables import write_stage_tables
from data.text.dates import is_iso_day

HTML, PDF, _PLAIN = "text/html", "application/pdf", "text/plain"
_MOST_BYTES = 32 << 20
_MOST_CHARS = 1_000_000  # of one page's text
_LIMITS = ChildLimits(seconds=20, memory_bytes=1 << 30, answer_bytes=13 * _MOST_CHARS)
_LEFT_OUT = frozenset(
    [
        *("script", "style", "noscript", "template", "head", "iframe", "object", "embed", "applet"),
        *("svg", "math", "canvas", "audio", "video", "select", "textarea", "button"),
    ]
)
_LINES = frozenset(
    [
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt"),
        *("figcaption", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"),
        *("main", "nav", "ol", "p", "pre", "section", "table", "title", "tr", "ul"),
    ]
)
_CELLS = frozenset({"td", "th"})
_HIDDEN = ("display:none", "visibility:hidden")


@dataclass(frozen=True, slots=True)
class _PageText:
    """What a page says. `reason` is set where it could not be read, such as `page.unreadable`."""

    title: str = ""
    text: str = ""
    reason: str | None = None


def _text_of(path: Path, media_type: str) -> _PageText:
    """The text of a saved page, read in a child process; at most `_MOST_CHARS` of it."""
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        return _PageText(reason="page.too_large")
    try:
        with Child(__name__, _LIMITS) as child:
            child.send(json.dumps({"media_type": media_type}).encode())
            child.send(content)
            page = _PageText(**json.loads(child.receive()))
    except ChildFailed:
        return _PageText(reason="page.limit")
    return page if page.text or page.reason else _PageText(reason="page.no_text")


def _html_text(content: bytes) -> tuple[str, str]:
    """Title and text of an HTML page, with a line per block and a tab between cells."""
    # Without an encoding the parser looks for the page's own declaration.
    encoding = "utf-8" if _is_utf8(content) else None
    parser = html.HTMLParser(
        no_network=True, huge_tree=False, remove_comments=True, encoding=encoding
    )
    root = html.document_fromstring(content, parser=parser)
    title = root.findtext(".//title") or ""
    lines = (line.strip() for line in "".join(_pieces(root)).split("\n"))
    return title, "\n".join(filter(None, lines))


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _pieces(root: etree._Element) -> Iterator[str]:
    """The visible text in order, without recursion: pages may be nested to any depth."""
    closes: list[etree._Element] = []
    skipped: etree._Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            closes.append(element)
            if skipped is None and _is_hidden(element):
                skipped = element
            if skipped is None:
                yield _before(element) + (element.text or "")
        else:
            closes.pop()
            ended = skipped is None
            skipped = None if skipped is element else skipped
            if ended and element.tag in _LINES:
                yield "\n"
            if skipped is None and closes:
                yield element.tail or ""


def _before(element: etree._Element) -> str:
    if element.tag in _LINES:
        return "\n"
    return "\t" if element.tag in _CELLS else ""


def _is_hidden(element: etree._Element) -> bool:
    if not isinstance(element.tag, str) or element.tag in _LEFT_OUT:
        return True
    return "hidden" in element.attrib or any(
        style in "".join(element.get("style", "").lower().split()) for style in _HIDDEN
    )


def _pdf_text(content: bytes) -> tuple[str, str]:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content))
    title = (reader.metadata.title if reader.metadata else None) or ""
    parts: list[str] = []
    room = _MOST_CHARS
    for page in reader.pages:
        parts.append(page.extract_text())
        room -= len(parts[-1])
        if room <= 0:
            break
    return str(title), "\n\n".join(parts)


def _read(content: bytes, media_type: str) -> _PageText:
    if media_type == PDF:
        title, text = _pdf_text(content)
    elif media_type == HTML:
        title, text = _html_text(content)
    else:
        title, text = "", decode(content)
    return _PageText(" ".join(visible(title).split())[:300], _tidy(text)[:_MOST_CHARS])


def _tidy(text: str) -> str:
    """Control characters made visible, runs of white space as one, a tab between cells."""
    rows = ([" ".join(cell.split()) for cell in r.split("\t")] for r in visible(text).split("\n"))
    shown = "\n".join("\t".join(filter(None, cells)) for cells in rows).strip()
    while "\n\n\n" in shown:
        shown = shown.replace("\n\n\n", "\n\n")
    return shown


def main() -> None:
    """Read one page."""
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    source = sys.stdin.buffer
    answer = confine(seconds, memory)
    task = json.loads(read_frame(source, _MOST_BYTES))
    content = read_frame(source, _MOST_BYTES)
    try:
        page = _read(content, task["media_type"])
    except ImportError:
        page = _PageText(reason="page.no_library")
    except (MemoryError, RecursionError):
        page = _PageText(reason="page.limit")
    except Exception:  # a library may raise anything on a hostile file
        page = _PageText(reason="page.unreadable")
    write_frame(answer, json.dumps(asdict(page)).encode())


_STAGE, _UNIT = "pages", "page"
_MOST_PAGES = 1_000_000
_MOST_TEXT = 1 << 30  # characters of all pages together
_TYPES = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    **dict.fromkeys((".txt", ".md"), _PLAIN),
    ".pdf": PDF,
}
_COLUMNS = {"file", "url"}
_Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Refused:
    """Why a row of the table made no page."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Imported:
    """The folder of pages, and how many rows and files made none, by reason."""

    folder: PageFolder
    refused: Mapping[str, int]


def import_pages(folder: Path, table: Path, out: Path) -> _Imported:
    """Read the saved pages into the new folder `out`. Raises InputError for a bad table."""
    if out.exists():
        raise InputError(str(out), "something", "a new folder", "Choose another one.")
    pages: dict[str, Page] = {}
    rows: list[LedgerRow] = []
    room, listed = _MOST_TEXT, set()
    for line, row in _rows(table):
        listed.add(row["file"])
        page = _page(folder, row)
        if isinstance(page, Page) and address(page.url) in pages:
            page = _Refused("page.duplicate")
        if isinstance(page, Page) and len(page.text) > room:
            page = _Refused("page.no_room")
        if isinstance(page, Page):
            room -= len(page.text)
            pages[str(address(page.url))] = page
        rows.append(_ledger_row(f"line-{line}", row["file"], page))
    for name in regular_files(folder, _MOST_PAGES):
        if name not in listed and (folder / name).resolve() != table.resolve():
            rows.append(_ledger_row(f"file-{len(rows)}", name, _Refused("page.not_listed")))
    with replacing_dir(out) as part:
        write_pages(part, pages.values())
        ids = [row.item_id for row in rows]
        write_stage_tables(part, StageKind.FILTER, ids, rows, stage=_STAGE, unit=_UNIT)
    refused = Counter(row.reason for row in rows if row.reason)
    return _Imported(open_pages(out), refused)


def _rows(table: Path) -> Iterator[tuple[int, _Row]]:
    """Line and content of each row. Raises InputError for what is not such a table."""
    try:
        with table.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            missing = _COLUMNS - set(reader.fieldnames or ())
            if missing:
                raise InputError(
                    str(table), f"no column {', '.join(sorted(missing))}",
                    "the columns file and url", "Put them in the first line.",
                )  # fmt: skip
            for row in reader:
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            str(table), type(error).__name__, "a CSV table in UTF-8", "Rewrite it."
        ) from error


def _page(folder: Path, row: _Row) -> Page | _Refused:
    """The page of one row, or why there is none."""
    path, day = folder / row["file"], row.get("captured") or None
    media_type = _TYPES.get(path.suffix.lower())
    if address(row["url"]) is None:
        return _Refused("page.bad_url")
    if day is not None and not is_iso_day(day):
        return _Refused("page.bad_day")
    if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        return _Refused("page.no_file")
    if media_type is None:
        return _Refused("page.unknown_type")
    seen = _text_of(path, media_type)
    if seen.reason is not None:
        return _Refused(seen.reason)
    title = one_line(row.get("title") or seen.title)[:300]
    return Page(normalise(row["url"]), title, day, media_type, seen.text)


def _ledger_row(item_id: str, name: str, page: Page | _Refused) -> LedgerRow:
    evidence = {"file": one_line(name)[:300]}
    if isinstance(page, Page):
        return LedgerRow(_STAGE, _UNIT, item_id, Outcome.KEPT, evidence=evidence)
    return LedgerRow(
        _STAGE, _UNIT, item_id, Outcome.REJECTED, reason=page.reason, evidence=evidence
    )


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
_PrintedRow = Mapping[str, Any]


def statement_pages(tables: Path) -> Iterator[Page]:
    """A page for each statement and period in the tables. Raises InputError as `read_tables`."""
    frames = read_tables(tables, (COMPANIES, SERIES, POINTS))
    companies = {row["company_id"]: row for row in frames["companies"].iter_rows(named=True)}
    rows = frames["points"].join(frames["series"].drop("company_id"), on="series_id")
    order = [*_PAGE, "row_order", "name", "series_id"]
    for group in rows.sort(order, nulls_last=True).partition_by(_PAGE, maintain_order=True):
        lines = group.to_dicts()
        yield _statement_page(companies[lines[0]["company_id"]], lines)


def _statement_page(company: _PrintedRow, rows: Sequence[_PrintedRow]) -> Page:
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
    return Page(_url(first), title, filed, _PLAIN, text)


def _lines(rows: Sequence[_PrintedRow], divisor: int, currency: str | None) -> Iterator[str]:
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


def _label(row: _PrintedRow) -> str:
    """The label, the one of the filing's language, and the part of the company that it is of."""
    names = [row["label"]]
    if row["name_local"]:
        names.append(row["name_local"].rpartition(SEPARATOR)[2])
    part = f" [{row['dimensions']}]" if row["dimensions"] else ""
    return " / ".join(dict.fromkeys(names)) + part


def _scale(rows: Sequence[_PrintedRow]) -> tuple[int, str]:
    """What amounts are divided by, and its name."""
    amounts = [abs(Decimal(row["value"])) for row in rows if _CURRENCY.fullmatch(row["unit"])]
    largest = max(amounts, default=Decimal(0))
    return next((divisor, word) for divisor, word, least in _SCALES if largest >= least)


def _amount(value: Decimal) -> str:
    return _plain(value.quantize(Decimal(1), ROUND_HALF_UP))


def _plain(value: Decimal) -> str:
    """With separators; negative numbers in brackets, as statements write them."""
    return f"({abs(value):,f})" if value < 0 else f"{value:,f}"


def _fiscal(row: _PrintedRow) -> str:
    if row["fiscal_year"] is None:
        return ""
    part = row["fiscal_period"] or "FY"
    return f", {_PARTS.get(part, part)} of fiscal year {row['fiscal_year']}"


def _days(row: _PrintedRow) -> str:
    if row["period_start"] is None:
        return f"as of {_day(row['period_end'])}"
    return f"from {_day(row['period_start'])} to {_day(row['period_end'])}"


def _day(day: Any) -> str:
    return f"{day:%B} {day.day}, {day.year}"


def _url(row: _PrintedRow) -> str:
    start = f"{row['period_start']}--" if row["period_start"] else ""
    company, statement = (_slug(row[name]) for name in ("company_id", "statement"))
    return f"{_SITE}/{company}/{statement}/{start}{row['period_end']}-{row['months']}m"


def _slug(text: str) -> str:
    return _NOT_IN_PATH.sub("-", text.lower()).strip("-")


if __name__ == "__main__":
    main()
