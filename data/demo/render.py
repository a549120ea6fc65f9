"""The files of a task as bytes, by the type their name asks for."""

from __future__ import annotations

import csv
import io
from pathlib import PurePosixPath

import orjson

from data.demo import office
from data.demo.material import Table, TaskFile

_PREVIEW = 1200  # characters of a file that the agent of a session sees
_BINARY = frozenset({"xlsx", "docx", "pptx", "png", "pdf"})


def rendered(file: TaskFile, language: str) -> bytes:
    """The content of a task's file."""
    kind = suffix(file.name)
    if file.table is not None:
        return _rendered_table(file.table, kind)
    if kind == "docx":
        return office.docx_file(file.text)
    if kind == "pptx":
        return office.pptx_file(file.text)
    if kind == "png":
        return office.png(file.text)
    if kind == "pdf":
        return office.pdf(file.text, chinese=language == "zh")
    return (file.text.strip() + "\n").encode()


def preview(file: TaskFile) -> str:
    """What a tool that reads the file shows of it."""
    if file.table is not None:
        return _csv_text(file.table)[:_PREVIEW]
    if suffix(file.name) == "png":
        return "[image]"
    return file.text.strip()[:_PREVIEW]


def suffix(name: str) -> str:
    """The extension without its dot, in lower case."""
    return PurePosixPath(name).suffix.removeprefix(".").lower()


def is_binary(name: str) -> bool:
    """Is the file written by a program rather than as text?"""
    return suffix(name) in _BINARY


def _rendered_table(table: Table, kind: str) -> bytes:
    if kind == "xlsx":
        return office.xlsx(table)
    if kind == "json":
        rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
        return orjson.dumps(rows, option=orjson.OPT_INDENT_2) + b"\n"
    return _csv_text(table).encode()


def _csv_text(table: Table) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows(table.rows)
    return buffer.getvalue()
