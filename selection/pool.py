"""The pool of a selection: its items, their pilot scores, and which of them are eligible.

Response profiles say how well an item ranks models, and which items are redundant. They come
from the scores alone. Sums of scores in units of 1/SCALE are whole numbers below 2**53, so
floating point adds them exactly, whatever the order and number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError
from selection.config import Objective, SelectionConfig
from selection.model import SCALE, Ints, scaled
from selection.scores import Floats, ScoreMatrix

_EQUAL = 1e-9  # scores closer than this count as equal


@dataclass(frozen=True, slots=True)
class PoolItem:
    """What is known about an item besides its scores. `cluster` groups near-duplicates; `source` is
    shared by items of the same origin, e.g. the same session; `generator` made the item."""

    item_id: str
    family: str
    lane: str = "sessions"
    difficulty: str | None = None
    pass_rate: str | None = None  # its band
    split: str | None = None
    cluster: str | None = None
    source: str | None = None
    cost: float = 0.0
    in_last_release: bool = False
    generator: str | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """Items sorted by id, pilot scores (items × pilots, best pilot first), and eligibility."""

    items: tuple[PoolItem, ...]
    pilots: tuple[str, ...]
    scores: Floats
    eligible: NDArray[np.bool_]

    def positions(self, attribute: str) -> dict[str, NDArray[np.intp]]:
        """Positions of the items by the value of an attribute; items whose value is None are left
        out."""
        groups: dict[str, list[int]] = {}
        for position, item in enumerate(self.items):
            value = getattr(item, attribute)
            if value is not None:
                groups.setdefault(value, []).append(position)
        return {name: np.array(groups[name], dtype=np.intp) for name in sorted(groups)}


def pool_of_matrix(
    matrix: ScoreMatrix, config: SelectionConfig, known: Mapping[str, PoolItem] | None = None
) -> Pool:
    """The pool of a score matrix; `known` adds lanes, clusters and so on by item id."""
    known = known or {}
    costs = matrix.costs if matrix.costs is not None else np.zeros(len(matrix.items))
    items = tuple(
        known.get(item) or PoolItem(item, family, cost=float(cost))
        for item, family, cost in zip(matrix.items, matrix.families, costs, strict=True)
    )
    piloted = _in_order(matrix, config.pilots)
    return Pool(items, piloted.models, piloted.scores, eligible(piloted.scores, config))


def pool_of_items(items: Sequence[PoolItem]) -> Pool:
    """A pool without pilot scores: every item is eligible."""
    ordered = tuple(sorted(items, key=lambda item: item.item_id))
    none = np.zeros((len(ordered), 0))
    return Pool(ordered, (), none, np.ones(len(ordered), dtype=bool))


def _in_order(matrix: ScoreMatrix, pilots: Sequence[str]) -> ScoreMatrix:
    """The pilots, best first: as named, or all models by their mean over the pool.

    Raises InputError for pilots that have no score on any item of the pool.
    """
    named = matrix.of_models(pilots or matrix.models)
    empty = [named.models[i] for i in np.flatnonzero(np.isnan(named.scores).all(axis=0))]
    if empty:
        raise InputError(
            "pilots",
            f"no scores from {', '.join(sorted(empty))} on the {len(named.items)} items",
            "at least one from each model",
            "Leave these models out, or run them.",
        )
    if pilots:
        return named
    means: Floats = np.asarray(np.nanmean(named.scores, axis=0)).round(9)
    return named.of_models(
        [named.models[i] for i in sorted(range(len(means)), key=lambda i: (-means[i], i))]
    )


def eligible(scores: Floats, config: SelectionConfig) -> NDArray[np.bool_]:
    """Items that distinguish the pilots: under the threshold some pass and some fail.

    Without a threshold: the pilots' scores are not all equal. Missing cells are ignored.
    """
    known = ~np.isnan(scores)
    if config.selection_threshold is not None:
        passes = scores >= config.selection_threshold - _EQUAL
        some_pass = (passes & known).any(axis=1)
        some_fail = (~passes & known).any(axis=1)
        return np.asarray(some_pass & some_fail)
    low = np.where(known, scores, np.inf).min(axis=1)
    high = np.where(known, scores, -np.inf).max(axis=1)
    return np.asarray(high - low > _EQUAL)


def gains(pool: Pool, objective: Objective) -> Ints:
    """What choosing each item adds to the objective, as integers.

    `by_pilots` is resolved by the number of pilots (`resolved`).
    `pairs`: how many designated pairs it shows; `balanced`: nothing, so that quotas and the keyed
    tie-breaks decide; else its item-rest correlation, in 1/SCALE.
    """
    objective = resolved(objective, len(pool.pilots))
    if objective is Objective.COVARIANCE:
        return scaled(_shrunken_covariance(pool.scores))
    if objective is Objective.BALANCED:
        return np.zeros(len(pool.items), dtype=np.int64)
    if objective is not Objective.PAIRS:
        return scaled(_item_rest_correlation(pool.scores))
    total = np.zeros(len(pool.items), dtype=np.int64)
    for better, worse in combinations(range(len(pool.pilots)), 2):
        # Comparisons with a missing score are false.
        total += pool.scores[:, better] - pool.scores[:, worse] > _EQUAL
    return total


def resolved(objective: Objective, n_pilots: int) -> Objective:
    """The objective that `by_pilots` means with so many pilots; any other is itself."""
    if objective is not Objective.BY_PILOTS:
        return objective
    return Objective.COVARIANCE if n_pilots < _MANY_PILOTS else Objective.MARGINS


def resolved_picks(picks: int | str | None, n_pilots: int) -> int | None:
    """The picks of a stratum that `by_pilots` means with so many pilots."""
    if isinstance(picks, str):
        return 2 if n_pilots >= _VERY_MANY_PILOTS else 1
    return picks


def few_pilots(n_pilots: int) -> str:
    """A warning, with what was measured, where the pilots are few; empty where they are not."""
    if not 0 < n_pilots < _FEW_PILOTS:
        return ""
    return (
        f"few pilots ({n_pilots}): on held-out models, subsets of 10 % chosen with "
        f"fewer than {_FEW_PILOTS} pilots gained {_FEW_GAIN} in Kendall's tau over random draws, "
        f"and {_FEW_WORST} on the worst matrix"
    )


Positions = NDArray[np.intp]
_FEW_PILOTS = 10
# benchmarks/results/selection_regimes.md
_FEW_GAIN, _FEW_WORST = "-0.016", "-0.261"
_VERY_MANY_PILOTS = 100
_MANY_PILOTS = 26  # from so many on a correlation over the pilots can be trusted
_PRIOR_PILOTS = 5  # pilots that the prior correlation of 1 counts for
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


def _item_rest_correlation(scores: Floats) -> Floats:
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


def _shrunken_covariance(scores: Floats) -> Floats:
    """The spread of each item times its item-rest correlation, shrunk towards 1.

    With n pilots the correlation counts n times and the prior five times: with few pilots it is
    mostly chance, and how much an item varies says more.
    """
    n_pilots = scores.shape[1]
    correlation = _item_rest_correlation(scores)
    shrunk = (n_pilots * correlation + _PRIOR_PILOTS) / (n_pilots + _PRIOR_PILOTS)
    return np.asarray((filled(scores).std(axis=1) * shrunk).round(_DECIMALS))


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
