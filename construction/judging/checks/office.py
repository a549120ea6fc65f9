"""Workbooks, documents, slides and JSON opened, changed in one place and saved, for `mutants`.

It lies beside that program where it runs, so it imports the standard library and what opens files.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from html import escape
from importlib import import_module
from itertools import islice
from typing import Any

_FORMULA = re.compile(r'<c r="([A-Z]+\d+)"([^>]*)><f>([^<]*)</f><v(?: ?/>|></v>)</c>')


def filled(book: Any) -> list[tuple[str, Any]]:
    """The cells of a workbook that hold something, each with the name of its sheet."""
    rows = ((sheet.title, row) for sheet in book.worksheets for row in sheet.iter_rows())
    return [(title, cell) for title, row in rows for cell in row if cell.value is not None]


def is_figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def figure(value: float) -> str:
    return f"{value:.9g}" if value % 1 else f"{value:.0f}"


def opened(content: bytes, *, values: bool = False) -> Any:
    from openpyxl import load_workbook

    return load_workbook(io.BytesIO(content), data_only=values)


def saved(book: Any) -> bytes:
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def with_cell(content: bytes, title: str, row: int, column: int, value: object) -> bytes:
    book = opened(content)
    book[title].cell(row, column).value = value
    return with_values(saved(book), content)


def with_values(saved: bytes, content: bytes) -> bytes:
    """A saved workbook with the values that its formulas had: the library drops them."""
    values = opened(content, values=True).worksheets
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(target, "w") as new:
        for item in old.infolist():
            data = old.read(item)
            number = re.fullmatch(r"xl/worksheets/sheet(\d+)\.xml", item.filename)
            if number and int(number[1]) <= len(values):
                known = partial(_computed, values[int(number[1]) - 1])
                data = _FORMULA.sub(known, data.decode()).encode()
            new.writestr(item, data)
    return target.getvalue()


def _computed(sheet: Any, match: re.Match[str]) -> str:
    value = sheet[match[1]].value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return match[0]
    kind = f'{match[2]} t="str"' if isinstance(value, str) else match[2]
    return f'<c r="{match[1]}"{kind}><f>{match[3]}</f><v>{escape(str(value))}</v></c>'


def without_row(content: bytes, title: str, row: int) -> bytes:
    book = opened(content)
    book[title].delete_rows(row)
    return saved(book)


def turned_round(content: bytes, title: str) -> bytes:
    book = opened(content)
    rows = list(book[title].iter_rows(min_row=2))
    values = [[cell.value for cell in row] for row in rows]
    for row, turned in zip(rows, reversed(values), strict=True):
        for cell, value in zip(row, turned, strict=True):
            cell.value = value
    return saved(book)


def opened_document(content: bytes, kind: str) -> Any:
    if kind == "docx":
        return import_module("docx").Document(io.BytesIO(content))
    return import_module("pptx").Presentation(io.BytesIO(content))


def paragraphs(document: Any, kind: str) -> Iterator[Any]:
    """Every paragraph, in order, those in cells of tables among them."""
    if kind == "docx":
        yield from document.paragraphs
        for row in (row for table in document.tables for row in table.rows):
            for cell in row.cells:
                yield from cell.paragraphs
        return
    for shape in (shape for slide in document.slides for shape in slide.shapes):
        if shape.has_text_frame:
            yield from shape.text_frame.paragraphs
        if getattr(shape, "has_table", False):
            for cell in (cell for row in shape.table.rows for cell in row.cells):
                yield from cell.text_frame.paragraphs


def text_of(paragraph: Any) -> str:
    return "".join(run.text for run in paragraph.runs)


def with_text(content: bytes, kind: str, at: int, span: tuple[int, int], new: str) -> bytes:
    document = opened_document(content, kind)
    paragraph = next(islice(paragraphs(document, kind), at, None))
    text = text_of(paragraph)
    rewrite(paragraph, text[: span[0]] + new + text[span[1] :])
    return saved(document)


def rewrite(paragraph: Any, text: str) -> None:
    first, *others = paragraph.runs
    first.text = text
    for run in others:
        run.text = ""


def with_entry(whole: Any, value: str) -> Any:
    """The content of a JSON file with one entry more in each of its lists, or in the whole."""
    lists = lists_of(whole)
    for entries in lists:
        is_map = bool(entries) and isinstance(entries[0], dict)
        entries.append(dict.fromkeys(entries[0], value) if is_map else value)
    if lists:
        return whole
    return {**whole, value: value} if isinstance(whole, dict) else [whole, value]


def lists_of(whole: Any) -> list[list[Any]]:
    """All lists of a JSON value, outer ones first."""
    lists, waiting = list[list[Any]](), [whole]
    while waiting:
        value = waiting.pop()
        lists += [value] if isinstance(value, list) else []
        inner = value.values() if isinstance(value, dict) else value
        waiting += inner if isinstance(value, dict | list) else []
    return lists


def held(content: bytes, kind: str) -> object:
    """What a workbook or JSON holds, however it is written; of others the content itself."""
    if kind == "xlsx":
        return [(title, cell.coordinate, cell.value) for title, cell in filled(opened(content))]
    return json.dumps(json.loads(content)) if kind == "json" else content
