"""PDFs with private values: the pieces of text that hold them are drawn anew with the surrogates.

A PDF draws its text piece by piece. A piece that holds a private value, or a part of one, is
replaced by a piece in Helvetica at the same position; links, forms and metadata are strings of
objects. The caller reads the result again and admits it only if nothing private is left, so that
what cannot be masked here (text in forms, outlines, other scripts) is refused and never released.
"""

from __future__ import annotations

import ctypes
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    ByteStringObject,
    DictionaryObject,
    NameObject,
    TextStringObject,
)

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


def redrawn(data: bytes, values: Sequence[Mapping[str, str]], mask: Mask) -> bytes:
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
    return with_strings(out.getvalue(), mask)


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
        texts = replaced(texts, value, surrogates[value])
    for piece, text in zip(pieces, texts, strict=True):
        if text != piece.text:
            _draw(document, page, piece, text)
    page.gen_content()


def replaced(texts: Sequence[str], value: str, surrogate: str) -> list[str]:
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


def with_strings(data: bytes, mask: Mask | None) -> bytes:
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
