"""What the pages of a PDF say: the text as it is drawn, and by the positions of its glyphs.

As a program (`python -m anonymization.pdf_pages SECONDS`) it is the child process of the leak scan:
a PDF on its standard input becomes text on its output.
"""

from __future__ import annotations

import ctypes
import io
import math
import re
import resource
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import pypdfium2
import pypdfium2.raw as pdfium
from pypdf import PdfReader
from pypdf.errors import PyPdfError
from pypdf.generic import (
    ArrayObject,
    ByteStringObject,
    DictionaryObject,
    IndirectObject,
    StreamObject,
    TextStringObject,
)

from data.text.language import is_of_a_language

_MAX_GLYPHS = 200_000  # of one page, above any that people read
_UNKNOWN_SHARE = 0.05  # of the glyphs, above which a page is more than text with a few symbols
_LETTERS = 200  # of a page, from which its language is known if it has one
_OUTLINES = 40  # small filled curves: more than the marks of a list
_OUTLINE_HEIGHT = 40.0  # points; the largest letter that is counted
_BLANK = 0.12  # of the height of a glyph: a wider gap separates words
_SPACED = 1.7  # of the usual gap of a line whose letters are spaced
_SAME_LINE = 0.3  # of the height: baselines closer than this are one line
_SAME_PLACE = 0.1  # of the height: the same glyph so close is bold print
_DIAGONAL = 0.1  # of the determinant: within three degrees of 45
_TEXTS = frozenset({"/JS", "/XFA", "/RC", "/V", "/Metadata"})  # ISO 32000-1: text streams
_STREAM_DEPTH = 2
_DRAWN = re.compile(r"\(((?:[^()\\]|\\.)*)\)")
_APART = re.compile(r"\)\s{0,4}-?[\d.]{1,8}\s{0,4}\(")  # the distance between two pieces
_STRING = rb"\((?P<literal>(?:[^()\\]|\\.|\([^()]*\))*)\)|<(?P<hexadecimal>[0-9A-Fa-f\s]*)>"
_REPLACING = re.compile(rb"/(?:ActualText|Alt|E)\s{0,9}(?:" + _STRING + rb")", re.DOTALL)
_STRINGS = re.compile(rb"\((?:[^()\\]|\\.|\([^()]*\))*\)|<[0-9A-Fa-f\s]*>", re.DOTALL)
_COMMENT = re.compile(rb"%([^\r\n]{3,2000})")
_CONTENT = re.compile(rb"\b(?:BT|BDC|BMC|Tj|TJ|Do|re|cm)\s")
_ESCAPED = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_MARKS = (b"\xfe\xff", b"\xff\xfe")
_UNKNOWN = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff]")


@dataclass(frozen=True, slots=True)
class PdfPage:
    """The texts of a page, each with all of its words, and whether they may be what it shows."""

    texts: tuple[str, ...]
    is_trusted: bool


@dataclass(frozen=True, slots=True)
class _Glyph:
    """A character with its origin, turned so that its line runs from left to right."""

    char: str
    x: float
    y: float
    right: float
    height: float


def read_pages(data: bytes) -> Iterator[PdfPage]:
    """The pages of a PDF; raises ValueError if it cannot be read or a page is too large."""
    try:
        with pypdfium2.PdfDocument(data) as document:
            for number in range(len(document)):
                yield _read_page(document, number)
    except pypdfium2.PdfiumError as error:
        raise ValueError("not a PDF that can be rendered") from error


def strings_of(item: object) -> Iterator[str]:
    """The strings of an object of a PDF: its own, and those of its dictionaries, lists and texts.

    Texts are streams that a viewer reads as such: scripts, forms of XML, metadata; and what an
    annotation draws, as far as that is written in letters.
    """
    if isinstance(item, StreamObject):
        yield from _hidden_texts(item)
    if isinstance(item, TextStringObject):
        yield str(item)
    elif isinstance(item, ByteStringObject):
        yield bytes(item).decode("latin-1")
    elif isinstance(item, ArrayObject):
        for value in item:
            yield from strings_of(value)
    elif isinstance(item, DictionaryObject):
        for key, value in item.items():
            yield from strings_of(value)
            if key in _TEXTS:
                yield from _stream_texts(value)
            elif key == "/AP":
                for drawn in _stream_texts(value):
                    yield "\n".join(_DRAWN.findall(_APART.sub("", drawn)))


