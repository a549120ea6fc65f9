"""The estimate of a model's pool mean from its scores on a subset, by the better of two methods.

Both are fitted on the pilots: a ridge regression of the pool means (`selection.estimator`), and a
response model of the items. Which one is taken is decided by cross-validation over the pilots. That
compares them on models like the pilots, while the response model is far better for models above or
below them; so the regression, which follows any pattern once there are enough pilots to learn it,
has to be better beyond chance.

The response model is a two-parameter logistic one. Each item has a slope and an intercept, each
model an ability (Birnbaum 1968): the expected score is
1 / (1 + exp(-(slope · ability + intercept))). Scores between 0 and 1 count as shares of a pass.
Items are fitted on the pilots, and a new model's ability on the subset alone; its pool mean is then
composed of the scores seen on the subset and those expected of all other items.

A subset ships an estimator (`ShippedEstimator`). Which of three estimates it takes (the subset's
mean, ridge, the response model) is decided by their errors on pilots that were held out; all three
errors are shipped. The record is plain JSON, so that a leaderboard can use it without the pilots'
scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from data.randomness import keyed_generator
from selection.pool import Pool, filled
from selection.scores import Floats

_TAU_DECIMALS = 9  # means closer than this count as tied
_RESAMPLES = 1_000
_RELIABLE = 0.95
# Upper edges of the gap classes, in score points of the full pool.
_GAP_EDGES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.10, 0.15, 0.20, 1.0)
_BLOCK = 100  # resamples at a time: bounds the memory at 100 × items
# Penalties tried, in units of the mean eigenvalue of the pilots' Gram matrix.
_PENALTIES = 10.0 ** np.arange(-3.0, 4.1, 0.5)


def subset_means(scores: Floats, subsets: NDArray[np.bool_]) -> Floats:
    """Mean score of each model on each subset, over the cells that have a score.

    `scores` are items × models with NaN for missing, `subsets` are subsets × items. Returns subsets
    × models, NaN where a model has no score on a subset.
    """
    known = ~np.isnan(scores)
    weights = subsets.astype(np.float64)
    counts = weights @ known.astype(np.float64)
    sums = weights @ np.where(known, scores, 0.0)
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return np.asarray(means.round(_TAU_DECIMALS))


def pool_means(scores: Floats) -> Floats:
    """Mean score of each model on the whole pool."""
    everything = np.ones((1, len(scores)), dtype=bool)
    return np.asarray(subset_means(scores, everything)[0])


def kendall_tau(subsets: Floats, full: Floats) -> Floats:
    """Kendall's tau-b of each row of `subsets` (subsets × models) with `full` (models).

    Ties count as in Kendall (1945): (concordant - discordant) / sqrt(untied in the subset · untied
    in the pool); 0 if all models are tied on one side.
    """
    first, second = np.triu_indices(len(full), 1)
    rounded, whole = subsets.round(_TAU_DECIMALS), full.round(_TAU_DECIMALS)
    here = np.sign(rounded[:, first] - rounded[:, second])
    there = np.sign(whole[first] - whole[second])
    untied = np.sqrt((here != 0).sum(axis=1) * (there != 0).sum())
    agreed = here @ there
    return np.asarray(np.divide(agreed, untied, out=np.zeros(len(agreed)), where=untied > 0))


def spearman(subset: Floats, full: Floats) -> float:
    """Spearman's rank correlation; ties get their mean rank; 0 if one side is all tied."""
    first, second = subset.round(_TAU_DECIMALS), full.round(_TAU_DECIMALS)
    if not np.ptp(first) or not np.ptp(second):
        return 0.0
    from scipy.stats import spearmanr  # half a second, which most commands need not wait for

    return float(spearmanr(first, second).statistic)


def mean_absolute_error(estimates: Floats, full: Floats) -> float:
    """Mean absolute difference, in score points, over models that have both values."""
    return float(np.nanmean(np.abs(estimates - full)))


@dataclass(frozen=True, slots=True)
class _AdjacentOrder:
    """Two models next to each other by their pool means, and how reliably the subset orders them.

    `probability`: share of bootstrap resamples of the subset's items in which `better` leads; a tie
    counts half. `gap` and `subset_gap` are differences of means.
    """

    better: str
    worse: str
    gap: float
    subset_gap: float
    probability: float


