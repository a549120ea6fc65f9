"""Agents compared with each other on the tasks that both did, and the ties that remain.

The same tasks are given to all agents, so differences are taken task by task: what makes a task
hard for both cancels. Of many pairs some differ by chance, which Holm's correction allows for.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from selection.evaluation.intervals import LEVEL, Estimate, Floats, clustered, usable

_CLOSE = 1e-12


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second on the tasks of both. `p_corrected` is Holm's over all pairs compared."""

    first: str
    second: str
    estimate: Estimate
    p: float | None
    p_corrected: float | None

    @property
    def is_real(self) -> bool:
        """Does the corrected test separate the two at the 5 % level?"""
        return self.p_corrected is not None and self.p_corrected < 1 - LEVEL


def compare(
    scores: Mapping[str, Floats], labels: Sequence[Hashable], weights: Floats | None = None
) -> tuple[Difference, ...]:
    """All pairs of agents, in the order of `scores`.

    `scores` has an array per agent with a value per task, NaN where it has none; `labels` are the
    clusters of the tasks. The test is that of the clustered mean of the differences; a pair whose
    tasks are of fewer than ten clusters is compared as if they were independent.
    """
    pairs = []
    for first, second in combinations(scores, 2):
        known = ~np.isnan(scores[first]) & ~np.isnan(scores[second])
        own = [label for label, is_known in zip(labels, known, strict=True) if is_known]
        weight = None if weights is None else weights[known]
        estimate = clustered(scores[first][known] - scores[second][known], usable(own), weight)
        pairs.append(Difference(first, second, estimate, _p_value(estimate), None))
    corrected = holm([pair.p for pair in pairs])
    return tuple(
        Difference(pair.first, pair.second, pair.estimate, pair.p, p)
        for pair, p in zip(pairs, corrected, strict=True)
    )


def _p_value(estimate: Estimate) -> float | None:
    """Two-sided. Without any spread (one agent ahead by as much everywhere) that of a sign test."""
    if estimate.mean is None or estimate.error is None:
        return None
    if estimate.error < _CLOSE:
        return 1.0 if abs(estimate.mean) < _CLOSE else float(2 * 0.5**estimate.clusters)
    return float(2 * stats.t.sf(abs(estimate.mean) / estimate.error, estimate.clusters - 1))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (Scand. J. Stat. 6, 1979); undefined values do not count."""
    known = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, at) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        corrected[at] = highest
    return corrected


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> float:
    """The exact p-value that two agents pass equally often, from the tasks that only one passed."""
    only_first = sum(a and not b for a, b in zip(first, second, strict=True))
    only_second = sum(b and not a for a, b in zip(first, second, strict=True))
    n = only_first + only_second
    return float(stats.binomtest(only_first, n).pvalue) if n else 1.0


def two_proportions(passed: tuple[int, int], n: tuple[int, int]) -> float | None:
    """The pooled z of two shares of unpaired tasks (FinRetrieval); None if it is undefined."""
    pooled = sum(passed) / sum(n) if all(n) else 0.0
    error = float(np.sqrt(pooled * (1 - pooled) * (1 / n[0] + 1 / n[1]))) if all(n) else 0.0
    return (passed[0] / n[0] - passed[1] / n[1]) / error if error else None


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
