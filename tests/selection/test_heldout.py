"""The held-out benchmark measures what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest

from benchmarks.heldout import (
    DRAWS,
    WEAK_TO_STRONG,
    Cell,
    Split,
    config_of,
    evaluate,
    random_draws,
    splits_of,
)
from benchmarks.selection_quality import intervals
from benchmarks.solver import everything, laminar
from selection.model import SolverName
from selection.scores import ScoreMatrix, read_scores
from selection.select import solve
from tests.selection.matrices import drawn

REPO = Path(__file__).resolve().parent.parent.parent


def test_splits_are_disjoint_and_complete() -> None:
    matrix = drawn(40, 9)
    splits = list(splits_of(matrix, (1, 2)))
    strong = [f"{WEAK_TO_STRONG} {seed}" for seed in (1, 2)]
    assert [split.name for split in splits] == ["1", "2", *strong]
    for split in splits[:2]:
        both = np.concatenate([split.select, split.test])
        assert sorted(both.tolist()) == list(range(9))
        assert len(split.select) == 4
    means = matrix.scores.mean(axis=0)
    for split in splits[2:]:
        assert (len(split.select), len(split.test)) == (3, 3)
        assert means[split.select].max() <= means[split.test].min()


def test_random_draws_are_proportional_and_distinct() -> None:
    families = ("a",) * 60 + ("b",) * 30 + ("c",) * 10
    drawn_subsets = random_draws(families, 20, 5, "cell")
    assert drawn_subsets.shape == (DRAWS, 100)
    counts = [drawn_subsets[:, :60].sum(axis=1), drawn_subsets[:, 60:90].sum(axis=1)]
    assert set(counts[0].tolist()) == {12}
    assert set(counts[1].tolist()) == {6}
    assert len({row.tobytes() for row in drawn_subsets}) == DRAWS


def cell_of(matrix: ScoreMatrix, split: Split) -> Cell:
    """The default configuration at a quarter of the items."""
    cells = evaluate("m", matrix, split, 1)
    return next(cell for cell in cells if (cell.share, cell.configuration) == (0.25, "default"))


def test_choosing_sees_nothing_of_the_test_models() -> None:
    matrix = drawn(60, 8)
    split = next(splits_of(matrix, (3,)))
    before = cell_of(matrix, split)
    matrix.scores[:, split.test] = matrix.scores[::-1][:, split.test]
    after = cell_of(matrix, split)
    assert before.tau != after.tau
    kept = drawn(60, 8)
    kept.scores[:, split.test] = 1 - kept.scores[:, split.test]
    assert cell_of(kept, split).tau == pytest.approx(before.tau)


def test_a_method_without_merit_wins_about_half() -> None:
    cell = cell_of(drawn(60, 8), next(splits_of(drawn(60, 8), (3,))))
    assert np.mean(cell.draw_gains) == pytest.approx(0)
    assert 0.2 < cell.chance < 0.8


def test_intervals_hold_the_mean_and_widen_with_matrices() -> None:
    gains = np.array([[0.0, 0.1, -0.1], [0.5, 0.6, 0.4]])
    narrow, wide = intervals(gains, 0.1, 1)
    assert narrow[0] < gains.mean() < narrow[1]
    assert wide[1] - wide[0] > narrow[1] - narrow[0]


def test_the_published_table_used_the_committed_seeds_and_configuration() -> None:
    result = orjson.loads((REPO / "benchmarks/results/selection_quality.json").read_bytes())
    seeds = orjson.loads((REPO / "benchmarks/heldout_seeds.json").read_bytes())
    assert result["seeds"] == seeds
    assert result["config"] == config_of(1).model_dump(mode="json", exclude={"size"})
    names = {cell["split"] for cell in result["cells"]}
    strong = {f"{WEAK_TO_STRONG} {seed}" for seed in seeds["evaluation"]}
    assert names == {*map(str, seeds["evaluation"])} | strong
    developed = {s for part in seeds["development"] for s in range(part["first"], part["last"] + 1)}
    assert not developed & set(seeds["evaluation"])


@pytest.mark.slow
def test_published_cells_come_out_again(material: Path) -> None:
    result = orjson.loads((REPO / "benchmarks/results/selection_quality.json").read_bytes())
    matrix, _ = read_scores(material / "scores" / "claw_eval_live_105x14.csv")
    published = [c for c in result["cells"] if c["matrix"] == "claw_eval_live_105x14"]
    splits = {
        split.name: split for split in splits_of(matrix, tuple(result["seeds"]["evaluation"]))
    }
    assert len(published) == 72
    key = result["seeds"]["random_draws"]
    again = [
        cell
        for split in splits.values()
        for cell in evaluate("claw_eval_live_105x14", matrix, split, key)
        if cell.configuration == "default"
    ]
    assert [cell["split"] for cell in published] == [cell.split for cell in again]
    for cell, computed in zip(published, again, strict=True):
        assert computed.tau == pytest.approx(cell["tau"], abs=1e-5)
        assert computed.chosen.estimated == pytest.approx(cell["chosen"]["estimated"], abs=1e-5)


def test_solver_instances_are_solved_to_gap_0_by_both() -> None:
    for programme in (laminar(2_000, 22), everything(600, 6)):
        answers = [solve(programme, solver) for solver in SolverName]
        assert [answer.objective == answer.bound for answer in answers] == [True, True]
        first, second = (answer.chosen for answer in answers)
        assert first is not None
        assert second is not None
        assert np.array_equal(first, second)
        assert all(answer.unique for answer in answers)