@dataclass(frozen=True, slots=True)
class _GapClass:
    """Pairs of models whose pool means differ by more than `above` and at most `up_to`."""

    above: float
    up_to: float
    pairs: int
    reliability: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """`smallest_gap`: the lowest class edge above which every class with pairs keeps the pool's
    order with probability 0.95 or more; None if even the widest gaps do not."""

    adjacent: tuple[_AdjacentOrder, ...]
    by_gap: tuple[_GapClass, ...]
    smallest_gap: float | None


def reliability(models: tuple[str, ...], pool: Floats, subset: Floats, key: int) -> Reliability:
    """Bootstrap the subset's items and compare each pair's order with that of the pool.

    `pool` and `subset` are items × models. Missing cells are ignored.
    """
    full, here = pool_means(pool), pool_means(subset)
    order = sorted(range(len(models)), key=lambda i: (-full[i], models[i]))
    ahead = _ahead(subset[:, order], key)
    full, here = full[order], here[order]
    adjacent = tuple(
        _AdjacentOrder(
            better=models[order[i]],
            worse=models[order[j]],
            gap=round(float(full[i] - full[j]), 9),
            subset_gap=round(float(here[i] - here[j]), 9),
            probability=round(float(ahead[i, j]), 6),
        )
        for i, j in pairwise(range(len(order)))
    )
    first, second = np.triu_indices(len(order), 1)
    by_gap = _classes((full[first] - full[second]).round(9), ahead[first, second])
    return Reliability(adjacent, by_gap, _smallest(by_gap))


def _ahead(subset: Floats, key: int) -> Floats:
    """Share of resamples in which each model leads each other (models × models)."""
    n_items, n_models = subset.shape
    generator = keyed_generator(key, "bootstrap-items", str(n_items))
    known, values = (~np.isnan(subset)).astype(np.float64), np.nan_to_num(subset)
    ahead = np.zeros((n_models, n_models))
    for _ in range(0, _RESAMPLES, _BLOCK):
        times = generator.multinomial(n_items, np.full(n_items, 1 / n_items), _BLOCK)
        weights = times.astype(np.float64)
        counts = weights @ known
        sums = weights @ values
        means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0).round(9)
        lead = np.sign(means[:, :, None] - means[:, None, :])
        ahead += ((lead + 1) / 2).sum(axis=0)
    return np.asarray(ahead / _RESAMPLES)


def _classes(gaps: Floats, ahead: Floats) -> tuple[_GapClass, ...]:
    """Pairs grouped by their gap. Pairs that are tied in the pool have no order to keep and are
    skipped."""
    classes = []
    for above, up_to in pairwise((0.0, *_GAP_EDGES)):
        inside = (gaps > above) & (gaps <= up_to)
        if inside.any():
            share = round(float(ahead[inside].mean()), 6)
            classes.append(_GapClass(above, up_to, int(inside.sum()), share))
    return tuple(classes)


def _smallest(classes: tuple[_GapClass, ...]) -> float | None:
    smallest = None
    for part in reversed(classes):
        if part.reliability < _RELIABLE:
            break
        smallest = part.above
    return smallest


