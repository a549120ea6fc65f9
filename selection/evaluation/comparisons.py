"""Agents compared on the tasks that both did, the ties that remain, and scales linked by anchors.

The same tasks are given to all agents, so differences are taken task by task: what makes a task
hard for both cancels. If two agents are alike, each difference is as likely with the other sign:
the test counts how many of all choices of signs lead to a total as large as the measured one. Of
single tasks that pass or fail this is McNemar's exact test (Psychometrika 12, 1947); the tasks of a
cluster change their signs together (Canay, Romano and Shaikh, Econometrica 85, 2017). No normal
law is assumed, which a handful of tasks does not follow. Of many pairs some differ by chance,
which Holm's correction allows for.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, pairwise
from math import ceil

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from data.errors import InputError
from data.randomness import keyed_generator
from selection.evaluation.intervals import LEVEL, Estimate, Floats, clustered, numbered, usable

# How many tasks and epochs tell two agents apart, from the variances of a pilot.


@dataclass(frozen=True, slots=True)
class _Variances:
    """Of the difference of two agents: between tasks, and within a task between epochs.

    `design` is Kish's design effect of the clusters: by how much the variance of the mean exceeds
    that of independent tasks.
    """

    between: float
    within: float
    design: float


@dataclass(frozen=True, slots=True)
class _Plan:
    """Tasks with epochs each that tell a gap apart; `attempts` for both agents together."""

    gap: float
    epochs: int
    tasks: int
    attempts: int
    cost: float | None


def pilot_scores(scores: pl.DataFrame, first: str, second: str) -> tuple[Floats, Floats, list[str]]:
    """Passes of two configurations, tasks × epochs with NaN for missing, and the tasks of both."""
    graded = scores.filter(pl.col("passed").is_not_null())
    own = [graded.filter(configuration=name) for name in (first, second)]
    tasks = sorted(set(own[0]["task_id"]) & set(own[1]["task_id"]))
    epochs = sorted(set(graded["epoch"]))
    return _matrix(own[0], tasks, epochs), _matrix(own[1], tasks, epochs), tasks


def _matrix(scores: pl.DataFrame, tasks: Sequence[str], epochs: Sequence[int]) -> Floats:
    cells = {
        (t, e): float(p) for t, e, p in scores.select("task_id", "epoch", "passed").iter_rows()
    }
    rows = [[cells.get((task, epoch), np.nan) for epoch in epochs] for task in tasks]
    return np.array(rows, dtype=np.float64).reshape(len(tasks), len(epochs))


def variances(first: Floats, second: Floats, labels: Sequence[Hashable]) -> _Variances:
    """From the scores of two agents, tasks × epochs with NaN for missing ones."""
    difference = np.nanmean(first, axis=1) - np.nanmean(second, axis=1)
    known = ~np.isnan(difference)
    within = _noise(first[known]) + _noise(second[known])
    epochs = float(np.mean((~np.isnan(first[known])).sum(axis=1))) if known.any() else 1.0
    values = difference[known]
    total = float(values.var(ddof=1)) if len(values) > 1 else 0.0
    between = max(total - within / max(epochs, 1.0), 0.0)
    own = [label for label, is_known in zip(labels, known, strict=True) if is_known]
    return _Variances(between, within, _design(values, own))


def _noise(scores: Floats) -> float:
    """The mean variance within a task; of single epochs of passes and fails, p (1 - p)."""
    counts = (~np.isnan(scores)).sum(axis=1)
    if (counts > 1).any():
        return float(np.nanvar(scores[counts > 1], axis=1, ddof=1).mean())
    return 0.0


def _design(values: Floats, labels: Sequence[Hashable]) -> float:
    if len(values) < 2 or not values.var():
        return 1.0
    cluster = numbered(labels)
    sums = np.bincount(cluster, values - values.mean())
    groups = len(sums)
    if groups < 2:
        return 1.0
    clustered = float((sums**2).sum()) * groups / (groups - 1)
    return max(1.0, clustered / (len(values) * float(values.var(ddof=1))))


def plan(
    seen: _Variances,
    gap: float,
    epochs: int,
    *,
    cost_per_attempt: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> _Plan:
    """The tasks that find a gap of `gap` with this power in a two-sided test at 1 - `level`.

    n = design · (z₁₋α/₂ + z_power)² · (between + within / epochs) / gap².
    """
    reach = float(stats.norm.ppf((1 + level) / 2) + stats.norm.ppf(power))
    variance = seen.between + seen.within / epochs
    tasks = max(2, ceil(seen.design * reach**2 * variance / gap**2))
    attempts = 2 * tasks * epochs
    cost = None if cost_per_attempt is None else attempts * cost_per_attempt
    return _Plan(gap, epochs, tasks, attempts, cost)


_CLOSE = 1e-12
_SINGLY, _BY_CLUSTER = "signs of tasks", "signs of clusters"
_FINEST = 2_520  # all numbers of epochs up to 10 divide it
_STEPS = 2**15  # of differences that are no such shares, to which they are rounded
_ALL_SUBSETS = 12  # units of which all subsets are taken for an interval; of more, _SUBSETS
_SUBSETS = 4_096


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second on the tasks of both. `p_corrected` is Holm's over all pairs compared.

    The `clusters` of the estimate are the units whose signs are changed: clusters, or single tasks
    where there are fewer than ten clusters.
    """

    first: str
    second: str
    estimate: Estimate
    p: float | None
    p_corrected: float | None

    @property
    def is_real(self) -> bool:
        """Does the corrected test separate the two at the 5 % level?"""
        return self.p_corrected is not None and self.p_corrected < 1 - LEVEL

    @property
    def is_of_few_clusters(self) -> bool:
        """Were tasks compared singly? Then the test says nothing of other clusters than these."""
        return self.estimate.method == _SINGLY


