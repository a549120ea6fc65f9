"""Response profiles: how well an item ranks models, and which items are redundant.

Both are computed from the pilots' scores alone. Sums of scores in units of 1/SCALE are whole
numbers below 2**53, so floating point adds them exactly, whatever the order and number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from selection.programme import SCALE, Ints
from selection.scores import Floats

Positions = NDArray[np.intp]
_DECIMALS = 9  # values are rounded before they decide anything


def filled(scores: Floats) -> Floats:
    """Scores (items × models) with missing cells set to item mean + model mean - grand mean.

    This is the two-way additive imputation, clipped to [0, 1]; an item without any score gets the
    model's mean.
    """
    known = ~np.isnan(scores)
    if known.all() or not known.any():
        return np.nan_to_num(scores)
    grand = scores[known].mean()
    by_item, by_model = _means(scores, known, 1, grand), _means(scores, known, 0, grand)
    guess = np.clip(by_item[:, None] + by_model[None, :] - grand, 0.0, 1.0)
    return np.where(known, scores, guess)


def _means(scores: Floats, known: NDArray[np.bool_], axis: int, empty: float) -> Floats:
    counts = known.sum(axis=axis)
    sums = np.where(known, scores, 0.0).sum(axis=axis)
    return np.where(counts > 0, sums / np.maximum(counts, 1), empty)


def item_rest_correlation(scores: Floats) -> Floats:
    """Pearson correlation, over models, of each item with the total of all other items.

    The corrected item-total correlation of classical test theory (Lord and Novick 1968, ch. 15). In
    terms of margins: the item's leads over all pairs of models, each weighted by the pair's lead on
    the rest of the pool, divided by the spread of the item and of the rest. 0 if the item or the
    rest does not vary.
    """
    units = np.rint(filled(scores) * SCALE)
    n_models = units.shape[1]
    total = units.sum(axis=0)
    item = n_models * units - units.sum(axis=1, keepdims=True)
    rest = (n_models * total - total.sum())[None, :] - item
    item, rest = item / SCALE, rest / SCALE
    spread = np.sqrt((item**2).sum(axis=1) * (rest**2).sum(axis=1))
    together = (item * rest).sum(axis=1)
    correlation = np.divide(together, spread, out=np.zeros(len(units)), where=spread > 0)
    return np.asarray(correlation.round(_DECIMALS))


def profile_strata(
    scores: Floats, members: Positions, picks: int, size: int, ties: Ints
) -> Iterator[tuple[Positions, int]]:
    """Split `members` into groups with similar profiles, each with its share of `picks`.

    Bisects a group along the leading principal component of its profiles, and its picks in
    proportion, until each group has at most `size` picks (recursive bisection, as in Boley's
    divisive partitioning, 1998). `scores` have no missing cells; equal projections are ordered by
    `ties`. A group is not split if all its profiles are equal or all its items are picked.
    """
    groups = [(members, picks)]
    while groups:
        members, picks = groups.pop()
        projected = _leading(scores[members]) if size < picks < len(members) else None
        if projected is None:
            yield members, picks
            continue
        ordered = members[np.lexsort((ties[members], projected))]
        fewer = picks // 2
        cut = round(len(members) * fewer / picks)
        cut = min(max(cut, fewer), len(members) - (picks - fewer))
        groups += [(ordered[cut:], picks - fewer), (ordered[:cut], fewer)]


def _leading(scores: Floats) -> Floats | None:
    """Projections on the leading principal component; None if all rows are equal."""
    units = np.rint(scores * SCALE)
    n_items, sums = len(units), units.sum(axis=0)
    scatter = (n_items * (units.T @ units) - np.outer(sums, sums)) / SCALE**2
    if not scatter.any():
        return None
    axis = np.linalg.eigh(scatter)[1][:, -1]
    if axis.sum() < 0:
        axis = -axis
    return np.asarray(((scores - sums / SCALE / n_items) @ axis).round(_DECIMALS))
