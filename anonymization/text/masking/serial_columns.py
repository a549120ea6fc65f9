"""Columns of serial numbers: wholly somebody's, or only counting."""

from __future__ import annotations

from collections.abc import Sequence

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.masking.pieces import FIELD, Piece

_IDS = frozenset({EntityType.PERSON_NUMBER, EntityType.CASE_NUMBER, EntityType.ACCOUNT})
_FEWEST_SERIALS, _SPARSE = 5, 1.5  # numbers of a column, and the last of a counter per number


def whole_columns(
    pieces: Sequence[Piece], findings: Sequence[Sequence[Finding]]
) -> list[Sequence[Finding]]:
    """The findings with columns of serial numbers masked wholly, or left if they only count."""
    columns: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        if piece.lead and piece.value.isascii() and piece.value.isdigit():
            columns.setdefault(piece.label, []).append(number)
    whole = list(findings)
    for rows in columns.values():
        kinds = {finding.type for row in rows for finding in findings[row] if finding.type in _IDS}
        if not kinds or len(rows) < _FEWEST_SERIALS:
            continue
        serials = {int(pieces[row].value) for row in rows}
        is_counter = min(serials) <= 1 and max(serials) <= _SPARSE * len(serials)
        for row in rows:
            others = [finding for finding in findings[row] if finding.type not in _IDS]
            span = pieces[row].lead, len(pieces[row].text)
            serial = Finding(*span, min(kinds), FIELD, 1.0)
            whole[row] = others if is_counter or others else [serial]
    return whole
