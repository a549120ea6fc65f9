"""The table cell that fits metric and period."""

from __future__ import annotations

from dataclasses import dataclass

from construction.statements.answers.amounts import Reading
from construction.statements.answers.choose import choose
from construction.statements.answers.cleaning import clean
from construction.statements.answers.contracts import Declared
from construction.statements.answers.markup import RawTable
from construction.statements.answers.passage import Passage, read_passage
from construction.statements.answers.periods import Period, find_periods
from construction.statements.answers.question import Target, core, exact
from construction.statements.answers.units import declared_in

MAX_CELLS = 20_000
_MAX_CAPTION = 300


@dataclass(slots=True)
class _Grid:
    rows: list[list[str]]
    caption: str
    declared: Declared

    def column(self, index: int) -> str:
        return self.rows[0][index] if index < len(self.rows[0]) else ""


def fitting_cells(tables: list[RawTable], target: Target, declared: Declared) -> list[Reading]:
    """Readings of the cells that fit the metric and period asked for, over all tables."""
    readings: list[Reading] = []
    for table in tables:
        if sum(len(row) for row in table.rows) <= MAX_CELLS and table.rows and table.rows[0]:
            grid = _clean(table, declared)
            readings += _by_label(grid, target)
    ranks = [reading.rank(target) for reading in readings]
    return [reading for reading in readings if reading.rank(target) == min(ranks)]


def all_cells(tables: list[RawTable], target: Target, declared: Declared) -> list[Reading]:
    """Readings of all cells beside the labels, of those periods that fit."""
    readings: list[Reading] = []
    for table in tables:
        if sum(len(row) for row in table.rows) <= MAX_CELLS and table.rows and table.rows[0]:
            grid = _clean(table, declared)
            cells = [(at, k) for at, row in enumerate(grid.rows) for k in range(1, len(row))]
            readings += _read(grid, cells, target)
    return readings


def labels_of(tables: list[RawTable]) -> list[str]:
    """The texts of all cells without figures, and of the first cell of each row."""
    return [
        clean(cell).text
        for table in tables
        for row in table.rows
        for at, cell in enumerate(row)
        if at == 0 or not any(map(str.isdigit, cell))
    ]


def _clean(table: RawTable, declared: Declared) -> _Grid:
    rows = [[clean(cell).text.strip() for cell in row] for row in table.rows if row]
    caption = clean(table.caption[-_MAX_CAPTION:]).text.strip()
    caption = "" if caption.endswith((".", "。")) else caption
    own = declared_in(caption, label=True).over(declared_in(rows[0][0], label=True))
    return _Grid(rows, caption, own.over(declared))


def _by_label(grid: _Grid, target: Target) -> list[Reading]:
    rows = _fitting([row[0] if row else "" for row in grid.rows], target)
    if rows:
        cells = [(row, column) for row in rows for column in range(1, len(grid.rows[row]))]
        return _read(grid, cells, target)
    columns = _fitting(grid.rows[0], target)
    cells = [
        (row, column)
        for row in range(1, len(grid.rows))
        for column in columns
        if column < len(grid.rows[row])
    ]
    return _read(grid, cells, target)


def _fitting(labels: list[str], target: Target) -> list[int]:
    """Labels equal to the metric; failing that, the only label that contains it."""
    bare = [_bare(label, target) for label in labels]
    for normal in (exact, core):
        metric = normal(target.metric)
        equal = [k for k, label in enumerate(bare) if metric and normal(label) == metric]
        if equal:
            return equal
    containing = [
        k for k, label in enumerate(bare) if target.naming and target.naming.search(label)
    ]
    return containing if len(containing) == 1 else []


def _bare(label: str, target: Target) -> str:
    """The label without company, periods and brackets that declare a unit."""
    pieces, position = [], 0
    for period in find_periods(label):
        pieces.append(label[position : period.start])
        position = period.end
    bare = "".join([*pieces, label[position:]])
    bare = bare.replace(target.company, "") if target.company else bare
    cut = bare.rfind("(")
    if cut > 0 and declared_in(bare[cut:], label=True) != Declared():
        bare = bare[:cut]
    head, _, tail = bare.rpartition(",")
    return head if head and declared_in(tail, label=True) != Declared() else bare


def _read(grid: _Grid, cells: list[tuple[int, int]], target: Target) -> list[Reading]:
    dated = bool(_periods(grid)) and target.period is not None
    readings = []
    for row, column in cells:
        cell = grid.rows[row][column]
        passage = read_passage(cell, target)
        if not passage.values or (row == 0 and find_periods(cell)):
            continue
        if dated and not _fits(grid, row, column, target):
            continue
        outcome = _cell(passage, grid, row, column, target)
        readings += [outcome] if outcome is not None else []
    return readings


def _cell(passage: Passage, grid: _Grid, row: int, column: int, target: Target) -> Reading | None:
    declared = Declared()
    for text in (*_texts(grid, row, column), grid.rows[row][0], grid.column(column)):
        declared = declared.over(declared_in(text, label=True))
    scope = (0, len(passage.text))
    return choose(passage, scope, target, declared.over(grid.declared), marked=True).reading


def _texts(grid: _Grid, row: int, column: int) -> list[str]:
    """Cells of the row without digits, such as its unit."""
    return [
        cell
        for index, cell in enumerate(grid.rows[row])
        if index not in (0, column) and not any(map(str.isdigit, cell))
    ]


def _periods(grid: _Grid) -> list[Period]:
    labels = [*grid.rows[0], *(row[0] for row in grid.rows if row), grid.caption]
    return [period for label in labels for period in find_periods(label)]


def _fits(grid: _Grid, row: int, column: int, target: Target) -> bool:
    """Year and kind from header, row label (or another cell of the row) and caption, in turn."""
    header = find_periods(grid.column(column)) if row else ()
    texts = [grid.rows[row][0], *(c for k, c in enumerate(grid.rows[row]) if k not in (0, column))]
    labels = [period for text in texts[:1] for period in find_periods(text)]
    if not labels and not header:
        labels = [period for text in texts[1:] for period in find_periods(text)]
    headers_dated = any(find_periods(cell) for cell in grid.rows[0][1:])
    if row and headers_dated and not header:
        return False
    periods = [*header, *labels, *find_periods(grid.caption)]
    year = next((p.year for p in periods if p.year is not None), None)
    kind = next((p.kind for p in periods if p.kind is not None), None)
    return (
        bool(periods) and target.period is not None and Period(0, 0, year, kind).fits(target.period)
    )
