"""PDFs: admitted unchanged where they hold nothing private, else masked, or rejected."""

from __future__ import annotations

import ctypes
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium
from pypdf import PdfReader, PdfWriter
from pypdf.errors import PyPdfError
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    ByteStringObject,
    DictionaryObject,
    IndirectObject,
    NameObject,
    StreamObject,
    TextStringObject,
)

from anonymization.documents.contracts import Pictures, Refusal, Refused
from anonymization.documents.visitor import Visitor
from anonymization.pdf_pages import PdfPage, read_pages, strings_of
from anonymization.text.contracts import EntityType
from anonymization.text.masking.pieces import Piece
from anonymization.text.masking.plain import plain_edits
from anonymization.text.vault import applied

# PDFs with private values: the pieces of text that hold them are drawn anew with the surrogates.
#
# A PDF draws its text piece by piece. A piece that holds a private value, or a part of one, is
# replaced by a piece in Helvetica at the same position; links, forms and metadata are strings of
# objects. The caller reads the result again and admits it only if nothing private is left, so that
# what cannot be masked here (text in forms, outlines, other scripts) is refused and never released.

_FONT = b"Helvetica"
_MOST_CHARS = 2000  # of one piece of text
_NEAR = 1.5  # points between the copies of a text that is drawn twice
_MOST_BETWEEN = 400  # pieces between the copies

