"""Level swapping: each entity takes the level of another, at a noisy rank, for all periods.

The levels (mean logarithm over the periods) of all columns are turned into rank scores within the
group and sent together through the channel that reaches a given distortion with the least
information (reverse water-filling, Cover and Thomas 2006, §10.3.3): directions in which entities
differ less than the distortion, such as the exact ratios between columns, are not sent at all.
The score determines the rank, and the rank determines whose level the entity takes. Compared with
independent noise of the same rank correlation this halves the assignment hits of an attacker who
knows all columns. An entity that makes up most of its group cannot be hidden by any noise that
keeps the group's sums: it keeps its levels, and is counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymization.tables.cells import Bools, Floats
from anonymization.tables.keystream import Ints, RowNoise, chunks, normals
from anonymization.tables.perturb.methods import Order, runs

_SPREAD = np.sqrt(12.0)  # of the uniform distribution, so that scores have variance 1
_DECIDING = 9  # decimals of a score that decides a rank (law 5)
_DOMINANT = 0.3  # of the sum of a group's levels


@dataclass(frozen=True, slots=True)
class _Levels:
    """Per entity and column: mean log magnitude, and whether there is any; per entity its group."""

    level: Floats
    known: Bools
    group: Ints


def level_swapped(
    values: Floats, known: Bools, order: Order, distortion: Floats, key: bytes, stage: str
) -> tuple[Floats, int]:
    """`values` (rows × columns, in canonical order) times one factor per entity and column.

    `distortion` has a value per column. Signs, zeros and growth rates stay; per group the
    levels of the entities are a permutation of the original ones. The second result is the number
    of entities that keep their levels because they make up more than 30 % of their group in some
    column.
    """
    levels = _levels(values, known, order)
    dominant = _dominant(levels)
    scores = _imputed(_scores(levels), levels.known)
    noise = _entity_normals(key, stage, order.names, values.shape[1])
    sent = np.round(_channel(scores, levels.known, noise, distortion), _DECIDING)
    factor = np.zeros_like(levels.level)
    for column in range(values.shape[1]):
        own, has = levels.level[:, column], levels.known[:, column] & ~dominant
        by_score = runs(levels.group, sent[:, column], has)
        by_level = runs(levels.group, own, has)
        for to, source in zip(by_score, by_level, strict=True):
            factor[to, column] = own[source] - own[to]
    return np.asarray(values * np.exp(factor[order.entity])), int(dominant.sum())


def _levels(values: Floats, known: Bools, order: Order) -> _Levels:
    entities, columns = len(order.names), values.shape[1]
    used = known & (values != 0)
    logs = np.log(np.abs(values), out=np.zeros_like(values), where=used)
    count, total = np.zeros((entities, columns)), np.zeros((entities, columns))
    for column in range(columns):
        count[:, column] = np.bincount(order.entity, used[:, column], entities)
        total[:, column] = np.bincount(order.entity, logs[:, column], entities)
    group = np.zeros(entities, dtype=np.int64)
    group[order.entity] = order.group  # an entity that changed its group counts in the last one
    return _Levels(total / np.maximum(count, 1), count > 0, group)


def _dominant(levels: _Levels) -> Bools:
    """Entities with more than the dominant share of their group, in groups of three or more."""
    is_dominant = np.zeros(len(levels.group), dtype=np.bool_)
    for column in range(levels.level.shape[1]):
        size = np.where(levels.known[:, column], np.exp(levels.level[:, column]), 0.0)
        share = size / np.maximum(np.bincount(levels.group, size)[levels.group], 1e-300)
        is_dominant |= share > _DOMINANT
    return np.asarray(is_dominant & (np.bincount(levels.group)[levels.group] > 2))


def _scores(levels: _Levels) -> Floats:
    """Uniform rank scores within the group, of mean 0 and variance 1; 0 where unknown."""
    scores = np.zeros_like(levels.level)
    for column in range(scores.shape[1]):
        for at in runs(levels.group, levels.level[:, column], levels.known[:, column]):
            ranks = (np.arange(len(at)) + 0.5) / len(at)
            scores[at, column] = (ranks - 0.5) * _SPREAD
    return scores


def _correlation(scores: Floats, known: Bools) -> Floats:
    """Correlations over the entities that know both columns."""
    weight = known.astype(np.float64)
    both = np.maximum(weight.T @ weight, 1)
    covariance = scores.T @ scores / both
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    return np.asarray(covariance / np.outer(spread, spread))


def _imputed(scores: Floats, known: Bools) -> Floats:
    """Unknown scores filled with their expectation given the known ones: no added information."""
    correlation = _correlation(scores, known)
    filled = scores.copy()
    patterns, which = np.unique(known, axis=0, return_inverse=True)
    for number, has in enumerate(patterns):
        if has.all() or not has.any():
            continue
        rows = np.flatnonzero(which.ravel() == number)
        ridge = correlation[np.ix_(has, has)] + 1e-6 * np.eye(int(has.sum()))
        weights = np.linalg.solve(ridge, correlation[np.ix_(has, ~has)])
        filled[np.ix_(rows, np.flatnonzero(~has))] = (
            scores[np.ix_(rows, np.flatnonzero(has))] @ weights
        )
    return filled


def _channel(scores: Floats, known: Bools, noise: Floats, distortion: Floats) -> Floats:
    """Scores after the channel; a column with distortion 0 passes unchanged."""
    moving = distortion > 0
    sent = scores.copy()
    if not moving.any():
        return sent
    weight = 1 / np.sqrt(distortion[moving])
    correlation = _correlation(scores[:, moving], known[:, moving])
    power, axes = np.linalg.eigh(correlation * np.outer(weight, weight))
    passed = np.maximum(0.0, 1 - 1 / np.maximum(power, 1e-12))
    # symmetric forms, which do not depend on the signs of the axes
    through = axes @ np.diag(passed) @ axes.T
    added = axes @ np.diag(np.sqrt(passed)) @ axes.T
    scaled = scores[:, moving] * weight
    sent[:, moving] = (scaled @ through + noise[:, moving] @ added) / weight
    return sent


def _entity_normals(key: bytes, stage: str, names: pl.Series, columns: int) -> Floats:
    """Standard normal noise, entities × columns."""
    source = RowNoise(key, stage, names, None, columns)
    return np.concatenate([normals(source.words(rows)) for rows in chunks(len(names))], axis=1).T
