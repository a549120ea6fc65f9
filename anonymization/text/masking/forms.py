"""Forms of text and how each is visited; the file's name decides the form, else its beginning.

In HTML and XML text is read across inline tags; attributes, comments and scripts are visited too,
and every other byte stays. CSV and TSV are visited cell by cell, each with the name of its column.
"""

from __future__ import annotations

import gzip
import html
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath

from anonymization.text.contracts import Edit, EntityType
from anonymization.text.detect.said import is_label_of_value
from anonymization.text.detect.strict_fields import field_of
from anonymization.text.detect.wording import words
from anonymization.text.masking.code_text import code_edits, lexer_of
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
from anonymization.text.masking.structured_text import json_edits, jsonl_edits, looks_like_json
from anonymization.text.vault import applied

_TOKEN = re.compile(
    r"(?s)<!--(?P<comment>.*?)(?:-->|\Z)|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    r"|<(?P<raw>script|style)\b(?P<open>[^>]*)>(?P<code>.*?)(?:</(?P=raw)\s*>|\Z)"
    # `<name@host>` and `<https://…>` are addresses, which mails hold between such signs.
    r"|<(?P<slash>/?)(?P<tag>[A-Za-z!?](?>[^\s/>@]{0,60})(?!@|//))"
    r"(?P<rest>(?>(?:\"[^\"]*(?:\"|\Z)|'[^']*(?:'|\Z)|[^>\"'])*))(?P<end>>|\Z)",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""([^\s=/"'<>]{1,100})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_FIELD_NAME = re.compile(r"(?i)(?<![\w-])(?:name|id)\s*=\s*[\"']([^\"'<>]{2,48})")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_ENTITY_VALUE = re.compile(
    r"<!ENTITY\s+(?:%\s+)?(?P<name>[\w.:-]{1,100})\s+(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')"
)
_OBJECT = "\ufffc"  # what an entity of the document's own stands for is read where it is declared
_INLINE = words("words.toml", "inline_tags")
_OF_PAGES = frozenset({"address", "name", "title", "summary", "caption", "label", "option"})
_STRUCTURAL = frozenset({"class", "style", "rel", "type", "xmlns", "charset", "media"})


def _html_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of a page; tags and attribute names stay unchanged."""
    edits: list[Edit] = []
    run = _Run()
    done, label = 0, ""
    for match in _TOKEN.finditer(text):
        if match["end"] == "":  # an unclosed tag is text, and so is everything after it
            break
        run.add(text, done, match.start())
        done = match.end()
        tag = (match["tag"] or "").lower()
        if tag not in _INLINE:
            edits += run.edits(visit, label if match["slash"] else "")
            run = _Run()
            label = "" if match["slash"] else _declared(match["tag"] or "")
        edits += _markup(match, visit)
    run.add(text, done, len(text))
    return sorted(edits + run.edits(visit))


def _declared(tag: str) -> str:
    """The name of an element of XML that says whose its text is; empty for elements of pages."""
    name = tag.rpartition(":")[2]
    return name if name.lower() not in _OF_PAGES and field_of(name) else ""


def _markup(match: re.Match[str], visit: Visit) -> list[Edit]:
    if match["comment"] is not None:
        inner, start = match["comment"], match.start("comment")
        deep = visit.depth < MAX_DEPTH and "<" in inner
        return shifted(
            _html_edits(inner, visit.deeper()) if deep else plain_edits(inner, visit), start
        )
    if match["cdata"] is not None:
        return shifted(plain_edits(match["cdata"], visit), match.start("cdata"))
    if (match["tag"] or "").startswith("!"):
        entity = _ENTITY_VALUE.search(match.group())
        return _entity(entity, match.start(), visit) if entity else []
    if match["raw"]:
        return _attributes(match["open"], match.start("open"), visit) + _code_in_page(match, visit)
    attributes = _attributes(match["rest"], match.start("rest"), visit)
    if match["tag"].startswith("?") and not attributes:  # an instruction to some program
        return shifted(plain_edits(match["rest"], visit), match.start("rest"))
    return attributes


def _entity(entity: re.Match[str], offset: int, visit: Visit) -> list[Edit]:
    """Edits of the text that the document declares for an entity (XML 1.0, section 4.2)."""
    group = "double" if entity["double"] is not None else "single"
    value = _Run()
    value.add(entity[group], 0, len(entity[group]))
    label = entity["name"] if field_of(entity["name"]) else ""
    return shifted(value.edits(visit, label), offset + entity.start(group))


def _code_in_page(match: re.Match[str], visit: Visit) -> list[Edit]:
    code = match["code"]
    if not code.strip():
        return []
    form = json_edits if looks_like_json(code) else plain_edits
    return shifted(form(code, visit), match.start("code"))


def _attributes(text: str, start: int, visit: Visit) -> list[Edit]:
    edits: list[Edit] = []
    named = _FIELD_NAME.search(text)
    field = named[1] if named and is_label_of_value(named[1]) else ""
    for match in _ATTRIBUTE.finditer(text):
        name = match[1].lower()
        group = next(number for number in (2, 3, 4) if match[number] is not None)
        if name in _STRUCTURAL or name.startswith("xmlns:") or not match[group].strip():
            continue
        value = _Run()
        value.add(match[group], 0, len(match[group]))
        label = match[1].removeprefix("data-")
        label = label if is_label_of_value(label) or field_of(label) else ""
        if name in ("value", "content") and field:
            label = field
        edits += shifted(value.edits(visit, label), start + match.start(group))
    return edits


class _Run:
    """Text between two block boundaries, entities decoded, with the offsets of each character."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, text: str, start: int, end: int) -> None:
        done = start
        for match in _ENTITY.finditer(text, start, end):
            self._plain(text, done, match.start())
            char = html.unescape(match.group())
            char = _OBJECT if char == match.group() else char
            self._parts.append(char)
            self._starts += [match.start(), *[match.end()] * (len(char) - 1)]
            self._ends += [match.end()] * len(char)
            done = match.end()
        self._plain(text, done, end)

    def _plain(self, text: str, start: int, end: int) -> None:
        self._parts.append(text[start:end])
        self._starts += range(start, end)
        self._ends += range(start + 1, end + 1)

    def edits(self, visit: Visit, label: str = "") -> list[Edit]:
        """Edits with offsets in the page; the label is that of an attribute."""
        plain = "".join(self._parts)
        if not plain.strip():
            return []
        return carried(plain_edits(plain, visit, label), self._starts, self._ends, html.escape)


_DELIMITERS = ",\t;|"
_LABEL = 40  # characters of a header cell, at most


@dataclass(frozen=True, slots=True)
class _Cell:
    start: int
    text: str
    quoted: bool
    column: int
    row: int


def _table_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of delimited text; quotes, line ends and delimiters stay."""
    begin = head_of_table(text)
    delimiter = _delimiter(text[begin:])
    labels: dict[int, str] = {}
    edits = plain_edits(text[:begin], visit) if begin else []
    for cell in _cells(text, delimiter, begin):
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
    return 0 < len(plain) <= _LABEL and "@" not in plain and any(map(str.isalpha, plain))


def head_of_table(text: str) -> int:
    """Where the names of its columns begin: behind lines of comments and empty ones."""
    offset = int(text.startswith("\ufeff"))
    while text[offset:].lstrip(" \t\r\n").startswith("# "):
        end = text.find("\n", text.index("#", offset))
        if end < 0:
            return 0
        offset = end + 1
    return offset if offset > 1 else 0


def _delimiter(text: str) -> str:
    head = text[: text.find("\n") + 1 or len(text)]
    return max(_DELIMITERS, key=lambda mark: (head.count(mark), -_DELIMITERS.index(mark)))


def _cells(text: str, delimiter: str, offset: int = 0) -> Iterator[_Cell]:
    """Fields as in RFC 4180; a quote inside an unquoted field is part of it."""
    mark = re.escape(delimiter)
    field = re.compile(rf'"((?:[^"]|"")*)"(?={mark}|\r?\n|\Z)|([^{mark}\r\n]*)')
    row = column = 0
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
    ".csv": _table_edits,
    ".tsv": _table_edits,
    ".html": _html_edits,
    ".htm": _html_edits,
    ".xhtml": _html_edits,
    ".xml": _html_edits,
    ".svg": _html_edits,
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
        return _html_edits
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
