"""What only workbooks have: cells under their columns, formulas, names of sheets, page headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from lxml.etree import _Element as Element

from anonymization.documents.attributes import identifier_edits
from anonymization.documents.labels import names_people, show_caption
from anonymization.documents.markup import Slot, group_edits, groups, local, write_edits
from anonymization.documents.sheet_cells import (
    Read,
    date_styles,
    epoch,
    labelled_cells,
    pairs,
    serial_edits,
)
from anonymization.documents.visitor import Visitor, literal_edits
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.pieces import FindingFilter, carried, labelled
from anonymization.text.masking.plain import joined, plain_edits
from anonymization.text.restore import applied

FORMULAS = frozenset(
    {"f", "formula", "formula1", "formula2", "definedName", "calculatedColumnFormula"}
)
HEADERS = frozenset(
    {"oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter"}
)
_CODES = re.compile(r'&(?:"[^"]*"|K[0-9A-F]{6}|K\d{2}[+-]\d{3}|\d{1,3}|[A-Za-z&])')
_NUMBER = re.compile(r"\d{7,19}(?:\.0)?")
_AMOUNT = re.compile(
    r"(?i:amount|revenue|sales|turnover|total|sum\b|price|cost|value|profit|income|assets|equity"
    r"|liabilit|debt|cash|capital|volume|population|budget|units|quantity|bytes|count)"
    r"|金额|收入|合计|总|价|成本|利润|资产|负债|资本|数量|预算|人口|額|売上|利益"
)
_FORBIDDEN = re.compile(r"[\[\]:*?/\\']")
_LONGEST_NAME = 31


@dataclass(slots=True)
class Book:
    """What sheets share: texts of shared strings, their columns, and the new names of sheets."""

    shared: list[str] = field(default_factory=list)
    columns: dict[int, str] = field(default_factory=dict)
    renamed: dict[str, tuple[str, EntityType]] = field(default_factory=dict)
    identifiers: dict[str, tuple[str, EntityType]] = field(default_factory=dict)
    date_styles: frozenset[str] = frozenset()
    epoch: date = date.min


def read_book(roots: Mapping[str, Element], visitor: Visitor) -> Book:
    """Gather what the parts of a workbook share."""
    book = Book(date_styles=date_styles(roots), epoch=epoch(roots))
    strings = roots.get("xl/sharedStrings.xml")
    if strings is not None:
        book.shared = ["".join(i.itertext()) for i in strings if local(i) == "si"]
    for name in sorted(roots):
        if name.startswith("xl/worksheets/"):
            _learn_columns(roots[name], book)
    workbook = roots.get("xl/workbook.xml")
    if workbook is not None:
        _rename(workbook, book, visitor)
    return book


def _learn_columns(root: Element, book: Book) -> None:
    for cell, label in labelled_cells(root, _reader(book)):
        index = _shared_index(cell)
        if index is not None and label:
            book.columns[index] = min(label, book.columns.get(index, label))


def _reader(book: Book) -> Read:
    def read(cell: Element) -> str:
        index = _shared_index(cell)
        if index is not None:
            return _at(book, index)
        inline, value = cell.find("{*}is"), cell.find("{*}v")
        if inline is not None:
            return "".join(map(str, inline.itertext()))
        return (value.text or "") if value is not None else ""

    return read


def _at(book: Book, index: int) -> str:
    return book.shared[index] if 0 <= index < len(book.shared) else ""


def _shared_index(cell: Element) -> int | None:
    value = cell.find("{*}v")
    text = (value.text or "").strip() if value is not None else ""
    return int(text) if cell.get("t") == "s" and text.isdecimal() else None


def _rename(workbook: Element, book: Book, visitor: Visitor) -> None:
    sheets = [sheet for sheet in workbook.iter("{*}sheet") if sheet.get("name")]
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
        visitor.tell("xl/workbook.xml", edits)
        book.renamed[old] = (new, edits[0].type)


def mask_strings(visitor: Visitor, part: str, root: Element, book: Book) -> None:
    """Mask the shared strings, each with the name of the column it stands in."""
    for number, item in enumerate(i for i in root if local(i) == "si"):
        mask_inline(visitor, part, item, book.columns.get(number, ""))


def mask_cells(visitor: Visitor, part: str, root: Element, book: Book) -> None:
    """Mask texts and long numbers in the cells of a sheet; formulas are left to the others."""
    for head, text in pairs(root, _reader(book)):
        visitor.look(labelled(head, text))
    for cell, label in labelled_cells(root, _reader(book)):
        inline, value = cell.find("{*}is"), cell.find("{*}v")
        if inline is not None:
            mask_inline(visitor, part, inline, label)
        if value is None or not value.text or cell.get("t") in {"s", "b", "e"}:
            continue
        if cell.get("t") in {"str", "d"}:
            edits = group_edits([Slot(value)], visitor, label)
        elif cell.get("s") in book.date_styles:
            edits = serial_edits(visitor, label, value.text, book.epoch)
        else:
            edits = _number_edits(visitor, label, value.text)
        if edits:
            visitor.tell(f"{part}!{cell.get('r')}", edits)
            write_edits([Slot(value)], edits)


def mask_inline(visitor: Visitor, part: str, item: Element, label: str) -> None:
    """Mask one string with its runs."""
    if label and names_people(label):
        show_caption(visitor.look, "".join(map(str, item.itertext())))
    for slots in groups(item):
        edits = group_edits(slots, visitor, label)
        visitor.tell(part, edits)
        write_edits(slots, edits)


def _number_edits(visitor: Visitor, label: str, text: str) -> list[Edit]:
    """A phone or card number that was typed as a number stays one."""
    if _NUMBER.fullmatch(text) is None or _AMOUNT.search(label):
        return []
    edits = visitor.look(labelled(label, text))
    return [e for e in edits if e.new.isdigit() and e.new.isascii() and e.new[0] != "0"]


def mask_formula(visitor: Visitor, part: str, element: Element, book: Book) -> None:
    """Mask literals, names of sheets and proven values in a formula; the rest stays."""
    text = element.text or ""
    edits = joined(_sheet_edits(text, book), identifier_edits(text, book.identifiers))
    edits = joined(edits, literal_edits(visitor, text))
    edits = joined(edits, plain_edits(text, visitor.visit(), accepts=FindingFilter.PROVEN))
    if edits:
        element.text = visitor.masked(part, text, edits)


def _sheet_edits(text: str, book: Book) -> list[Edit]:
    told: list[Edit] = []
    for old, (new, kind) in sorted(book.renamed.items()):
        quoted = re.escape(old.replace("'", "''"))
        pattern = rf"'{quoted}'(?=!)|(?<![\w.'!]){re.escape(old)}(?=!)"
        told = joined(
            told,
            [
                Edit(m.start(), m.end(), f"'{new}'", kind, "sheet_name", 1.0)
                for m in re.finditer(pattern, text)
            ],
        )
    return told


def mask_location(visitor: Visitor, part: str, element: Element, book: Book) -> None:
    """References of links to sheets that have a new name."""
    text = element.get("location") or ""
    edits = _sheet_edits(text, book)
    if edits:
        element.set("location", visitor.masked(part, text, edits))


def mask_header(visitor: Visitor, part: str, element: Element) -> None:
    """A page header or footer: its codes stay, and text is read across them."""
    text = element.text or ""
    told: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    place = 0
    for match in [*_CODES.finditer(text), None]:
        end = match.start() if match else len(text)
        told += [text[place:end], "\n" if match else ""]
        starts += range(place, end)
        ends += range(place + 1, end + 1)
        if match:
            starts.append(match.start())
            ends.append(match.start())
            place = match.end()
    edits = carried(plain_edits("".join(told), visitor.visit()), starts, ends, _header_spell)
    if edits:
        element.text = visitor.masked(part, text, edits)


def _header_spell(new: str) -> str:
    return new.replace("&", "&&")
