"""Pictures: released as a person approved them, without their metadata.

PNG 1.2 (chunks), JPEG (ITU-T T.81, annex B: markers; JFIF 1.02), GIF89a (blocks) and WebP (RIFF).
Pixels are never decoded. Colour profiles go too (they may name a machine), and so does what
follows the end of a picture.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from anonymization.documents.contracts import Refusal, Refused
from anonymization.documents.visitor import Visitor
from anonymization.text.masking.plain import plain_edits
from data.canonical import digest

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff"
GIF = (b"GIF87a", b"GIF89a")
# What is needed to show a picture: pixels, colours, transparency, size, animation.
_PNG_KEPT = frozenset(
    {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"cHRM", b"gAMA", b"sRGB", b"sBIT", b"bKGD",
     b"pHYs", b"acTL", b"fcTL", b"fdAT"}
)  # fmt: skip
_JFIF = 14  # bytes of the header when no thumbnail follows
_WEBP_DROPPED = frozenset({b"EXIF", b"XMP ", b"ICCP"})
_WEBP_FLAGS = 0x2C  # of VP8X: a profile, EXIF and XMP are there
_TEXT = re.compile(rb"[ -~]{8,}|(?:[ -~]\0){8,}")


def admit_picture(visitor: Visitor, data: bytes) -> bytes:
    """An approved picture without metadata. Raises Refused.

    Of kinds whose metadata cannot be taken out (TIFF, metafiles), the readable strings must be
    clean.
    """
    if digest(data) not in visitor.config.approvals:
        raise Refused(Refusal.NOT_APPROVED)
    strip = _stripper(data)
    if strip is None:
        _scan(visitor, data)
        return data
    try:
        return strip(data)
    except (IndexError, ValueError):
        raise Refused(Refusal.BROKEN) from None


def _stripper(data: bytes) -> Callable[[bytes], bytes] | None:
    if data.startswith(PNG):
        return _png
    if data.startswith(JPEG):
        return _jpeg
    if data.startswith(GIF):
        return _gif
    return _webp if data[8:12] == b"WEBP" else None


def _scan(visitor: Visitor, data: bytes) -> None:
    texts = [match.group().replace(b"\0", b"").decode("ascii") for match in _TEXT.finditer(data)]
    found = [edit for text in texts for edit in plain_edits(text, visitor.visit())]
    visitor.tell("strings", found)
    if found:
        raise Refused(Refusal.TEXT_LAYER)


def _png(data: bytes) -> bytes:
    told, place = [PNG], len(PNG)
    while True:
        size, kind = int.from_bytes(data[place : place + 4], "big"), data[place + 4 : place + 8]
        if place + 12 + size > len(data):
            raise ValueError("a chunk is cut off")
        if kind in _PNG_KEPT:
            told.append(data[place : place + 12 + size])
        place += 12 + size
        if kind == b"IEND":
            return b"".join(told)


def _jpeg(data: bytes) -> bytes:
    told, place = [data[:2]], 2
    while True:
        if data[place] != 0xFF:
            raise ValueError("no marker")
        marker = data[place + 1]
        if marker == 0xFF:  # fill bytes may precede a marker
            place += 1
            continue
        if marker == 0xD9:
            return b"".join([*told, data[place : place + 2]])
        size = int.from_bytes(data[place + 2 : place + 4], "big")
        end = place + 2 + size
        if size < 2 or end > len(data):
            raise ValueError("a segment is cut off")
        if _is_jpeg_kept(marker, data[place + 4 : end]):
            told.append(data[place:end])
        if marker == 0xDA:
            scanned = _scan_end(data, end)
            told.append(data[end:scanned])
            end = scanned
        place = end


def _is_jpeg_kept(marker: int, segment: bytes) -> bool:
    """Tables, frames and scans; of application data only what decoders need."""
    if marker == 0xE0:
        return segment.startswith(b"JFIF\0") and len(segment) == _JFIF  # without a thumbnail
    if marker == 0xEE:
        return segment.startswith(b"Adobe")
    return marker != 0xFE and not 0xE1 <= marker <= 0xEF


_SCANNED = re.compile(rb"\xff(?![\x00\xd0-\xd7\xff])")


def _scan_end(data: bytes, start: int) -> int:
    """Where the next marker after coded pixels begins."""
    match = _SCANNED.search(data, start)
    if match is None:
        raise ValueError("no end")
    return match.start()


def _gif(data: bytes) -> bytes:
    table = 3 << ((data[10] & 7) + 1) if data[10] & 0x80 else 0
    told, place = [data[: 13 + table]], 13 + table
    while data[place] != 0x3B:
        start = place
        if data[place] == 0x21:
            label = data[place + 1]
            looped = label == 0xFF and data[place + 3 : place + 14] == b"NETSCAPE2.0"
            place = _gif_blocks(data, place + 2)
            kept = label == 0xF9 or looped
        elif data[place] == 0x2C:
            local = 3 << ((data[place + 9] & 7) + 1) if data[place + 9] & 0x80 else 0
            place = _gif_blocks(data, place + 10 + local + 1)
            kept = True
        else:
            raise ValueError("no block")
        told += [data[start:place]] if kept else []
    return b"".join([*told, b";"])


def _gif_blocks(data: bytes, place: int) -> int:
    while data[place]:
        place += 1 + data[place]
    return place + 1


def _webp(data: bytes) -> bytes:
    told, place = [], 12
    end = 8 + int.from_bytes(data[4:8], "little")
    if end > len(data):
        raise ValueError("a chunk is cut off")
    while place + 8 <= end:
        kind, size = data[place : place + 4], int.from_bytes(data[place + 4 : place + 8], "little")
        chunk = data[place : place + 8 + size + (size & 1)]
        if kind == b"VP8X":
            chunk = chunk[:8] + bytes([chunk[8] & ~_WEBP_FLAGS]) + chunk[9:]
        if kind not in _WEBP_DROPPED:
            told.append(chunk)
        place += 8 + size + (size & 1)
    body = b"WEBP" + b"".join(told)
    return b"RIFF" + len(body).to_bytes(4, "little") + body
