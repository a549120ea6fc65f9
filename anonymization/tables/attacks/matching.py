"""From points to hits: the nearest record, and the best assignment of all records at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from anonymization.tables.cells import Floats
from anonymization.tables.keystream import Ints
from data.randomness import keyed_generator

_ROUNDING = 1e-9  # of a distance between equal points
_SHUFFLE = 0  # any public seed: it only breaks ties
_SAME = 1e-9  # relative difference of distances that counts as a tie

# Costs of naming record j (second rows) for target i (first rows).
Cost = Callable[[Ints, Ints], Floats]


def nearest_hits(targets: Floats, records: Floats) -> Floats:
    """Per target 1/k if its own record (same row) is among the k nearest ones, else 0."""
    tree = cKDTree(records)
    least, _ = tree.query(targets, k=1, workers=-1)
    reach = least * (1 + _SAME) + _ROUNDING
    own = np.flatnonzero(np.sqrt(((targets - records) ** 2).sum(axis=1)) <= reach)
    hits = np.zeros(len(targets))
    hits[own] = 1 / tree.query_ball_point(targets[own], reach[own], return_length=True)
    return hits


def assigned_hits(label: Ints, kinds: Ints, cost: Cost, key: Floats, most: int) -> Floats:
    """Per target whether the assignment of least total cost within its label finds its record.

    Records of the same kind cannot be told apart and count 1/k. Labels of more than `most` rows
    are cut into blocks: targets by `key[:, 0]`, records by `key[:, 1]` (scipy's
    linear_sum_assignment: Crouse, IEEE TAES 52, 2016). Records are shuffled first, since among
    equal costs the solver prefers equal positions, which are the truth.
    """
    hits = np.zeros(len(label))
    shared = np.bincount(kinds)
    draw = keyed_generator(_SHUFFLE, "attacks/assignment", "")
    for targets, sorted_records in _blocks(label, key, most):
        records = draw.permutation(sorted_records)
        rows, columns = linear_sum_assignment(cost(targets, records))
        found = kinds[records[columns]] == kinds[targets[rows]]
        hits[targets[rows]] = found / shared[kinds[targets[rows]]]
    return hits


def _blocks(label: Ints, key: Floats, most: int) -> Iterator[tuple[Ints, Ints]]:
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    for at in np.split(order, cuts):
        parts = -(-len(at) // most)
        if parts == 1:
            yield at, at
            continue
        targets = at[np.argsort(key[at, 0], kind="stable")]
        records = at[np.argsort(key[at, 1], kind="stable")]
        yield from zip(np.array_split(targets, parts), np.array_split(records, parts), strict=True)


def kinds(records: Floats, label: Ints) -> Ints:
    """Equal numbers for equal records of one label."""
    kind: Ints = np.unique(label, return_inverse=True)[1].astype(np.int64)
    for column in records.T:
        value = np.unique(column, return_inverse=True)[1].astype(np.int64)
        kind = np.unique(kind * len(value) + value, return_inverse=True)[1].astype(np.int64)
    return kind