Mask = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text object of a page, the text that it draws, and its lower left corner in points."""

    handle: pdfium.FPDF_PAGEOBJECT
    text: str
    start: float
    bottom: float

    def is_copy_of(self, other: _Piece) -> bool:
        """Is it drawn over the same text once more, for bold print?

        PDFium reads a copy as empty.
        """
        near = abs(self.start - other.start) < _NEAR and abs(self.bottom - other.bottom) < _NEAR
        return near and self.text.strip() in ("", other.text.strip())


def _redrawn(data: bytes, values: Sequence[Mapping[str, str]], mask: Mask) -> bytes:
    """The PDF with the values of each page replaced, and its other strings masked by `mask`.

    `values`: for each page the surrogate of each private value. Raises ValueError where a piece
    cannot be drawn anew.
    """
    out = io.BytesIO()
    with pypdfium2.PdfDocument(data) as document:
        for number, surrogates in enumerate(values):
            if surrogates:
                _redraw(document, document[number], surrogates)
        document.save(out)
    return _with_strings(out.getvalue(), mask)


def _redraw(
    document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, surrogates: Mapping[str, str]
) -> None:
    text_page = page.get_textpage()
    drawn = [
        _Piece(item.raw, _text(item.raw, text_page), *_corner(item.raw))
        for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT], max_depth=1)
    ]
    pieces: list[_Piece] = []
    for piece in drawn:
        if any(piece.is_copy_of(other) for other in pieces[-_MOST_BETWEEN:]):
            _remove(page, piece)
        else:
            pieces.append(piece)
    texts = [piece.text for piece in pieces]
    for value in sorted(surrogates, key=lambda value: (-len(value), value)):
        texts = _replaced(texts, value, surrogates[value])
    for piece, text in zip(pieces, texts, strict=True):
        if text != piece.text:
            _draw(document, page, piece, text)
    page.gen_content()


def _replaced(texts: Sequence[str], value: str, surrogate: str) -> list[str]:
    """The pieces with a value replaced wherever it stands, also across pieces.

    White space is no part of the comparison, for a line may break inside a value. The surrogate
    stands in the first piece that holds a part of the value.
    """
    new = list(texts)
    wanted = "".join(value.split())
    chars = [
        (number, offset)
        for number, text in enumerate(texts)
        for offset, char in enumerate(text)
        if not char.isspace()
    ]
    whole = "".join(texts[number][offset] for number, offset in chars)
    hits, at = [], whole.find(wanted) if wanted else -1
    while at >= 0:
        hits.append(at)
        at = whole.find(wanted, at + len(wanted))
    for start in reversed(hits):
        parts: dict[int, list[int]] = {}
        for number, offset in chars[start : start + len(wanted)]:
            parts.setdefault(number, []).append(offset)
        first = min(parts)
        for number, offsets in parts.items():
            kept = surrogate if number == first else ""
            text = new[number]
            new[number] = text[: offsets[0]] + kept + text[offsets[-1] + 1 :]
    return new


def _text(handle: pdfium.FPDF_PAGEOBJECT, text_page: pypdfium2.PdfTextPage) -> str:
    size = pdfium.FPDFTextObj_GetText(handle, text_page, None, 0)
    if size > 2 * _MOST_CHARS:
        raise ValueError("a long piece of text")
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    pdfium.FPDFTextObj_GetText(handle, text_page, buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")


def _draw(
    document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, piece: _Piece, text: str
) -> None:
    """Replace a piece by one in Helvetica with its size, place and colour."""
    if not text.isascii():
        raise ValueError("text that Helvetica does not have")
    size = ctypes.c_float()
    matrix = pdfium.FS_MATRIX()
    colour = [ctypes.c_uint() for _ in range(4)]
    pdfium.FPDFTextObj_GetFontSize(piece.handle, ctypes.byref(size))
    pdfium.FPDFPageObj_GetMatrix(piece.handle, ctypes.byref(matrix))
    pdfium.FPDFPageObj_GetFillColor(piece.handle, *map(ctypes.byref, colour))
    width = _width(piece.handle)
    _remove(page, piece)
    if not text.strip():
        return
    new = pdfium.FPDFPageObj_NewTextObj(document, _FONT, size)
    encoded = (text + "\0").encode("utf-16-le")
    wide = (ctypes.c_ushort * (len(text) + 1)).from_buffer_copy(encoded)
    pdfium.FPDFText_SetText(new, wide)
    pdfium.FPDFPageObj_SetMatrix(new, ctypes.byref(matrix))
    if 0 < width < (drawn := _width(new)):  # no wider than before: other text follows
        matrix.a, matrix.b = matrix.a * width / drawn, matrix.b * width / drawn
        pdfium.FPDFPageObj_SetMatrix(new, ctypes.byref(matrix))
    pdfium.FPDFPageObj_SetFillColor(new, *colour)
    pdfium.FPDFPage_InsertObject(page, new)


def _remove(page: pypdfium2.PdfPage, piece: _Piece) -> None:
    if not pdfium.FPDFPage_RemoveObject(page, piece.handle):
        raise ValueError("a piece that cannot be removed")
    pdfium.FPDFPageObj_Destroy(piece.handle)


def _width(handle: pdfium.FPDF_PAGEOBJECT) -> float:
    """The width of an object on its page, in points."""
    start, _, right, _ = _bounds(handle)
    return right - start


def _corner(handle: pdfium.FPDF_PAGEOBJECT) -> tuple[float, float]:
    start, bottom, _, _ = _bounds(handle)
    return start, bottom


def _bounds(handle: pdfium.FPDF_PAGEOBJECT) -> tuple[float, float, float, float]:
    sides = [ctypes.c_float() for _ in range(4)]
    pdfium.FPDFPageObj_GetBounds(handle, *map(ctypes.byref, sides))
    start, bottom, right, top = (side.value for side in sides)
    return start, bottom, right, top


def _with_strings(data: bytes, mask: Mask | None) -> bytes:
    """The PDF with what is used alone, without XMP, and with every string of its objects masked.

    Fields of text lose how they were drawn, for that shows their old values: viewers draw them
    anew. Without `mask` strings and fields stay.
    """
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data), strict=False))
    for item in [*writer._objects, writer.root_object, writer._info]:
        if mask is not None and isinstance(item, DictionaryObject | ArrayObject):
            _mask_strings(item, mask)
        if isinstance(item, DictionaryObject):
            item.pop(NameObject("/Metadata"), None)
        if mask is not None and isinstance(item, DictionaryObject):
            _drop_drawn(item, writer)
    writer.compress_identical_objects(remove_duplicates=False, remove_unreferenced=True)
    writer._ID = None  # a digest of what was there, and of the time
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _drop_drawn(item: DictionaryObject, writer: PdfWriter) -> None:
    above = item.get("/Parent")
    parent = above.get_object() if above is not None else None
    kind = item.get("/FT") or (parent.get("/FT") if isinstance(parent, DictionaryObject) else None)
    if kind not in ("/Tx", "/Ch") or "/AP" not in item:
        return
    del item[NameObject("/AP")]
    forms = writer.root_object.get("/AcroForm")
    if forms is not None:
        forms.get_object()[NameObject("/NeedAppearances")] = BooleanObject(True)


def _mask_strings(item: DictionaryObject | ArrayObject, mask: Mask) -> None:
    pairs = enumerate(item) if isinstance(item, ArrayObject) else item.items()
    for key, value in list(pairs):
        if isinstance(value, TextStringObject):
            item[key] = TextStringObject(mask(str(value)))
        elif isinstance(value, ByteStringObject):
            text = bytes(value).decode("latin-1")
            item[key] = ByteStringObject(mask(text).encode("latin-1", "replace"))
        elif isinstance(value, DictionaryObject | ArrayObject):
            _mask_strings(value, mask)


_MAX_PAGES = 5_000
_MAX_OBJECTS = 500_000
_MAX_TEXT = 64 << 20
_DRAWN = 64  # bytes of a page's content from which it shows something


def rewrite_pdf(visitor: Visitor, data: bytes) -> bytes:
    """The PDF, unchanged if it holds no finding, and else with its findings masked.

    Raises Refused for a PDF that cannot be masked, and, unless a person approved the file, for
    pictures, pages without text and pages whose text cannot be trusted.
    """
    content = _content(data, visitor)
    if content.has_findings:
        if not (content.is_plain or visitor.config.pictures is Pictures.PUBLISHED):
            raise Refused(Refusal.TEXT_LAYER)  # a picture or outlines may show what is masked
        masked = _masked(visitor, data, content)
        if _content(masked, Visitor(visitor.look, visitor.config, visitor.rewrite)).has_findings:
            raise Refused(Refusal.TEXT_LAYER)
    else:
        masked = data if _is_one_revision(data) and not _has_rest(data) else _without_earlier(data)
    if visitor.config.admits(data):
        return masked
    if content.is_blind:
        raise Refused(Refusal.NOT_APPROVED)
    for number, page in enumerate(content.pages, start=1):
        if not page.is_trusted:
            raise Refused(Refusal.UNTRUSTED_TEXT, f"page {number}")
    return masked


def _is_one_revision(data: bytes) -> bool:
    """Is the file as it was written once? Each change that is appended keeps what was before."""
    return data.count(b"startxref") == 1 and data.rstrip().endswith(b"%%EOF")


_STREAMS = re.compile(rb"\bstream\r?\n.*?\bendstream\b", re.DOTALL)
_COMMENTS = re.compile(rb"^%(?!PDF-|%EOF)[ -~\t]{3,}", re.MULTILINE)


def _has_rest(data: bytes) -> bool:
    """Does the file hold comments, or objects that nothing refers to?"""
    if _COMMENTS.search(_STREAMS.sub(b"", data)):
        return True
    reader = PdfReader(io.BytesIO(data), strict=False)
    reached: set[int] = set()
    pending: list[object] = [reader.trailer]
    while pending:
        item = pending.pop()
        if isinstance(item, IndirectObject):
            if item.idnum in reached:
                continue
            reached.add(item.idnum)
            item = item.get_object()
        if isinstance(item, DictionaryObject):
            pending += item.values()
        elif isinstance(item, ArrayObject):
            pending += item
    numbers = {number for table in reader.xref.values() for number in table}
    unused = (numbers | set(reader.xref_objStm)) - reached - {0}
    return any(_is_content(reader, number) for number in unused)


def _is_content(reader: PdfReader, number: int) -> bool:
    """Is an object more than a part of the file's own structure, or nothing?"""
    try:
        item = reader.get_object(number)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError):
        return True
    kind = item.get("/Type") if isinstance(item, DictionaryObject) else None
    return item is not None and kind not in ("/ObjStm", "/XRef")


