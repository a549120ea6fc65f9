"""How sure the order is: bootstrap over the items of a subset."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from data.randomness import keyed_generator
from selection.agreement import pool_means
from selection.scores import Floats

RESAMPLES = 1_000
RELIABLE = 0.95
# Upper edges, in score points of the full pool, of the classes of gaps that are told apart.
GAP_EDGES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.10, 0.15, 0.20, 1.0)
_BLOCK = 100  # resamples at a time: bounds the memory at 100 × items


@dataclass(frozen=True, slots=True)
class AdjacentOrder:
    """Two models next to each other by their pool means, and how sure the subset is of it.

    `probability`: share of bootstrap resamples of the subset's items in which `better` leads;
    a tie counts half. `gap` and `subset_gap` are differences of means.
    """

    better: str
    worse: str
    gap: float
    subset_gap: float
    probability: float


@dataclass(frozen=True, slots=True)
class GapClass:
    """Pairs of models whose pool means differ by more than `above` and at most `up_to`."""

    above: float
    up_to: float
    pairs: int
    reliability: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """`smallest_gap`: the least edge above which every class that has pairs is ordered as in the
    pool with probability 0.95 or more; None if even the widest gaps are not."""

    adjacent: tuple[AdjacentOrder, ...]
    by_gap: tuple[GapClass, ...]
    smallest_gap: float | None


def reliability(models: tuple[str, ...], pool: Floats, subset: Floats, key: int) -> Reliability:
    """Bootstrap the subset's items and compare each pair's order with that of the pool.

    `pool` and `subset` are items × models. Missing cells are passed over.
    """
    full, here = pool_means(pool), pool_means(subset)
    order = sorted(range(len(models)), key=lambda i: (-full[i], models[i]))
    ahead = _ahead(subset[:, order], key)
    full, here = full[order], here[order]
    adjacent = tuple(
        AdjacentOrder(
            better=models[order[i]],
            worse=models[order[j]],
            gap=round(float(full[i] - full[j]), 9),
            subset_gap=round(float(here[i] - here[j]), 9),
            probability=round(float(ahead[i, j]), 6),
        )
        for i, j in pairwise(range(len(order)))
    )
    first, second = np.triu_indices(len(order), 1)
    by_gap = _classes((full[first] - full[second]).round(9), ahead[first, second])
    return Reliability(adjacent, by_gap, _smallest(by_gap))


def _ahead(subset: Floats, key: int) -> Floats:
    """Share of resamples in which each model leads each other (models × models)."""
    n_items, n_models = subset.shape
    generator = keyed_generator(key, "bootstrap-items", str(n_items))
    known, values = (~np.isnan(subset)).astype(np.float64), np.nan_to_num(subset)
    ahead = np.zeros((n_models, n_models))
    for _ in range(0, RESAMPLES, _BLOCK):
        times = generator.multinomial(n_items, np.full(n_items, 1 / n_items), _BLOCK)
        weights = times.astype(np.float64)
        counts = weights @ known
        sums = weights @ values
        means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0).round(9)
        lead = np.sign(means[:, :, None] - means[:, None, :])
        ahead += ((lead + 1) / 2).sum(axis=0)
    return np.asarray(ahead / RESAMPLES)


def _classes(gaps: Floats, ahead: Floats) -> tuple[GapClass, ...]:
    """Ties in the pool have no order to keep and are left out."""
    told = []
    for above, up_to in pairwise((0.0, *GAP_EDGES)):
        inside = (gaps > above) & (gaps <= up_to)
        if inside.any():
            share = round(float(ahead[inside].mean()), 6)
            told.append(GapClass(above, up_to, int(inside.sum()), share))
    return tuple(told)


def _smallest(classes: tuple[GapClass, ...]) -> float | None:
    found = None
    for part in reversed(classes):
        if part.reliability < RELIABLE:
            break
        found = part.above
    return found
