"""What stands above and beside the cells of a sheet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lxml.etree import _Element as Element

from anonymization.text.masking.tabular import is_label

_COLUMN = re.compile(r"[A-Z]+")
_FEWEST = 2  # headings in a row further down, or any line of text would be one

Read = Callable[[Element], str]


def labelled_cells(root: Element, read: Read) -> Iterator[tuple[Element, str]]:
    """Each cell with its heading; empty for headings themselves and where there is none.

    Headings are the texts of the first row, of the first row after a gap, and of a row of more
    texts than the headings so far (a table under its title).
    """
    headings: dict[str, str] = {}
    last = -1
    for place, row in enumerate(root.iter("{*}row")):
        cells = [(cell, text) for cell in row.iter("{*}c") if (text := read(cell).strip())]
        if not cells:
            continue
        number = int(row.get("r") or "") if (row.get("r") or "").isdecimal() else place
        found = {column_of(cell): text for cell, text in cells if is_label(text)}
        if last < 0 or _is_heading(found, len(cells), headings, number > last + 1):
            headings = found
            yield from ((cell, "") for cell, _ in cells)
        else:
            yield from ((cell, headings.get(column_of(cell), "")) for cell, _ in cells)
        last = number


def pairs(root: Element, read: Read) -> Iterator[tuple[str, str]]:
    """Rows of two cells, in which the first may say what the second is."""
    for row in root.iter("{*}row"):
        texts = [text for cell in row.iter("{*}c") if (text := read(cell).strip())]
        if len(texts) == _FEWEST and is_label(texts[0]):
            yield texts[0], texts[1]


def _is_heading(found: dict[str, str], filled: int, known: dict[str, str], gap: bool) -> bool:
    texts_only = len(found) == filled and filled >= _FEWEST
    return texts_only and (gap or filled > len(known))


def column_of(cell: Element) -> str:
    """The letters of a cell's reference."""
    match = _COLUMN.match(cell.get("r") or "")
    return match.group() if match else ""
