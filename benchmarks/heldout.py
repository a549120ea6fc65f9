"""Held-out quality: subsets chosen on half of the models, judged on the other half."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.apportion import apportion
from data.randomness import keyed_generator
from selection.config import Objective, SelectionConfig
from selection.estimator import (
    Method,
    PilotFits,
    calibrate,
    kendall_tau,
    mean_absolute_error,
    pool_means,
    subset_means,
)
from selection.pool import pool_of_matrix
from selection.scores import Floats, ScoreMatrix
from selection.select import select_subset

SHARES = (0.10, 0.25, 0.67)
DRAWS = 100
ESTIMATED = 10  # of the draws, whose models are estimated too
WEAK_TO_STRONG = "weak to strong"
_SOME_MODELS, _LEAST_MODELS = 0.7, 6
Subset = NDArray[np.bool_]
Subsets = NDArray[np.bool_]  # subsets × items


# Named settings; all else is as by default. The first was the default when it was measured, and is
# that of 26 to 99 pilots; `benchmarks.selection_regimes` compares by the number of pilots.
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "default": {"objective": Objective.MARGINS, "stratum_picks": 1},
    "two picks, half price": {
        "objective": Objective.MARGINS,
        "stratum_picks": 2,
        "quota_price": 0.5,
    },
    "balanced": {"objective": Objective.BALANCED},
}


def config_of(size: int, configuration: str = "default") -> SelectionConfig:
    """A configuration, the same for all matrices and sizes.

    A size below the number of families cannot cover them, and few pilots that agree say little
    about an item, hence the two flags.
    """
    return SelectionConfig(
        size=size,
        cover_families=False,
        drop_zero_discrimination=False,
        **CONFIGURATIONS[configuration],
    )


@dataclass(frozen=True, slots=True)
class Split:
    """Models (column positions) to select on and to test on."""

    name: str
    select: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Errors:
    """Mean absolute errors of the test models' pool means, in score points, and the method that
    the estimator took: the raw mean of the subset, the estimator, the textbook ridge."""

    raw: float
    estimated: float
    ridge: float
    took_responses: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One matrix, split, size and configuration beside `DRAWS` stratified random draws.

    Taus are against the pool means of the test models. `draw_gains` are the draws' own gains, each
    over the mean of the others, and `chance` the share of them above 0: what a method without merit
    would win. `random` are the mean errors of the first `ESTIMATED` draws.
    """

    matrix: str
    split: str
    share: float
    configuration: str
    size: int
    tau: float
    random_tau: float
    gain: float
    won: bool
    chance: float
    draw_gains: tuple[float, ...]
    chosen: Errors
    random: Errors
    method: str
    solve_seconds: float


def splits_of(matrix: ScoreMatrix, seeds: tuple[int, ...]) -> Iterator[Split]:
    """By each seed the models in halves; and of a random 70 % of them (six at least) the weak half
    to select, the strong half to test on."""
    n_models = len(matrix.models)
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(n_models)
        yield _split(str(seed), order)
    for seed in seeds:
        some = np.random.default_rng([seed, 1]).permutation(n_models)
        some = some[: max(_LEAST_MODELS, round(_SOME_MODELS * n_models))]
        by_score = some[np.argsort(pool_means(matrix.scores[:, some]), kind="stable")]
        yield _split(f"{WEAK_TO_STRONG} {seed}", by_score)


def _split(name: str, order: NDArray[np.intp]) -> Split:
    half = len(order) // 2
    return Split(name, np.sort(order[:half]), np.sort(order[half:]))


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


def evaluate(name: str, matrix: ScoreMatrix, split: Split, key: int) -> Iterator[Cell]:
    """Choose on the selection models, draw at random, and judge both on the test models."""
    seen = matrix.of_models([matrix.models[column] for column in split.select])
    fits = PilotFits(seen.scores)
    test = matrix.scores[:, split.test]
    full = pool_means(test)
    for share in SHARES:
        size = round(share * len(matrix.items))
        random = random_draws(matrix.families, size, key, f"{name} {split.name} {share}")
        taus = kendall_tau(subset_means(test, random), full)
        draw_gains = taus - (taus.sum() - taus) / (DRAWS - 1)
        drawn = _mean_errors([_errors(fits, seen.scores, test, one) for one in random[:ESTIMATED]])
        for configuration in CONFIGURATIONS:
            config = config_of(size, configuration)
            selected = select_subset(pool_of_matrix(seen, config), config)
            if selected.solution.chosen is None:
                raise RuntimeError(f"{name} {split.name} {share}: {selected.blockers[0].text}")
            chosen = selected.solution.chosen
            tau = float(kendall_tau(subset_means(test, chosen[None, :]), full)[0])
            yield Cell(
                matrix=name,
                split=split.name,
                share=share,
                configuration=configuration,
                size=size,
                tau=tau,
                random_tau=float(taus.mean()),
                gain=tau - float(taus.mean()),
                won=tau > float(taus.mean()),
                chance=float((draw_gains > 0).mean()),
                draw_gains=tuple(draw_gains.tolist()),
                chosen=_errors(fits, seen.scores, test, chosen),
                random=drawn,
                method=str(selected.solution.method),
                solve_seconds=selected.solution.solve_seconds,
            )


def _errors(fits: PilotFits, seen: Floats, test: Floats, chosen: Subset) -> Errors:
    full, estimator = pool_means(test), fits.estimator(chosen)
    means = (
        subset_means(test, chosen[None, :])[0],
        estimator.estimate(test[chosen]),
        calibrate(seen, chosen, around_mean=False).estimate(test[chosen]),
    )
    raw, estimated, ridge = (mean_absolute_error(estimates, full) for estimates in means)
    return Errors(raw, estimated, ridge, float(estimator.method is Method.RESPONSES))


def _mean_errors(draws: list[Errors]) -> Errors:
    means = np.mean([list(asdict(errors).values()) for errors in draws], axis=0)
    return Errors(*map(float, means))
