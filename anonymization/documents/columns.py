"""Columns of people: where most cells are found to be names, the others are read as names too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from anonymization.documents.labels import CAPTION, can_be_name
from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.pieces import Piece

_FEWEST = 3  # distinct cells, from which a column can be told by most of them


def column_people(pieces: Iterable[Piece], edits: Callable[[Piece], Sequence[Edit]]) -> list[Piece]:
    """The names that the columns of a file tell, as pieces of their own; sorted.

    `pieces` are those of one file, learned already, `edits` what is found in one.
    """
    columns: dict[str, list[Piece]] = {}
    for piece in dict.fromkeys(pieces):
        label = piece.text[: piece.lead]
        if label and not label.startswith(CAPTION):
            columns.setdefault(label, []).append(piece)
    names: set[str] = set()
    for cells in columns.values():
        if len(cells) < _FEWEST:
            continue
        rest = [cell for cell in cells if not _is_person(cell, edits(cell))]
        if 2 * len(rest) <= len(cells):
            names |= {cell.value.strip() for cell in rest if can_be_name(cell.value)}
    return [Piece(name, kind=EntityType.PERSON) for name in sorted(names)]


def _is_person(cell: Piece, edits: Sequence[Edit]) -> bool:
    if len(edits) != 1 or edits[0].type is not EntityType.PERSON:
        return False
    return cell.value[edits[0].start : edits[0].end].strip() == cell.value.strip()
