"""Held-out quality: subsets chosen on half of the models, judged on the other half."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.apportion import apportion
from data.randomness import keyed_generator
from selection.agreement import (
    calibrate,
    kendall_tau,
    mean_absolute_error,
    pool_means,
    subset_means,
)
from selection.config import SelectionConfig
from selection.pool import pool_of_matrix
from selection.scores import Floats, ScoreMatrix
from selection.select import select_subset

SHARES = (0.10, 0.25, 0.67)
DRAWS = 100
WEAK_TO_STRONG = "weak to strong"
Subsets = NDArray[np.bool_]


def config_of(size: int) -> SelectionConfig:
    """The one configuration for all matrices and sizes.

    A size below the number of families cannot cover them, and few pilots that agree say little
    about an item, hence the two flags; all else is as by default.
    """
    return SelectionConfig(size=size, cover_families=False, drop_zero_discrimination=False)


@dataclass(frozen=True, slots=True)
class Split:
    """Models (column positions) to select on and to test on."""

    name: str
    select: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Cell:
    """One matrix, split and size: the method beside `DRAWS` stratified random draws.

    Taus are against the pool means of the test models; errors are mean absolute errors in score
    points: raw means, the calibration of `selection.agreement`, and the textbook ridge.
    `draw_gains` are the draws' own gains, each over the mean of the others, and `chance` the
    share of them above 0: what a method without merit would win.
    """

    matrix: str
    split: str
    share: float
    size: int
    tau: float
    random_tau: float
    gain: float
    won: bool
    chance: float
    draw_gains: tuple[float, ...]
    raw: float
    calibrated: float
    ridge: float
    random_raw: float
    random_calibrated: float
    random_ridge: float
    method: str
    solve_seconds: float


def splits_of(matrix: ScoreMatrix, seeds: tuple[int, ...]) -> Iterator[Split]:
    """A split by each seed, and the weak half of the models to select, the strong to test on."""
    n_models = len(matrix.models)
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(n_models)
        yield Split(str(seed), np.sort(order[: n_models // 2]), np.sort(order[n_models // 2 :]))
    order = np.argsort(pool_means(matrix.scores), kind="stable")
    half = n_models // 2
    yield Split(WEAK_TO_STRONG, np.sort(order[:half]), np.sort(order[half:]))


def random_draws(families: tuple[str, ...], size: int, key: int, entity: str) -> Subsets:
    """Draws without replacement, proportional per family (largest remainder): draws × items."""
    generator = keyed_generator(key, "heldout-random", entity)
    names, counts = np.unique(np.array(families), return_counts=True)
    held = {str(name): int(count) for name, count in zip(names, counts, strict=True)}
    quotas = apportion({name: float(count) for name, count in held.items()}, size, most=held)
    drawn = np.zeros((DRAWS, len(families)), dtype=bool)
    for name, quota in quotas.items():
        members = np.flatnonzero(np.array(families) == name)
        for draw in range(DRAWS):
            drawn[draw, generator.choice(members, quota, replace=False)] = True
    return drawn


def evaluate(name: str, matrix: ScoreMatrix, split: Split, share: float, key: int) -> Cell:
    """Choose on the selection models, draw at random, and judge both on the test models."""
    size = round(share * len(matrix.items))
    seen = matrix.of_models([matrix.models[column] for column in split.select])
    config = config_of(size)
    selected = select_subset(pool_of_matrix(seen, config), config)
    if selected.solution.chosen is None:
        raise RuntimeError(f"{name} {split.name} {share}: {selected.blockers[0].text}")
    chosen = selected.solution.chosen
    random = random_draws(matrix.families, size, key, f"{name} {split.name} {share}")
    test = matrix.scores[:, split.test]
    full = pool_means(test)
    tau = float(kendall_tau(subset_means(test, chosen[None, :]), full)[0])
    taus = kendall_tau(subset_means(test, random), full)
    draw_gains = taus - (taus.sum() - taus) / (DRAWS - 1)
    errors = _errors(seen.scores, test, chosen)
    drawn = np.array([_errors(seen.scores, test, draw) for draw in random]).mean(axis=0)
    return Cell(
        matrix=name,
        split=split.name,
        share=share,
        size=size,
        tau=tau,
        random_tau=float(taus.mean()),
        gain=tau - float(taus.mean()),
        won=tau > float(taus.mean()),
        chance=float((draw_gains > 0).mean()),
        draw_gains=tuple(draw_gains.tolist()),
        raw=errors[0],
        calibrated=errors[1],
        ridge=errors[2],
        random_raw=float(drawn[0]),
        random_calibrated=float(drawn[1]),
        random_ridge=float(drawn[2]),
        method=str(selected.solution.method),
        solve_seconds=selected.solution.solve_seconds,
    )


def _errors(seen: Floats, test: Floats, chosen: Subsets) -> tuple[float, float, float]:
    full = pool_means(test)
    raw = subset_means(test, chosen[None, :])[0]
    calibrated = [
        calibrate(seen, chosen, around_mean=around).estimate(test[chosen])
        for around in (True, False)
    ]
    first, second, third = (mean_absolute_error(means, full) for means in (raw, *calibrated))
    return first, second, third
