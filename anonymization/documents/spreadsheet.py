"""Parts of workbooks: cells under their columns, formulas, sheet names, page headers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial

from lxml.etree import _Element as Element

from anonymization.documents.markup import (
    READING,
    Slot,
    group_edits,
    groups,
    identifier_edits,
    local,
    write_edits,
)
from anonymization.documents.text_forms import names_people, show_caption
from anonymization.documents.visitor import Visitor, literal_edits
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.detect.strict_fields import Field, field_of
from anonymization.text.masking.forms import is_label
from anonymization.text.masking.pieces import FindingFilter, carried, labelled
from anonymization.text.masking.plain import joined, plain_edits
from anonymization.text.masking.structured_text import SHORTEST_CARD, stays_number
from anonymization.text.vault import applied
from data.text.scripts import KANA

# Cells of a sheet: their headings and labels, and dates stored as numbers.
#
# Dates as numbers: ECMA-376-1, 18.17.4.1 and 18.8.30.

_COLUMN = re.compile(r"[A-Z]+")
_FEWEST = 2  # headings in a lower row; with one, any line of text would be a heading

Read = Callable[[Element], str]


@dataclass(frozen=True, slots=True)
class _SheetRow:
    """The cells of a row that hold something, each with its text; `number` counts from 1."""

    number: int
    cells: Sequence[tuple[Element, str]]


def _rows_of(root: Element, read: Read) -> list[_SheetRow]:
    """The rows of a sheet with text in them."""
    rows = []
    for position, row in enumerate(root.iter("{*}row")):
        cells = [(cell, text) for cell in row.iter("{*}c") if (text := read(cell).strip())]
        if cells:
            number = row.get("r") or ""
            rows.append(_SheetRow(int(number) if number.isdecimal() else position, cells))
    return rows


def _labelled_cells(rows: Iterable[_SheetRow]) -> Iterator[tuple[Element, str]]:
    """Each cell with its heading; empty for headings themselves and for cells without one.

    Headings are the texts of the first row, of the first row after a gap, and of a row with more
    texts than there are headings so far (a table under its title).
    """
    headings: dict[str, str] = {}
    last = -1
    for row in rows:
        if last < 0 or _is_heading(row.cells, len(headings), row.number > last + 1):
            headings = {_column_of(cell): text for cell, text in row.cells if is_label(text)}
            yield from ((cell, "") for cell, _ in row.cells)
        else:
            yield from ((cell, headings.get(_column_of(cell), "")) for cell, _ in row.cells)
        last = row.number


def _pairs(rows: Iterable[_SheetRow]) -> Iterator[tuple[str, str]]:
    """Rows of two cells, in which the first may be the label of the second."""
    for row in rows:
        if len(row.cells) == _FEWEST and is_label(row.cells[0][1]):
            yield row.cells[0][1], row.cells[1][1]


def _is_heading(cells: Sequence[tuple[Element, str]], known: int, gap: bool) -> bool:
    if len(cells) < _FEWEST or not (gap or len(cells) > known):
        return False
    labels = {_column_of(cell) for cell, text in cells if is_label(text)}
    return len(labels) == len(cells)


def _column_of(cell: Element) -> str:
    """The letters of a cell's reference."""
    match = _COLUMN.match(cell.get("r") or "")
    return match.group() if match else ""


_DAYS = frozenset(
    map(str, (*range(14, 18), 22, *range(27, 32), *range(34, 37), *range(50, 59)))
)  # ids of built-in formats that show a day
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
# Years, days or years of an era among the letters of dates and times: a word such as `General`,
# which LibreOffice declares as a format of its own, is none, nor is the exponent of `0.00E+00`.
_DATE = re.compile(r"(?<![a-z])(?=[ymdhsgb]*(?:[yd]|e(?![+-])))[ymdhsgbe]+(?![a-z])", re.IGNORECASE)
_SERIAL = re.compile(r"(\d{1,7})(\.\d+)?")
_EPOCHS = (date(1899, 12, 30), date(1904, 1, 1))
_EARLIEST, _LATEST = 61, 2_958_465  # 1900-03-01, after the day that never was; 9999-12-31


