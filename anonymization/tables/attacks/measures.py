"""Attacks on measures: on one company at a time, and on a whole industry at once.

One at a time: prefix join, nearest neighbour, ratios, the largest company; and rerunning the
published code, which finds nobody without the key and everybody with it. A match is the nearest
record, or the best assignment of all records at once. A company's whole history is attacked too:
pseudonyms that stay the same over years join its rows. Levels can be exchanged while growth is
kept; the growth then identifies the company. The attack on signs only uses whether a figure rose or
fell: as long as year-on-year signs are kept for analysis, no noise can prevent it.

At once: optimal assignment, rank windows, and the known method. Method-aware: code, recipe and
original values are known, the key is not. The attacker perturbs the originals with a key of his own
and sees how magnitudes move. Two models of that are fitted: normal noise on logarithms and rank
scores together, with its full covariance (correlated columns), and a histogram of rank changes per
column (a rank swap never leaves its window).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymization.tables.attacks.linked import (
    AttackResult,
    Knowledge,
    Linked,
    Metric,
    Risk,
    coordinates,
    guessing,
    logs,
    magnitudes,
    normal_scores,
    ranks,
    result,
    spread,
    states,
)
from anonymization.tables.cells import Floats
from anonymization.tables.config import TableConfig
from anonymization.tables.keystream import Ints
from anonymization.tables.perturb_table import perturb_table
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
    risk, name = Risk.UNCHANGED_ROW, "unchanged figures"
    chance = guessing(np.zeros(len(hits), dtype=np.int64))
    return result(risk, name, (), "table", Knowledge.ONE_TARGET, hits, chance)


def _nearest_hits(targets: Floats, records: Floats) -> Floats:
    """Per target 1/k if its own record (same row) is among the k nearest ones, else 0."""

    from scipy.spatial import cKDTree

    tree = cKDTree(records)
    least, _ = tree.query(targets, k=1, workers=-1)
    reach = least * (1 + _SAME) + _ROUNDING
    own = np.flatnonzero(np.sqrt(((targets - records) ** 2).sum(axis=1)) <= reach)
    hits = np.zeros(len(targets))
    hits[own] = 1 / tree.query_ball_point(targets[own], reach[own], return_length=True)
    return hits


def _assigned_hits(label: Ints, kinds: Ints, cost: Cost, key: Floats, most: int) -> Floats:
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


def _kinds(records: Floats, label: Ints) -> Ints:
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
    both = _kinds(np.concatenate([own, released]), np.concatenate([linked.cell, linked.cell]))
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
    hits = _nearest_hits(
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
    hits = _nearest_hits(
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
    hits = _nearest_hits(
        coordinates(own / scale, again.released, linked.cell),
        coordinates(logs(linked.released) / scale, linked.released, linked.cell),
    )
    chance = guessing(linked.cell)
    return result(
        Risk.ONE_COMPANY, "rerun and match", linked.columns, INDUSTRY, knows, hits, chance
    )


_SIGNS, HISTORY = "history, rises and falls only", "history, levels and growth"
SCOPE = "industry, all years"
_CAP = 6.0  # deviations; no single year counts more
_TIE = 1e-4
_GAP = 1e9  # stands for a missing figure: far from every figure, equal to other gaps
_LEAST_NOISE = 1e-6  # of a logarithm: rounding


_Distances = Callable[[Floats, Floats], NDArray[np.float32]]


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
    return _history_result(_SIGNS, linked, Knowledge.ONE_TARGET, hits, both.group)


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


def _nearest(old: Floats, new: Floats, group: Ints, distances: _Distances) -> Floats:
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


_STRANGE = 1e7  # cost of a state that perturbation would not have made
_BINS = 240
_NEVER = 1e-5  # share of a change that the simulation never made
_RIDGE = 1e-6


@dataclass(frozen=True, slots=True)
class _NormalChannel:
    """y = x · `through` + `shift` + noise; `whiten` turns the noise into independent units."""

    through: Floats
    shift: Floats
    whiten: Floats

    @classmethod
    def learned(cls, simulated: Sequence[Linked]) -> _NormalChannel:
        """Least squares over the rows in which all columns are known."""
        x = np.concatenate([_scores(run.original, run.cell) for run in simulated])
        y = np.concatenate([_scores(run.released, run.cell) for run in simulated])
        known = np.concatenate([~np.isnan(run.original).any(axis=1) for run in simulated])
        if known.sum() > 2 * x.shape[1]:
            x, y = x[known], y[known]
        mean_x, mean_y = x.mean(axis=0), y.mean(axis=0)
        inner = (x - mean_x).T @ (x - mean_x) / len(x)
        cross = (x - mean_x).T @ (y - mean_y) / len(x)
        ridge = _RIDGE * np.diag(np.maximum(np.diag(inner), 1e-9))
        through = np.linalg.solve(inner + ridge, cross)
        rest = (y - mean_y) - (x - mean_x) @ through
        covariance = rest.T @ rest / len(x)
        floor = np.diag(np.maximum(np.diag(covariance), 1e-12) * _RIDGE + 1e-12)
        power, axes = np.linalg.eigh(covariance + floor)
        return cls(through, mean_y - mean_x @ through, axes / np.sqrt(np.maximum(power, 1e-14)))

    def cost(self, linked: Linked) -> Cost:
        """Squared distance in units of the noise."""
        expected = _scores(linked.original, linked.cell) @ self.through + self.shift
        seen = _scores(linked.released, linked.cell)
        own = _known_only(expected, linked.original) @ self.whiten
        theirs = _known_only(seen, linked.released) @ self.whiten
        return _with_states(linked, lambda rows, columns: _squares(own[rows], theirs[columns]))


@dataclass(frozen=True, slots=True)
class _RankChannel:
    """Per column the log-likelihood of a rank change, in `_BINS` steps from -1 to 1."""

    likelihood: Floats

    @classmethod
    def learned(cls, simulated: Sequence[Linked]) -> _RankChannel:
        """A histogram of the rank changes of a simulation, with a floor for what never occurred."""
        moved = np.concatenate(
            [_rank(run.released, run) - _rank(run.original, run) for run in simulated]
        )
        known = np.concatenate([~np.isnan(run.original) for run in simulated])
        columns = []
        for column in range(moved.shape[1]):
            counts = np.bincount(_bin(moved[known[:, column], column]), minlength=_BINS)
            columns.append(counts / max(counts.sum(), 1))
        return cls(np.log(np.maximum(np.array(columns), _NEVER)))

    def cost(self, linked: Linked) -> Cost:
        """Minus the log-likelihood, summed over the columns that are known."""
        own, theirs = _rank(linked.original, linked), _rank(linked.released, linked)
        known = ~np.isnan(linked.original)

        def cost(rows: Ints, columns: Ints) -> Floats:
            total = np.zeros((len(rows), len(columns)))
            for at in range(own.shape[1]):
                change = theirs[columns, at][None, :] - own[rows, at][:, None]
                total -= np.where(known[rows, at][:, None], self.likelihood[at][_bin(change)], 0.0)
            return total

        return _with_states(linked, cost)


def _plain_cost(linked: Linked) -> Cost:
    """Squared distance of logarithms and rank scores, scaled by quartiles: no method known."""
    own, seen = _scores(linked.original, linked.cell), _scores(linked.released, linked.cell)
    scale = spread(own)
    own, seen = own / scale, seen / scale
    return _with_states(linked, lambda rows, columns: _squares(own[rows], seen[columns]))


def _with_states(linked: Linked, cost: Cost) -> Cost:
    """`cost` plus a fine for every column whose sign, zero or gap differs."""
    old, new = states(linked.original), states(linked.released)

    def fined(rows: Ints, columns: Ints) -> Floats:
        differ = sum(
            (old[rows, at][:, None] != new[columns, at][None, :]) for at in range(old.shape[1])
        )
        return np.asarray(cost(rows, columns) + _STRANGE * differ)

    return fined


def _scores(values: Floats, label: Ints) -> Floats:
    """Logarithms and normal rank scores side by side."""
    return np.column_stack([logs(values), normal_scores(values, label)])


def _known_only(scores: Floats, values: Floats) -> Floats:
    gaps = np.isnan(values)
    return np.where(np.column_stack([gaps, gaps]), 0.0, scores)


def _rank(values: Floats, linked: Linked) -> Floats:
    return ranks(values, linked.cell)


def _bin(change: Floats) -> Ints:
    return np.clip(((change + 1) * (_BINS / 2)).astype(np.int64), 0, _BINS - 1)


def _squares(a: Floats, b: Floats) -> Floats:
    """Squared Euclidean distances in single precision."""
    x, y = a.astype(np.float32), b.astype(np.float32)
    total = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1)[None, :] - 2 * (x @ y.T)
    return np.asarray(np.maximum(total, 0), dtype=np.float64)


_ASSIGNMENT, _AWARE, _WINDOW = "assignment", "assignment, method-aware", "rank window"
_SLACK = 1e-9


def assignment(linked: Linked, most: int) -> AttackResult:
    """Least total distance over an industry of one year; the method is not known."""
    hits = _assigned(linked, _plain_cost(linked), most)
    knows = Knowledge.WHOLE_POPULATION
    return _joint_result(_ASSIGNMENT, linked, knows, hits)


def aware_assignment(linked: Linked, simulated: Sequence[Linked], most: int) -> AttackResult:
    """Greatest likelihood under the method: the best of two models learned by simulation, and of
    the attacker without them. The best is chosen with the truth, which favours the attacker."""
    costs = (
        _plain_cost(linked),
        _NormalChannel.learned(simulated).cost(linked),
        _RankChannel.learned(simulated).cost(linked),
    )
    hits = max((_assigned(linked, cost, most) for cost in costs), key=lambda h: float(h.sum()))
    return _joint_result(_AWARE, linked, Knowledge.METHOD, hits)


def rank_window(linked: Linked, simulated: Sequence[Linked]) -> AttackResult:
    """One of the records whose ranks lie as near in every column as the method ever moves them.

    Rank-interval disclosure (Nin, Herranz and Torra, DKE 64, 2008): of k candidates the right
    one is named with probability 1/k. The window is the widest change of the simulation.
    """
    window = np.max(
        [np.abs(_ranks(r.released, r) - _ranks(r.original, r)).max(axis=0) for r in simulated],
        axis=0,
    )
    own, theirs = _ranks(linked.original, linked), _ranks(linked.released, linked)
    old, new = states(linked.original), states(linked.released)
    hits = np.zeros(len(linked))
    order = np.argsort(linked.cell, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(linked.cell[order])) + 1):
        inside = np.ones((len(at), len(at)), dtype=np.bool_)
        for column in range(own.shape[1]):
            far = np.abs(own[at, column][:, None] - theirs[at, column][None, :])
            inside &= far <= window[column] + _SLACK
            inside &= old[at, column][:, None] == new[at, column][None, :]
        hits[at] = np.diag(inside) / np.maximum(inside.sum(axis=1), 1)
    return _joint_result(_WINDOW, linked, Knowledge.METHOD, hits)


def _joint_result(name: str, linked: Linked, knows: Knowledge, hits: Floats) -> AttackResult:
    risk, chance = Risk.WHOLE_INDUSTRY, guessing(linked.cell)
    return result(risk, name, linked.columns, INDUSTRY, knows, hits, chance)


def _ranks(values: Floats, linked: Linked) -> Floats:
    return ranks(values, linked.cell)


def _assigned(linked: Linked, cost: Cost, most: int) -> Floats:
    same = _kinds(np.nan_to_num(linked.released, nan=-0.5), linked.cell)
    key = np.column_stack(
        [ranks(v[:, :1], linked.cell) for v in (linked.original, linked.released)]
    )
    return _assigned_hits(linked.cell, same, cost, key, most)
