"""How well a subset's means agree with the pool's: rank correlations and errors of the mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from selection.scores import Floats

_DECIMALS = 9  # means nearer than that are tied


def subset_means(scores: Floats, subsets: NDArray[np.bool_]) -> Floats:
    """Mean score of each model on each subset, over the cells that are there.

    `scores` are items × models with NaN for missing, `subsets` are subsets × items; the answer is
    subsets × models, NaN where a model has no score on a subset.
    """
    known = ~np.isnan(scores)
    weights = subsets.astype(np.float64)
    counts = weights @ known.astype(np.float64)
    sums = weights @ np.where(known, scores, 0.0)
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return np.asarray(means.round(_DECIMALS))


def pool_means(scores: Floats) -> Floats:
    """Mean score of each model on the whole pool."""
    everything = np.ones((1, len(scores)), dtype=bool)
    return np.asarray(subset_means(scores, everything)[0])


def kendall_tau(subsets: Floats, full: Floats) -> Floats:
    """Kendall's tau-b of each row of `subsets` (subsets × models) with `full` (models).

    Ties count as in Kendall (1945): (concordant - discordant) / sqrt(untied here · untied there);
    0 where everything is tied on one side.
    """
    first, second = np.triu_indices(len(full), 1)
    rounded, whole = subsets.round(_DECIMALS), full.round(_DECIMALS)
    here = np.sign(rounded[:, first] - rounded[:, second])
    there = np.sign(whole[first] - whole[second])
    untied = np.sqrt((here != 0).sum(axis=1) * (there != 0).sum())
    agreed = here @ there
    return np.asarray(np.divide(agreed, untied, out=np.zeros(len(agreed)), where=untied > 0))


def spearman(subset: Floats, full: Floats) -> float:
    """Spearman's rank correlation, ties at their mean rank; 0 where one side is all tied."""
    first, second = subset.round(_DECIMALS), full.round(_DECIMALS)
    if not np.ptp(first) or not np.ptp(second):
        return 0.0
    return float(spearmanr(first, second).statistic)


def mean_absolute_error(estimates: Floats, full: Floats) -> float:
    """Mean absolute difference, in score points, over models that have both."""
    return float(np.nanmean(np.abs(estimates - full)))
