"""Intervals of means and shares, for independent tasks and for tasks that come in clusters.

Tasks of one family, company or environment are alike, so that an agent passes or fails them
together: their effective number is smaller, and only errors by cluster say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy import stats

# How far two raters agree: a judge with another judge, or with people.


@dataclass(frozen=True, slots=True)
class _Agreement:
    """Spearman's ρ, the mean absolute error and Cohen's κ; None where undefined."""

    n: int
    spearman: float | None
    mean_error: float | None
    kappa: float | None


def agreement(
    first: Sequence[float],
    second: Sequence[float],
    classes: tuple[Sequence[Hashable], Sequence[Hashable]] | None = None,
) -> _Agreement:
    """The agreement of two raters' scores of the same packets.

    `classes`: the same packets as both put them into classes (passed or not), for κ.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    varied = len(a) > 1 and bool(np.ptp(a)) and bool(np.ptp(b))
    rho = float(stats.spearmanr(a, b).statistic) if varied else None
    error = float(np.abs(a - b).mean()) if len(a) else None
    return _Agreement(len(a), rho, error, _cohens_kappa(*classes) if classes else None)


def _cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """(observed - expected) / (1 - expected) agreement (Cohen, Educ. Psychol. Meas. 20, 1960).

    None without packets, and where both put all into one class: nothing can be expected then.
    """
    n = len(first)
    if n == 0:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    counts, others = Counter(first), Counter(second)
    expected = sum(counts[label] * others[label] for label in counts) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


Floats = NDArray[np.float64]
_Labels = NDArray[np.int64]
LEVEL = 0.95
FEWEST_CLUSTERS = 10  # with fewer, errors by cluster are too uncertain: tasks count singly
_FEWEST = 2  # values or clusters of which a spread can be estimated


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its standard error and interval; None where they are undefined.

    `n` values in `clusters` clusters; `method` names the interval.
    """

    mean: float | None
    error: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    method: str


def wilson(passed: int, n: int, level: float = LEVEL) -> Estimate:
    """The interval of a share of independent tasks by Wilson (JASA 22, 1927)."""
    if n == 0:
        return Estimate(None, None, None, None, 0, 0, "wilson")
    interval = stats.binomtest(passed, n).proportion_ci(level, method="wilson")
    share = passed / n
    error = float(np.sqrt(share * (1 - share) / n))
    return Estimate(share, error, float(interval.low), float(interval.high), n, n, "wilson")


def clustered(
    values: Floats, labels: Sequence[Hashable], weights: Floats | None = None, level: float = LEVEL
) -> Estimate:
    """The mean of `values` with an error that is robust to correlation within clusters.

    `labels` has a cluster per value. The error is the linearised one with the correction
    G / (G - 1) for G clusters (CR1; Cameron and Miller, J. Human Resources 50, 2015, §II), the
    interval that of Student's t with G - 1 degrees of freedom. `weights`, such as 1/π of sampled
    questions, make it a Hájek mean. Without two clusters there is a mean only.
    """
    weight = np.ones(len(values)) if weights is None else weights
    cluster = numbered(labels)
    groups = int(cluster.max(initial=-1)) + 1
    if not len(values) or weight.sum() <= 0:
        return Estimate(None, None, None, None, 0, groups, "clustered t")
    mean = float(np.average(values, weights=weight))
    if groups < _FEWEST:
        return Estimate(mean, None, None, None, len(values), groups, "clustered t")
    residuals = np.bincount(cluster, weight * (values - mean), groups)
    variance = float((residuals**2).sum()) * groups / (groups - 1) / float(weight.sum()) ** 2
    error = float(np.sqrt(variance))
    reach = float(stats.t.ppf((1 + level) / 2, groups - 1)) * error
    method = "clustered t" if groups < len(values) else "t"
    return Estimate(mean, error, mean - reach, mean + reach, len(values), groups, method)


def usable(labels: Sequence[Hashable]) -> Sequence[Hashable]:
    """The labels, or a cluster for each task where there are too few clusters."""
    return labels if len(set(labels)) >= FEWEST_CLUSTERS else range(len(labels))


def numbered(labels: Sequence[Hashable]) -> _Labels:
    """Labels as numbers from 0, in the order in which they first occur."""
    number = {label: at for at, label in enumerate(dict.fromkeys(labels))}
    return np.array([number[label] for label in labels], dtype=np.int64)


def pass_hat_power(passed: Sequence[int], epochs: Sequence[int], k: int) -> float | None:
    """pass^k as the mean over tasks of (c / n)^k: the share to the power of k; biased upwards."""
    shares = [c / n for c, n in zip(passed, epochs, strict=True) if n]
    return float(np.mean([share**k for share in shares])) if shares else None


def pass_hat_combinations(passed: Sequence[int], epochs: Sequence[int], k: int) -> float | None:
    """pass^k as the mean over tasks of C(c, k) / C(n, k): all k of k drawn epochs pass (tau-bench).

    Unbiased; tasks with fewer than k epochs have none and are left out.
    """
    shares = [comb(c, k) / comb(n, k) for c, n in zip(passed, epochs, strict=True) if n >= k]
    return float(np.mean(shares)) if shares else None


def prediction_powered(judged: Floats, judged_labelled: Floats, labelled: Floats) -> Estimate:
    """The mean that people would give, from a judge's scores on all and people's on some.

    `judged` are the judge's scores where nobody labelled, `judged_labelled` and `labelled` both
    scores where somebody did. Angelopoulos et al. (Science 382, 2023): the judge's mean corrected
    by its mean error, with both variances; the interval is normal.
    """
    n, labels = len(judged), len(labelled)
    if n < _FEWEST or labels < _FEWEST:
        return Estimate(None, None, None, None, labels, labels, "prediction-powered")
    errors = labelled - judged_labelled
    mean = float(judged.mean() + errors.mean())
    error = float(np.sqrt(judged.var(ddof=1) / n + errors.var(ddof=1) / labels))
    reach = float(stats.norm.ppf((1 + LEVEL) / 2)) * error
    return Estimate(mean, error, mean - reach, mean + reach, labels, labels, "prediction-powered")
