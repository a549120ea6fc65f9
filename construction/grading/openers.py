"""Opening office files, PDF, pictures and archives, and the table of all openers.

Runs only in a confined child (`file_child`) or on files that this project wrote itself, because the
files of agents are untrusted. What an opener gets and returns stands in `text_openers`.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import tomllib
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from email.parser import HeaderParser
from html.parser import HTMLParser
from typing import Any

from construction.grading.file_types import type_of
from construction.grading.tables import Table, TableCounter, tables_of_records

# Opening files that are text: the text that a reader would see, and whether there is any content.
#
# Runs only in a confined child (`file_child`) or on files that this project wrote itself. A library
# is imported when a file of its type is opened. An opener gets the file's bytes and either returns
# its `Content` or raises; all its limits are in `Bounds`.


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one file: bytes after decompression, cells, pixels, pages, characters."""

    inflated_bytes: int
    archive_entries: int
    cells: int
    pixels: int
    pages: int
    text_chars: int


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds: `items` counts its units (cells, pages, slides, …), 0 if it is empty.

    `is_shell`: it has only the frame of its type, such as a header without rows. `prose`
    is its text without the syntax of the format; None where `text` is that already. `pages`
    counts pages or slides, where the type has any. `form` is all that an edit can change, where a
    file that is saved anew has other bytes; None where the bytes tell.
    """

    text: str
    items: int
    is_shell: bool = False
    prose: str | None = None
    pages: int = 0
    tables: tuple[Table, ...] = ()
    form: str | None = None


class TooLarge(Exception):
    """The file holds more than its bounds allow."""


class Encrypted(Exception):
    """The file cannot be read without a password."""


def decode(data: bytes) -> str:
    """Text in UTF-8, UTF-16 with a mark, or GB 18030; raises UnicodeError for anything else."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    if b"\x00" in data:
        raise UnicodeError("NUL bytes in text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("gb18030")


def says_nothing(text: str) -> bool:
    """Is there neither a letter nor a digit?"""
    return not any(map(str.isalnum, text))


def _joined(parts: Iterable[str], bounds: Bounds) -> str:
    """The parts as lines, cut at the limit of characters."""
    kept, room = [], bounds.text_chars
    for part in parts:
        if room <= 0:
            break
        kept.append(part[:room])
        room -= len(part) + 1
    return "\n".join(kept)


def _open_text(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    return Content(text[: bounds.text_chars], len(text.split(None, 1)), says_nothing(text))


def _is_header_only(rows: int, values: str) -> bool:
    """Is a table at most one row of words? A single row of figures is content."""
    return rows < 2 and not any(map(str.isdigit, values))


def _open_csv(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    # The limit is the whole process's: it is only ever raised.
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    seen = filled = 0
    counter = TableCounter("")
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        seen += len(row) + 1
        filled += counter.add([cell.strip() for cell in row])
        if seen > bounds.cells:
            raise TooLarge
    is_shell = _is_header_only(counter.filled_rows, text)
    return Content(text[: bounds.text_chars], filled, is_shell, tables=counter.tables())


def _open_json(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    value = json.loads(text)
    return _structured(text, [value], _size(value), bounds)


def _open_jsonl(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return _structured(text, lines, len(lines), bounds)


def _open_yaml(data: bytes, bounds: Bounds) -> Content:
    """Its scalars as they are written: what a tag of some program (`!Ref`) means is not asked."""
    import yaml

    text = decode(data)
    documents = list(yaml.load_all(text, Loader=yaml.BaseLoader))
    return _structured(text, documents, sum(_size(document) for document in documents), bounds)


def _open_toml(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    value = tomllib.loads(text)
    return _structured(text, [value], _size(value), bounds)


def _open_notebook(data: bytes, bounds: Bounds) -> Content:
    """A notebook without any source is a shell, no matter what its metadata say."""
    text = decode(data)
    value = json.loads(text)
    cells = value.get("cells", ()) if isinstance(value, dict) else ()
    sources = [cell.get("source", "") for cell in cells if isinstance(cell, dict)]
    prose = _joined(("".join(source) for source in sources), bounds)
    return Content(text[: bounds.text_chars], _size(value), says_nothing(prose), prose)


def _structured(text: str, values: Iterable[object], items: int, bounds: Bounds) -> Content:
    """Decoded values whose prose is their leaves; without a leaf that says anything, a shell."""
    prose = _joined(_leaves(values), bounds)
    tables = tables_of_records(values)
    return Content(text[: bounds.text_chars], items, says_nothing(prose), prose, tables=tables)


def _leaves(values: Iterable[object]) -> Iterator[str]:
    """The scalars inside lists and tables, as text; aliases of YAML are followed only once."""
    pending, seen = [*values][::-1], set[int]()
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            if id(value) not in seen:
                seen.add(id(value))
                inner = list(value.values() if isinstance(value, dict) else value)
                pending += reversed(inner)
        elif value is not None:
            yield str(value)


def _size(value: object) -> int:
    """How much a decoded value holds: members of a container, 1 for a scalar, 0 for nothing."""
    if isinstance(value, dict | list | str):
        return len(value)
    return 0 if value is None else 1


def _open_xml(data: bytes, bounds: Bounds) -> Content:
    """Elements with attributes count as drawn; a single rectangle is a background."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    root = etree.fromstring(data, parser)
    text = _joined((part.strip() for part in root.itertext() if part.strip()), bounds)
    tags = [item.tag for item in root.iterdescendants() if item.attrib]
    drawn = len(tags) > 1 or (len(tags) == 1 and not str(tags[0]).endswith("}rect"))
    return Content(
        text, len(root) + len(root.attrib) + bool(text), says_nothing(text) and not drawn
    )


class _Visible(HTMLParser):
    """Collects the text outside scripts, styles and code, and counts what is not text."""

    _hidden = frozenset({"script", "style", "template", "code", "pre"})
    _pictures = frozenset({"img", "svg", "canvas", "video", "audio", "iframe", "object"})

    def __init__(self) -> None:
        super().__init__()
        self.tags = self.depth = self.pictures = 0
        self.parts: list[str] = []
        self.hidden: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags += 1
        self.depth += tag in self._hidden
        self.pictures += tag in self._pictures
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden and self.depth:
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if data.strip():
            if not self.depth:
                self.parts.append(data.strip())
            elif self._open != "style":
                self.hidden.append(data.strip())


def _open_html(data: bytes, bounds: Bounds) -> Content:
    """Text inside scripts and code is content, but not prose."""
    page = _Visible()
    page.feed(decode(data))
    page.close()
    if not page.tags:
        raise ValueError("no element in the page")
    text, hidden = _joined(page.parts, bounds), _joined(page.hidden, bounds)
    is_shell = not page.pictures and says_nothing(text + hidden)
    return Content(text, page.tags, is_shell, f"{text}\n{hidden}")


def _open_py(data: bytes, bounds: Bounds) -> Content:
    """Code that consists of comments, docstrings and `pass` is a shell."""
    text = decode(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, "deliverable.py")
        compile(tree, "deliverable.py", "exec", dont_inherit=True)
    return Content(text[: bounds.text_chars], len(text.split(None, 1)), _does_nothing(tree.body))


def _does_nothing(body: list[ast.stmt]) -> bool:
    return all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )


# Opening mail, calendars and captions: what people wrote in them, without the syntax

_HEADERS = ("subject", "to", "cc", "from")
_PROPERTY = re.compile(
    r"(?im)^(?:SUMMARY|DESCRIPTION|LOCATION|ATTENDEE|ORGANIZER|DTSTART|DTEND)(?:;[^:\r\n]*)?:(.*)$"
)
_NO_CUE = re.compile(r"(?m)^(?:WEBVTT.*|\d+|(?:\d+:)?\d\d?:\d\d[,.]\d{1,3}\s*-->.*)[ \t]*\r?$")


def _open_mail(data: bytes, bounds: Bounds) -> Content:
    """Subject, people and body."""
    mail = HeaderParser().parsestr(decode(data).lstrip())
    if not mail.keys():
        return _open_text(data, bounds)
    spoken = "\n".join(str(value) for name, value in mail.items() if name.lower() in _HEADERS)
    return _holding(data, f"{spoken}\n{mail.get_payload()}", bounds)


def _open_calendar(data: bytes, bounds: Bounds) -> Content:
    """What events say of themselves; lines that were folded are one.

    Raises ValueError if it is no calendar.
    """
    unfolded = decode(data).replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "")
    if "BEGIN:VCALENDAR" not in unfolded.upper():
        raise ValueError("no calendar")
    said = "\n".join(_PROPERTY.findall(unfolded))
    return _holding(data, said.replace("\\n", "\n").replace("\\,", ","), bounds)


def _open_captions(data: bytes, bounds: Bounds) -> Content:
    """What is said, without the numbers and times of the cues."""
    return _holding(data, _NO_CUE.sub("", decode(data)), bounds)


def _holding(data: bytes, text: str, bounds: Bounds) -> Content:
    whole = _open_text(data, bounds)
    return replace(whole, text=text[: bounds.text_chars], is_shell=says_nothing(text))


_CHARTS_AND_PICTURES = ("xl/charts/", "xl/media/", "xl/chartsheets/")
_FORM_BYTES = 2_000_000  # of a workbook, up to which its look is compared too
_PAINTS = re.compile(rb"(?<!\S)(?:S|s|f\*?|F|[Bb]\*?|Do|sh|EI)(?!\S)")


def check_zip(data: bytes, bounds: Bounds) -> zipfile.ZipFile:
    """The archive, if the sizes in its directory are within bounds.

    No entry can be larger: `zipfile` stops at the declared size.
    """
    archive = zipfile.ZipFile(io.BytesIO(data))
    entries = archive.infolist()
    if len(entries) > bounds.archive_entries:
        raise TooLarge
    if sum(entry.file_size for entry in entries) > bounds.inflated_bytes:
        raise TooLarge
    if any(entry.flag_bits & 1 for entry in entries):
        raise Encrypted
    return archive


def _open_xlsx(data: bytes, bounds: Bounds) -> Content:
    import openpyxl

    with check_zip(data, bounds) as archive:
        drawn = any(name.startswith(_CHARTS_AND_PICTURES) for name in archive.namelist())
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    rows: list[str] = []
    tables: list[Table] = []
    filled = seen = 0
    for sheet in book.worksheets:
        counter = TableCounter(sheet.title)
        sheet.reset_dimensions()  # a declared size of 16384 columns would pad every row
        for row in sheet.iter_rows(values_only=True):
            seen += len(row) + 1
            if seen > bounds.cells:
                raise TooLarge
            cells = ["" if value is None else str(value) for value in row]
            filled += counter.add(cells)
            if any(cells):
                rows.append("\n".join(filter(None, cells)))
        tables += counter.tables()
    text = _joined(rows, bounds)
    is_shell = not drawn and _is_header_only(len(rows), text)
    form = _workbook_form(data) if len(data) <= _FORM_BYTES else None
    return Content(text, filled + len(book.chartsheets), is_shell, tables=tuple(tables), form=form)


def _workbook_form(data: bytes) -> str:
    """Cells with their look, and what lies around them: equal for a workbook that is saved anew."""
    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(data))
    looks: dict[int, str] = {}
    lines: list[object] = [
        sorted((name, one.attr_text) for name, one in book.defined_names.items())
    ]
    sheet: Any
    for sheet in book.worksheets:
        lines += _around_cells(sheet)
        for row in sheet.iter_rows():
            for cell in (cell for cell in row if cell.value is not None or cell.has_style):
                look = looks.get(cell.style_id)
                if look is None:
                    parts = (cell.number_format, cell.font, cell.fill, cell.border, cell.alignment)
                    look = looks.setdefault(cell.style_id, repr(parts))
                note = cell.comment.text if cell.comment else ""
                target = cell.hyperlink.target if cell.hyperlink else ""
                key = zlib.crc32(look.encode())
                lines.append((cell.coordinate, cell.value, note, target, key))
    return repr(lines)


def _around_cells(sheet: Any) -> list[object]:
    """What an edit can change of a sheet beside its cells."""
    sizes = [
        sorted((name, one.hidden, one.width) for name, one in sheet.column_dimensions.items()),
        sorted((at, one.hidden, one.height) for at, one in sheet.row_dimensions.items()),
    ]
    around = [sheet.freeze_panes, sheet.auto_filter.ref, sorted(map(str, sheet.merged_cells))]
    rules = [
        (str(one.sqref), [(rule.type, rule.operator, rule.formula) for rule in one.rules])
        for one in sheet.conditional_formatting
    ]
    allowed = [
        (str(one.sqref), one.type, one.operator, one.formula1, one.formula2)
        for one in sheet.data_validations.dataValidation
    ]
    drawn = [len(sheet._charts), len(sheet._images)]
    tables = sorted((name, sheet.tables[name].ref) for name in sheet.tables)
    page = [sheet.print_area, sheet.page_setup.orientation, sheet.protection.sheet]
    return [sheet.title, sheet.sheet_state, sizes, around, rules, allowed, drawn, tables, page]


_PICTURES = ("}pic", "}graphicFrame", "}tbl")
_DRAWN = ("}pic", "}chart", "}relIds", "}imagedata")  # a table without text is no content


def _office_content(roots: Iterable[Any], bounds: Bounds) -> Content:
    """The paragraphs of WordprocessingML or DrawingML trees; pictures and tables are items too."""
    paragraphs: list[list[str]] = [[]]
    pictures = drawn = 0
    for root in roots:
        for element in root.iter():
            tag = element.tag if isinstance(element.tag, str) else ""
            if tag.endswith("}p"):
                paragraphs.append([])
            elif tag.endswith("}t"):
                paragraphs[-1].append(element.text or "")
            elif tag.endswith("}br"):
                paragraphs[-1].append("\n")
            elif tag.endswith(_PICTURES):
                pictures += 1
            drawn += tag.endswith(_DRAWN)
    texts = [text for text in map("".join, paragraphs) if text.strip()]
    text = _joined(texts, bounds)
    return Content(text, len(texts) + pictures, not drawn and says_nothing(text))


def _open_docx(data: bytes, bounds: Bounds) -> Content:
    import docx

    check_zip(data, bounds).close()
    document = docx.Document(io.BytesIO(data))
    parts = document.part.package.iter_parts()
    edges = [part for part in parts if part.partname.startswith(("/word/header", "/word/footer"))]
    return _office_content([document.element, *(part.element for part in edges)], bounds)


def _open_pptx(data: bytes, bounds: Bounds) -> Content:
    import pptx

    check_zip(data, bounds).close()
    deck = pptx.Presentation(io.BytesIO(data))
    content = _office_content((slide.element for slide in deck.slides), bounds)
    return replace(content, pages=len(deck.slides))


def _open_pdf(data: bytes, bounds: Bounds) -> Content:
    import pypdf

    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Encrypted
    pages = len(reader.pages)
    if pages > bounds.pages:
        raise TooLarge
    text = _joined((page.extract_text() for page in reader.pages), bounds)
    is_shell = says_nothing(text) and not any(map(_is_painted, reader.pages))
    return Content(text, pages, is_shell, pages=pages)


def _is_painted(page: Any) -> bool:
    """Does a page without text draw anything but pictures of one colour?"""
    content = page.get_contents()
    if content is None or not _PAINTS.search(content.get_data()):
        return False
    try:
        blank = [image.image is not None and _is_blank(image.image) for image in page.images]
    except Exception:  # a picture in a form that the library cannot decode
        return True
    return not blank or not all(blank)


def _is_blank(image: Any) -> bool:
    """Is it of one colour?"""
    extrema = image.getextrema()
    bands = extrema if isinstance(extrema[0], tuple) else (extrema,)
    return all(low == high for low, high in bands)


def _open_image(data: bytes, bounds: Bounds) -> Content:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # the exact bound below replaces it
    with Image.open(io.BytesIO(data)) as image:
        if image.width * image.height > bounds.pixels:
            raise TooLarge
        image.load()
        return Content("", image.width * image.height, _is_blank(image))


def _open_zip(data: bytes, bounds: Bounds) -> Content:
    """The prose of an archive is that of its text files."""
    with check_zip(data, bounds) as archive:
        if archive.testzip() is not None:
            raise zipfile.BadZipFile
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        texts = (archive.read(entry) for entry in entries if _is_text(entry.filename))
        prose = _joined((text.decode("utf-8", "replace") for text in texts), bounds)
    binary = any(entry.file_size and not _is_text(entry.filename) for entry in entries)
    return Content("", len(entries), not binary and says_nothing(prose), prose)


def _is_text(name: str) -> bool:
    kind = type_of(name)
    return kind is not None and not kind.signatures and not kind.binary


OPENERS: dict[str, Callable[[bytes, Bounds], Content]] = {
    "text": _open_text,
    "mail": _open_mail,
    "calendar": _open_calendar,
    "captions": _open_captions,
    "xlsx": _open_xlsx,
    "docx": _open_docx,
    "pptx": _open_pptx,
    "pdf": _open_pdf,
    "image": _open_image,
    "csv": _open_csv,
    "json": _open_json,
    "notebook": _open_notebook,
    "jsonl": _open_jsonl,
    "yaml": _open_yaml,
    "toml": _open_toml,
    "xml": _open_xml,
    "html": _open_html,
    "py": _open_py,
    "zip": _open_zip,
}
