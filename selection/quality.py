"""The quality of a chosen subset, measured against the pool it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.progress import track
from selection.agreement import (
    Reliability,
    kendall_tau,
    mean_absolute_error,
    pool_means,
    reliability,
    spearman,
    subset_means,
)
from selection.config import SelectionConfig
from selection.estimator import LEAST_PILOTS, Estimator, PilotFits
from selection.model import SolverName
from selection.pool import Pool, filled
from selection.programme import Programme
from selection.scores import Floats
from selection.select import NEAR_OPTIMAL, churn_frontier, near_optimal


@dataclass(frozen=True, slots=True)
class ModelMeans:
    """A pilot's mean on the pool and the subset, and its pool mean as estimated from the subset
    by an estimator fitted on other pilots (None with fewer than three pilots)."""

    model: str
    pool: float
    subset: float
    calibrated: float | None


@dataclass(frozen=True, slots=True)
class PassCounts:
    """Items that every pilot passes, or fails, under a threshold (score ≥ it passes)."""

    threshold: float
    all_pass_pool: int
    all_fail_pool: int
    all_pass_subset: int
    all_fail_subset: int


@dataclass(frozen=True, slots=True)
class ItemDiscrimination:
    """Population standard deviation of an item's scores over the pilots."""

    item: str
    family: str
    deviation: float


@dataclass(frozen=True, slots=True)
class NearOptimal:
    """The near-optimal subsets: `worst_objective` as a share of the optimum, range of tau."""

    subsets: int
    worst_objective: float | None
    tau_low: float | None
    tau_high: float | None


@dataclass(frozen=True, slots=True)
class Frontier:
    """Quality at a bound on the share of changed items; None where no subset exists."""

    max_changed: float
    changed: int | None
    objective: int | None
    tau: float | None
    mean_error: float | None


@dataclass(frozen=True, slots=True)
class Quality:
    """The whole report. Errors and gaps are in score points of [0, 1].

    `estimator` is the method of `selection.estimator` that was taken, `estimator_errors` are those
    of each method; None and empty with fewer than three pilots.
    """

    size: int
    pool_size: int
    tau: float
    spearman: float
    mean_error: float
    calibrated_error: float | None
    estimator: str | None
    estimator_errors: Mapping[str, float]
    models: tuple[ModelMeans, ...]
    reliability: Reliability
    discrimination: tuple[ItemDiscrimination, ...]
    pool_deviation: float
    subset_deviation: float
    pass_counts: tuple[PassCounts, ...]
    near_optimal: NearOptimal
    frontier: tuple[Frontier, ...]


def measure_quality(
    pool: Pool,
    config: SelectionConfig,
    programme: Programme,
    chosen: NDArray[np.bool_],
    family_weights: Mapping[str, float] | None = None,
    preferred: SolverName | None = None,
) -> Quality:
    """Measure a subset of a pool with the scores of at least two pilots.

    Raises ValueError with fewer.
    """
    if len(pool.pilots) < 2:
        raise ValueError("quality needs the scores of at least two pilots")
    full, here = pool_means(pool.scores), subset_means(pool.scores, chosen[None, :])[0]
    estimator = None
    if len(pool.pilots) >= LEAST_PILOTS:
        estimator = PilotFits(pool.scores).estimator(chosen)
    deviations = filled(pool.scores).std(axis=1).round(9)
    return Quality(
        size=int(chosen.sum()),
        pool_size=len(pool.items),
        tau=_tau(pool, chosen),
        spearman=round(spearman(here, full), 9),
        mean_error=round(mean_absolute_error(here, full), 9),
        calibrated_error=estimator.errors[estimator.method] if estimator else None,
        estimator=str(estimator.method) if estimator else None,
        estimator_errors={str(name): error for name, error in estimator.errors.items()}
        if estimator
        else {},
        models=_models(pool, full, here, estimator),
        reliability=reliability(pool.pilots, pool.scores, pool.scores[chosen], config.seed),
        discrimination=_discrimination(pool, chosen, deviations),
        pool_deviation=round(float(deviations.mean()), 9),
        subset_deviation=round(float(deviations[chosen].mean()), 9),
        pass_counts=_pass_counts(pool, config, chosen),
        near_optimal=_near_optimal(pool, programme, chosen, config.seed, preferred),
        frontier=_frontier(pool, config, family_weights, preferred),
    )


