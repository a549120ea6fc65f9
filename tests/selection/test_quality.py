"""The quality of a subset; the page of its report, word for word, and what its charts show."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

from selection.config import SelectionConfig
from selection.estimator import Reliability, _AdjacentOrder, _GapClass, reliability
from selection.model import SolverName
from selection.pool import PoolItem, pool_of_matrix
from selection.quality import (
    Quality,
    _charts,
    _Frontier,
    _ItemDiscrimination,
    _ModelMeans,
    _NearOptimal,
    _PassCounts,
    _plain,
    _text_of,
    measure_quality,
    write_quality,
)
from selection.select import NEAR_OPTIMAL, near_optimal, select_subset
from tests.selection.matrices import drawn


def measured(
    size: int = 30, *, released: bool = False, solver: SolverName | None = None
) -> Quality:
    matrix = drawn(120, 8, seed=3)
    config = SelectionConfig(size=size)
    known = {
        item: PoolItem(item, family, in_last_release=released and n % 2 == 0)
        for n, (item, family) in enumerate(zip(matrix.items, matrix.families, strict=True))
    }
    pool = pool_of_matrix(matrix, config, known)
    selected = select_subset(pool, config, preferred=solver)
    assert selected.solution.chosen is not None
    return measure_quality(pool, config, selected.programme, selected.solution.chosen)


def test_the_whole_pool_is_perfect() -> None:
    matrix = drawn(50, 6, seed=1)
    config = SelectionConfig(size=50, drop_zero_discrimination=False)
    pool = pool_of_matrix(matrix, config)
    selected = select_subset(pool, config)
    assert selected.solution.chosen is not None
    result = measure_quality(pool, config, selected.programme, selected.solution.chosen)
    assert (result.tau, result.spearman, result.mean_error) == (1, 1, 0)
    assert result.near_optimal.subsets == 0  # there is no other subset of that size
    assert result.subset_deviation == result.pool_deviation


def test_figures_of_a_subset() -> None:
    result = measured()
    assert 0.5 < result.tau <= 1
    assert result.subset_deviation > result.pool_deviation
    assert result.calibrated_error is not None
    assert result.calibrated_error < result.mean_error
    assert len(result.discrimination) == 30
    passes = result.pass_counts
    assert [counts.threshold for counts in passes] == [0.8]
    # The chosen are those that tell pilots apart.
    assert (passes[0].all_pass_subset, passes[0].all_fail_subset) == (0, 0)
    assert passes[0].all_pass_pool + passes[0].all_fail_pool > 0


def test_twenty_near_optimal_subsets_meet_every_row_and_are_no_better() -> None:
    config = SelectionConfig(size=30)
    pool = pool_of_matrix(drawn(120, 8, seed=3), config)
    selected = select_subset(pool, config)
    chosen, best = selected.solution.chosen, selected.solution.objective
    assert chosen is not None
    assert best is not None
    actual = list(near_optimal(selected.programme, chosen, 0))
    assert len({each.chosen.tobytes() for each in actual}) == NEAR_OPTIMAL
    for each in actual:
        assert each.chosen.sum() == 30
        assert each.objective <= best
        assert selected.programme.broken(each.chosen) == []
        assert selected.programme.objective(each.chosen) == each.objective


def test_figures_have_nine_decimals() -> None:
    report = measured(size=29, released=True)
    figures = [
        report.mean_error,
        report.calibrated_error,
        report.subset_deviation,
        report.pool_deviation,
    ]
    figures += [point.mean_error for point in report.frontier]
    figures += [model.calibrated for model in report.models]
    for figure in figures:
        assert figure is not None
        assert figure == round(figure, 9)
    for name in ("mean_error", "calibrated_error", "subset_deviation", "pool_deviation"):
        figure = getattr(report, name)
        assert figure != round(figure, 8), name
    assert any(p.mean_error != round(p.mean_error or 0, 8) for p in report.frontier)
    assert any(m.calibrated != round(m.calibrated or 0, 8) for m in report.models)


def test_the_frontier_rises_and_keeps_its_bound() -> None:
    result = measured(released=True).frontier
    assert [point.max_changed for point in result][:3] == [0, 0.166666667, 0.333333333]
    solved = [point.objective for point in result if point.objective is not None]
    assert solved == sorted(solved)
    assert result[0].changed == 0
    for point in result:
        assert point.changed is not None
        assert point.changed <= point.max_changed * 30 + 1e-6
    assert measured().frontier == ()


def test_reliability_is_sure_of_wide_gaps_and_unsure_of_ties() -> None:
    generator = np.random.default_rng(0)
    same = (generator.random(200) < 0.5).astype(float)
    scores = np.column_stack([np.ones(200), same, same[::-1], np.zeros(200)])
    result = reliability(("top", "one", "other", "bottom"), scores, scores, 0)
    assert [(pair.better, pair.worse) for pair in result.adjacent][1] == ("one", "other")
    first, tied, last = (pair.probability for pair in result.adjacent)
    assert (first, last) == (1, 1)
    assert tied == pytest.approx(0.5, abs=0.1)
    assert sum(part.pairs for part in result.by_gap) == 5  # the tie has no order to keep
    assert result.smallest_gap == 0.2


def test_a_tie_counts_half() -> None:
    column = np.array([1.0, 0.0, 1.0, 0.0])
    twins = np.column_stack([column, column])
    assert reliability(("a", "b"), twins, twins, 0).adjacent[0].probability == 0.5


def test_no_subset_is_counted_twice() -> None:
    config = SelectionConfig(size=4, drop_zero_discrimination=False, cover_families=False)
    pool = pool_of_matrix(drawn(6, 5, n_families=1), config)
    selected = select_subset(pool, config)
    assert selected.solution.chosen is not None
    actual = [
        each.chosen.tobytes()
        for each in near_optimal(selected.programme, selected.solution.chosen, 0)
    ]
    assert 1 < len(actual) == len(set(actual)) < 15  # at most 6 over 4 subsets exist


def test_a_missing_cell_neither_passes_nor_fails() -> None:
    matrix = drawn(20, 3, n_families=1)
    matrix.scores[0], matrix.scores[1] = [1.0, np.nan, 1.0], [0.0, np.nan, 0.0]
    matrix.scores[2:] = [1.0, 0.0, 1.0]
    config = SelectionConfig(size=20, drop_zero_discrimination=False)
    pool = pool_of_matrix(matrix, config)
    selected = select_subset(pool, config)
    assert selected.solution.chosen is not None
    result = measure_quality(pool, config, selected.programme, selected.solution.chosen).pass_counts
    assert [(counts.all_pass_subset, counts.all_fail_pool) for counts in result] == [(1, 1)]


def test_unreliable_subsets_tell_no_gap_apart() -> None:
    generator = np.random.default_rng(1)
    pool = (generator.random((100, 2)) < [0.9, 0.2]).astype(float)
    result = reliability(("a", "b"), pool, pool[:, ::-1], 0)
    assert result.by_gap[-1].reliability == 0
    assert result.smallest_gap is None


def test_files_are_the_same_bytes_for_both_solvers(tmp_path: Path) -> None:
    folders = []
    for solver in SolverName:
        folders.append(tmp_path / str(solver))
        write_quality(folders[-1], measured(released=True, solver=solver))
    names = sorted(path.name for path in folders[0].iterdir())
    assert names == [
        "quality-discrimination.svg",
        "quality-frontier.svg",
        "quality-means.svg",
        "quality-reliability.svg",
        "quality.json",
        "quality.md",
    ]
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
        if name.endswith(".svg"):
            assert ET.fromstring((folders[0] / name).read_bytes()).tag.endswith("svg")
    result = orjson.loads((folders[0] / "quality.json").read_bytes())
    assert result["size"] == 30
    assert result["near_optimal"]["subsets"] == NEAR_OPTIMAL
    assert "![quality-means.svg](quality-means.svg)" in (folders[0] / "quality.md").read_text()


def test_one_pilot_has_no_quality() -> None:
    config = SelectionConfig(size=3, pilots=("m00",), drop_zero_discrimination=False)
    pool = pool_of_matrix(drawn(20, 4), config)
    selected = select_subset(pool, config)
    assert selected.solution.chosen is not None
    with pytest.raises(ValueError, match="two pilots"):
        measure_quality(pool, config, selected.programme, selected.solution.chosen)


def test_names_cannot_leave_their_cell() -> None:
    assert _plain("a|b`c\n# d\u202e<img>") == "`a¦b'c # d <img>`"


QUALITY = Quality(
    size=2,
    pool_size=5,
    tau=0.6667,
    spearman=0.5,
    mean_error=0.0123,
    calibrated_error=0.0045,
    estimator="ridge",
    estimator_errors={"ridge": 0.0045, "response model": 0.0046},
    models=(_ModelMeans("a|b", 0.5, 0.25, 0.4), _ModelMeans("c", 0.125, 0.75, None)),
    reliability=Reliability(
        (_AdjacentOrder("a", "c", 0.375, -0.5, 0.9),), (_GapClass(0.2, 1.0, 1, 0.96),), 0.2
    ),
    discrimination=tuple(_ItemDiscrimination(f"i{n:02d}", "f", n / 100) for n in range(12, 0, -1)),
    pool_deviation=0.1,
    subset_deviation=0.2,
    pass_counts=(_PassCounts(0.8, 4, 3, 2, 1),),
    near_optimal=_NearOptimal(3, 0.95, 0.25, 0.75),
    frontier=(_Frontier(0.0, None, None, None, None), _Frontier(0.5, 1, 7, 0.5, 0.025)),
)
PAGE = """\
# Quality of the subset

