"""How many tasks and epochs tell two agents apart, from the variances of a pilot."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import polars as pl
from scipy import stats

from selection.evaluation.intervals import Floats, numbered


@dataclass(frozen=True, slots=True)
class Variances:
    """Of the difference of two agents: between tasks, and within a task between epochs.

    `design` is Kish's design effect of the clusters: by how much the variance of the mean exceeds
    that of independent tasks.
    """

    between: float
    within: float
    design: float


@dataclass(frozen=True, slots=True)
class Plan:
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


def variances(first: Floats, second: Floats, labels: Sequence[Hashable]) -> Variances:
    """From the scores of two agents, tasks × epochs with NaN for missing ones."""
    difference = np.nanmean(first, axis=1) - np.nanmean(second, axis=1)
    known = ~np.isnan(difference)
    within = _noise(first[known]) + _noise(second[known])
    epochs = float(np.mean((~np.isnan(first[known])).sum(axis=1))) if known.any() else 1.0
    values = difference[known]
    total = float(values.var(ddof=1)) if len(values) > 1 else 0.0
    between = max(total - within / max(epochs, 1.0), 0.0)
    own = [label for label, is_known in zip(labels, known, strict=True) if is_known]
    return Variances(between, within, _design(values, own))


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
    seen: Variances,
    gap: float,
    epochs: int,
    *,
    cost_per_attempt: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan:
    """The tasks that find a gap of `gap` with this power in a two-sided test at 1 - `level`.

    n = design · (z₁₋α/₂ + z_power)² · (between + within / epochs) / gap².
    """
    reach = float(stats.norm.ppf((1 + level) / 2) + stats.norm.ppf(power))
    variance = seen.between + seen.within / epochs
    tasks = max(2, ceil(seen.design * reach**2 * variance / gap**2))
    attempts = 2 * tasks * epochs
    cost = None if cost_per_attempt is None else attempts * cost_per_attempt
    return Plan(gap, epochs, tasks, attempts, cost)
