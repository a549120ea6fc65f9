"""How hard a session's task looks where no model says it: by its inputs and outputs."""

from __future__ import annotations

from construction.judging.contracts import Case, Difficulty

DIFFICULTY_RULE = (
    "points for: input files (2 or 3: 1, from 4: 2), files to deliver (2 or 3: 1, from 4: 2), rows "
    "of input tables (from 200: 1), error cells, repeated rows or blanks in them: 1; easy 0 or 1, "
    "medium 2 or 3, hard from 4"
)
_STEPS, _ROWS = (2, 4), (200,)


def difficulty_of(case: Case) -> Difficulty:
    """The points of `DIFFICULTY_RULE` as a level."""
    sheets = [sheet for view in case.evidence.files for sheet in view.sheets]
    is_untidy = any(
        sheet.error_count or sheet.duplicates or any(column.blanks for column in sheet.columns)
        for sheet in sheets
    )
    points = _points(len(case.candidate.fixtures), _STEPS)
    points += _points(sum(item.count for item in case.candidate.deliverables), _STEPS)
    points += _points(sum(sheet.rows for sheet in sheets), _ROWS) + is_untidy
    if points < 2:
        return "easy"
    return "medium" if points < 4 else "hard"


def _points(number: int, steps: tuple[int, ...]) -> int:
    return sum(number >= step for step in steps)