- 2 of 5 items, 2 pilots. All figures are for the pilots used to choose the subset; expect lower \
figures for other models.
- Order: Kendall tau 0.667, Spearman 0.500 with the pool.
- Mean: 1.23 points off on average, 0.45 calibrated by the ridge (each pilot from others).
- Gaps whose order is preserved with 95 % probability: more than 20 points.
- Discrimination (standard deviation over the pilots): 0.200 on average, 0.100 in the pool.
- Near-optimal subsets (a tenth of the items withheld in turn): 3 found, at 95.0 % of the \
objective or better; tau 0.250 to 0.750.

![x.svg](x.svg)

## Means

| model | pool | subset | calibrated |
|---|---|---|---|
| `a¦b` | 0.5000 | 0.2500 | 0.4000 |
| `c` | 0.1250 | 0.7500 |  |

## Order of neighbours (bootstrap over items)

| neighbours in the pool | gap, points | gap in the subset | probability |
|---|---|---|---|
| `a` ahead of `c` | 37.50 | -50.00 | 0.900 |

## Reliability by gap

| gap, points | pairs | order kept |
|---|---|---|
| 20 to 100 | 1 | 0.960 |

## Items that do not distinguish the pilots: subset (pool)

| threshold | all pilots pass | all pilots fail |
|---|---|---|
| 0.8 | 2 (4) | 1 (3) |

