"""How well counts of repeated samples fit the inclusion probabilities they were drawn with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from selection.sampling.systematic import Floats, Ints, draw_fixed

POOLED_EXPECTATION = 5.0


@dataclass(frozen=True, slots=True)
class Fit:
    """`largest_z` over units that are not certain; `chi2` over cells of pooled units."""

    samples: int
    size: int
    units: int
    certain: int
    largest_z: float
    chi2: float
    cells: int
    p: float

    def figures(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def fit_of_samples(units: Sequence[str], weights: Floats, size: int, seeds: range) -> Fit:
    """One fixed-size sample per seed, and the fit of the counts."""
    counts = np.zeros(len(units))
    for seed in seeds:
        sample = draw_fixed(units, weights, size, seed, "fit")
        if len(sample.drawn) != size:
            raise RuntimeError(f"seed {seed}: {len(sample.drawn)} units drawn, not {size}")
        counts[sample.drawn] += 1
    return fit_of_counts(counts, sample.pi_design, len(seeds), size)


def fit_of_counts(counts: Floats, inclusion: Floats, samples: int, size: int) -> Fit:
    """z per unit, and χ² on units pooled, rarest first, until a cell's expectation reaches 5.

    A cell's squared deviation is divided by the binomial variance of its units, which is less
    than the expectation: without replacement a unit comes at most once per sample.
    """
    free = np.flatnonzero(inclusion < 1)
    expected = samples * inclusion[free]
    variance = expected * (1 - inclusion[free])
    off = counts[free] - expected
    order = np.argsort(expected, kind="stable")
    cells = _cells(expected[order])
    offs = np.bincount(cells, weights=off[order])
    variances = np.bincount(cells, weights=variance[order])
    statistic = float((offs**2 / variances).sum())
    return Fit(
        samples=samples,
        size=size,
        units=len(counts),
        certain=len(counts) - len(free),
        largest_z=float(np.abs(off / np.sqrt(variance)).max()),
        chi2=statistic,
        cells=len(offs),
        p=float(chi2.sf(statistic, len(offs) - 1)),
    )


def _cells(expected: Floats) -> Ints:
    """Neighbours joined until each cell's expectation reaches 5; the rest joins the last cell."""
    labels = []
    label, held = 0, 0.0
    for value in expected:
        labels.append(label)
        held += value
        if held >= POOLED_EXPECTATION:
            label, held = label + 1, 0.0
    return np.minimum(labels, max(label - 1, 0)).astype(np.int64)