@dataclass(frozen=True, slots=True)
class _Calibration:
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
) -> _Calibration:
    """Ridge regression of the pilots' pool means on their scores on the subset.

    `scores` are items × pilots. With `around_mean` the weights shrink towards 1/K, so that with few
    pilots the estimate is the subset's mean plus a shift (regression around a prior mean, Hoerl and
    Kennard 1970, §6); without it they shrink towards zero (the textbook ridge). The penalty is
    chosen by exact leave-one-out.
    """
    complete = filled(scores)
    inputs = complete[chosen].T
    prior = np.full(inputs.shape[1], 1.0 / inputs.shape[1] if around_mean else 0.0)
    target = pool_means(scores) - inputs @ prior
    centre, level = inputs.mean(axis=0), float(target.mean())
    penalty, dual = _ridge(inputs - centre, target - level)
    weights = (inputs - centre).T @ dual
    return _Calibration(
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
        residuals = (target - vectors @ (shrunk * turned)) / np.maximum(1.0 - leverage, 1e-6)
        error = round(float((residuals**2).mean()), 12)
        if error < best_error:
            best_error, best = error, float(penalty)
            dual = vectors @ (turned / (values + penalty))
    return best, np.asarray(dual)


_ROUNDS = 25  # alternations of abilities and items; the estimate moves by less than 0.01 points
_STEPS = 8  # Newton steps for the ability of a new model
_SLOPE, _SLOPE_SPREAD = 1.0, 0.5  # prior of the slopes; few pilots say little about an item
_INTERCEPT_SPREAD = 2.0
_ABILITY_SPREAD = 1.5
_REACH = 12.0  # logits beyond this are cut: the score is 0 or 1 to five digits


@dataclass(frozen=True, slots=True)
class _ResponseModel:
    """Slopes and intercepts of all items of the pool."""

    slopes: Floats
    intercepts: Floats

    def estimate(self, scores: Floats, chosen: NDArray[np.bool_]) -> Floats:
        """Estimated pool means for models scored on the subset (chosen items × models)."""
        known = ~np.isnan(scores)
        ability = np.zeros(scores.shape[1])
        for _ in range(_STEPS):
            ability = _abilities(
                np.nan_to_num(scores), known, self.slopes[chosen], self.intercepts[chosen], ability
            )
        expected = _expected(self.slopes, self.intercepts, ability)
        expected[chosen] = np.where(known, scores, expected[chosen])
        return np.asarray(expected.mean(axis=0))


def _fit_responses(scores: Floats) -> _ResponseModel:
    """The most probable items given the pilots' scores (items × pilots; NaN for missing)."""
    known = ~np.isnan(scores)
    seen = np.nan_to_num(scores)
    slopes = np.full(len(scores), _SLOPE)
    intercepts, ability = np.zeros(len(scores)), np.zeros(scores.shape[1])
    level = _logit(float(seen.sum() / max(1, known.sum())))
    intercepts += level
    for _ in range(_ROUNDS):
        ability = _abilities(seen, known, slopes, intercepts, ability)
        ability -= ability.mean()
        slopes, intercepts = _items(seen, known, slopes, intercepts, ability, level)
    return _ResponseModel(slopes, intercepts)


def _logit(share: float) -> float:
    share = min(max(share, 0.01), 0.99)
    return float(np.log(share / (1 - share)))


def _expected(slopes: Floats, intercepts: Floats, ability: Floats) -> Floats:
    logits = slopes[:, None] * ability[None, :] + intercepts[:, None]
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -_REACH, _REACH))))


def _abilities(
    seen: Floats, known: NDArray[np.bool_], slopes: Floats, intercepts: Floats, ability: Floats
) -> Floats:
    """One Newton step of each model's ability."""
    expected = _expected(slopes, intercepts, ability)
    slope = slopes[:, None]
    first = (np.where(known, seen - expected, 0.0) * slope).sum(axis=0)
    second = (np.where(known, expected * (1 - expected), 0.0) * slope**2).sum(axis=0)
    precision = 1 / _ABILITY_SPREAD**2
    step = (first - precision * ability) / (second + precision)
    return np.asarray(ability + np.clip(step, -1.0, 1.0))


def _items(
    seen: Floats,
    known: NDArray[np.bool_],
    slopes: Floats,
    intercepts: Floats,
    ability: Floats,
    level: float,
) -> tuple[Floats, Floats]:
    """One Newton step of each item's slope and intercept."""
    expected = _expected(slopes, intercepts, ability)
    rest = np.where(known, seen - expected, 0.0)
    weight = np.where(known, expected * (1 - expected), 0.0)
    on_slope, on_level = 1 / _SLOPE_SPREAD**2, 1 / _INTERCEPT_SPREAD**2
    by_slope = rest @ ability - on_slope * (slopes - _SLOPE)
    by_level = rest.sum(axis=1) - on_level * (intercepts - level)
    a, b = weight @ ability**2 + on_slope, weight @ ability
    d = weight.sum(axis=1) + on_level
    determinant = a * d - b**2
    slope_step = (d * by_slope - b * by_level) / determinant
    level_step = (a * by_level - b * by_slope) / determinant
    slopes = np.maximum(slopes + np.clip(slope_step, -1.0, 1.0), 0.05)
    return slopes, intercepts + np.clip(level_step, -1.0, 1.0)


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
    calibration: _Calibration | None
    responses: _ResponseModel
    chosen: NDArray[np.bool_]

    def estimate(self, scores: Floats) -> Floats:
        """Estimated pool means of models scored on the subset (chosen items × models)."""
        if self.calibration is not None:
            return self.calibration.estimate(scores)
        return self.responses.estimate(scores, self.chosen)


@dataclass(frozen=True, slots=True)
class _Fold:
    held: NDArray[np.bool_]
    responses: _ResponseModel


