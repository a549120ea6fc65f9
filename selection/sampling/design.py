"""Expected numbers of draws and inclusion probabilities of a design of fixed size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError
from selection.sampling.damping import Floats, Ints

_SNAP = 1e-9  # rounding noise next to a whole number (law 5)


def expected_draws(weights: Floats, groups: Ints, totals: Floats, caps: Floats) -> Floats:
    """Per unit min(cap, c·weight), with c of each group solved so that the group sums to its total.

    `weights` (> 0), `groups` (position of the unit's group in `totals`) and `caps` (the most a
    unit can be drawn) have a value per unit. With caps of 1 these are the inclusion probabilities
    of a design of fixed size without replacement (Särndal, Swensson and Wretman 1992, §3.6.2):
    units that reach their cap are certain, are taken out, and c is solved anew for the others.
    Errors: `InputError` where a group's total exceeds the sum of its caps.
    """
    n_groups = len(totals)
    capacity = np.bincount(groups, weights=caps, minlength=n_groups)
    if np.any(totals > capacity + _SNAP):
        short = int(np.argmax(totals - capacity))
        raise InputError(
            "sampling frame",
            f"{capacity[short]:g} units to draw {totals[short]:g} from",
            "at least as many units as draws",
            "Ask for a smaller size, or draw with replacement.",
        )
    certain = np.zeros(len(weights), dtype=np.bool_)
    while True:
        held = np.bincount(groups, weights=np.where(certain, caps, 0.0), minlength=n_groups)
        free = np.bincount(groups, weights=np.where(certain, 0.0, weights), minlength=n_groups)
        scale = np.divide(totals - held, free, out=np.zeros(n_groups), where=free > 0)
        expected = np.where(certain, caps, scale[groups] * weights)
        reached = ~certain & (expected >= caps)
        if not reached.any():
            return snapped(expected)
        certain |= reached


def inclusion_probabilities(weights: Floats, size: int) -> Floats:
    """min(1, c·weight), summing to `size`: the design of fixed size over one group of units."""
    one_group = np.zeros(len(weights), dtype=np.int64)
    return expected_draws(weights, one_group, np.array([float(size)]), np.ones(len(weights)))


def snapped(expected: Floats) -> Floats:
    """Whole numbers where only rounding noise is missing, all else as it is."""
    whole = np.rint(expected)
    near = (np.abs(expected - whole) < _SNAP) & (whole > 0)
    return np.asarray(np.where(near, whole, expected))


def with_replacement_inclusion(probabilities: Floats, draws: NDArray[np.number]) -> Floats:
    """1 - (1 - p)^n: how likely a unit is among n independent draws."""
    return np.asarray(-np.expm1(draws * np.log1p(-np.minimum(probabilities, 1 - 1e-16))))
