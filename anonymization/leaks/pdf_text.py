"""A child process that turns the PDF on its standard input into text on its output.

    python -m anonymization.leaks.pdf_text SECONDS < file.pdf

The pages, metadata, annotations, form fields, bookmarks and attached files. It limits its
own memory and time; any error ends it with a code other than 0.
"""

from __future__ import annotations

import io
import resource
import sys
from collections.abc import Iterator

from pypdf import PdfReader

from anonymization.pdf_pages import PdfPage, read_pages, strings_of

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
