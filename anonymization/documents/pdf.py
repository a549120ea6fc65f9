"""PDFs: admitted unchanged where they hold nothing private, else masked, or rejected."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pypdfium2
from pypdf import PdfReader
from pypdf.errors import PyPdfError
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, StreamObject

from anonymization.documents.contracts import Pictures, Refusal, Refused
from anonymization.documents.pdf_masking import redrawn, with_strings
from anonymization.documents.visitor import Visitor
from anonymization.pdf_pages import PdfPage, read_pages, strings_of
from anonymization.text.contracts import EntityType
from anonymization.text.masking.pieces import Piece
from anonymization.text.masking.plain import plain_edits
from anonymization.text.vault import applied

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
        return with_strings(data, None)
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
        return redrawn(data, content.values, mask)
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