## Least discrimination

| item | family | standard deviation |
|---|---|---|
"""
FRONTIER = """
## Change against quality

| may change | changed | tau | error of the mean, points |
|---|---|---|---|
| 0 % | impossible |  |  |
| 50 % | 1 | 0.500 | 2.50 |

"""


def test_the_page_word_for_word() -> None:
    weakest = "".join(f"| `i{n:02d}` | `f` | {n / 100:.4f} |\n" for n in range(1, 11))
    assert _text_of(QUALITY, ["x.svg"]) == PAGE + weakest + FRONTIER


def test_what_is_not_known_is_not_on_the_page() -> None:
    bare = replace(
        QUALITY,
        calibrated_error=None,
        reliability=replace(QUALITY.reliability, smallest_gap=None),
        near_optimal=_NearOptimal(0, None, None, None),
        frontier=(),
    )
    page = _text_of(bare, [])
    assert "- Mean: 1.23 points off on average.\n" in page
    assert "with 95 % probability: none.\n" in page
    assert "withheld in turn): no other subset is possible near this one.\n" in page
    assert "Change against quality" not in page
    without_share = replace(QUALITY, near_optimal=_NearOptimal(3, None, 0.25, 0.75))
    assert "in turn): 3 found; tau 0.250 to 0.750.\n" in _text_of(without_share, [])


def test_the_charts_show_points_of_100_and_only_what_is_solved() -> None:
    drawn = _charts(QUALITY)
    assert drawn["quality-means.svg"].points == ((0.5, 0.25), (0.125, 0.75))
    assert drawn["quality-means.svg"].diagonal
    assert drawn["quality-reliability.svg"].points == ((20.0, 0.96),)
    assert drawn["quality-frontier.svg"].points == ((0.5, 0.5),)
    bars = drawn["quality-discrimination.svg"]
    assert [bars.bar_width, len(bars.points)] == [0.01, 12]
    assert [count for _, count in bars.points] == [0.0] + [1.0] * 10 + [2.0]
    assert set(_charts(replace(QUALITY, frontier=QUALITY.frontier[:1]))) == {
        "quality-means.svg", "quality-reliability.svg", "quality-discrimination.svg",
    }  # fmt: skip
    equal = replace(QUALITY, discrimination=())
    assert _charts(equal)["quality-discrimination.svg"].bar_width == 1.0 / 12