def _date_styles(roots: Mapping[str, Element]) -> frozenset[str]:
    """The cell styles (`s`) whose numbers are shown as dates."""
    styles = roots.get("xl/styles.xml")
    if styles is None:
        return frozenset()
    own = {
        str(fmt.get("numFmtId")): bool(_DATE.search(_QUOTED.sub("", fmt.get("formatCode") or "")))
        for fmt in styles.iter("{*}numFmt")
    }
    formats = styles.find("{*}cellXfs")
    ids = [] if formats is None else [str(f.get("numFmtId")) for f in formats if local(f) == "xf"]
    return frozenset(str(style) for style, fmt in enumerate(ids) if own.get(fmt, fmt in _DAYS))


def _epoch(roots: Mapping[str, Element]) -> date:
    """The day from which a workbook counts."""
    workbook = roots.get("xl/workbook.xml")
    properties = workbook.find("{*}workbookPr") if workbook is not None else None
    return _EPOCHS[properties is not None and properties.get("date1904") in {"1", "true"}]


def _serial_edits(visitor: Visitor, label: str, text: str, first: date) -> list[Edit]:
    """Edits of a number that is a date: it moves like dates in texts; its time of day stays."""
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


FORMULAS = frozenset(
    {"f", "formula", "formula1", "formula2", "definedName", "calculatedColumnFormula"}
)
HEADERS = frozenset(
    {"oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter"}
)
_CODES = re.compile(r'&(?:"[^"]*"|K[0-9A-F]{6}|K\d{2}[+-]\d{3}|\d{1,3}|[A-Za-z&])')
_EXACT = 2.0**53  # floats below it hold every whole number
_POWER = re.compile(r"\d(?:\.\d{1,17})?E\+?\d{1,2}", re.IGNORECASE)
_NUMBER = re.compile(r"\d{7,19}(?:\.0)?")
_PAY = re.compile(r"[1-9]\d{1,9}(?:\.\d{1,4})?")
_AMOUNT = re.compile(
    r"(?i:amount|revenue|sales|turnover|total|sum\b|price|cost|value|profit|income|assets|equity"
    r"|liabilit|debt|cash|capital|volume|population|budget|units|quantity|bytes|count)"
    r"|金额|收入|合计|总|价|成本|利润|资产|负债|资本|数量|预算|人口|額|売上|利益"
)
_FORBIDDEN = re.compile(r"[\[\]:*?/\\']")
_LONGEST_NAME = 31


@dataclass(slots=True)
class Workbook:
    """What the sheets share: shared strings, their columns, and the new names of sheets.

    `rows` are what each sheet, by its part, holds before it is masked.
    """

    shared: list[str] = field(default_factory=list)
    rows: dict[str, list[_SheetRow]] = field(default_factory=dict)
    columns: dict[int, str] = field(default_factory=dict)
    renamed: dict[str, tuple[str, EntityType]] = field(default_factory=dict)
    identifiers: dict[str, tuple[str, EntityType]] = field(default_factory=dict)
    date_styles: frozenset[str] = frozenset()
    epoch: date = date.min


def read_workbook(roots: Mapping[str, Element], visitor: Visitor) -> Workbook:
    """Collect what the parts of a workbook share."""
    workbook = Workbook(date_styles=_date_styles(roots), epoch=_epoch(roots))
    strings = roots.get("xl/sharedStrings.xml")
    if strings is not None:
        workbook.shared = [_shown_text(i) for i in strings if local(i) == "si"]
    for name in sorted(roots):
        if name.startswith("xl/worksheets/"):
            workbook.rows[name] = _rows_of(roots[name], partial(_text_of, workbook))
            if workbook.shared:
                _learn_columns(workbook.rows[name], workbook)
    root = roots.get("xl/workbook.xml")
    if root is not None:
        _rename(root, workbook, visitor)
    return workbook


