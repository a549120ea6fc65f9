"""CSV and TSV: cell by cell, each read with the name of its column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from anonymization.text.contracts import Edit
from anonymization.text.masking.pieces import Escape, Visit, carried, shifted
from anonymization.text.masking.plain import plain_edits

_DELIMITERS = ",\t;|"
_LABEL = 40  # characters of a header cell, at most
_WORDS = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class _Cell:
    start: int
    text: str
    quoted: bool
    column: int
    row: int


def table_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of delimited text; quotes, line ends and delimiters stay."""
    delimiter = _delimiter(text)
    labels: dict[int, str] = {}
    edits: list[Edit] = []
    for cell in _cells(text, delimiter):
        if cell.row == 0 and is_label(cell.text):
            labels[cell.column] = cell.text.strip()
        if cell.text.strip():
            edits += _cell_edits(
                cell, labels.get(cell.column, "") if cell.row else "", delimiter, visit
            )
    return edits


def is_label(text: str) -> bool:
    """Can a cell be the name of its column?"""
    plain = text.strip()
    return 0 < len(plain) <= _LABEL and "@" not in plain and _WORDS.search(plain) is not None


def _delimiter(text: str) -> str:
    head = text[: text.find("\n") + 1 or len(text)]
    return max(_DELIMITERS, key=lambda mark: (head.count(mark), -_DELIMITERS.index(mark)))


def _cells(text: str, delimiter: str) -> Iterator[_Cell]:
    """Fields as in RFC 4180; a quote inside an unquoted field is part of it."""
    mark = re.escape(delimiter)
    field = re.compile(rf'"((?:[^"]|"")*)"(?={mark}|\r?\n|\Z)|([^{mark}\r\n]*)')
    offset = row = column = 0
    while offset < len(text):
        match = field.match(text, offset)
        assert match is not None  # the second form matches an empty field
        quoted = match[1] is not None
        yield _Cell(match.start(1 if quoted else 2), match[1 if quoted else 2], quoted, column, row)
        offset = match.end()
        if text[offset : offset + 1] == delimiter:
            column += 1
        elif offset < len(text) and text[offset] == "\n":
            row, column = row + 1, 0
        offset += 1


def _cell_edits(cell: _Cell, label: str, delimiter: str, visit: Visit) -> list[Edit]:
    if not cell.quoted:
        return shifted(plain_edits(cell.text, visit, label), cell.start, _bare(delimiter))
    if '""' not in cell.text:
        return shifted(plain_edits(cell.text, visit, label), cell.start, _doubled)
    starts: list[int] = []
    ends: list[int] = []
    characters: list[str] = []
    for match in re.finditer('""|[^"]', cell.text):
        characters.append(match.group()[0])
        starts.append(match.start())
        ends.append(match.end())
    edits = plain_edits("".join(characters), visit, label)
    return shifted(carried(edits, starts, ends, _doubled), cell.start)


def _doubled(new: str) -> str:
    return new.replace('"', '""')


def _bare(delimiter: str) -> Escape:
    """An escape for unquoted cells: a replacement must not break the record."""
    return lambda new: re.sub(rf'[{re.escape(delimiter)}"\r\n]', " ", new)
