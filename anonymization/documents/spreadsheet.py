"""Parts of workbooks: cells under their columns, formulas, sheet names, page headers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial

from lxml.etree import _Element as Element

from anonymization.documents.attributes import identifier_edits
from anonymization.documents.labels import names_people, show_caption
from anonymization.documents.markup import READING, Slot, group_edits, groups, local, write_edits
from anonymization.documents.sheet_cells import (
    SheetRow,
    date_styles,
    epoch,
    labelled_cells,
    pairs,
    rows_of,
    serial_edits,
)
from anonymization.documents.visitor import Visitor, literal_edits
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.detect.strict_fields import Field, field_of
from anonymization.text.masking.pieces import FindingFilter, carried, labelled
from anonymization.text.masking.plain import joined, plain_edits
from anonymization.text.masking.structured_text import SHORTEST_CARD, stays_number
from anonymization.text.vault import applied
from data.text.scripts import KANA

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
    rows: dict[str, list[SheetRow]] = field(default_factory=dict)
    columns: dict[int, str] = field(default_factory=dict)
    renamed: dict[str, tuple[str, EntityType]] = field(default_factory=dict)
    identifiers: dict[str, tuple[str, EntityType]] = field(default_factory=dict)
    date_styles: frozenset[str] = frozenset()
    epoch: date = date.min


def read_workbook(roots: Mapping[str, Element], visitor: Visitor) -> Workbook:
    """Collect what the parts of a workbook share."""
    workbook = Workbook(date_styles=date_styles(roots), epoch=epoch(roots))
    strings = roots.get("xl/sharedStrings.xml")
    if strings is not None:
        workbook.shared = [shown_text(i) for i in strings if local(i) == "si"]
    for name in sorted(roots):
        if name.startswith("xl/worksheets/"):
            workbook.rows[name] = rows_of(roots[name], partial(_text_of, workbook))
            if workbook.shared:
                _learn_columns(workbook.rows[name], workbook)
    root = roots.get("xl/workbook.xml")
    if root is not None:
        _rename(root, workbook, visitor)
    return workbook


def _learn_columns(rows: Iterable[SheetRow], workbook: Workbook) -> None:
    for cell, label in labelled_cells(rows):
        index = _shared_index(cell)
        if index is not None and label:
            workbook.columns[index] = min(label, workbook.columns.get(index, label))


def _text_of(workbook: Workbook, cell: Element) -> str:
    index = _shared_index(cell)
    if index is not None:
        return _at(workbook, index)
    inline, value = _parts_of(cell)
    if inline is not None:
        return shown_text(inline)
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
        mask_inline(visitor, part, item, workbook.columns.get(number, ""))


def mask_cells(visitor: Visitor, part: str, workbook: Workbook) -> None:
    """Mask texts and long numbers in the cells of a sheet; formulas are masked separately."""
    rows = workbook.rows.pop(part)
    for head, text in pairs(rows):
        visitor.look(labelled(head, text))
    for cell, label in labelled_cells(rows):
        inline, value = _parts_of(cell)
        if inline is not None:
            mask_inline(visitor, part, inline, label)
        if value is None or not value.text or cell.get("t") in {"s", "b", "e"}:
            continue
        if cell.get("t") in {"str", "d"}:
            edits = group_edits([Slot(value)], visitor, label)
        elif cell.get("s") in workbook.date_styles:
            edits = serial_edits(visitor, label, value.text, workbook.epoch)
        else:
            edits = _typed_edits(visitor, label, value.text)
        if edits:
            visitor.record(f"{part}!{cell.get('r')}", edits)
            write_edits([Slot(value)], edits)


def mask_inline(visitor: Visitor, part: str, item: Element, label: str) -> None:
    """Mask one string with its runs."""
    if label and names_people(label):
        show_caption(visitor.look, shown_text(item))
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


def shown_text(item: Element) -> str:
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
