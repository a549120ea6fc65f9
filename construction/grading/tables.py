"""Tables in the files that are graded: header, number of rows, blank cells and repeated rows.

Imports the standard library only: the sandboxed child of the hard rules uses it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

_MOST_COLUMNS, _LONGEST_NAME, _MOST_TABLES = 60, 80, 20
_KEPT_ROWS, _KEPT_COLUMNS = 1000, 16  # of the cells of small tables
_DEEPEST = 2  # levels of a structure below which lists of records are not looked for


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a file: its sheet (empty outside workbooks), its header, and its other rows.

    `rows` counts those that hold anything; `blanks` the empty cells below each column, and
    `repeats` the rows that are the same as an earlier one. `cells` are those below the header, of
    a table of at most 1,000 rows and 16 columns; long ones are cut.
    """

    name: str
    columns: tuple[str, ...]
    rows: int
    blanks: tuple[int, ...] = ()
    repeats: int = 0
    cells: tuple[tuple[str, ...], ...] = ()


class TableCounter:
    """Counts a table row by row; its header is the first row that fills two cells, or the first."""

    def __init__(self, name: str) -> None:
        self.filled_rows = 0
        self._name = name
        self._columns: list[str] = []
        self._blanks: list[int] = []
        self._rows = self._repeats = 0
        self._known: set[int] = set()
        self._cells: list[list[str]] = []

    def add(self, cells: list[str]) -> int:
        """Count one row; returns how many of its cells are filled."""
        filled = sum(map(bool, cells))
        self.filled_rows += filled > 0
        if not filled:
            return 0
        if len(list(filter(None, self._columns))) < min(2, filled) and not self._rows:
            self._columns, self._blanks = cells, [0] * len(cells)
            return filled
        self._rows += 1
        for number in range(len(self._columns)):
            self._blanks[number] += number >= len(cells) or not cells[number]
        key = hash(tuple(cells))
        self._repeats += key in self._known
        self._known.add(key)
        if self._rows <= _KEPT_ROWS:
            self._cells.append(cells)
        return filled

    def tables(self) -> tuple[Table, ...]:
        """The table; none if no row was filled. Wide headers are cut."""
        if not self._columns:
            return ()
        wide = [number for number, name in enumerate(self._columns) if name][:_MOST_COLUMNS]
        columns = tuple(self._columns[number][:_LONGEST_NAME] for number in wide)
        blanks = tuple(self._blanks[number] for number in wide)
        is_small = self._rows <= _KEPT_ROWS and len(wide) <= _KEPT_COLUMNS
        cells = tuple(
            tuple(row[number][:_LONGEST_NAME] if number < len(row) else "" for number in wide)
            for row in (self._cells if is_small else ())
        )
        return (Table(self._name, columns, self._rows, blanks, self._repeats, cells),)


def tables_of_records(values: Iterable[object]) -> tuple[Table, ...]:
    """The lists of records in decoded values."""
    return tuple(islice(_tables(values), _MOST_TABLES))


def _tables(values: Iterable[object], name: str = "", depth: int = 0) -> Iterator[Table]:
    """Lists of records, at most three levels deep; the keys of the first are their columns."""
    records = [value for value in values if isinstance(value, dict)]
    if len(records) > 1:
        counter = TableCounter(name)
        counter.add([str(key) for key in records[0]])
        for record in records:
            counter.add(["" if record.get(key) is None else str(record[key]) for key in records[0]])
        yield from counter.tables()
        return
    for value in values if depth < _DEEPEST else ():
        for key, inner in value.items() if isinstance(value, dict) else [("", value)]:
            if isinstance(inner, list):
                yield from _tables(inner, str(key), depth + 1)
