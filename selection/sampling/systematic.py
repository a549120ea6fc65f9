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
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from data.errors import InputError
from data.randomness import Key, keyed_generator, keyed_order
from selection.config import SEPARATOR, Damping

# Exact probabilities of the leaves of a hierarchy of names, in closed form.
#
# From the root, a child is chosen with probability proportional to the damped number of series it
# holds, until a series is reached; a leaf's probability is the product of the choices on its path
# (FinRetrieval, hierarchical √log sampling). One sort brings every subtree together, so that each
# level is a handful of array operations.

MAX_DEPTH = 64
_KEY_BITS = 63


Floats = NDArray[np.float64]


Ints = NDArray[np.int64]


def _damped(counts: Ints, damping: Damping) -> Floats:
    """The weights of children that hold `counts` (≥ 0) series; 0 for an empty one."""
    n = counts.astype(np.float64)
    if damping is Damping.NONE:
        return n
    if damping is Damping.SQRT:
        return np.sqrt(n)
    if damping is Damping.LOG:
        return np.log1p(n)
    if damping is Damping.LOGLOG:
        return np.log1p(np.log1p(n))
    return np.sqrt(np.log1p(n))


def leaf_probabilities(
    names: pl.Series,
    damping: Damping = Damping.SQRTLOG,
    *,
    groups: Ints | None = None,
    separator: str = SEPARATOR,
) -> Floats:
    """The probability of each name, in the order of `names`; they sum to 1.

    A name that ends where others continue is a child beside theirs. Equal names form one leaf (with
    that many series) and share its probability equally. With `groups` (a label ≥ 0 per name) every
    group is a hierarchy of its own and sums to 1. The result depends only on the names of the
    group, to the last bit: not on their order, nor on other groups. Errors: `InputError` for a null
    name or more than `MAX_DEPTH` components.
    """
    total = len(names)
    if total == 0:
        return np.zeros(0)
    roots = np.zeros(total, dtype=np.int64) if groups is None else groups
    order, levels = _sorted_levels([roots, *_component_codes(names, separator)])
    weight_of = _damped(np.arange(total + 1), damping)
    starts = np.flatnonzero(levels[0])
    shares = np.ones(len(starts))
    for above, level in pairwise(levels):
        starts = np.flatnonzero(level)
        counts = np.diff(starts, append=total)
        parents = (np.cumsum(above) - 1)[starts]
        siblings = _weight_sums(parents, counts, weight_of)
        shares = shares[parents] * (weight_of[counts] / siblings[parents])
    copies = np.diff(starts, append=total)
    probabilities = np.empty(total)
    probabilities[order] = np.repeat(shares / copies, copies)
    return probabilities


def depths(names: pl.Series, separator: str = SEPARATOR) -> Ints:
    """The number of components of each name."""
    return names.str.count_matches(separator, literal=True).to_numpy().astype(np.int64) + 1


def _component_codes(names: pl.Series, separator: str) -> list[Ints]:
    """Per level a code for each name's component; 0 where the name has ended."""
    if names.null_count():
        raise InputError(
            "series names", f"{names.null_count()} nulls", "names", "Drop rows without a name."
        )
    # Strings scattered in memory, as after a sort, are slower to read than to copy.
    names = names + ""
    split = names.str.split(separator)
    deepest = int(split.list.len().to_numpy().max())
    if deepest > MAX_DEPTH:
        raise InputError(
            "series names",
            f"a name of {deepest} components",
            f"at most {MAX_DEPTH}",
            f"Check the separator {separator!r}.",
        )
    parts = split.list.to_struct(fields=[str(level) for level in range(deepest)]).struct.unnest()
    codes = [_code(pl.col(level)) for level in parts.columns]
    if _surely_distinct(names):
        # Distinct names equal so far must differ here: numbering avoids the most expensive look-up.
        last = pl.col(parts.columns[-1])
        numbered = pl.when(last.is_not_null()).then(pl.int_range(1, pl.len() + 1))
        codes[-1] = numbered.otherwise(0).alias(parts.columns[-1])
    coded = parts.select(codes)
    return [column.to_numpy() for column in coded.iter_columns()]


