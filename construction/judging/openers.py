"""Opening a file of each type with its own library, and the text that its reader would see.

Runs only in the sandboxed child (`hard_rule_runner`), because the files are untrusted. A library is
imported when a file of its type is opened. An opener gets the file's bytes and either returns its
`Content` or raises; all its limits are in `Bounds`.
"""

from __future__ import annotations

import csv
import io
import json
import tomllib
import warnings
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any


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
    """What a file holds: `items` counts its units (cells, pages, slides, …), 0 if it is empty."""

    text: str
    items: int


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


def _joined(parts: Iterable[str], bounds: Bounds) -> str:
    kept, room = [], bounds.text_chars
    for part in parts:
        if room <= 0:
            break
        kept.append(part[:room])
        room -= len(part) + 1
    return "\n".join(kept)


def open_text(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    return Content(text[: bounds.text_chars], len(text.split(None, 1)))


def open_xlsx(data: bytes, bounds: Bounds) -> Content:
    import openpyxl

    check_zip(data, bounds).close()
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    rows: list[str] = []
    filled = seen = 0
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # a declared size of 16384 columns would pad every row
        for row in sheet.iter_rows(values_only=True):
            seen += len(row) + 1
            if seen > bounds.cells:
                raise TooLarge
            values = [str(value) for value in row if value not in (None, "")]
            filled += len(values)
            if values:
                rows.append("\n".join(values))
    return Content(_joined(rows, bounds), filled + len(book.chartsheets))


_PICTURES = ("}pic", "}graphicFrame", "}tbl")


def _office_text(roots: Iterable[Any]) -> tuple[list[str], int]:
    """Paragraph texts of WordprocessingML or DrawingML trees, and how many pictures they hold."""
    paragraphs: list[list[str]] = [[]]
    pictures = 0
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
    texts = ["".join(runs) for runs in paragraphs]
    return [text for text in texts if text.strip()], pictures


def open_docx(data: bytes, bounds: Bounds) -> Content:
    import docx

    check_zip(data, bounds).close()
    document = docx.Document(io.BytesIO(data))
    parts = document.part.package.iter_parts()
    edges = [part for part in parts if part.partname.startswith(("/word/header", "/word/footer"))]
    paragraphs, pictures = _office_text([document.element, *(part.element for part in edges)])
    return Content(_joined(paragraphs, bounds), len(paragraphs) + pictures)


def open_pptx(data: bytes, bounds: Bounds) -> Content:
    import pptx

    check_zip(data, bounds).close()
    deck = pptx.Presentation(io.BytesIO(data))
    paragraphs, pictures = _office_text(slide.element for slide in deck.slides)
    return Content(_joined(paragraphs, bounds), len(paragraphs) + pictures)


def open_pdf(data: bytes, bounds: Bounds) -> Content:
    import pypdf

    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Encrypted
    pages = len(reader.pages)
    if pages > bounds.pages:
        raise TooLarge
    return Content(_joined((page.extract_text() for page in reader.pages), bounds), pages)


def open_image(data: bytes, bounds: Bounds) -> Content:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # the exact bound below replaces it
    with Image.open(io.BytesIO(data)) as image:
        if image.width * image.height > bounds.pixels:
            raise TooLarge
        image.load()
        return Content("", image.width * image.height)


def open_csv(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    csv.field_size_limit(max(len(text), 1))
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    seen = filled = 0
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        seen += len(row) + 1
        filled += sum(1 for cell in row if cell.strip())
        if seen > bounds.cells:
            raise TooLarge
    return Content(text[: bounds.text_chars], filled)


def open_json(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    return Content(text[: bounds.text_chars], _size(json.loads(text)))


def open_jsonl(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return Content(text[: bounds.text_chars], len(lines))


def open_yaml(data: bytes, bounds: Bounds) -> Content:
    import yaml

    text = decode(data)
    documents = list(yaml.load_all(text, Loader=yaml.SafeLoader))
    return Content(text[: bounds.text_chars], sum(_size(document) for document in documents))


def open_toml(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    return Content(text[: bounds.text_chars], _size(tomllib.loads(text)))


def _size(value: object) -> int:
    """How much a decoded value holds: members of a container, 1 for a scalar, 0 for nothing."""
    if isinstance(value, dict | list | str):
        return len(value)
    return 0 if value is None else 1


def open_xml(data: bytes, bounds: Bounds) -> Content:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    root = etree.fromstring(data, parser)
    text = _joined((part.strip() for part in root.itertext() if part.strip()), bounds)
    return Content(text, len(root) + len(root.attrib) + bool(text))


class _Visible(HTMLParser):
    """Collects the text outside scripts, styles and code."""

    _hidden = frozenset({"script", "style", "template", "code", "pre"})

    def __init__(self) -> None:
        super().__init__()
        self.tags = self.depth = 0
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags += 1
        self.depth += tag in self._hidden

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden and self.depth:
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if not self.depth and data.strip():
            self.parts.append(data.strip())


def open_html(data: bytes, bounds: Bounds) -> Content:
    page = _Visible()
    page.feed(decode(data))
    page.close()
    if not page.tags:
        raise ValueError("no element in the page")
    return Content(_joined(page.parts, bounds), page.tags)


def open_py(data: bytes, bounds: Bounds) -> Content:
    text = decode(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(text, "deliverable.py", "exec", dont_inherit=True)
    return Content(text[: bounds.text_chars], len(text.split(None, 1)))


def open_zip(data: bytes, bounds: Bounds) -> Content:
    with check_zip(data, bounds) as archive:
        if archive.testzip() is not None:
            raise zipfile.BadZipFile
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    return Content("", len(names))


OPENERS: dict[str, Callable[[bytes, Bounds], Content]] = {
    "text": open_text,
    "xlsx": open_xlsx,
    "docx": open_docx,
    "pptx": open_pptx,
    "pdf": open_pdf,
    "image": open_image,
    "csv": open_csv,
    "json": open_json,
    "jsonl": open_jsonl,
    "yaml": open_yaml,
    "toml": open_toml,
    "xml": open_xml,
    "html": open_html,
    "py": open_py,
    "zip": open_zip,
}
