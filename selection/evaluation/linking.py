"""Scores of two snapshots on one scale, by the tasks that both have (anchors).

A snapshot that is harder gives lower scores to the same agent. The Rasch model (an agent of ability
a passes a task of difficulty d with the chance 1 / (1 + exp(d - a))) is fitted to all attempts at
both snapshots at once: the anchors tie the two together. A linked score is the share of the
reference snapshot's tasks that an agent of that ability would pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError
from data.randomness import keyed_generator
from selection.evaluation.intervals import LEVEL, Floats

_ROUNDS, _STEP = 300, 2.0  # of the fit, and the longest step in it
_SPREAD = 2.0  # prior standard deviation of abilities and difficulties, in logits
_CLOSE = 1e-5
_FEWEST_ANCHORS = 10
DRAWS = 200  # of the bootstrap over tasks


@dataclass(frozen=True, slots=True)
class Linked:
    """The score of a configuration on the reference scale, from 0 to 1, with its interval.

    `raw` is its pass rate on the tasks that it did, `on_reference` whether it ran on the reference
    snapshot itself.
    """

    configuration: str
    on_reference: bool
    tasks: int
    raw: float
    score: float
    low: float
    high: float


def link(
    reference: Mapping[str, Mapping[str, float]],
    later: Mapping[str, Mapping[str, float]],
    anchors: Sequence[str],
    seed: int = 0,
    draws: int = DRAWS,
) -> tuple[Linked, ...]:
    """The linked scores of all configurations, by falling score.

    `reference` and `later` map configuration and task to the pass rate over epochs; a task of both
    snapshots that is no anchor has to go by two names. The interval comes from a bootstrap over
    tasks. Raises InputError with fewer than ten anchors that were run on both.
    """
    tied = [a for a in anchors if _ran(reference, a) and _ran(later, a)]
    if len(tied) < _FEWEST_ANCHORS:
        raise InputError(
            "link", f"{len(tied)} tasks that were run on both snapshots",
            f"at least {_FEWEST_ANCHORS}", "Run more of the shared tasks, or keep more of them.",
        )  # fmt: skip
    names = [(name, True) for name in sorted(reference)] + [(n, False) for n in sorted(later)]
    rows = [reference[name] if on_reference else later[name] for name, on_reference in names]
    tasks = sorted({task for row in rows for task in row})
    passes = np.array([[row.get(task, np.nan) for task in tasks] for row in rows])
    is_old = np.array([_ran(reference, task) for task in tasks])
    draw = keyed_generator(seed, "linking", "tasks")
    groups = _groups(tasks, is_old, set(tied))
    scores = _expected(passes, is_old, groups)
    again = np.array([_redrawn(passes, is_old, groups, draw) for _ in range(draws)])
    ends = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    linked = [
        Linked(
            name, on_reference, int((~np.isnan(passes[at])).sum()), float(np.nanmean(passes[at])),
            float(scores[at]), float(ends[0, at]), float(ends[1, at]),
        )
        for at, (name, on_reference) in enumerate(names)
    ]  # fmt: skip
    return tuple(sorted(linked, key=lambda row: (-row.score, row.configuration)))


def _ran(rows: Mapping[str, Mapping[str, float]], task: str) -> bool:
    return any(task in row for row in rows.values())


def _groups(
    tasks: Sequence[str], is_old: NDArray[np.bool_], tied: set[str]
) -> list[NDArray[np.intp]]:
    """Positions of the anchors, of the other old tasks and of the other new ones."""
    is_tied = np.array([task in tied for task in tasks])
    parts = (is_tied, is_old & ~is_tied, ~is_old & ~is_tied)
    return [np.flatnonzero(part) for part in parts if part.any()]


def _redrawn(
    passes: Floats,
    is_old: NDArray[np.bool_],
    groups: Sequence[NDArray[np.intp]],
    draw: np.random.Generator,
) -> Floats:
    """Expected scores where the tasks of each group are drawn anew, with replacement."""
    drawn = [draw.choice(group, len(group)) for group in groups]
    at, ends = np.concatenate(drawn), np.cumsum([0, *map(len, drawn)])
    own = [np.arange(start, end) for start, end in pairwise(ends)]
    return _expected(passes[:, at], is_old[at], own)


def _expected(
    passes: Floats, is_old: NDArray[np.bool_], groups: Sequence[NDArray[np.intp]]
) -> Floats:
    """The share of the old tasks that each agent is expected to pass."""
    abilities, difficulties = fit(passes, groups)
    chances = _chance(abilities, difficulties[is_old])
    return np.asarray(chances.mean(axis=1))


def _chance(abilities: Floats, difficulties: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(difficulties[None, :] - abilities[:, None])))


def fit(passes: Floats, groups: Sequence[NDArray[np.intp]]) -> tuple[Floats, Floats]:
    """Abilities and difficulties in logits, for pass rates of agents × tasks (NaN: not run).

    Newton's steps in turn. A normal prior keeps both finite where all attempts pass or all fail;
    that of the difficulties lies around the mean of their group, since a group may be harder.
    """
    known = ~np.isnan(passes)
    values = np.where(known, passes, 0.0)
    abilities, difficulties = np.zeros(passes.shape[0]), np.zeros(passes.shape[1])
    centres = np.zeros(passes.shape[1])
    for _ in range(_ROUNDS):
        before = np.concatenate([abilities, difficulties])
        _improve(abilities, values, known, difficulties, np.zeros(len(abilities)))
        _improve(difficulties, 1 - values.T, known.T, abilities, centres)
        for group in groups:
            centres[group] = difficulties[group].mean()
        if np.abs(np.concatenate([abilities, difficulties]) - before).max() < _CLOSE:
            break
    return abilities, difficulties


def _improve(
    own: Floats, values: Floats, known: NDArray[np.bool_], others: Floats, centres: Floats
) -> None:
    """One of Newton's steps for each of `own`; `values` are what counts in its favour."""
    chances = 1 / (1 + np.exp(others[None, :] - own[:, None]))
    slope = np.where(known, values - chances, 0.0).sum(axis=1) - (own - centres) / _SPREAD**2
    bend = np.where(known, chances * (1 - chances), 0.0).sum(axis=1) + 1 / _SPREAD**2
    own += np.clip(slope / bend, -_STEP, _STEP)