class PilotFits:
    """The response models of a pool, with each fold of the pilots left out and with none.

    They depend on the pilots alone, so that they serve any number of subsets.
    """

    def __init__(self, scores: Floats, folds: Iterable[NDArray[np.bool_]] | None = None) -> None:
        self._scores = scores
        self._responses = _fit_responses(scores)
        self._folds = [
            _Fold(held, _fit_responses(scores[:, ~held]))
            for held in (_folds_of(scores) if folds is None else folds)
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


def _folds_of(scores: Floats) -> list[NDArray[np.bool_]]:
    """Up to ten folds of the pilots, each with pilots of all levels.

    Raises ValueError with fewer than three pilots.
    """
    n_pilots = scores.shape[1]
    if n_pilots < LEAST_PILOTS:
        raise ValueError("an estimator needs scores from at least three pilots")
    rank = np.empty(n_pilots, dtype=np.intp)
    rank[np.argsort(pool_means(scores), kind="stable")] = np.arange(n_pilots)
    folds = min(_FOLDS, n_pilots)
    return [np.asarray(rank % folds == fold) for fold in range(folds)]


SUBSET_MEAN = "subset mean"
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class ShippedEstimator:
    """What is shipped: the method, the mean absolute error of each on held-out pilots, parameters.

    `items` are the chosen ones in the order of the parameters; `pool` and `pilots` are counts.
    """

    method: str
    errors: Mapping[str, float]
    items: tuple[str, ...]
    pool: int
    pilots: int
    parameters: Mapping[str, Any]

    @property
    def error(self) -> float:
        """The error of the method that is taken, in score points of [0, 1]."""
        return self.errors[self.method]

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """The estimator of a report; the reverse of `record`."""
        return cls(**{**record, "items": tuple(record["items"])})

    def record(self) -> dict[str, Any]:
        """As plain JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def is_better(self) -> bool:
        """Is it more exact than the mean on the subset?"""
        return self.method != SUBSET_MEAN

    def estimate(self, scores: Mapping[str, float]) -> float | None:
        """The mean on the pool, missing scores filled in; None without any on the subset."""
        known = [scores[item] for item in self.items if item in scores]
        if not known:
            return None
        if self.method == SUBSET_MEAN:
            return float(np.mean(known))
        row = np.array([scores.get(item, np.nan) for item in self.items])[:, None]
        return float(np.clip(self._fitted(row), 0.0, 1.0))

    def _fitted(self, row: Floats) -> float:
        values = {name: np.array(value) for name, value in self.parameters.items()}
        if self.method == Method.RIDGE:
            offset, penalty = float(values["offset"]), 0.0
            ridge = _Calibration(values["weights"], offset, values["fallback"], penalty)
            return float(ridge.estimate(row)[0])
        model = _ResponseModel(values["slopes"], values["intercepts"])
        chosen = np.arange(self.pool) < len(self.items)
        return float(model.estimate(row, chosen)[0])


def shipped(pool: Pool, chosen: NDArray[np.bool_]) -> ShippedEstimator | None:
    """The estimator of a subset; None with fewer pilots than a held-out error needs."""
    if len(pool.pilots) < LEAST_PILOTS:
        return None
    estimator = PilotFits(pool.scores).estimator(chosen)
    here, full = subset_means(pool.scores, chosen[None, :])[0], pool_means(pool.scores)
    errors = {str(name): error for name, error in estimator.errors.items()}
    errors[SUBSET_MEAN] = round(mean_absolute_error(here, full), 9)
    method = str(estimator.method)
    if errors[SUBSET_MEAN] <= errors[method]:
        method = SUBSET_MEAN
    parameters: dict[str, Any] = {}
    if method == Method.RIDGE and estimator.calibration is not None:
        fit = estimator.calibration
        parameters = {"weights": _listed(fit.weights), "fallback": _listed(fit.fallback),
                      "offset": round(fit.offset, _DECIMALS)}  # fmt: skip
    elif method == Method.RESPONSES:
        order = np.concatenate([np.flatnonzero(chosen), np.flatnonzero(~chosen)])
        model = estimator.responses
        parameters = {"slopes": _listed(model.slopes[order]),
                      "intercepts": _listed(model.intercepts[order])}  # fmt: skip
    items = tuple(pool.items[at].item_id for at in np.flatnonzero(chosen))
    return ShippedEstimator(method, errors, items, len(pool.items), len(pool.pilots), parameters)


def _listed(values: Floats) -> list[float]:
    return [float(value) for value in values.round(_DECIMALS)]
