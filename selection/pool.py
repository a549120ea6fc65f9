"""The pool of a selection: its items, their pilot scores, and which of them are eligible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError
from selection.config import Objective, SelectionConfig
from selection.profiles import item_rest_correlation
from selection.programme import Ints, scaled
from selection.scores import Floats, ScoreMatrix

_EQUAL = 1e-9  # scores closer than this count as equal


@dataclass(frozen=True, slots=True)
class PoolItem:
    """What is known about an item besides its scores. `cluster` groups near-duplicates; `source` is
    shared by items of the same origin, e.g. the same session."""

    item_id: str
    family: str
    lane: str = "sessions"
    difficulty: str | None = None
    cluster: str | None = None
    source: str | None = None
    cost: float = 0.0
    in_last_release: bool = False


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
            f"no score of {', '.join(sorted(empty))} on the {len(named.items)} items",
            "at least one of each model",
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

    `pairs`: how many designated pairs it shows; else its item-rest correlation, in 1/SCALE.
    """
    if objective is not Objective.PAIRS:
        return scaled(item_rest_correlation(pool.scores))
    total = np.zeros(len(pool.items), dtype=np.int64)
    for better, worse in combinations(range(len(pool.pilots)), 2):
        # Comparisons with a missing score are false.
        total += pool.scores[:, better] - pool.scores[:, worse] > _EQUAL
    return total
