"""PDFs: they are never masked, only admitted unchanged or rejected."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from pypdf import PdfReader
from pypdf.errors import PyPdfError
from pypdf.generic import ByteStringObject, DictionaryObject, StreamObject, TextStringObject

from anonymization.documents.contracts import Refusal, Refused
from anonymization.documents.pdf_pages import PdfPage, read_pages
from anonymization.documents.visitor import Visitor
from anonymization.text.masking.plain import plain_edits

_MAX_PAGES = 5_000
_MAX_OBJECTS = 500_000
_MAX_TEXT = 64 << 20
_DRAWN = 64  # bytes of a page's content from which it shows something


def admit_pdf(visitor: Visitor, data: bytes) -> bytes:
    """The unchanged PDF, if its text has no findings and what is not text may be released.

    Raises Refused for text with findings, and, unless a person approved the file, for pictures,
    pages without text and pages whose text cannot be trusted.
    """
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Refused(Refusal.ENCRYPTED)
        if len(reader.pages) > _MAX_PAGES:
            raise Refused(Refusal.TOO_LARGE)
        pages = list(read_pages(data))
        texts, blind = _read(reader, pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
        raise Refused(Refusal.BROKEN) from None
    remaining = _MAX_TEXT
    dirty = False
    for number, text in enumerate(texts):
        remaining -= len(text)
        if remaining < 0:
            raise Refused(Refusal.TOO_LARGE)
        edits = plain_edits(text, visitor.visit())
        visitor.record(f"text {number}", edits)
        dirty |= bool(edits)
    if dirty:
        raise Refused(Refusal.TEXT_LAYER)
    if visitor.config.admits(data):
        return data
    if blind:
        raise Refused(Refusal.NOT_APPROVED)
    for number, page in enumerate(pages, start=1):
        if not page.is_trusted:
            raise Refused(Refusal.UNTRUSTED_TEXT, f"page {number}")
    return data


def _read(reader: PdfReader, pages: Sequence[PdfPage]) -> tuple[list[str], bool]:
    """All texts, and whether the PDF shows something that is not text."""
    texts = [text for page in pages for text in page.texts]
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
        if isinstance(pdf_object, DictionaryObject):
            for value in pdf_object.values():
                if isinstance(value, TextStringObject):
                    yield str(value), False
                elif isinstance(value, ByteStringObject):
                    yield bytes(value).decode("latin-1"), False
