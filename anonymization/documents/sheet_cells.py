"""Cells of a sheet: what heads and precedes them, and dates kept as numbers.

Dates as numbers: ECMA-376-1, 18.17.4.1 and 18.8.30.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta

from lxml.etree import _Element as Element

from anonymization.documents.markup import local
from anonymization.documents.visitor import Visitor
from anonymization.text.contracts import Edit
from anonymization.text.masking.pieces import labelled
from anonymization.text.masking.tabular import is_label

_COLUMN = re.compile(r"[A-Z]+")
_FEWEST = 2  # headings in a row further down, or any line of text would be one

Read = Callable[[Element], str]


def labelled_cells(root: Element, read: Read) -> Iterator[tuple[Element, str]]:
    """Each cell with its heading; empty for headings themselves and where there is none.

    Headings are the texts of the first row, of the first row after a gap, and of a row of more
    texts than the headings so far (a table under its title).
    """
    headings: dict[str, str] = {}
    last = -1
    for place, row in enumerate(root.iter("{*}row")):
        cells = [(cell, text) for cell in row.iter("{*}c") if (text := read(cell).strip())]
        if not cells:
            continue
        number = int(row.get("r") or "") if (row.get("r") or "").isdecimal() else place
        found = {column_of(cell): text for cell, text in cells if is_label(text)}
        if last < 0 or _is_heading(found, len(cells), headings, number > last + 1):
            headings = found
            yield from ((cell, "") for cell, _ in cells)
        else:
            yield from ((cell, headings.get(column_of(cell), "")) for cell, _ in cells)
        last = number


def pairs(root: Element, read: Read) -> Iterator[tuple[str, str]]:
    """Rows of two cells, in which the first may say what the second is."""
    for row in root.iter("{*}row"):
        texts = [text for cell in row.iter("{*}c") if (text := read(cell).strip())]
        if len(texts) == _FEWEST and is_label(texts[0]):
            yield texts[0], texts[1]


def _is_heading(found: dict[str, str], filled: int, known: dict[str, str], gap: bool) -> bool:
    texts_only = len(found) == filled and filled >= _FEWEST
    return texts_only and (gap or filled > len(known))


def column_of(cell: Element) -> str:
    """The letters of a cell's reference."""
    match = _COLUMN.match(cell.get("r") or "")
    return match.group() if match else ""


_DAYS = frozenset(
    map(str, (*range(14, 18), 22, *range(27, 32), *range(34, 37), *range(50, 59)))
)  # ids of built-in formats that show a day
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_DATE = re.compile(r"[yd]|e(?![+-])", re.IGNORECASE)
_SERIAL = re.compile(r"(\d{1,7})(\.\d+)?")
_EPOCHS = (date(1899, 12, 30), date(1904, 1, 1))
_EARLIEST, _LATEST = 61, 2_958_465  # 1900-03-01, after the day that never was; 9999-12-31


def date_styles(roots: Mapping[str, Element]) -> frozenset[str]:
    """The cell styles (`s`) whose numbers are shown as dates."""
    styles = roots.get("xl/styles.xml")
    if styles is None:
        return frozenset()
    own = {
        str(told.get("numFmtId")): bool(_DATE.search(_QUOTED.sub("", told.get("formatCode") or "")))
        for told in styles.iter("{*}numFmt")
    }
    formats = styles.find("{*}cellXfs")
    ids = [] if formats is None else [str(f.get("numFmtId")) for f in formats if local(f) == "xf"]
    return frozenset(str(nth) for nth, told in enumerate(ids) if own.get(told, told in _DAYS))


def epoch(roots: Mapping[str, Element]) -> date:
    """The day that a workbook counts from."""
    workbook = roots.get("xl/workbook.xml")
    told = workbook.find("{*}workbookPr") if workbook is not None else None
    return _EPOCHS[told is not None and told.get("date1904") in {"1", "true"}]


def serial_edits(visitor: Visitor, label: str, text: str, first: date) -> list[Edit]:
    """Edits of a number that is a date: it moves as dates in texts do; its time of day stays."""
    match = _SERIAL.fullmatch(text)
    if match is None or not _EARLIEST <= int(match[1]) <= _LATEST - (first.year > 1900) * 1462:
        return []
    day = first + timedelta(days=int(match[1]))
    for edit in visitor.look(labelled(label, day.isoformat())):
        try:
            moved = str((date.fromisoformat(edit.new) - first).days)
        except ValueError:  # a placeholder cannot stand in a cell of dates
            moved = str(_EARLIEST)
        return [Edit(0, match.end(1), moved, edit.type, edit.recognizer, edit.score)]
    return []