def _without_earlier(data: bytes) -> bytes:
    try:
        return _with_strings(data, None)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused(Refusal.BROKEN) from None


@dataclass(frozen=True, slots=True)
class _Content:
    """What a PDF says: its pages, whether it shows something that is not text, and the findings.

    `values`: for each page the surrogate of each private value.
    """

    pages: tuple[PdfPage, ...]
    is_blind: bool
    values: tuple[dict[str, str], ...]
    has_findings: bool

    @property
    def is_plain(self) -> bool:
        """Is everything that it shows text which can be trusted?"""
        return not self.is_blind and all(page.is_trusted for page in self.pages)


def _content(data: bytes, visitor: Visitor) -> _Content:
    """Read a PDF and look for private values. Raises Refused."""
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Refused(Refusal.ENCRYPTED)
        if len(reader.pages) > _MAX_PAGES:
            raise Refused(Refusal.TOO_LARGE)
        pages = tuple(read_pages(data))
        others, is_blind = _read(reader, pages)
        annotators = tuple(_annotators(reader))
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
        raise Refused(Refusal.BROKEN) from None
    if sum(map(len, (*others, *(text for page in pages for text in page.texts)))) > _MAX_TEXT:
        raise Refused(Refusal.TOO_LARGE)
    values = tuple(
        {
            value: new
            for text in page.texts
            for value, new in _findings(visitor, text, f"page {number}")
        }
        for number, page in enumerate(pages, start=1)
    )
    for name in annotators:
        visitor.look(Piece(name, kind=EntityType.PERSON))
    rest = [
        pair
        for number, text in enumerate(others)
        for pair in _findings(visitor, text, f"text {number}")
    ]
    return _Content(pages, is_blind, values, any(values) or bool(rest))