def _learn_columns(rows: Iterable[_SheetRow], workbook: Workbook) -> None:
    for cell, label in _labelled_cells(rows):
        index = _shared_index(cell)
        if index is not None and label:
            workbook.columns[index] = min(label, workbook.columns.get(index, label))


def _text_of(workbook: Workbook, cell: Element) -> str:
    index = _shared_index(cell)
    if index is not None:
        return _at(workbook, index)
    inline, value = _parts_of(cell)
    if inline is not None:
        return _shown_text(inline)
    return (value.text or "") if value is not None else ""


def _parts_of(cell: Element) -> tuple[Element | None, Element | None]:
    """The inline string of a cell, and its value."""
    inline = value = None
    for part in cell:
        name = local(part)
        inline = part if name == "is" and inline is None else inline
        value = part if name == "v" and value is None else value
    return inline, value


def _at(workbook: Workbook, index: int) -> str:
    return workbook.shared[index] if 0 <= index < len(workbook.shared) else ""


def _shared_index(cell: Element) -> int | None:
    if cell.get("t") != "s":
        return None
    _, value = _parts_of(cell)
    text = (value.text or "").strip() if value is not None else ""
    return int(text) if text.isdecimal() else None


def _rename(root: Element, workbook: Workbook, visitor: Visitor) -> None:
    sheets = [sheet for sheet in root.iter("{*}sheet") if sheet.get("name")]
    taken = {str(sheet.get("name")).casefold() for sheet in sheets}
    for sheet in sheets:
        old = str(sheet.get("name"))
        edits = plain_edits(old, visitor.visit())
        if not edits:
            continue
        stem = _FORBIDDEN.sub(" ", applied(old, edits)[0])[:_LONGEST_NAME].strip() or "Sheet"
        new, number = stem, 2
        while new.casefold() in taken:
            tail = f" {number}"
            new, number = stem[: _LONGEST_NAME - len(tail)] + tail, number + 1
        taken.add(new.casefold())
        sheet.set("name", new)
        visitor.record("xl/workbook.xml", edits)
        workbook.renamed[old] = (new, edits[0].type)


def mask_strings(visitor: Visitor, part: str, root: Element, workbook: Workbook) -> None:
    """Mask the shared strings, each with the name of its column."""
    for number, item in enumerate(i for i in root if local(i) == "si"):
        _mask_inline(visitor, part, item, workbook.columns.get(number, ""))


def mask_cells(visitor: Visitor, part: str, workbook: Workbook) -> None:
    """Mask texts and long numbers in the cells of a sheet; formulas are masked separately."""
    rows = workbook.rows.pop(part)
    for head, text in _pairs(rows):
        visitor.look(labelled(head, text))
    for cell, label in _labelled_cells(rows):
        inline, value = _parts_of(cell)
        if inline is not None:
            _mask_inline(visitor, part, inline, label)
        if value is None or not value.text or cell.get("t") in {"s", "b", "e"}:
            continue
        if cell.get("t") in {"str", "d"}:
            edits = group_edits([Slot(value)], visitor, label)
        elif cell.get("s") in workbook.date_styles:
            edits = _serial_edits(visitor, label, value.text, workbook.epoch)
        else:
            edits = _typed_edits(visitor, label, value.text)
        if edits:
            visitor.record(f"{part}!{cell.get('r')}", edits)
            write_edits([Slot(value)], edits)


def _mask_inline(visitor: Visitor, part: str, item: Element, label: str) -> None:
    """Mask one string with its runs."""
    if label and names_people(label):
        show_caption(visitor.look, _shown_text(item))
    is_changed = False
    for slots in groups(item):
        edits = group_edits(slots, visitor, label)
        if edits:
            visitor.record(part, edits)
            write_edits(slots, edits)
        is_changed = is_changed or bool(edits)
    for reading in [child for child in item if local(child) == READING]:
        if is_changed or _KANA.fullmatch("".join(map(str, reading.itertext()))) is None:
            item.remove(reading)


