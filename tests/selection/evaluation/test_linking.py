"""Linked scores: simulated snapshots with known truth, and links that cannot be made."""

from __future__ import annotations

import numpy as np
import pytest

from data.errors import InputError
from selection.evaluation.linking import Linked, fit, link

OLD, NEW = (-1.0, -0.4, 0.2, 0.8), (-0.7, 0.0, 0.5, 1.1)
HARDER = 0.8  # logits by which the new tasks are harder


def simulated(seed: int) -> tuple[tuple[Linked, ...], dict[str, float]]:
    """Two snapshots of 150 tasks that share 60; linked scores, and the truth of each agent."""
    draw = np.random.default_rng(seed)
    difficulty = {f"anchor-{at:02d}": draw.normal() for at in range(60)}
    old = dict(difficulty) | {f"old-{at:02d}": draw.normal() for at in range(90)}
    new = dict(difficulty) | {f"new-{at:02d}": draw.normal() + HARDER for at in range(90)}

    def runs(
        prefix: str, abilities: tuple[float, ...], tasks: dict[str, float]
    ) -> dict[str, dict[str, float]]:
        return {
            f"{prefix}{at}": {
                task: float(draw.random() < 1 / (1 + np.exp(d - ability)))
                for task, d in tasks.items()
            }
            for at, ability in enumerate(abilities)
        }

    scores = link(runs("o", OLD, old), runs("n", NEW, new), sorted(difficulty), seed, draws=60)
    levels = np.array([*old.values()])
    truth = {
        f"{prefix}{at}": float((1 / (1 + np.exp(levels - ability))).mean())
        for prefix, abilities in (("o", OLD), ("n", NEW))
        for at, ability in enumerate(abilities)
    }
    return scores, truth


@pytest.mark.slow(seconds=15)
def test_new_agents_are_put_on_the_old_scale_with_an_interval_that_covers() -> None:
    covered, linked_errors, raw_errors = [], [], []
    for seed in range(12):
        scores, truth = simulated(seed)
        for row in scores:
            covered.append(row.low <= truth[row.configuration] <= row.high)
            if not row.on_reference:
                linked_errors.append(row.score - truth[row.configuration])
                raw_errors.append(row.raw - truth[row.configuration])
    assert np.mean(covered) >= 0.85
    assert np.mean(np.abs(linked_errors)) < np.mean(np.abs(raw_errors))
    assert abs(np.mean(linked_errors)) < 0.02
    assert np.mean(raw_errors) < -0.05  # the new snapshot is harder: raw scores are too low


def test_the_same_input_gives_the_same_scores() -> None:
    assert simulated(3) == simulated(3)


def test_without_enough_anchors_nothing_is_linked() -> None:
    rows = {"a": {f"t{at}": 1.0 for at in range(30)}}
    with pytest.raises(InputError, match="found 9 tasks that were run on both"):
        link(rows, rows, [f"t{at}" for at in range(9)])


def test_agents_that_pass_or_fail_all_stay_finite_and_in_order() -> None:
    passes = np.array([[1.0] * 20, [0.0] * 20, [1.0] * 10 + [0.0] * 10])
    abilities, _ = fit(passes, [np.arange(20)])
    assert np.isfinite(abilities).all()
    assert abilities[0] > abilities[2] > abilities[1]