def _hidden_texts(stream: StreamObject) -> Iterator[str]:
    """Texts of a content stream that no page shows: comments, and what replaces a drawn text.

    ISO 32000-1, 7.2.4 and 14.9: /ActualText, /Alt and /E in the properties of marked content.
    """
    if stream.get("/Subtype") == "/Image" or "/Length1" in stream or "/FunctionType" in stream:
        return
    try:
        data = stream.get_data()
    except (PyPdfError, ValueError, NotImplementedError, zlib.error):
        return
    if not _CONTENT.search(data):
        return
    for match in _REPLACING.finditer(data):
        yield _string(match["literal"], match["hexadecimal"])
    drawn = _STRINGS.sub(b" ", data)
    yield "\n".join(part.decode("latin-1") for part in _COMMENT.findall(drawn))


def _string(literal: bytes | None, hexadecimal: bytes | None) -> str:
    if literal is not None:
        raw = _ESCAPED.sub(_unescaped, literal)
    else:
        digits = re.sub(rb"\s", b"", hexadecimal or b"")
        raw = bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))
    return raw.decode("utf-16", "replace") if raw[:2] in _MARKS else raw.decode("latin-1")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code[:1].isdigit():
        return bytes([int(code, 8) & 255])
    return {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"\n": b""}.get(code, code)


def _stream_texts(value: object, depth: int = 0) -> Iterator[str]:
    """The texts of the streams that a value refers to."""
    value = value.get_object() if isinstance(value, IndirectObject) else value
    if isinstance(value, StreamObject):
        yield value.get_data().decode("utf-8", "replace")
    elif isinstance(value, ArrayObject | DictionaryObject) and depth < _STREAM_DEPTH:
        for part in value if isinstance(value, ArrayObject) else value.values():
            yield from _stream_texts(part, depth + 1)


def _read_page(document: pypdfium2.PdfDocument, number: int) -> PdfPage:
    page = document[number]
    text_page = page.get_textpage()
    n = text_page.count_chars()
    if n > _MAX_GLYPHS:
        raise ValueError(f"a page of {n} characters")
    drawn = text_page.get_text_range() if n else ""
    lines: dict[int, list[_Glyph]] = {}
    unknown = 0
    for index in range(max(n, 0)):
        char = chr(pdfium.FPDFText_GetUnicode(text_page, index))
        if pdfium.FPDFText_HasUnicodeMapError(text_page, index) == 1 or _UNKNOWN.match(char):
            unknown += 1
        if not char.isspace() and not pdfium.FPDFText_IsGenerated(text_page, index):
            angle = pdfium.FPDFText_GetCharAngle(text_page, index)
            glyph = _glyph(text_page, index, char, angle)
            lines.setdefault(round(math.degrees(angle)), []).append(glyph)
    placed = "\n".join(_placed(glyphs) for _, glyphs in sorted(lines.items()))
    is_known = unknown <= _UNKNOWN_SHARE * max(n, 0)
    is_trusted = is_known and _is_language(drawn, placed) and _outlines(page) < _OUTLINES
    texts = [drawn] if placed.split() == drawn.split() else [drawn, placed]
    with_notes = _with_annotations(document, number)
    if with_notes and with_notes.split() != drawn.split():
        texts.append(with_notes)
    return PdfPage(tuple(texts), is_trusted)


def _with_annotations(document: pypdfium2.PdfDocument, number: int) -> str:
    """The text of a page and of what its annotations and form fields draw, whatever their fonts.

    They are drawn into the page in memory; nothing is saved.
    """
    page = document[number]
    if pdfium.FPDFPage_GetAnnotCount(page) < 1:
        return ""
    if pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) != pdfium.FLATTEN_SUCCESS:
        return ""
    page.close()
    return str(document[number].get_textpage().get_text_range())


def _glyph(text_page: pypdfium2.PdfTextPage, index: int, char: str, angle: float) -> _Glyph:
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(box))
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text_page, index, ctypes.byref(x), ctypes.byref(y))
    cos, sin = math.cos(angle), math.sin(angle)  # PDFium counts angles clockwise
    width, height = _upright(box.right - box.left, box.top - box.bottom, abs(cos), abs(sin))
    start = x.value * cos - y.value * sin
    return _Glyph(char, start, x.value * sin + y.value * cos, start + width, max(height, 0.01))