def _surely_distinct(names: pl.Series) -> bool:
    """Whether no two hashes are equal; a collision costs time only and never changes a result."""
    hashes = np.sort(names.hash().to_numpy())
    return bool((hashes[1:] != hashes[:-1]).all())


def _code(part: pl.Expr) -> pl.Expr:
    """Codes 1, 2, … in order of appearance, 0 for null; equal codes mean equal parts, no order."""
    own_categories = pl.Categorical(pl.Categories.random())
    return (part.cast(own_categories).to_physical().cast(pl.Int64) + 1).fill_null(0)


def _sorted_levels(columns: list[Ints]) -> tuple[NDArray[np.intp], list[NDArray[np.bool_]]]:
    """An order that brings equal prefixes together, and per level where its nodes begin."""
    keys = _packed(columns)
    packed = [key for key, _ in keys]
    order = np.argsort(packed[0]) if len(packed) == 1 else np.lexsort(packed[::-1])
    begins = np.zeros(len(order), dtype=np.bool_)
    begins[0] = True
    levels = []
    for key, shifts in keys:
        in_order = key[order]
        differing = in_order[1:] ^ in_order[:-1]
        for shift in shifts:
            begins = begins.copy()
            begins[1:] |= (differing >> shift) != 0
            levels.append(begins)
    return order, levels


def _packed(columns: list[Ints]) -> list[tuple[Ints, list[int]]]:
    """Columns packed into as few integers as possible, with the shift at which each column ends."""
    keys: list[tuple[Ints, list[int]]] = []
    used = _KEY_BITS
    for column in columns:
        width = int(column.max()).bit_length()
        if keys and used + width <= _KEY_BITS:
            key, shifts = keys[-1]
            keys[-1] = (key << width) | column, [*(shift + width for shift in shifts), 0]
            used += width
        else:
            keys.append((column, [0]))
            used = width
    return keys


def _weight_sums(parents: NDArray[np.intp], counts: Ints, weight_of: Floats) -> Floats:
    """The weights of each parent's children, added in the order of their counts.

    A fixed order of addition makes the sums equal to the last bit for any order of input.
    """
    bits = len(weight_of).bit_length()
    pairs = np.sort((parents.astype(np.int64) << bits) | counts)
    held = pairs & ((1 << bits) - 1)
    return np.asarray(np.bincount(pairs >> bits, weights=weight_of[held]), dtype=np.float64)


_Positions = NDArray[np.intp]
_SNAP = 1e-9  # differences below this are rounding noise (law 5)


@dataclass(frozen=True, slots=True)
class _FixedSample:
    """Positions of the units drawn, ascending, and the inclusion probability of every unit."""

    drawn: _Positions
    pi_design: Floats


def draw_fixed(
    units: Sequence[str], weights: Floats, size: int, seed: Key, stage: str
) -> _FixedSample:
    """`size` different units, each with probability min(1, c·weight), for these names and key.

    `units` are distinct names; their order does not matter. Errors: `InputError` if there are fewer
    units than `size`.
    """
    by_name = np.array(sorted(range(len(units)), key=units.__getitem__), dtype=np.intp)
    pi_design = np.empty(len(units))
    pi_design[by_name] = _inclusion_probabilities(weights[by_name], size)
    order = np.array(keyed_order(seed, stage, units), dtype=np.intp)
    counts = systematic(pi_design, order, start(seed, stage, "all"))
    return _FixedSample(np.flatnonzero(counts), pi_design)


def start(seed: Key, stage: str, entity: str) -> float:
    """The keyed start of a systematic draw, in [0, 1)."""
    return float(keyed_generator(seed, f"{stage}.start", entity).random())


def systematic(expected: Floats, order: _Positions, begin: float) -> Ints:
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
) -> _Positions:
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


def _inclusion_probabilities(weights: Floats, size: int) -> Floats:
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