def compare(scores: Mapping[str, Floats], labels: Sequence[Hashable]) -> tuple[Difference, ...]:
    """All pairs of agents, in the order of `scores`.

    `scores` has an array per agent with a value per task, NaN where it has none; `labels` are the
    clusters of the tasks. A pair whose tasks are of fewer than ten clusters is compared task by
    task, as if they were independent.
    """
    pairs = [
        _difference(first, second, scores[first] - scores[second], labels)
        for first, second in combinations(scores, 2)
    ]
    corrected = holm([pair.p for pair in pairs])
    return tuple(replace(pair, p_corrected=p) for pair, p in zip(pairs, corrected, strict=True))


def _difference(
    first: str, second: str, differences: Floats, labels: Sequence[Hashable]
) -> Difference:
    """A pair before Holm's correction; `differences` are NaN where one of both has no value."""
    known = ~np.isnan(differences)
    clusters = [label for label, is_known in zip(labels, known, strict=True) if is_known]
    own = usable(clusters)
    estimate = clustered(differences[known], own)
    if estimate.mean is None:
        return Difference(first, second, estimate, None, None)
    unit = numbered(own)
    sizes = np.bincount(unit).astype(np.float64)
    sums = np.bincount(unit, differences[known]).astype(np.float64)
    low, high = _interval(sums, sizes)
    method = _BY_CLUSTER if own is clusters else _SINGLY
    estimate = replace(estimate, low=low, high=high, method=method)
    return Difference(first, second, estimate, _changed_signs(sums), None)


def _changed_signs(sums: Floats) -> float:
    """The share of all choices of signs for `sums` whose total is as far from 0, or farther.

    Exact if these are sums of shares k / n with n up to 10: such totals lie on a grid, and the law
    on it is computed addend by addend. Others are rounded to a grid of 32,768 steps.
    """
    addends = sums[np.abs(sums) > _CLOSE]
    if not addends.size:
        return 1.0
    scale = next(
        (n for n in range(1, _FINEST + 1) if np.allclose(addends * n, np.rint(addends * n))),
        _STEPS / np.abs(addends).sum(),
    )
    steps = np.rint(addends * scale).astype(np.int64)
    steps = steps[steps != 0]
    law = np.zeros(int(np.abs(steps).sum()) + 1)  # of how many steps are positive
    law[0] = 1
    for size in np.abs(steps):
        law[size:] += law[:-size].copy()
        law /= 2
    totals = 2 * np.arange(law.size) - (law.size - 1)
    return min(1.0, float(law[np.abs(totals) >= abs(int(steps.sum()))].sum()))


