"""PDF files of given objects, written byte by byte."""

from __future__ import annotations

from collections.abc import Sequence


def pdf_of(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A PDF whose objects are numbered from 1; the first is the catalogue."""
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    start, size = len(out), len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF" % (size, trailer, start)
    return bytes(out)
