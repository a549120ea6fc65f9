"""Files that deliver nothing, of every type that a task can ask for: shells, and pasted text.

They are real files, written by the same libraries that agents use, so that only what a grader
says about content can tell them from work.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import Any

from construction.grading.file_types import type_of

LOREM = (
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut "
    "labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco "
    "laboris nisi ut aliquip ex ea commodo consequat. Duis aute irure dolor in reprehenderit in "
    "voluptate velit esse cillum dolore eu fugiat nulla pariatur. Excepteur sint occaecat "
    "cupidatat non proident, sunt in culpa qui officia deserunt mollit anim id est laborum."
)
_SVG = "http://www.w3.org/2000/svg"
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LINE_COMMENT = {"py": "# ", "sh": "# ", "sql": "-- "}
_SHELLS = {
    "md": b"# \n",
    "txt": b"\n",
    "html": b"<!DOCTYPE html><html><head><title></title></head><body></body></html>\n",
    "csv": b"id,name,value\n",
    "tsv": b"id\tname\tvalue\n",
    "json": b"{}\n",
    "jsonl": b"{}\n",
    "yaml": b"{}\n",
    "toml": b"\n",
    "xml": b"<?xml version='1.0'?><document/>\n",
    "ics": b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n",
    "ipynb": b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
    "py": b"pass\n",
    "sh": b"#!/bin/sh\n",
    "svg": f'<svg xmlns="{_SVG}" width="100" height="100"/>\n'.encode(),
    "mp3": b"ID3\x04" + bytes(4096),
    "mp4": b"\x00\x00\x00\x18ftypmp42" + bytes(4096),
}


@cache
def shell(extension: str) -> bytes:
    """The file of this type that holds nothing."""
    kind = type_of(f"x.{extension}")
    if kind is None:
        return b"\n"
    if kind.opener == "image":
        return _blank_image(kind.name)
    if kind.name in _PAGES:
        return _PAGES[kind.name]([])
    return _SHELLS.get(kind.name, b"//\n")


def holding(extension: str, text: str) -> bytes | None:
    """A file of this type that holds a text and nothing else; None if the type holds no text."""
    kind = type_of(f"x.{extension}")
    text = _NO_TEXT.sub(" ", text)
    if kind is None:
        return text.encode()
    if kind.opener == "image" or kind.binary:
        return None
    if kind.name in _PAGES:
        return _PAGES[kind.name](text.splitlines())
    return _as_text(kind.name, kind.kind, text).encode()


_STUB_TABLE: Sequence[Sequence[object]] = [["a", "b"], [1, 2]]
_STUB_TEXT = "Done.\n"
_STUBS = {
    "csv": b"a,b\n1,2\n",
    "tsv": b"a\tb\n1\t2\n",
    "json": b'{"a": 1, "b": 2}\n',
    "jsonl": b'{"a": 1, "b": 2}\n',
    "yaml": b"a: 1\nb: 2\n",
    "toml": b"a = 1\nb = 2\n",
    "py": b"print('done')\n",
    "sh": b"#!/bin/sh\necho done\n",
    "js": b"console.log('done')\n",
    "eml": b"To: a@b.example\nSubject: Done\n\nDone.\n",
    "ics": b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:Done\r\n"
    b"DTSTART:20300101T000000Z\r\nDTEND:20300101T010000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    "srt": b"1\n00:00:00,000 --> 00:00:01,000\nDone.\n",
    "vtt": b"WEBVTT\n\n00:00.000 --> 00:01.000\nDone.\n",
}


def stub(extension: str) -> bytes | None:
    """The least that a file of this type can hold and not be empty; None if it holds no text."""
    kind = type_of(f"x.{extension}")
    if kind is not None and kind.name == "xlsx":
        return _workbook(_STUB_TABLE)
    return (kind and _STUBS.get(kind.name)) or holding(extension, _STUB_TEXT)


def saved_anew(extension: str, data: bytes) -> bytes | None:
    """A file with the same content and other bytes; None for types that are not rewritten here."""
    kind = type_of(f"x.{extension}")
    if kind is not None and kind.name == "xlsx":
        import openpyxl

        try:
            return _saved(openpyxl.load_workbook(io.BytesIO(data)))
        except Exception:  # a library may raise anything on a broken or encrypted file
            return None
    is_text = kind is not None and not kind.binary and not kind.signatures
    return data.rstrip() + b"\n\n" if is_text else None


def _as_text(name: str, kind: str, text: str) -> str:
    lines = text.splitlines()
    if name in ("csv", "tsv"):
        table = io.StringIO()
        csv.writer(table, delimiter="\t" if name == "tsv" else ",").writerows([x] for x in lines)
        return table.getvalue()
    if name == "ipynb":
        cell = {"cell_type": "markdown", "metadata": {}, "source": text}
        return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    if name in ("json", "jsonl", "yaml"):  # JSON is YAML
        return json.dumps({"content": text})
    if name == "toml":
        return f"content = {json.dumps(text, ensure_ascii=False)}\n"
    if name == "xml":
        return f"<document>{escape(text)}</document>"
    if name == "svg":
        return f'<svg xmlns="{_SVG}"><text x="10" y="20">{escape(text)}</text></svg>'
    if name == "html":
        return "<html><body>" + "".join(f"<p>{escape(x)}</p>" for x in lines) + "</body></html>"
    if name == "ics":
        said = "DESCRIPTION:" + "\\n".join(lines)
        return "\r\n".join(("BEGIN:VCALENDAR", "BEGIN:VEVENT", said, "END:VEVENT", "END:VCALENDAR"))
    if kind == "code":
        mark = _LINE_COMMENT.get(name, "// ")
        return "".join(f"{mark}{line}\n" for line in lines)
    return text


def _saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _xlsx(lines: Sequence[str]) -> bytes:
    # A leading "=" would be a formula.
    return _workbook([[f"'{line}" if line.startswith("=") else line[:32_000]] for line in lines])


def _workbook(rows: Sequence[Sequence[object]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in rows:
        sheet.append(row)
    return _saved(book)


def _docx(lines: Sequence[str]) -> bytes:
    import docx

    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    return _saved(document)


def _pptx(lines: Sequence[str]) -> bytes:
    import pptx

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5 if lines else 6])
    if lines:
        slide.shapes.title.text = "\n".join(lines)
    return _saved(deck)


def _pdf(lines: Sequence[str]) -> bytes:
    """One page; each character is a glyph of its own, which the font's Unicode map names."""
    codes = {character: code for code, character in enumerate(sorted(set("".join(lines))), 1)}
    glyphs = ("".join(f"{codes[character]:04x}" for character in line) for line in lines)
    shown = "".join(f"<{line}> Tj T*\n" for line in glyphs)
    content = f"BT /F1 10 Tf 12 TL 36 750 Td\n{shown}ET" if lines else ""
    named = "\n".join(
        f"<{code:04x}> <{character.encode('utf-16-be').hex()}>" for character, code in codes.items()
    )
    unicode_map = (
        "begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{named}\nendbfchar endcmap"
    )
    return _pdf_of(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        _stream(content),
        "<< /Type /Font /Subtype /Type0 /BaseFont /Plain /Encoding /Identity-H "
        "/DescendantFonts [6 0 R] /ToUnicode 7 0 R >>",
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Plain /DW 600 "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        _stream(unicode_map),
    )


def _stream(content: str) -> str:
    return f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"


def _pdf_of(*objects: str) -> bytes:
    """A PDF file of numbered objects, the first of which is its catalogue."""
    parts, offsets, size = ["%PDF-1.7\n"], [], 0
    for number, body in enumerate(objects, 1):
        size += len(parts[-1])
        offsets.append(size)
        parts.append(f"{number} 0 obj\n{body}\nendobj\n")
    start = size + len(parts[-1])
    entries = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    count = len(objects) + 1
    parts.append(f"xref\n0 {count}\n0000000000 65535 f \n{entries}")
    parts.append(f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n")
    return "".join(parts).encode("ascii")


def _zip(lines: Sequence[str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("content.txt", "\n".join(lines))
    return buffer.getvalue()


def _blank_image(name: str) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(buffer, "JPEG" if name == "jpg" else name.upper())
    return buffer.getvalue()


_PAGES: dict[str, Callable[[Sequence[str]], bytes]] = {
    "xlsx": _xlsx,
    "docx": _docx,
    "pptx": _pptx,
    "pdf": _pdf,
    "zip": _zip,
}