def _interval(sums: Floats, sizes: Floats) -> tuple[float | None, float | None]:
    """The mean differences that the test does not reject at the 5 % level; None: no bound.

    Taking such a difference off every task and changing signs leads to the means over subsets of
    the units, of which a fortieth is cut off at both ends (Hartigan, JASA 64, 1969). Of more than
    12 units 4,096 drawn subsets stand for all.
    """
    subsets = _subsets(len(sums))
    weights = subsets @ sizes
    means = np.sort((subsets @ sums)[weights > 0] / weights[weights > 0])
    cut = len(subsets) * (1 - LEVEL) / 2 - (len(subsets) - len(means))
    return (None, None) if cut < 0 else (float(means[int(cut)]), float(means[-1 - int(cut)]))


@cache
def _subsets(units: int) -> Floats:
    """Subsets × units: 1 where a unit belongs to a subset."""
    if units <= _ALL_SUBSETS:
        bits = (np.arange(2**units)[:, None] >> np.arange(units)) & 1
    else:
        bits = np.random.default_rng(units).integers(0, 2, (_SUBSETS, units))
    return np.asarray(bits, dtype=np.float64)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (Scand. J. Stat. 6, 1979); undefined values do not count."""
    known = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, at) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        corrected[at] = highest
    return corrected


def rank_ranges(
    means: Mapping[str, float], differences: Sequence[Difference]
) -> dict[str, tuple[int, int]]:
    """The best and the worst rank of each agent that the comparisons support.

    An agent's best rank is one more than the number that are really better, its worst the number
    of agents less those that are really worse.
    """
    better = dict.fromkeys(means, 0)
    worse = dict.fromkeys(means, 0)
    for pair in differences:
        if pair.is_real and pair.estimate.mean is not None:
            ahead = pair.estimate.mean > 0
            winner, loser = (pair.first, pair.second) if ahead else (pair.second, pair.first)
            better[loser] += 1
            worse[winner] += 1
    return {name: (better[name] + 1, len(means) - worse[name]) for name in means}


def tie_groups(means: Mapping[str, float], differences: Sequence[Difference]) -> dict[str, int]:
    """A group per agent, from 1: by falling mean, a new one begins with the first agent that is
    really worse than the best of the group before. Equal means stay in the order of `means`.
    """
    real = {frozenset((pair.first, pair.second)) for pair in differences if pair.is_real}
    groups: dict[str, int] = {}
    best, group = "", 0
    for name in sorted(means, key=lambda name: -means[name]):
        if not best or frozenset((best, name)) in real:
            best, group = name, group + 1
        groups[name] = group
    return groups


_ROUNDS, _STEP = 300, 2.0  # of the fit, and the longest step in it
_SPREAD = 2.0  # prior standard deviation of abilities and difficulties, in logits
_CLOSE_FIT = 1e-5
_FEWEST_ANCHORS = 10
_DRAWS = 200  # of the bootstrap over tasks


@dataclass(frozen=True, slots=True)
class Linked:
    """The score of a configuration on the reference scale, from 0 to 1, with its interval.

    `raw` is its pass rate on the tasks that it did, `on_reference` whether it ran on the reference
    snapshot itself.
    """

    configuration: str
    on_reference: bool
    tasks: int
    raw: float
    score: float
    low: float
    high: float


def link(
    reference: Mapping[str, Mapping[str, float]],
    later: Mapping[str, Mapping[str, float]],
    anchors: Sequence[str],
    seed: int = 0,
    draws: int = _DRAWS,
) -> tuple[Linked, ...]:
    """The linked scores of all configurations, by falling score.

    `reference` and `later` map configuration and task to the pass rate over epochs; a task of both
    snapshots that is no anchor has to go by two names. The interval comes from a bootstrap over
    tasks. Raises InputError with fewer than ten anchors that were run on both.
    """
    tied = [a for a in anchors if _ran(reference, a) and _ran(later, a)]
    if len(tied) < _FEWEST_ANCHORS:
        raise InputError(
            "link", f"{len(tied)} tasks that were run on both snapshots",
            f"at least {_FEWEST_ANCHORS}", "Run more of the shared tasks, or keep more of them.",
        )  # fmt: skip
    names = [(name, True) for name in sorted(reference)] + [(n, False) for n in sorted(later)]
    rows = [reference[name] if on_reference else later[name] for name, on_reference in names]
    tasks = sorted({task for row in rows for task in row})
    passes = np.array([[row.get(task, np.nan) for task in tasks] for row in rows])
    is_old = np.array([_ran(reference, task) for task in tasks])
    draw = keyed_generator(seed, "linking", "tasks")
    groups = _groups(tasks, is_old, set(tied))
    scores = _expected(passes, is_old, groups)
    again = np.array([_redrawn(passes, is_old, groups, draw) for _ in range(draws)])
    ends = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    linked = [
        Linked(
            name, on_reference, int((~np.isnan(passes[at])).sum()), float(np.nanmean(passes[at])),
            float(scores[at]), float(ends[0, at]), float(ends[1, at]),
        )
        for at, (name, on_reference) in enumerate(names)
    ]  # fmt: skip
    return tuple(sorted(linked, key=lambda row: (-row.score, row.configuration)))


def _ran(rows: Mapping[str, Mapping[str, float]], task: str) -> bool:
    return any(task in row for row in rows.values())


def _groups(
    tasks: Sequence[str], is_old: NDArray[np.bool_], tied: set[str]
) -> list[NDArray[np.intp]]:
    """Positions of the anchors, of the other old tasks and of the other new ones."""
    is_tied = np.array([task in tied for task in tasks])
    parts = (is_tied, is_old & ~is_tied, ~is_old & ~is_tied)
    return [np.flatnonzero(part) for part in parts if part.any()]


def _redrawn(
    passes: Floats,
    is_old: NDArray[np.bool_],
    groups: Sequence[NDArray[np.intp]],
    draw: np.random.Generator,
) -> Floats:
    """Expected scores where the tasks of each group are drawn anew, with replacement."""
    drawn = [draw.choice(group, len(group)) for group in groups]
    at, ends = np.concatenate(drawn), np.cumsum([0, *map(len, drawn)])
    own = [np.arange(start, end) for start, end in pairwise(ends)]
    return _expected(passes[:, at], is_old[at], own)


def _expected(
    passes: Floats, is_old: NDArray[np.bool_], groups: Sequence[NDArray[np.intp]]
) -> Floats:
    """The share of the old tasks that each agent is expected to pass."""
    abilities, difficulties = _fit(passes, groups)
    chances = _chance(abilities, difficulties[is_old])
    return np.asarray(chances.mean(axis=1))


def _chance(abilities: Floats, difficulties: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(difficulties[None, :] - abilities[:, None])))


def _fit(passes: Floats, groups: Sequence[NDArray[np.intp]]) -> tuple[Floats, Floats]:
    """Abilities and difficulties in logits, for pass rates of agents × tasks (NaN: not run).

    Newton's steps in turn. A normal prior keeps both finite where all attempts pass or all fail;
    that of the difficulties lies around the mean of their group, since a group may be harder.
    """
    known = ~np.isnan(passes)
    values = np.where(known, passes, 0.0)
    abilities, difficulties = np.zeros(passes.shape[0]), np.zeros(passes.shape[1])
    centres = np.zeros(passes.shape[1])
    for _ in range(_ROUNDS):
        before = np.concatenate([abilities, difficulties])
        _improve(abilities, values, known, difficulties, np.zeros(len(abilities)))
        _improve(difficulties, 1 - values.T, known.T, abilities, centres)
        for group in groups:
            centres[group] = difficulties[group].mean()
        if np.abs(np.concatenate([abilities, difficulties]) - before).max() < _CLOSE_FIT:
            break
    return abilities, difficulties


def _improve(
    own: Floats, values: Floats, known: NDArray[np.bool_], others: Floats, centres: Floats
) -> None:
    """One of Newton's steps for each of `own`; `values` are what counts in its favour."""
    chances = 1 / (1 + np.exp(others[None, :] - own[:, None]))
    slope = np.where(known, values - chances, 0.0).sum(axis=1) - (own - centres) / _SPREAD**2
    bend = np.where(known, chances * (1 - chances), 0.0).sum(axis=1) + 1 / _SPREAD**2
    own += np.clip(slope / bend, -_STEP, _STEP)
