"""Attacks on a company's whole history: pseudonyms that stay the same over years join its rows.

Levels can be exchanged while growth is kept; the growth then identifies the company. The attack on
signs only uses whether a figure rose or fell: as long as year-on-year signs are kept for analysis,
no noise can prevent it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anonymization.tables.attacks.linked import Linked, logs
from anonymization.tables.attacks.result import AttackResult, Knowledge, Risk, guessing, result
from anonymization.tables.cells import Floats
from anonymization.tables.keystream import Ints

SIGNS, HISTORY = "history, rises and falls only", "history, levels and growth"
SCOPE = "industry, all years"
_CAP = 6.0  # deviations; no single year counts more
_TIE = 1e-4
_GAP = 1e9  # stands for a missing figure: far from every figure, equal to other gaps
_LEAST_NOISE = 1e-6  # of a logarithm: rounding


Distances = Callable[[Floats, Floats], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class _Histories:
    """Companies × features of both sides, NaN where unknown; the industry of each."""

    original: Floats
    released: Floats
    group: Ints


def sign_history(linked: Linked) -> AttackResult:
    """The record that rose and fell in the same years, counted over all columns."""
    both = _histories(linked)
    levels = len(linked.columns)
    old, new = (np.sign(v[:, levels:]) for v in (both.original, both.released))
    hits = _nearest(old, new, both.group, _unlike)
    return _history_result(SIGNS, linked, Knowledge.ONE_TARGET, hits, both.group)


def history(linked: Linked, simulated: Sequence[Linked]) -> AttackResult:
    """The record nearest in mean level and yearly growth, each in units of the method's noise."""
    both = _histories(linked)
    scale = np.median([_noise(_histories(run)) for run in simulated], axis=0)
    old, new = both.original / scale, both.released / scale
    hits = _nearest(old, new, both.group, _capped)
    return _history_result(HISTORY, linked, Knowledge.METHOD, hits, both.group)


def _history_result(
    name: str, linked: Linked, knows: Knowledge, hits: Floats, group: Ints
) -> AttackResult:
    return result(Risk.HISTORY, name, linked.columns, SCOPE, knows, hits, guessing(group))


def _histories(linked: Linked) -> _Histories:
    """Mean logarithms per column, then the growth of every column in every year."""
    companies, where = np.unique(linked.entity, return_inverse=True)
    group = np.zeros(len(companies), dtype=np.int64)
    group[where] = linked.group
    old, new = (_features(v, where, linked.year) for v in (linked.original, linked.released))
    return _Histories(old, new, group)


def _features(values: Floats, company: Ints, year: Ints) -> Floats:
    shape = (int(company.max(initial=-1)) + 1, int(year.max(initial=-1)) + 1, values.shape[1])
    cube = np.full(shape, np.nan)
    cube[company, year] = np.where(np.isnan(values), np.nan, logs(values))
    known = ~np.isnan(cube)
    count = known.sum(axis=1)
    mean = np.where(known, cube, 0).sum(axis=1) / np.maximum(count, 1)
    growth = np.diff(cube, axis=1).reshape(shape[0], -1)
    return np.column_stack([np.where(count > 0, mean, np.nan), growth])


def _noise(both: _Histories) -> Floats:
    """Per feature the median size of the change that the method made."""
    moved = np.abs(both.released - both.original)
    known = ~np.isnan(moved)
    typical = [np.median(moved[k, i]) if k.any() else 1.0 for i, k in enumerate(known.T)]
    return np.maximum(typical, _LEAST_NOISE)


def _nearest(old: Floats, new: Floats, group: Ints, distances: Distances) -> Floats:
    """Per company the chance that its record is named: 1/k among the k nearest of its industry."""
    hits = np.zeros(len(group))
    order = np.argsort(group, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        distance = distances(old[at], new[at])
        best = distance <= distance.min(axis=1, keepdims=True) + _TIE
        hits[at] = np.diag(best) / best.sum(axis=1)
    return hits


def _unlike(old: Floats, new: Floats) -> NDArray[np.float32]:
    """The number of features that differ: rise, fall, no change, no figure."""
    alike = np.zeros((len(old), len(new)), dtype=np.float32)
    for sign in (-1.0, 0.0, 1.0):
        alike += (old == sign).astype(np.float32) @ (new == sign).astype(np.float32).T
    alike += np.isnan(old).astype(np.float32) @ np.isnan(new).astype(np.float32).T
    return np.asarray(old.shape[1] - alike)


def _capped(old: Floats, new: Floats) -> NDArray[np.float32]:
    """Sum over features of the difference, at most `_CAP` each; a gap on one side counts most."""
    total = np.zeros((len(old), len(new)), dtype=np.float32)
    apart = np.empty_like(total)
    a, b = (np.nan_to_num(v, nan=_GAP).astype(np.float32) for v in (old, new))
    for old_column, new_column in zip(a.T, b.T, strict=True):
        np.subtract.outer(old_column, new_column, out=apart)
        np.abs(apart, out=apart)
        np.minimum(apart, _CAP, out=apart)
        total += apart
    return total
