"""Rank swapping (Moore 1996): values change places with others at most a window away."""

from __future__ import annotations

import numpy as np

from anonymization.tables.cells import Bools, Floats
from anonymization.tables.keystream import Ints
from anonymization.tables.perturb.order import runs


def rank_swapped(value: Floats, known: Bools, cell: Ints, uniform: Floats, window: float) -> Floats:
    """Swap within each cell (group and year), among values of the same sign; zeros stay.

    `window` is a share of the cell's rows, at least one rank. `uniform` decides per row which
    of the free partners above it is taken. Sums and distributions of a cell do not change.
    """
    swapped = value.copy()
    label = cell * 2 + (value > 0)
    for at in runs(label, value, known & (value != 0)):
        partner = _partners(len(at), max(1, round(window * len(at))), uniform[at].tolist())
        swapped[at] = value[at[partner]]
    return swapped


def _partners(n: int, window: int, uniform: list[float]) -> Ints:
    """For each rank the rank it changes places with; itself if none is free."""
    partner = list(range(n))
    free = [True] * n
    for rank in range(n):
        if not free[rank]:
            continue
        others = [r for r in range(rank + 1, min(rank + window, n - 1) + 1) if free[r]]
        if others:
            other = others[int(uniform[rank] * len(others))]
            partner[rank], partner[other] = other, rank
            free[other] = False
    return np.array(partner, dtype=np.int64)
