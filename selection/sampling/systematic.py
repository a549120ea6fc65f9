"""The draws: Madow's systematic sampling over a keyed order, and independent draws.

What systematic sampling means for the variance: with one fixed order, neighbouring units can never
be drawn together, so their joint inclusion is zero and no variance can be estimated. Every key
therefore visits the units in its own order (Hartley and Rao 1962): over keys, every pair of units
of one draw can occur together, single inclusion stays exact, and the usual approximations that need
only single probabilities hold (Hájek's, for example). A published sample is that of one key; its
order is known from the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from data.errors import InputError
from data.randomness import Key, keyed_generator, keyed_order
from selection.sampling.tree import Floats, Ints

Positions = NDArray[np.intp]
_SNAP = 1e-9  # differences below this are rounding noise (law 5)


@dataclass(frozen=True, slots=True)
class FixedSample:
    """Positions of the units drawn, ascending, and the inclusion probability of every unit."""

    drawn: Positions
    pi_design: Floats


def draw_fixed(
    units: Sequence[str], weights: Floats, size: int, seed: Key, stage: str
) -> FixedSample:
    """`size` different units, each with probability min(1, c·weight), for these names and key.

    `units` are distinct names; their order does not matter. Errors: `InputError` if there are fewer
    units than `size`.
    """
    by_name = np.array(sorted(range(len(units)), key=units.__getitem__), dtype=np.intp)
    pi_design = np.empty(len(units))
    pi_design[by_name] = inclusion_probabilities(weights[by_name], size)
    order = np.array(keyed_order(seed, stage, units), dtype=np.intp)
    counts = systematic(pi_design, order, start(seed, stage, "all"))
    return FixedSample(np.flatnonzero(counts), pi_design)


def start(seed: Key, stage: str, entity: str) -> float:
    """The keyed start of a systematic draw, in [0, 1)."""
    return float(keyed_generator(seed, f"{stage}.start", entity).random())


def systematic(expected: Floats, order: Positions, begin: float) -> Ints:
    """How often each unit is drawn: its expected number rounded down or up, without bias.

    Madow (1949): the fractions are laid end to end in `order`, and those at begin, begin + 1, … are
    drawn; whole parts are certain. `expected` must sum to a whole number, which is the number
    drawn.
    """
    counts = np.floor(expected).astype(np.int64)
    fractions = expected - counts
    visited = order[fractions[order] > 0]
    ends = np.cumsum(fractions[visited])
    if len(ends) == 0:
        return counts
    size = round(float(ends[-1]))
    ends[-1] = size  # the sum is whole up to rounding; set it exactly
    hits = np.searchsorted(ends, begin + np.arange(size), side="right")
    counts[visited[hits]] += 1
    return counts


def draw_with_replacement(
    probabilities: Floats, draws: int, generator: np.random.Generator
) -> Positions:
    """Positions of `draws` independent draws, ascending (their sequence carries no meaning).

    Sorted uniforms are merged with the cumulated probabilities, which avoids a search per draw.
    `probabilities` need not sum to 1; the caller passes them in a canonical order.
    """
    ends = np.cumsum(probabilities)
    uniforms = generator.random(draws) * ends[-1]
    uniforms.sort()
    units = pl.DataFrame({"at": ends}).with_row_index("unit").set_sorted("at")
    hits = pl.DataFrame({"at": uniforms}).set_sorted("at")
    hits = hits.join_asof(units, on="at", strategy="forward", allow_exact_matches=False)
    # Only a uniform that rounds up to the very end matches no unit: it belongs to the last.
    return hits["unit"].fill_null(len(ends) - 1).to_numpy().astype(np.intp)


def expected_draws(weights: Floats, groups: Ints, totals: Floats, caps: Floats) -> Floats:
    """Per unit min(cap, c·weight), with c solved for each group so that the group sums to its
    total.

    `weights` (> 0), `groups` (position of the unit's group in `totals`) and `caps` (the most a unit
    can be drawn) have one value per unit. With caps of 1 these are the inclusion probabilities of a
    design of fixed size without replacement (Särndal, Swensson and Wretman 1992, §3.6.2): units
    that reach their cap are certain and set aside, and c is solved again for the others. Errors:
    `InputError` if a group's total exceeds the sum of its caps.
    """
    n_groups = len(totals)
    capacity = np.bincount(groups, weights=caps, minlength=n_groups)
    if np.any(totals > capacity + _SNAP):
        short = int(np.argmax(totals - capacity))
        raise InputError(
            "sampling frame",
            f"{capacity[short]:g} units to draw {totals[short]:g} from",
            "at least as many units as draws",
            "Choose a smaller size, or draw with replacement.",
        )
    certain = np.zeros(len(weights), dtype=np.bool_)
    while True:
        held = np.bincount(groups, weights=np.where(certain, caps, 0.0), minlength=n_groups)
        free = np.bincount(groups, weights=np.where(certain, 0.0, weights), minlength=n_groups)
        scale = np.divide(totals - held, free, out=np.zeros(n_groups), where=free > 0)
        expected = np.where(certain, caps, scale[groups] * weights)
        reached = ~certain & (expected >= caps)
        if not reached.any():
            return _snapped(expected)
        certain |= reached


def inclusion_probabilities(weights: Floats, size: int) -> Floats:
    """min(1, c·weight), summing to `size`: the design of fixed size over one group of units."""
    one_group = np.zeros(len(weights), dtype=np.int64)
    return expected_draws(weights, one_group, np.array([float(size)]), np.ones(len(weights)))


def _snapped(expected: Floats) -> Floats:
    """Whole numbers where the difference is only rounding noise; other values unchanged."""
    whole = np.rint(expected)
    near = (np.abs(expected - whole) < _SNAP) & (whole > 0)
    return np.asarray(np.where(near, whole, expected))


def with_replacement_inclusion(probabilities: Floats, draws: NDArray[np.number]) -> Floats:
    """1 - (1 - p)^n: the probability that a unit is among n independent draws."""
    return np.asarray(-np.expm1(draws * np.log1p(-np.minimum(probabilities, 1 - 1e-16))))
