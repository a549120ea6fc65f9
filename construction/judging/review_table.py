"""Reading a filled-in review sheet as hostile input: cells as text, within limits.

A workbook is opened in a child process with limits:

    python -m construction.judging.review_table SECONDS BYTES

Frames in: the limits (JSON), the workbook. Frame out: `rows`, each with its number and its cells
as text and whether they are formulas; or `trouble`, in words without content.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from openpyxl import load_workbook

from construction.judging.review import ENCODINGS
from data.child import Child, ChildFailed, ChildLimits, confine, read_frame, write_frame
from data.contracts import StageConfig
from data.errors import InputError

_CHILD = "construction.judging.review_table"
_SEPARATORS = ",;\t"
_SEPARATOR_LINE = re.compile(rf'"?sep=([{_SEPARATORS}|])"?\s*?(?:\r|\n|\Z)', re.IGNORECASE)
_EXPECTED = "a review sheet (.csv or .xlsx)"
_MOST = 4 << 30
_PARTS = 2_000


class SheetLimits(StageConfig):
    """Limits of an imported sheet; `rows` and `columns` count those with content."""

    bytes: int = 20_000_000
    inflated_bytes: int = 200_000_000
    rows: int = 100_000
    columns: int = 100
    cell_chars: int = 40_000
    seconds: int = 60
    memory_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A cell as text; `formula`: the text is a formula."""

    text: str
    formula: bool = False


Table = list[tuple[int, list[SheetCell]]]


def read_table(path: Path, limits: SheetLimits, encoding: str) -> Table:
    """The rows with content of a sheet, with their numbers from 1. Raises InputError."""
    suffix = path.suffix.lower()
    if suffix not in {".csv", ".xlsx"} or not path.is_file():
        problem = f"a {suffix or 'nameless'} file" if path.is_file() else "no file"
        raise InputError(str(path), problem, _EXPECTED, "Name the sheet that was filled in.")
    with path.open("rb") as handle:
        content = handle.read(limits.bytes + 1)
    if len(content) > limits.bytes:
        raise _too_much(path, f"more than {limits.bytes} bytes")
    if suffix == ".xlsx":
        return _from_workbook(path, content, limits)
    return _from_csv(path, _decoded(path, content, encoding), limits)


def _decoded(path: Path, content: bytes, encoding: str) -> str:
    """The text of a CSV file; its byte order mark takes precedence over the named encoding."""
    if encoding not in ENCODINGS:
        expected = ", ".join(ENCODINGS)
        raise InputError(str(path), "an encoding that is not known", expected, "Choose one.")
    marked = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    codec = next((name for mark, name in marked.items() if content.startswith(mark)), encoding)
    try:
        return content.decode(codec)
    except UnicodeError:
        todo = f"Save as UTF-8 or XLSX, or name its encoding: {', '.join(ENCODINGS)}."
        raise InputError(str(path), f"bytes that are not {codec}", "text", todo) from None


def _from_csv(path: Path, text: str, limits: SheetLimits) -> Table:
    """The rows of a CSV text; some locales separate cells by semicolons or tabs.

    A first line may say by what: `sep=;`.
    """
    said = _SEPARATOR_LINE.match(text)
    head = text[: text.find("\n")]
    separator = said[1] if said else max(_SEPARATORS, key=head.count)
    csv.field_size_limit(limits.cell_chars)
    table: Table = []
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        for line, cells in enumerate(reader, start=1):
            if not any(cells) or (said and line == 1):
                continue
            if len(table) > limits.rows or len(cells) > limits.columns:
                raise _too_much(path, f"more than {limits.rows} rows or {limits.columns} columns")
            table.append((line, [SheetCell(cell) for cell in cells]))
    except csv.Error as error:
        problem = f"a row that is not CSV ({str(error)[:60]})"
        raise InputError(str(path), problem, _EXPECTED, "Save the sheet again.") from None
    return table


def _from_workbook(path: Path, content: bytes, limits: SheetLimits) -> Table:
    """The rows of a workbook's first sheet, read by a child process with limits."""
    try:
        with Child(_CHILD, ChildLimits(limits.seconds, limits.memory_bytes)) as child:
            child.send(limits.model_dump_json().encode())
            child.send(content)
            report = json.loads(child.receive())
    except (ChildFailed, ValueError):
        report = {"trouble": "a workbook that cannot be read within its limits"}
    if report.get("trouble"):
        todo = "Save the sheet again as XLSX, or as CSV."
        raise InputError(str(path), report["trouble"], _EXPECTED, todo)
    return [(line, [SheetCell(*cell) for cell in cells]) for line, cells in report["rows"]]


def _too_much(path: Path, excess: str) -> InputError:
    return InputError(str(path), excess, "a sheet within the limits", "Import it in parts.")


class _Trouble(Exception):
    """Why a workbook is not read."""


def _rows_of(content: bytes, limits: SheetLimits) -> list[tuple[int, list[tuple[str, bool]]]]:
    """The rows with content of the first sheet. Raises _Trouble beyond the limits."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
    # The reader reads no more of a part than its declared size.
    if len(parts) > _PARTS or sum(part.file_size for part in parts) > limits.inflated_bytes:
        raise _Trouble("a workbook that inflates beyond the limit")
    book = load_workbook(io.BytesIO(content), read_only=True, keep_links=False)
    if not book.worksheets:
        raise _Trouble("a workbook without sheets")
    sheet = book.worksheets[0]
    sheet.reset_dimensions()
    rows: list[tuple[int, list[tuple[str, bool]]]] = []
    for line, cells in enumerate(sheet.iter_rows(max_col=limits.columns), start=1):
        texts = [(_text(cell.value), cell.data_type == "f") for cell in cells]
        while texts and not texts[-1][0]:
            texts.pop()
        if texts and len(rows) > limits.rows:
            raise _Trouble("a workbook with more rows than the limit")
        if any(len(text) > limits.cell_chars for text, _ in texts):
            raise _Trouble("a cell longer than the limit")
        rows += [(line, texts)] if texts else []
    return rows


def _text(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()[:10]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def main() -> None:
    """Serve one workbook."""
    source = sys.stdin.buffer
    answer = confine(int(sys.argv[1]), int(sys.argv[2]))
    limits = SheetLimits.model_validate_json(read_frame(source, _MOST))
    content = read_frame(source, _MOST)
    report: dict[str, Any] = {}
    try:
        report["rows"] = _rows_of(content, limits)
    except _Trouble as trouble:
        report["trouble"] = str(trouble)
    except (MemoryError, RecursionError):
        report["trouble"] = "a workbook that needs more memory than the limit"
    except Exception as error:  # a library may raise anything on a hostile file
        report["trouble"] = f"a file that is not a workbook ({type(error).__name__})"
    write_frame(answer, json.dumps(report).encode())


if __name__ == "__main__":
    main()