def _upright(width: float, height: float, cos: float, sin: float) -> tuple[float, float]:
    """Width and height of a turned box, from those of the upright box around it.

    The upright box is w cos + h sin wide and w sin + h cos high. At 45 degrees it tells the sum
    alone; both are taken as equal there.
    """
    determinant = cos * cos - sin * sin
    if abs(determinant) < _DIAGONAL:
        return width / (cos + sin), width / (cos + sin)
    return (
        (width * cos - height * sin) / determinant,
        (height * cos - width * sin) / determinant,
    )


def _placed(glyphs: Sequence[_Glyph]) -> str:
    """The text of glyphs by where they stand: from top to bottom, from left to right."""
    lines: list[list[_Glyph]] = []
    for glyph in sorted(glyphs, key=lambda glyph: (-glyph.y, glyph.x)):
        if lines and abs(lines[-1][0].y - glyph.y) < _SAME_LINE * glyph.height:
            lines[-1].append(glyph)
        else:
            lines.append([glyph])
    return "\n".join(map(_words, lines))


def _words(line: list[_Glyph]) -> str:
    """A line with blanks where its gaps are wider than usual."""
    ordered = sorted(line, key=lambda glyph: (glyph.x, glyph.char))
    kept = ordered[:1]
    for glyph in ordered[1:]:
        is_bold = glyph.char == kept[-1].char and glyph.x - kept[-1].x < _SAME_PLACE * glyph.height
        if not is_bold:
            kept.append(glyph)
    gaps = [(after.x - before.right) / before.height for before, after in pairwise(kept)]
    limit = max(_BLANK, _SPACED * median(gaps)) if gaps else _BLANK
    pieces = [kept[0].char]
    for gap, glyph in zip(gaps, kept[1:], strict=True):
        pieces += [" "] * (gap > limit) + [glyph.char]
    return "".join(pieces)


def _is_language(*texts: str) -> bool:
    """Is one of the readings of a page a language, or too short to tell?"""
    return any(sum(map(str.isalpha, text)) < _LETTERS or is_of_a_language(text) for text in texts)


def _outlines(page: pypdfium2.PdfPage) -> int:
    """How many filled paths of the size of a letter have curves."""
    outlines = 0
    for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=4):
        _, bottom, _, top = item.get_bounds()
        if top - bottom > _OUTLINE_HEIGHT:
            continue
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDFPath_GetDrawMode(item, ctypes.byref(fill), ctypes.byref(stroke))
        outlines += bool(fill.value) and _is_curved(item)
    return outlines


def _is_curved(item: pypdfium2.PdfObject) -> bool:
    return any(
        pdfium.FPDFPathSegment_GetType(pdfium.FPDFPath_GetPathSegment(item, index))
        == pdfium.FPDF_SEGMENT_BEZIERTO
        for index in range(pdfium.FPDFPath_CountSegments(item))
    )


_MEMORY = 2 << 30
_MAX_TEXT = 64 << 20
_MAX_OBJECTS = 500_000


def _strings(reader: PdfReader) -> Iterator[str]:
    """Every text of every object: metadata, annotations, form fields, bookmarks."""
    for number in range(1, min(len(reader.xref_objStm) + _size(reader), _MAX_OBJECTS)):
        yield from strings_of(reader.get_object(number))


def _size(reader: PdfReader) -> int:
    return int(reader.trailer.get("/Size", 0))


def _texts(reader: PdfReader, pages: Iterator[PdfPage]) -> Iterator[bytes]:
    for page in pages:
        for text in page.texts:
            yield text.encode("utf-8", "replace")
    for text in _strings(reader):
        yield text.encode("utf-8", "replace")
    metadata = reader.xmp_metadata
    if metadata is not None:
        yield metadata.stream.get_data()
    for name, contents in reader.attachments.items():
        yield name.encode("utf-8", "replace")
        yield from contents


def main() -> None:
    """Write the texts one after another, each on lines of its own."""
    seconds = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    data = sys.stdin.buffer.read()
    reader = PdfReader(io.BytesIO(data), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise SystemExit(3)
    remaining = _MAX_TEXT
    for text in _texts(reader, read_pages(data)):
        remaining -= len(text)
        if remaining < 0:
            raise SystemExit(4)
        sys.stdout.buffer.write(text + b"\n")


if __name__ == "__main__":
    main()
