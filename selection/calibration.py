"""From a subset's scores to the score on the whole pool: the separate estimator of the mean.

A subset chosen to order models well is biased in its mean: discriminating items stretch and shift
it. The estimator is fitted on the pilots, whose pool means are known, and kept apart from the raw
mean, which alone decides the order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from selection.agreement import pool_means
from selection.profiles import filled
from selection.scores import Floats

# Penalties tried, in units of the mean eigenvalue of the pilots' Gram matrix.
_PENALTIES = 10.0 ** np.arange(-3.0, 4.1, 0.5)


@dataclass(frozen=True, slots=True)
class Calibration:
    """pool mean ≈ offset + Σ weights·score over the subset's items.

    `fallback` (the pilots' mean per item) stands in for missing cells; `penalty` is the one that
    leave-one-out chose.
    """

    weights: Floats
    offset: float
    fallback: Floats
    penalty: float

    def estimate(self, scores: Floats) -> Floats:
        """Estimated pool means for models scored on the subset (items × models)."""
        complete = np.where(np.isnan(scores), self.fallback[:, None], scores)
        return np.asarray(self.offset + self.weights @ complete)


def calibrate(
    scores: Floats, chosen: NDArray[np.bool_], *, around_mean: bool = True
) -> Calibration:
    """Ridge regression of the pilots' pool means on their scores on the subset.

    `scores` are items × pilots. With `around_mean` the weights shrink towards 1/K, so that with
    few pilots the estimate is the subset's mean, shifted (regression around a prior mean, Hoerl
    and Kennard 1970, §6); without, towards zero, the textbook ridge. The penalty is chosen by
    exact leave-one-out.
    """
    complete = filled(scores)
    inputs = complete[chosen].T
    prior = np.full(inputs.shape[1], 1.0 / inputs.shape[1] if around_mean else 0.0)
    target = pool_means(scores) - inputs @ prior
    centre, level = inputs.mean(axis=0), float(target.mean())
    penalty, dual = _ridge(inputs - centre, target - level)
    weights = (inputs - centre).T @ dual
    return Calibration(
        weights=np.asarray(prior + weights),
        offset=level - float(centre @ weights),
        fallback=centre,
        penalty=penalty,
    )


def _ridge(inputs: Floats, target: Floats) -> tuple[float, Floats]:
    """The penalty with the least leave-one-out error, and the dual solution (one per pilot)."""
    values, vectors = np.linalg.eigh(inputs @ inputs.T)
    values = np.maximum(values, 0.0)
    unit = max(float(values.mean()), 1e-12)
    turned = vectors.T @ target
    best_error, best, dual = np.inf, 0.0, np.zeros_like(target)
    for penalty in _PENALTIES * unit:
        shrunk = values / (values + penalty)
        leverage = (vectors**2) @ shrunk + 1.0 / len(target)
        left = (target - vectors @ (shrunk * turned)) / np.maximum(1.0 - leverage, 1e-6)
        error = round(float((left**2).mean()), 12)
        if error < best_error:
            best_error, best = error, float(penalty)
            dual = vectors @ (turned / (values + penalty))
    return best, np.asarray(dual)


def leave_one_out(scores: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """Each pilot's pool mean as estimated from a calibration on the other pilots."""
    told = []
    for column in range(scores.shape[1]):
        others = np.delete(scores, column, axis=1)
        told.append(float(calibrate(others, chosen).estimate(scores[chosen][:, [column]])[0]))
    return np.array(told)
