"""The fewest words that leave a question with one reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from construction.statements.questions.ambiguity import Database, Slots, rivals
from construction.statements.questions.contracts import STEPS, Rival, Sharpening
from construction.statements.questions.write import applicable


def sharpen(slots: Slots, database: Database, limit: int) -> Slots | Rival:
    """The slots with the fewest further words that leave no rival, or the first remaining rival."""
    first = tuple(slots.sharpened)
    for _ in range(limit + 1):
        remaining = rivals(slots, database)
        if not remaining:
            return _pruned(slots, first, database)
        taken = tuple(slots.sharpened)
        steps = (step for rival in remaining for step in STEPS[rival.cause])
        step = next((step for step in steps if applicable(step, slots, taken)), None)
        if step is None:
            return remaining[0]
        slots = replace(slots, sharpened=_with(taken, step))
    return remaining[0]


def _pruned(slots: Slots, first: Sequence[Sharpening], database: Database) -> Slots:
    """The slots without added words that turned out to be unnecessary."""
    for step in slots.sharpened:
        fewer = tuple(one for one in slots.sharpened if one is not step)
        less = replace(slots, sharpened=fewer)
        if step not in first and not rivals(less, database):
            slots = less
    return slots


def _with(taken: Sequence[Sharpening], step: Sharpening) -> tuple[Sharpening, ...]:
    return tuple(one for one in Sharpening if one in taken or one is step)
