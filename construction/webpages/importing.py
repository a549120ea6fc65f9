"""Saved pages to a folder of pages: files, and a CSV table that says where each was found.

The table has the columns `file`, relative to the folder, and `url`; `captured` (an ISO day) and
`title` are optional. Every row of the table and every file that it does not name has an outcome in
the ledger beside the pages.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from construction.grading.file_child import regular_files
from construction.mentions.urls import normalise
from construction.webpages.page_text import HTML, PDF, PLAIN, text_of
from construction.webpages.pages import Page, PageFolder, address, open_pages, write_pages
from data.atomic import replacing_dir
from data.contracts import LedgerRow, Outcome, StageKind
from data.errors import InputError
from data.neutralise import one_line
from data.stage_tables import write_stage_tables

STAGE, UNIT = "pages", "page"
MOST_PAGES = 1_000_000
MOST_TEXT = 1 << 30  # characters of all pages together
_TYPES = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    **dict.fromkeys((".txt", ".md"), PLAIN),
    ".pdf": PDF,
}
_COLUMNS = {"file", "url"}
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Refused:
    """Why a row of the table made no page."""

    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The folder of pages, and how many rows and files made none, by reason."""

    folder: PageFolder
    refused: Mapping[str, int]


def import_pages(folder: Path, table: Path, out: Path) -> Imported:
    """Read the saved pages into the new folder `out`. Raises InputError for a bad table."""
    if out.exists():
        raise InputError(str(out), "something", "a new folder", "Choose another one.")
    pages: dict[str, Page] = {}
    rows: list[LedgerRow] = []
    room, listed = MOST_TEXT, set()
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
    for name in regular_files(folder, MOST_PAGES):
        if name not in listed and (folder / name).resolve() != table.resolve():
            rows.append(_ledger_row(f"file-{len(rows)}", name, _Refused("page.not_listed")))
    with replacing_dir(out) as part:
        write_pages(part, pages.values())
        ids = [row.item_id for row in rows]
        write_stage_tables(part, StageKind.FILTER, ids, rows, stage=STAGE, unit=UNIT)
    refused = Counter(row.reason for row in rows if row.reason)
    return Imported(open_pages(out), refused)


def _rows(table: Path) -> Iterator[tuple[int, Row]]:
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


def _page(folder: Path, row: Row) -> Page | _Refused:
    """The page of one row, or why there is none."""
    path, day = folder / row["file"], row.get("captured") or None
    media_type = _TYPES.get(path.suffix.lower())
    if address(row["url"]) is None:
        return _Refused("page.bad_url")
    if day is not None and not _is_day(day):
        return _Refused("page.bad_day")
    if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        return _Refused("page.no_file")
    if media_type is None:
        return _Refused("page.unknown_type")
    seen = text_of(path, media_type)
    if seen.reason is not None:
        return _Refused(seen.reason)
    title = one_line(row.get("title") or seen.title)[:300]
    return Page(normalise(row["url"]), title, day, media_type, seen.text)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _ledger_row(item_id: str, name: str, page: Page | _Refused) -> LedgerRow:
    evidence = {"file": one_line(name)[:300]}
    if isinstance(page, Page):
        return LedgerRow(STAGE, UNIT, item_id, Outcome.KEPT, evidence=evidence)
    return LedgerRow(STAGE, UNIT, item_id, Outcome.REJECTED, reason=page.reason, evidence=evidence)