def _annotators(reader: PdfReader) -> Iterator[str]:
    """Who wrote the annotations (ISO 32000-1, 12.5.6.2); a form field has its own name there."""
    for page in reader.pages:
        for annotation in page.annotations or ():
            markup = annotation.get_object()
            name = str(markup.get("/T", "")).strip()
            if name and markup.get("/Subtype") != "/Widget":
                yield name


def _findings(visitor: Visitor, text: str, part: str) -> list[tuple[str, str]]:
    edits = plain_edits(text, visitor.visit())
    visitor.record(part, edits)
    return [(text[edit.start : edit.end], edit.new) for edit in edits]


def _masked(visitor: Visitor, data: bytes, content: _Content) -> bytes:
    def mask(text: str) -> str:
        return applied(text, plain_edits(text, visitor.visit()))[0]

    try:
        return _redrawn(data, content.values, mask)
    except (PyPdfError, pypdfium2.PdfiumError, ValueError, KeyError, TypeError, AttributeError):
        raise Refused(Refusal.TEXT_LAYER) from None


def _read(reader: PdfReader, pages: Sequence[PdfPage]) -> tuple[list[str], bool]:
    """The texts beside those of pages, and whether the PDF shows something that is not text."""
    texts: list[str] = []
    blind = False
    for page, read in zip(reader.pages, pages, strict=True):
        content = page.get_contents()
        drawn = content is not None and len(content.get_data()) >= _DRAWN
        blind |= bool(drawn and not "".join(read.texts).strip())
    for text, picture in _objects(reader):
        blind |= picture
        if text:
            texts.append(text)
    metadata = reader.xmp_metadata
    if metadata is not None:
        texts.append(metadata.stream.get_data().decode("utf-8", "replace"))
    for name, contents in reader.attachments.items():
        texts += [name, *(content.decode("utf-8", "replace") for content in contents)]
        blind |= bool(contents)
    return texts, blind


def _objects(reader: PdfReader) -> Iterator[tuple[str, bool]]:
    """Strings of metadata, annotations and forms; whether an object is a picture."""
    size = len(reader.xref_objStm) + int(reader.trailer.get("/Size", 0))
    for number in range(1, min(size, _MAX_OBJECTS)):
        pdf_object = reader.get_object(number)
        if isinstance(pdf_object, StreamObject) and pdf_object.get("/Subtype") == "/Image":
            yield "", True
        yield from ((text, False) for text in strings_of(pdf_object))