def _tau(pool: Pool, chosen: NDArray[np.bool_]) -> float:
    means = subset_means(pool.scores, chosen[None, :])
    return round(float(kendall_tau(means, pool_means(pool.scores))[0]), 9)


def _models(
    pool: Pool, full: Floats, here: Floats, estimator: Estimator | None
) -> tuple[ModelMeans, ...]:
    return tuple(
        ModelMeans(
            model=model,
            pool=float(full[column]),
            subset=float(here[column]),
            calibrated=None if estimator is None else round(float(estimator.crossed[column]), 9),
        )
        for column, model in enumerate(pool.pilots)
    )


def _discrimination(
    pool: Pool, chosen: NDArray[np.bool_], deviations: Floats
) -> tuple[ItemDiscrimination, ...]:
    return tuple(
        ItemDiscrimination(pool.items[i].item_id, pool.items[i].family, float(deviations[i]))
        for i in np.flatnonzero(chosen)
    )


def _pass_counts(
    pool: Pool, config: SelectionConfig, chosen: NDArray[np.bool_]
) -> tuple[PassCounts, ...]:
    thresholds = {config.selection_threshold, config.public_threshold} - {None}
    known = ~np.isnan(pool.scores)
    scored: NDArray[np.bool_] = np.asarray(known.any(axis=1))
    counts = []
    for threshold in sorted(value for value in thresholds if value is not None):
        passes = np.nan_to_num(pool.scores, nan=-1.0) >= threshold - 1e-9
        all_pass: NDArray[np.bool_] = np.asarray((passes | ~known).all(axis=1)) & scored
        all_fail: NDArray[np.bool_] = ~np.asarray(passes.any(axis=1)) & scored
        counts.append(
            PassCounts(
                threshold=threshold,
                all_pass_pool=int(all_pass.sum()),
                all_fail_pool=int(all_fail.sum()),
                all_pass_subset=int(all_pass[chosen].sum()),
                all_fail_subset=int(all_fail[chosen].sum()),
            )
        )
    return tuple(counts)


def _near_optimal(
    pool: Pool,
    programme: Programme,
    chosen: NDArray[np.bool_],
    key: int,
    preferred: SolverName | None,
) -> NearOptimal:
    subsets = near_optimal(programme, chosen, key, preferred)
    alternatives = list(track(subsets, "near-optimal", NEAR_OPTIMAL, "subset"))
    if not alternatives:
        return NearOptimal(0, None, None, None)
    best = programme.objective(chosen)
    worst = min(each.objective for each in alternatives)
    taus = [_tau(pool, each.chosen) for each in alternatives]
    share = round(worst / best, 9) if best > 0 else None
    return NearOptimal(len(alternatives), share, min(taus), max(taus))


def _frontier(
    pool: Pool,
    config: SelectionConfig,
    family_weights: Mapping[str, float] | None,
    preferred: SolverName | None,
) -> tuple[Frontier, ...]:
    full = pool_means(pool.scores)
    new = np.array([not item.in_last_release for item in pool.items], dtype=bool)
    points = []
    for point in churn_frontier(pool, config, family_weights, preferred):
        share = round(point.max_changed, 9)
        if point.best is None:
            points.append(Frontier(share, None, None, None, None))
            continue
        subset = point.best.chosen
        here = subset_means(pool.scores, subset[None, :])[0]
        points.append(
            Frontier(
                max_changed=share,
                changed=int((subset & new).sum()),
                objective=point.best.objective,
                tau=_tau(pool, subset),
                mean_error=round(mean_absolute_error(here, full), 9),
            )
        )
    return tuple(points)
