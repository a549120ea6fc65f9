"""The estimate of a model's pool mean from its scores on a subset, by the better of two methods.

Both are fitted on the pilots: a ridge regression of the pool means (`selection.agreement`), and a
response model of the items (`selection.response`). Which one is taken is decided by
cross-validation over the pilots. That compares them on models like the pilots, while the response
model is far better for models above or below them; so the regression, which follows any pattern
once there are enough pilots to learn it, has to be better beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from selection.agreement import Calibration, calibrate, pool_means
from selection.response import ResponseModel, fit_responses
from selection.scores import Floats

_FOLDS = 10
_CLEAR = 2.0  # standard errors of the mean difference between the methods
LEAST_PILOTS = 3  # one is left out, and a fit needs two


class Method(StrEnum):
    RIDGE = "ridge"
    RESPONSES = "response model"


@dataclass(frozen=True, slots=True)
class Estimator:
    """The method that was taken, fitted on all pilots.

    `errors` are the mean absolute errors of both in the cross-validation, in score points;
    `crossed` are the pilots' pool means as this method estimates them from other pilots.
    """

    method: Method
    errors: dict[Method, float]
    crossed: Floats
    calibration: Calibration | None
    responses: ResponseModel
    chosen: NDArray[np.bool_]

    def estimate(self, scores: Floats) -> Floats:
        """Estimated pool means of models scored on the subset (chosen items × models)."""
        if self.calibration is not None:
            return self.calibration.estimate(scores)
        return self.responses.estimate(scores, self.chosen)


@dataclass(frozen=True, slots=True)
class _Fold:
    held: NDArray[np.bool_]
    responses: ResponseModel


class PilotFits:
    """The response models of a pool, with each fold of the pilots left out and with none.

    They depend on the pilots alone, so that they serve any number of subsets.
    """

    def __init__(self, scores: Floats, folds: Iterable[NDArray[np.bool_]] | None = None) -> None:
        self._scores = scores
        self._responses = fit_responses(scores)
        self._folds = [
            _Fold(held, fit_responses(scores[:, ~held]))
            for held in (folds_of(scores) if folds is None else folds)
        ]

    def estimator(self, chosen: NDArray[np.bool_]) -> Estimator:
        """The response model, unless the ridge is better by more than two standard errors."""
        full = pool_means(self._scores)
        crossed = {method: np.empty_like(full) for method in Method}
        for fold in self._folds:
            shown = self._scores[chosen][:, fold.held]
            ridge = calibrate(self._scores[:, ~fold.held], chosen)
            crossed[Method.RIDGE][fold.held] = ridge.estimate(shown)
            crossed[Method.RESPONSES][fold.held] = fold.responses.estimate(shown, chosen)
        distances = {method: np.abs(estimates - full) for method, estimates in crossed.items()}
        errors = {method: round(float(each.mean()), 9) for method, each in distances.items()}
        lead = distances[Method.RESPONSES] - distances[Method.RIDGE]
        is_clear = lead.mean() > _CLEAR * lead.std(ddof=1) / math.sqrt(len(lead))
        best = Method.RIDGE if is_clear else Method.RESPONSES
        calibration = calibrate(self._scores, chosen) if best is Method.RIDGE else None
        return Estimator(best, errors, crossed[best], calibration, self._responses, chosen)


def folds_of(scores: Floats) -> list[NDArray[np.bool_]]:
    """Up to ten folds of the pilots, each with pilots of all levels.

    Raises ValueError with fewer than three pilots.
    """
    n_pilots = scores.shape[1]
    if n_pilots < LEAST_PILOTS:
        raise ValueError("an estimator needs the scores of at least three pilots")
    rank = np.empty(n_pilots, dtype=np.intp)
    rank[np.argsort(pool_means(scores), kind="stable")] = np.arange(n_pilots)
    folds = min(_FOLDS, n_pilots)
    return [np.asarray(rank % folds == fold) for fold in range(folds)]
