"""Values under their column in rows that stand in a text: `INSERT … VALUES`, printed tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.declared import NAME, can_be_declared, declared_kind

_SCORE = 0.9
_INSERT = re.compile(
    r"(?i)\b(?:INSERT|REPLACE)\s{1,4}(?:IGNORE\s{1,4})?INTO\s{1,4}[\w.\"`\[\]]{1,120}\s{0,4}"
    r"\(([^()]{1,2000})\)\s{0,4}VALUES\s{0,4}"
)
_ROW = re.compile(r"\s{0,8},?\s{0,8}\(")
_VALUE = re.compile(r"\s{0,8}(?:[NE]?'((?:[^']|'')*)'|\"([^\"]*)\"|([^,()']*))\s{0,8}([,)])")
_CELL = re.compile(r"\S+(?: \S+)*")  # printed columns have two blanks or a tab between them
_FIELD = re.compile(r"(?:(?<=^)|(?<=,))[^,]*")
_BAR = re.compile(r"(?<![^|])[^|]+")
_FEWEST_COLUMNS, _MOST_ROWS = 2, 2_000

Kinds = Sequence[EntityType | None]


def find_rows(folded: str) -> Iterator[Finding]:
    """The values of rows that a column declares."""
    if "INSERT" in folded or "insert" in folded:
        for insert in _INSERT.finditer(folded):
            kinds = [declared_kind(column) for column in insert[1].split(",")]
            if any(kinds):
                yield from _inserted(folded, insert.end(), kinds)
    if "  " in folded or "\t" in folded:
        yield from _below_heads(folded, _CELL, most_more=1)
    if "\n" in folded and "|" in folded:
        yield from _below_heads(folded, _BAR, most_more=0, first_only=True)
    if "\n" in folded and "," in folded:
        yield from _below_heads(folded, _FIELD, most_more=0)


def _inserted(text: str, start: int, kinds: Kinds) -> Iterator[Finding]:
    while (row := _ROW.match(text, start)) is not None:
        start = row.end()
        for number in range(len(kinds) + 1):
            value = _VALUE.match(text, start)
            if value is None:
                return
            start = value.end()
            group = next(group for group in (1, 2, 3) if value[group] is not None)
            if number < len(kinds):
                yield from _declared(kinds[number], value.span(group), text)
            if value[4] == ")":
                break


def _below_heads(
    text: str, cell: re.Pattern[str], most_more: int, *, first_only: bool = False
) -> Iterator[Finding]:
    """Rows below a line of which two heads declare their values; `cell` matches a cell of a line.

    A row may have up to `most_more` cells before those of the heads: programs print row numbers.
    With `first_only`, heads stand in the first of the lines with cells, as in a table with bars.
    """
    kinds: Kinds = ()
    offset = rows = before = 0
    for line in text.splitlines(keepends=True):
        cells = list(cell.finditer(line.rstrip("\r\n")))
        heads = [declared_kind(part.group()) for part in cells]
        can_be_heads = len(cells) >= _FEWEST_COLUMNS and not (first_only and before)
        before = len(cells) if len(cells) >= _FEWEST_COLUMNS else 0
        if can_be_heads and sum(map(bool, heads)) >= _FEWEST_COLUMNS:
            kinds, rows = heads, 0
        elif kinds and rows < _MOST_ROWS and 0 <= len(cells) - len(kinds) <= most_more:
            rows += 1
            for kind, part in zip(kinds, cells[len(cells) - len(kinds) :], strict=True):
                yield from _declared(kind, (offset + part.start(), offset + part.end()), text)
        else:
            kinds = ()
        offset += len(line)


def _declared(kind: EntityType | None, span: tuple[int, int], text: str) -> Iterator[Finding]:
    value = text[span[0] : span[1]]
    if kind is not None and can_be_declared(kind, value):
        start = span[0] + len(value) - len(value.lstrip())
        yield Finding(start, start + len(value.strip()), kind, NAME, _SCORE)
