"""The process in which a filled review workbook is opened.

    python -m construction.judging.review_child SECONDS BYTES

Frames in: the limits (JSON), the workbook. Frame out: `rows`, each with its number and its cells
as text and whether they are formulas; or `trouble`, in words without content.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from datetime import date, datetime
from typing import Any

from openpyxl import load_workbook

from data.child import confine, read_frame, write_frame

_MOST = 4 << 30
_PARTS = 2_000
Rows = list[tuple[int, list[tuple[str, bool]]]]


class _Trouble(Exception):
    """Why a workbook is not read."""


def rows_of(content: bytes, limits: dict[str, int]) -> Rows:
    """The rows with content of the first sheet. Raises _Trouble beyond the limits."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
    # The reader takes no more of a part than its declared size.
    if len(parts) > _PARTS or sum(part.file_size for part in parts) > limits["inflated_bytes"]:
        raise _Trouble("a workbook that inflates beyond the limit")
    book = load_workbook(io.BytesIO(content), read_only=True, keep_links=False)
    if not book.worksheets:
        raise _Trouble("a workbook without sheets")
    sheet = book.worksheets[0]
    sheet.reset_dimensions()
    rows: Rows = []
    for line, cells in enumerate(sheet.iter_rows(max_col=limits["columns"]), start=1):
        told = [(_text(cell.value), cell.data_type == "f") for cell in cells]
        if not any(text for text, _ in told):
            continue
        if len(rows) > limits["rows"]:
            raise _Trouble("a workbook with more rows than the limit")
        if any(len(text) > limits["cell_chars"] for text, _ in told):
            raise _Trouble("a cell longer than the limit")
        while told and not told[-1][0]:
            told.pop()
        rows.append((line, told))
    return rows


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def main() -> None:
    """Serve one workbook."""
    source = sys.stdin.buffer
    answer = confine(int(sys.argv[1]), int(sys.argv[2]))
    limits = json.loads(read_frame(source, _MOST))
    content = read_frame(source, _MOST)
    told: dict[str, Any]
    try:
        told = {"rows": rows_of(content, limits)}
    except _Trouble as trouble:
        told = {"trouble": str(trouble)}
    except (MemoryError, RecursionError):
        told = {"trouble": "a workbook that needs more memory than the limit"}
    except Exception as error:  # a library may raise anything on a hostile file
        told = {"trouble": f"a file that is no workbook ({type(error).__name__})"}
    write_frame(answer, json.dumps(told).encode())


if __name__ == "__main__":
    main()
