"""Small office files to embed in others or to attach."""

from __future__ import annotations

import io
from collections.abc import Sequence

import docx
import openpyxl

from tests.challenge.plants.package import Package

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def small_xlsx(rows: Sequence[Sequence[str | int]]) -> bytes:
    """A workbook with one sheet."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append(list(row))
    buffer = io.BytesIO()
    book.save(buffer)
    return Package(buffer.getvalue()).save()


def small_docx(paragraphs: Sequence[str]) -> bytes:
    """A document of plain paragraphs."""
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    buffer = io.BytesIO()
    document.save(buffer)
    return Package(buffer.getvalue()).save()
