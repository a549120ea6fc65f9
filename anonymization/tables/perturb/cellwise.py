"""Noise on single cells: least significant digits, and log-noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anonymization.tables.cells import Cells, Floats
from anonymization.tables.config import PerturbMethod, Step
from anonymization.tables.keystream import Ints, normals, uniforms

_POWERS = 10.0 ** np.arange(18)


def moved(step: Step, value: Floats, cells: Cells, words: NDArray[np.uint64]) -> Floats:
    """`value` (in units of the last decimal) after a cellwise step, on the grid of its cells."""
    if step.method is PerturbMethod.LSD:
        return cells.settled(least_digits(value, cells.grid, int(step.strength), uniforms(words)))
    return cells.settled(value * np.exp(step.strength * normals(words)))


def least_digits(value: Floats, grid: Floats, kept: int, uniform: Floats) -> Floats:
    """Keep the `kept` leading digits, and draw those down to the last reported digit anew."""
    unit = np.where(grid > 0, grid, 1.0)
    reported = np.rint(np.abs(value) / unit)
    tail = _POWERS[np.maximum(_digits(reported) - kept, 0)]
    head = np.floor(reported / tail) * tail
    return np.asarray((head + np.floor(uniform * tail)) * unit)


def _digits(whole: Floats) -> Ints:
    """How many digits whole numbers of at most 2⁵³ have; 1 for 0."""
    digits = np.log10(np.maximum(whole, 1.0)).astype(np.int64) + 1
    return np.asarray(digits - (_POWERS[digits - 1] > whole) * (digits > 1))
