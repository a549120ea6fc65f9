"""Forms of text and how each is visited; the file's name decides the form, else its beginning.

CSV and TSV are visited cell by cell, each cell with the name of its column.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath

from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.code_text import code_edits, lexer_of
from anonymization.text.masking.markup_text import html_edits
from anonymization.text.masking.pieces import (
    MAX_DEPTH,
    Escape,
    Look,
    Piece,
    Visit,
    carried,
    shifted,
)
from anonymization.text.masking.plain import plain_edits
from anonymization.text.masking.structured_text import (
    json_edits,
    jsonl_edits,
    looks_like_json,
)
from anonymization.text.restore import applied

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


Form = Callable[[str, Visit], list[Edit]]

FORMS: Mapping[str, Form] = {
    ".json": json_edits,
    ".jsonl": jsonl_edits,
    ".ndjson": jsonl_edits,
    ".csv": table_edits,
    ".tsv": table_edits,
    ".html": html_edits,
    ".htm": html_edits,
    ".xhtml": html_edits,
    ".xml": html_edits,
    ".svg": html_edits,
}
_MARKUP = re.compile(r"\s{0,80}(?:<\?xml\s|(?i:<!doctype\s|<html\b|<svg\b))")
_CREDENTIALS = re.compile(r"(?P<user>[A-Za-z][\w.@+-]{1,63}):(?P<password>[!-9;-~]{4,64})")
_GZIP = b"\x1f\x8b\x08"
_LONGEST_UNPACKED = 8 << 20  # bytes


def edits_of(text: str, path: str, look: Look) -> list[Edit]:
    """Edits of a text, read in the form that its name, or else its beginning, implies."""
    return form_of(text, path)(text, Visit(look, open_text))


def form_of(text: str, path: str) -> Form:
    """The form in which a text is read."""
    form = FORMS.get(PurePath(path).suffix.lower())
    if form is not None:
        return form
    if alias := lexer_of(path):
        return partial(code_edits, alias)
    if _MARKUP.match(text):
        return html_edits
    if not looks_like_json(text):
        return plain_edits
    return json_edits if _is_one_document(text) else jsonl_edits


def _is_one_document(text: str) -> bool:
    """Is it JSON over several lines, as `.geojson` and notebooks are?"""
    if "\n" not in text or len(text) > _LONGEST_UNPACKED:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def open_text(data: bytes, visit: Visit) -> tuple[bytes, Sequence[Edit]] | None:
    """A file found inside a text, masked, with its edits; None if it is neither text nor packed
    text (RFC 1952)."""
    if data.startswith(_GZIP):
        return _open_packed(data, visit)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not is_readable(text):
        return None
    credentials = _CREDENTIALS.fullmatch(text)
    if credentials:  # the base64 of HTTP Basic (RFC 7617)
        user = shifted(visit.look(Piece(credentials["user"], kind=EntityType.ACCOUNT)), 0)
        password = visit.look(Piece(credentials["password"], kind=EntityType.SECRET))
        both = [*user, *shifted(password, credentials.start("password"))]
        return applied(text, both)[0].encode("utf-8"), both
    edits = form_of(text, "")(text, visit)
    return applied(text, edits)[0].encode("utf-8"), edits


def _open_packed(data: bytes, visit: Visit) -> tuple[bytes, Sequence[Edit]] | None:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(data, _LONGEST_UNPACKED)
    except zlib.error:
        return None
    if visit.depth >= MAX_DEPTH or not unpacker.eof:
        return None
    opened = open_text(unpacked, visit.deeper())
    return (gzip.compress(opened[0], mtime=0), opened[1]) if opened else None


def is_readable(text: str) -> bool:
    """Does it hold no control characters but white space?"""
    return all(char >= " " or char in "\t\n\r\f\b\x1b\x0b" for char in set(text))
