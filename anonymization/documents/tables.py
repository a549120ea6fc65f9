"""Delimited tables: cells that begin as formulas, and columns of people."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from anonymization.documents.labels import names_people, show_caption
from anonymization.text.contracts import Edit
from anonymization.text.masking.pieces import Look, Piece, Visit, labelled
from anonymization.text.masking.tabular import is_label

_DELIMITERS = ",\t;|"
_FORMULA = "=+-@"  # how a cell begins that a spreadsheet reads as a formula
_LITERAL = re.compile(r'"([^"]+)"')
_LONGEST = 100_000  # characters of a cell


def table_edits(text: str, visit: Visit) -> list[Edit]:
    """No edits of its own: what it shows is masked wherever it stands."""
    head = text[: text.find("\n") + 1 or len(text)]
    delimiter = max(_DELIMITERS, key=lambda mark: (head.count(mark), -_DELIMITERS.index(mark)))
    lines = text.removeprefix("\ufeff").split("\n")
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    csv.field_size_limit(_LONGEST)
    labels: Sequence[str] = ()
    try:
        for number, row in enumerate(rows):
            if number == 0:
                labels = [cell.strip() if is_label(cell) else "" for cell in row]
                continue
            for label, cell in zip([*labels, *[""] * len(row)], row, strict=False):
                show_cell(visit.look, label, cell)
    except csv.Error:  # no table after all: it has been read as text
        return []
    return []


def show_cell(look: Look, label: str, cell: str) -> None:
    """Have a cell read by what its column says, and without the sign of a formula."""
    if label and names_people(label):
        show_caption(look, cell)
    if cell[:1] not in _FORMULA or len(cell) < 2:
        return
    look(labelled(label, cell[1:]))
    for literal in _LITERAL.findall(cell):
        look(Piece(literal))
