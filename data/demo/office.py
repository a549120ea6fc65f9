"""Documents as bytes that depend on their content only: no clock, no host, no random ids."""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from data.demo.material import Table

_EPOCH = (1980, 1, 1, 0, 0, 0)
_STAMP = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(<)")
_FIXED = rb"\g<1>2025-01-01T00:00:00Z\g<2>"
_LEVEL = 6


def xlsx(table: Table) -> bytes:
    """A workbook with one sheet; header and rows as given."""
    import openpyxl  # these three are late: only a demo that is not there yet needs them

    book = openpyxl.Workbook()
    sheet = book.active
    if sheet is None:
        raise AssertionError("a new workbook has a sheet")
    sheet.append(table.header)
    for row in table.rows:
        sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return _normalised(buffer.getvalue())


def docx_file(text: str) -> bytes:
    """A Word document; lines that start with `# ` are headings."""
    import docx

    document = docx.Document()
    for line in text.strip().splitlines():
        if line.startswith("# "):
            document.add_heading(line.removeprefix("# "), 1)
        elif line:
            document.add_paragraph(line)
    buffer = io.BytesIO()
    document.save(buffer)
    return _normalised(buffer.getvalue())


def pptx_file(text: str) -> bytes:
    """A deck; each line that starts with `# ` opens a slide, the lines below are its points."""
    import pptx

    deck = pptx.Presentation()
    for part in re.split(r"^# ", text.strip(), flags=re.MULTILINE)[1:]:
        title, *points = [line for line in part.splitlines() if line]
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(points)
    buffer = io.BytesIO()
    deck.save(buffer)
    return _normalised(buffer.getvalue())


def _normalised(raw: bytes) -> bytes:
    """The same archive with fixed times, in the core properties as in the directory."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(raw)) as source,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            if name == "docProps/core.xml":
                content = _STAMP.sub(_FIXED, content)
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, content, compresslevel=_LEVEL)
    return buffer.getvalue()


def png(text: str) -> bytes:
    """A picture of a slip of paper with the text on it (Latin script only)."""
    lines = text.strip().splitlines()
    font = ImageFont.load_default(18)
    picture = Image.new("L", (480, 40 + 28 * len(lines)), 244)
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        draw.text((24, 20 + 28 * number), line, fill=40, font=font)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=False)
    return buffer.getvalue()


def pdf(text: str, chinese: bool) -> bytes:
    """A one-page PDF. Chinese uses a font every reader brings along (GBK-EUC-H)."""
    lines = text.strip().splitlines()
    shown = b"".join(b"<%s> Tj T*\n" % line.encode("gbk").hex().encode() for line in lines)
    stream = b"BT /F1 11 Tf 16 TL 56 780 Td\n" + shown + b"ET"
    return _assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
            *(_CHINESE_FONT if chinese else _LATIN_FONT),
        ]
    )


_LATIN_FONT = [
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
]
_CHINESE_FONT = [
    b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /GBK-EUC-H"
    b" /DescendantFonts [6 0 R] >>",
    b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000"
    b" /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >>"
    b" /FontDescriptor 7 0 R >>",
    b"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880]"
    b" /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>",
]


def _assembled(objects: list[bytes]) -> bytes:
    body = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        body += b"%010d 00000 n \n" % offset
    body += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(body)
