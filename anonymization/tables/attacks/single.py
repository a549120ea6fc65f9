"""Attacks on one company at a time: prefix join, nearest neighbour, ratios, the largest one."""

from __future__ import annotations

import numpy as np

from anonymization.tables.attacks.features import Metric, coordinates, logs, magnitudes, spread
from anonymization.tables.attacks.linked import Linked
from anonymization.tables.attacks.matching import kinds, nearest_hits
from anonymization.tables.attacks.result import AttackResult, Knowledge, Risk, guessing, result
from anonymization.tables.cells import Floats
from anonymization.tables.keystream import Ints

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