_KANA = re.compile(rf"[{KANA}\s・　]*")


def _shown_text(item: Element) -> str:
    """The text of a string without how it is read."""
    parts = (child for child in item if local(child) != READING)
    return (item.text or "") + "".join(str(text) for part in parts for text in part.itertext())


def _typed_edits(visitor: Visitor, label: str, text: str) -> list[Edit]:
    """Edits of the number of a cell; one written with a power of ten is replaced as a whole."""
    if _POWER.fullmatch(text) is None:
        return number_edits(visitor, label, text)
    digits = whole_number(float(text))
    edits = number_edits(visitor, label, digits)
    return (
        [replace(edits[0], start=0, end=len(text), new=applied(digits, edits)[0])] if edits else []
    )


def whole_number(number: float) -> str:
    """The digits of a float that is a whole number, exactly; empty for others."""
    is_whole = math.isfinite(number) and number == int(number) and abs(number) < _EXACT
    return str(int(number)) if is_whole else ""


def number_edits(visitor: Visitor, label: str, text: str) -> list[Edit]:
    """Edits of a phone, a card or somebody's pay typed as a number, which stays a number.

    Among other amounts only a card is one, by its check digit.
    """
    if field_of(label) is Field.PAY and _PAY.fullmatch(text):
        return [edit for edit in visitor.look(labelled(label, text)) if stays_number(edit, True)]
    if _NUMBER.fullmatch(text) is None:
        return []
    is_amount = _AMOUNT.search(label) is not None
    if is_amount and len(text) < SHORTEST_CARD:
        return []
    edits = visitor.look(labelled("" if is_amount else label, text))
    return [edit for edit in edits if stays_number(edit, not is_amount)]


def mask_formula(visitor: Visitor, part: str, element: Element, workbook: Workbook) -> None:
    """Mask literals, sheet names and proven values in a formula; the rest stays."""
    text = element.text or ""
    edits = joined(_sheet_edits(text, workbook), identifier_edits(text, workbook.identifiers))
    edits = joined(edits, literal_edits(visitor, text))
    edits = joined(edits, plain_edits(text, visitor.visit(), accepts=FindingFilter.PROVEN))
    if edits:
        element.text = visitor.masked(part, text, edits)


def _sheet_edits(text: str, workbook: Workbook) -> list[Edit]:
    edits: list[Edit] = []
    for old, (new, kind) in sorted(workbook.renamed.items()):
        quoted = re.escape(old.replace("'", "''"))
        pattern = rf"'{quoted}'(?=!)|(?<![\w.'!]){re.escape(old)}(?=!)"
        edits = joined(
            edits,
            [
                Edit(m.start(), m.end(), f"'{new}'", kind, "sheet_name", 1.0)
                for m in re.finditer(pattern, text)
            ],
        )
    return edits


def mask_location(visitor: Visitor, part: str, element: Element, workbook: Workbook) -> None:
    """Update the location of links to renamed sheets."""
    text = element.get("location")
    edits = _sheet_edits(text, workbook) if text else []
    if edits:
        element.set("location", visitor.masked(part, text or "", edits))


def mask_header(visitor: Visitor, part: str, element: Element) -> None:
    """Mask a page header or footer: its codes stay, and text is read across them."""
    text = element.text or ""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in [*_CODES.finditer(text), None]:
        end = match.start() if match else len(text)
        parts += [text[done:end], "\n" if match else ""]
        starts += range(done, end)
        ends += range(done + 1, end + 1)
        if match:
            starts.append(match.start())
            ends.append(match.start())
            done = match.end()
    edits = carried(plain_edits("".join(parts), visitor.visit()), starts, ends, _header_escape)
    if edits:
        element.text = visitor.masked(part, text, edits)


def _header_escape(new: str) -> str:
    return new.replace("&", "&&")
