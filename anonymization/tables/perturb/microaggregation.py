"""Univariate microaggregation of fixed group size (Domingo-Ferrer and Mateo-Sanz 2002)."""

from __future__ import annotations

import numpy as np

from anonymization.tables.cells import Bools, Floats
from anonymization.tables.keystream import Ints
from anonymization.tables.perturb.order import runs


def microaggregated(value: Floats, known: Bools, cell: Ints, size: int) -> Floats:
    """Each value becomes the mean of its micro-group of `size` to 2 · `size` - 1 neighbours.

    Micro-groups are taken in ascending order within a cell (group and year) and a sign, so that
    signs stay; zeros stay. Fewer than `size` values of a sign share one mean.
    """
    grouped = value.copy()
    for at in runs(cell * 2 + (value > 0), value, known & (value != 0)):
        starts = np.arange(max(len(at) // size, 1)) * size
        counts = np.diff(np.append(starts, len(at)))
        grouped[at] = np.repeat(np.add.reduceat(value[at], starts) / counts, counts)
    return grouped
