"""Opening office files, PDF, pictures and archives, and the table of all openers.

Runs only in a confined child (`file_child`) or on files that this project wrote itself, because the
files of agents are untrusted. What an opener gets and returns stands in `text_openers`.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from construction.grading.file_types import type_of
from construction.grading.tables import Table, TableCounter
from construction.grading.text_openers import (
    Bounds,
    Content,
    Encrypted,
    TooLarge,
    decode,
    is_header_only,
    joined,
    open_csv,
    open_html,
    open_json,
    open_jsonl,
    open_notebook,
    open_py,
    open_text,
    open_toml,
    open_xml,
    open_yaml,
    says_nothing,
)

# Opening mail, calendars and captions: what people wrote in them, without the syntax

_HEADER = re.compile(r"(?im)^(?:subject|to|cc|from):[ \t]*(.*)$")
_HEADERS = re.compile(r"(?i)\A\s*(?:[a-z][a-z0-9-]{1,40}:.*\r?\n(?:[ \t].*\r?\n)*)+")
_PROPERTY = re.compile(
    r"(?im)^(?:SUMMARY|DESCRIPTION|LOCATION|ATTENDEE|ORGANIZER|DTSTART|DTEND)(?:;[^:\r\n]*)?:(.*)$"
)
_NO_CUE = re.compile(r"(?m)^(?:WEBVTT.*|\d+|(?:\d+:)?\d\d?:\d\d[,.]\d{1,3}\s*-->.*)[ \t]*\r?$")


def open_mail(data: bytes, bounds: Bounds) -> Content:
    """Subject, people and body."""
    text = decode(data)
    headers = _HEADERS.match(text)
    if headers is None:
        return open_text(data, bounds)
    spoken = "\n".join(_HEADER.findall(headers[0]))
    return _holding(data, f"{spoken}\n{text[headers.end() :]}", bounds)


def open_calendar(data: bytes, bounds: Bounds) -> Content:
    """What events say of themselves; lines that were folded are one.

    Raises ValueError if it is no calendar.
    """
    unfolded = re.sub(r"\r?\n[ \t]", "", decode(data))
    if "BEGIN:VCALENDAR" not in unfolded.upper():
        raise ValueError("no calendar")
    said = "\n".join(_PROPERTY.findall(unfolded))
    return _holding(data, said.replace("\\n", "\n").replace("\\,", ","), bounds)


def open_captions(data: bytes, bounds: Bounds) -> Content:
    """What is said, without the numbers and times of the cues."""
    return _holding(data, _NO_CUE.sub("", decode(data)), bounds)


def _holding(data: bytes, text: str, bounds: Bounds) -> Content:
    whole = open_text(data, bounds)
    return replace(whole, text=text[: bounds.text_chars], is_shell=says_nothing(text))


_CHART_OR_PICTURE = re.compile(r"^xl/(?:charts|media|chartsheets)/")
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


def open_xlsx(data: bytes, bounds: Bounds) -> Content:
    import openpyxl

    with check_zip(data, bounds) as archive:
        drawn = any(map(_CHART_OR_PICTURE.search, archive.namelist()))
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
    text = joined(rows, bounds)
    is_shell = not drawn and is_header_only(len(rows), text)
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
    text = joined(texts, bounds)
    return Content(text, len(texts) + pictures, not drawn and says_nothing(text))


def open_docx(data: bytes, bounds: Bounds) -> Content:
    import docx

    check_zip(data, bounds).close()
    document = docx.Document(io.BytesIO(data))
    parts = document.part.package.iter_parts()
    edges = [part for part in parts if part.partname.startswith(("/word/header", "/word/footer"))]
    return _office_content([document.element, *(part.element for part in edges)], bounds)


def open_pptx(data: bytes, bounds: Bounds) -> Content:
    import pptx

    check_zip(data, bounds).close()
    deck = pptx.Presentation(io.BytesIO(data))
    content = _office_content((slide.element for slide in deck.slides), bounds)
    return replace(content, pages=len(deck.slides))


def open_pdf(data: bytes, bounds: Bounds) -> Content:
    import pypdf

    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Encrypted
    pages = len(reader.pages)
    if pages > bounds.pages:
        raise TooLarge
    text = joined((page.extract_text() for page in reader.pages), bounds)
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


def open_image(data: bytes, bounds: Bounds) -> Content:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # the exact bound below replaces it
    with Image.open(io.BytesIO(data)) as image:
        if image.width * image.height > bounds.pixels:
            raise TooLarge
        image.load()
        return Content("", image.width * image.height, _is_blank(image))


def open_zip(data: bytes, bounds: Bounds) -> Content:
    """The prose of an archive is that of its text files."""
    with check_zip(data, bounds) as archive:
        if archive.testzip() is not None:
            raise zipfile.BadZipFile
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        texts = (archive.read(entry) for entry in entries if _is_text(entry.filename))
        prose = joined((text.decode("utf-8", "replace") for text in texts), bounds)
    binary = any(entry.file_size and not _is_text(entry.filename) for entry in entries)
    return Content("", len(entries), not binary and says_nothing(prose), prose)


def _is_text(name: str) -> bool:
    kind = type_of(name)
    return kind is not None and not kind.signatures and not kind.binary


OPENERS: dict[str, Callable[[bytes, Bounds], Content]] = {
    "text": open_text,
    "mail": open_mail,
    "calendar": open_calendar,
    "captions": open_captions,
    "xlsx": open_xlsx,
    "docx": open_docx,
    "pptx": open_pptx,
    "pdf": open_pdf,
    "image": open_image,
    "csv": open_csv,
    "json": open_json,
    "notebook": open_notebook,
    "jsonl": open_jsonl,
    "yaml": open_yaml,
    "toml": open_toml,
    "xml": open_xml,
    "html": open_html,
    "py": open_py,
    "zip": open_zip,
}
