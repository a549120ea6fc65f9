"""Sums per group and year are brought back, mostly by the entities that make them."""

from __future__ import annotations

import numpy as np

from anonymization.tables.cells import Bools, Floats
from anonymization.tables.keystream import Ints

_PASSES = 8
_LEAST_ROWS = 5  # a smaller cell's sum would give its rows away
_DOWN, _UP = -0.4, 0.6  # the most one pass may change a value by: signs stay


def rescaled(
    value: Floats, original: Floats, known: Bools, group: Ints, cell: Ints, share: float
) -> Floats:
    """Make up for `share` of the difference between each cell's sum and its original sum.

    First one factor per group for all years, then what is left per cell in proportion to the
    square of the value: the few largest entities take it, and the growth of the others is not
    disturbed. (One factor per group and year turned the sign of 10 % of the yearly changes on
    the EDINET table; this turns 1 %.) Cells of fewer than five rows get the group's factor only.
    """
    weight = known.astype(np.float64)
    enough = _summed(cell, weight) >= _LEAST_ROWS
    target = _summed(cell, original * weight)
    target = target * share + _summed(cell, value * weight) * (1 - share)
    before, after = (
        _summed(group, np.abs(original) * weight),
        _summed(group, np.abs(value) * weight),
    )
    factor = np.divide(before, after, out=np.ones_like(before), where=after > 0)
    moved = np.asarray(value * (factor**share)[group])
    for _ in range(_PASSES):
        missing = np.where(enough, target - _summed(cell, moved * weight), 0.0)
        squares = _summed(cell, moved**2 * weight)
        per_unit = np.divide(missing, squares, out=np.zeros_like(missing), where=squares > 0)
        moved *= 1 + np.clip(per_unit[cell] * moved, _DOWN, _UP)
    return moved


def _summed(label: Ints, value: Floats) -> Floats:
    return np.bincount(label, weights=value).astype(np.float64)
