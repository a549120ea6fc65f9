"""Attacks on one company at a time, and the matching of points that gives hits.

Prefix join, nearest neighbour, ratios, the largest company; and rerunning the published code, which
finds nobody without the key and everybody with it. A match is the nearest record, or the best
assignment of all records at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from anonymization.tables.attacks.linked import (
    Linked,
    Metric,
    coordinates,
    logs,
    magnitudes,
    spread,
)
from anonymization.tables.attacks.result import AttackResult, Knowledge, Risk, guessing, result
from anonymization.tables.cells import Floats
from anonymization.tables.config import TableConfig
from anonymization.tables.keystream import Ints
from anonymization.tables.perturb.perturb_table import perturb_table
from data.randomness import keyed_generator, keyed_hash

_ROUNDING = 1e-9  # of a distance between equal points
_SHUFFLE = 0  # any public seed: it only breaks ties
_SAME = 1e-9  # relative difference of distances that counts as a tie

# Costs of naming record j (second rows) for target i (first rows).
Cost = Callable[[Ints, Ints], Floats]


def unchanged_rows(linked: Linked) -> AttackResult:
    """Rows of which every number other than 0 was released as it came; knows their figures."""
    telling = ~np.isnan(linked.original) & (linked.original != 0)
    rows = linked.only(np.asarray(telling.any(axis=1)))
    same = (rows.original == rows.released) | np.isnan(rows.original) | (rows.original == 0)
    hits = same.all(axis=1).astype(np.float64)
    risk, name = Risk.UNCHANGED_ROW, "figures as they came"
    chance = guessing(np.zeros(len(hits), dtype=np.int64))
    return result(risk, name, (), "table", Knowledge.ONE_TARGET, hits, chance)


def nearest_hits(targets: Floats, records: Floats) -> Floats:
    """Per target 1/k if its own record (same row) is among the k nearest ones, else 0."""

    from scipy.spatial import cKDTree

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

    from scipy.optimize import linear_sum_assignment

    hits = np.zeros(len(label))
    shared = np.bincount(kinds)
    draw = keyed_generator(_SHUFFLE, "attacks/assignment", "")
    for targets, sorted_records in _blocks(label, key, most):
        records = draw.permutation(sorted_records)
        rows, columns = linear_sum_assignment(cost(targets, records))
        is_match = kinds[records[columns]] == kinds[targets[rows]]
        hits[targets[rows]] = is_match / shared[kinds[targets[rows]]]
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


INDUSTRY, ALL = "industry and year", "year"
_LEAST_GROUP = 3  # rows of a group whose largest company is looked for


def prefix_join(linked: Linked, digits: int) -> AttackResult:
    """Records that agree in sign, order of magnitude and `digits` leading digits of all columns."""
    own = _leading(linked.original, digits)
    released = _leading(linked.released, digits)
    n = len(linked)
    both = kinds(np.concatenate([own, released]), np.concatenate([linked.cell, linked.cell]))
    matching = np.bincount(both[n:], minlength=int(both.max(initial=0)) + 1)
    hits = np.where(both[:n] == both[n:], 1 / np.maximum(matching[both[:n]], 1), 0.0)
    name = f"prefix join, {digits} digits"
    chance = guessing(linked.cell)
    return result(
        Risk.ONE_COMPANY, name, linked.columns, INDUSTRY, Knowledge.ONE_TARGET, hits, chance
    )


def _leading(values: Floats, digits: int) -> Floats:
    """Sign, exponent and leading digits of each value in one number; NaN becomes a mark."""
    size = np.abs(np.nan_to_num(values))
    exponent = np.floor(np.log10(size, out=np.zeros_like(size), where=size > 0))
    head = np.floor(size / 10.0 ** (exponent - digits + 1) + 1e-9)
    coded = np.sign(np.nan_to_num(values)) * (head + 10.0 ** (digits + 1) * (exponent + 50))
    return np.where(np.isnan(values), -1.0, coded)


def nearest(linked: Linked, metric: Metric, within: bool) -> AttackResult:
    """The record at the least distance, columns scaled by their quartiles.

    `within`: the attacker knows the industry; else only the year.
    """
    label = linked.cell if within else linked.year
    own = magnitudes(linked.original, label, metric)
    scale = spread(own)
    hits = nearest_hits(
        coordinates(own / scale, linked.original, label),
        coordinates(magnitudes(linked.released, label, metric) / scale, linked.released, label),
    )
    knows = Knowledge.ONE_TARGET if metric is Metric.LOG else Knowledge.WHOLE_POPULATION
    scope = INDUSTRY if within else ALL
    name = f"nearest neighbour by {metric}"
    return result(Risk.ONE_COMPANY, name, linked.columns, scope, knows, hits, guessing(label))


def ratio(linked: Linked) -> AttackResult:
    """The record with the nearest ratios between the columns, whatever their size."""
    own, released = _ratios(linked.original), _ratios(linked.released)
    scale = spread(own)
    hits = nearest_hits(
        coordinates(own / scale, linked.original[:, 1:], linked.cell),
        coordinates(released / scale, linked.released[:, 1:], linked.cell),
    )
    name, chance = f"{own.shape[1]} ratios", guessing(linked.cell)
    return result(
        Risk.ONE_COMPANY, name, linked.columns, INDUSTRY, Knowledge.ONE_TARGET, hits, chance
    )


def _ratios(values: Floats) -> Floats:
    """log10 of each column over the first, without signs; 0 where one of them is missing."""
    size = np.abs(logs(values))
    known = ~np.isnan(values)
    return np.where(known[:, 1:] & known[:, :1], size[:, 1:] - size[:, :1], 0.0)


def dominant(linked: Linked) -> AttackResult:
    """The largest company of an industry, taken for the largest record, in the first column."""
    known = ~np.isnan(linked.original[:, 0]) & ~np.isnan(linked.released[:, 0])
    some = linked.only(known)
    enough = np.bincount(some.cell, minlength=1)[some.cell] >= _LEAST_GROUP
    some = some.only(enough)
    old, new = _largest(some.original[:, 0], some.cell), _largest(some.released[:, 0], some.cell)
    named = np.bincount(some.cell[new], minlength=int(some.cell.max(initial=0)) + 1)
    target = old & (np.bincount(some.cell[old], minlength=len(named))[some.cell] == 1)
    hits = np.where(new[target], 1 / named[some.cell[target]], 0.0)
    sizes = np.bincount(some.cell, minlength=len(named))[some.cell[target]]
    chance = float((1 / sizes).mean()) if len(sizes) else 0.0
    knows = Knowledge.WHOLE_POPULATION
    return result(
        Risk.LARGEST, "largest company", linked.columns[:1], INDUSTRY, knows, hits, chance
    )


def _largest(value: Floats, label: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    top = np.full(int(label.max(initial=0)) + 1, -np.inf)
    np.maximum.at(top, label, value)
    return np.asarray(value == top[label])


def rerun(linked: Linked, original: pl.DataFrame, config: TableConfig, key: bytes) -> Linked:
    """The originals, perturbed by the published code and recipe with a guessed key."""
    return linked.against(perturb_table(original, config, key).frame)


def seed_key(seed: int, turn: str = "") -> bytes:
    """The key an attacker would try first: the public seed put where the release key belongs, and
    with `turn` another key that has nothing to do with the release, for comparison."""
    return keyed_hash(seed, "release", turn)


def rerun_match(linked: Linked, again: Linked, knows: Knowledge) -> AttackResult:
    """The record nearest to the target's rerun. With the true key the two are equal."""
    own = logs(again.released)
    scale = spread(own)
    hits = nearest_hits(
        coordinates(own / scale, again.released, linked.cell),
        coordinates(logs(linked.released) / scale, linked.released, linked.cell),
    )
    chance = guessing(linked.cell)
    return result(
        Risk.ONE_COMPANY, "rerun and match", linked.columns, INDUSTRY, knows, hits, chance
    )
