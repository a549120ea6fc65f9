"""Text files read in their form, with the meaning that a position gives: pages and tables.

A delimited table has cells that begin like formulas and columns of people; a web page has authors,
linked data, captions in attributes and strings in scripts.
"""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from anonymization.documents.labels import names_people, show_caption, show_person, show_table
from anonymization.text.contracts import Edit
from anonymization.text.masking.forms import edits_of, head_of_table, is_label, open_text
from anonymization.text.masking.pieces import Collector, Look, Piece, Visit, labelled, shifted
from anonymization.text.masking.plain import joined
from anonymization.text.masking.structured_text import json_edits

_DELIMITERS = ",\t;|"
_FORMULA = "=+-@"  # first characters of cells that a spreadsheet reads as formulas
_LITERAL = re.compile(r'"([^"]+)"')
_LONGEST_CELL = 100_000  # characters of a cell


def show_table_cells(text: str, visit: Visit) -> list[Edit]:
    """Show the cells to the look; their values are masked wherever they occur. Returns no edits."""
    text = text[head_of_table(text) :]
    head = text[: text.find("\n") + 1 or len(text)]
    delimiter = max(_DELIMITERS, key=lambda mark: (head.count(mark), -_DELIMITERS.index(mark)))
    lines = text.removeprefix("\ufeff").split("\n")
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    csv.field_size_limit(_LONGEST_CELL)
    labels: Sequence[str] = ()
    try:
        for number, row in enumerate(rows):
            if number == 0:
                labels = [cell.strip() if is_label(cell) else "" for cell in row]
                continue
            for label, cell in zip([*labels, *[""] * len(row)], row, strict=False):
                show_cell(visit.look, label, cell)
    except csv.Error:  # not a table after all: it has been read as text
        return []
    return []


def show_cell(look: Look, label: str, cell: str) -> None:
    """Show a cell to the look, with its column's name and without the sign of a formula."""
    if label and names_people(label):
        show_caption(look, cell)
    if cell[:1] not in _FORMULA or len(cell) < 2:
        return
    look(labelled(label, cell[1:]))
    for literal in _LITERAL.findall(cell):
        look(Piece(literal))


_MOST = 4_000  # characters of a tag
_META = re.compile(rf"(?i)<meta\b([^<>]{{0,{_MOST}}})>")
_TAG = re.compile(rf"<[A-Za-z][^\s<>/]{{0,60}}\s([^<>]{{0,{_MOST}}})>")
_ATTRIBUTE = re.compile(r"""([\w:.-]{1,60})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SCRIPT = re.compile(r"(?i)<script\b([^<>]{0,1000})>")
_SCRIPT_END = re.compile(r"(?i)</script")
_TABLE = re.compile(r"(?i)<table\b")
_ROW = re.compile(r"(?i)<tr\b")
_CELL = re.compile(r"(?i)<t[hd]\b[^<>]{0,500}>")
_INNER = re.compile(r"<[^<>]{0,500}>")
_CAPTIONS = frozenset(
    {"alt", "title", "summary", "placeholder", "label", "content", "aria-label",
     "aria-description", "aria-placeholder", "aria-valuetext", "aria-roledescription"}
)  # fmt: skip
_AUTHORS = frozenset(
    {"author", "creator", "dc.creator", "dcterms.creator", "article:author", "book:author",
     "twitter:creator", "parsely-author", "owner", "designer", "reply-to"}
)  # fmt: skip
_NAMES_OF_PERSON = ("name", "givenName", "familyName", "additionalName", "alternateName")
_AUTHORED = ("author", "creator", "contributor", "editor", "reviewedBy", "employee", "founder")


def page_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of escaped strings in scripts; names elsewhere are shown to the look, not edited."""
    for match in _META.finditer(text):
        _show_meta(match[1], visit.look)
    for match in _TAG.finditer(text):
        for name, value in _attributes(match[1]):
            if name in _CAPTIONS:
                show_caption(visit.look, value)
    for table in _TABLE.split(text)[1:]:
        show_table(visit.look, [_cells(row) for row in _ROW.split(table)[1:]])
    edits: list[Edit] = []
    for attributes, start, code in _scripts(text):
        if "json" in attributes.lower():
            _show_linked(code, visit.look)
        elif '"' in code:
            edits = joined(edits, shifted(json_edits(code, visit), start))
    return edits


def _scripts(text: str) -> Iterator[tuple[str, int, str]]:
    """Attributes, offset and content of each script."""
    end = 0
    while (opened := _SCRIPT.search(text, end)) is not None:
        closed = _SCRIPT_END.search(text, opened.end())
        end = closed.start() if closed else len(text)
        yield opened[1], opened.end(), text[opened.end() : end]


def _attributes(tag: str) -> Iterator[tuple[str, str]]:
    for match in _ATTRIBUTE.finditer(tag):
        value = next(group for group in match.groups()[1:] if group is not None)
        yield match[1].lower(), html.unescape(value)


def _show_meta(tag: str, look: Look) -> None:
    attributes = dict(_attributes(tag))
    name = attributes.get("name", attributes.get("property", attributes.get("itemprop", "")))
    if name.lower() in _AUTHORS:
        show_person(look, attributes.get("content", ""))


def _cells(row: str) -> list[str]:
    return [html.unescape(_INNER.sub("", cell)).strip() for cell in _CELL.split(row)[1:]]


def _show_linked(code: str, look: Look) -> None:
    """Show the people of linked data (schema.org), which declares the type of each thing."""
    try:
        pending: list[Any] = [json.loads(code)]
    except (ValueError, RecursionError):
        return
    while pending:
        thing = pending.pop()
        if isinstance(thing, list):
            pending += thing
        elif isinstance(thing, dict):
            pending += thing.values()
            _show_thing(thing, look)


def _show_thing(thing: dict[str, Any], look: Look) -> None:
    is_person = "Person" in str(thing.get("@type"))
    for key in _AUTHORED + _NAMES_OF_PERSON if is_person else _AUTHORED:
        value = thing.get(key)
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                show_person(look, name)


_SPECIAL_PARTS: Mapping[str, Callable[[str, Visit], list[Edit]]] = {
    ".html": page_edits,
    ".htm": page_edits,
    ".xhtml": page_edits,
    ".csv": show_table_cells,
    ".tsv": show_table_cells,
}


def text_edits(text: str, name: str, look: Look) -> list[Edit]:
    """Edits of a text in the form that its name implies, and in the special parts of that form."""
    special = _SPECIAL_PARTS.get(PurePath(name).suffix.lower())
    edits = edits_of(text, name, look)
    return joined(edits, special(text, Visit(look, open_text))) if special else edits


def text_pieces(text: str, name: str) -> list[Piece]:
    """The pieces of a text file, in order."""
    seen = Collector()
    text_edits(text, name, seen)
    return list(seen.pieces)
