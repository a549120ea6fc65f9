"""The page of the quality report, word for word, and what its charts show."""

from __future__ import annotations

from dataclasses import replace

from selection.agreement import AdjacentOrder, GapClass, Reliability
from selection.quality import (
    Frontier,
    ItemDiscrimination,
    ModelMeans,
    NearOptimal,
    PassCounts,
    Quality,
)
from selection.quality_report import charts, text_of

QUALITY = Quality(
    size=2,
    pool_size=5,
    tau=0.6667,
    spearman=0.5,
    mean_error=0.0123,
    calibrated_error=0.0045,
    estimator="ridge",
    estimator_errors={"ridge": 0.0045, "response model": 0.0046},
    models=(ModelMeans("a|b", 0.5, 0.25, 0.4), ModelMeans("c", 0.125, 0.75, None)),
    reliability=Reliability(
        (AdjacentOrder("a", "c", 0.375, -0.5, 0.9),), (GapClass(0.2, 1.0, 1, 0.96),), 0.2
    ),
    discrimination=tuple(ItemDiscrimination(f"i{n:02d}", "f", n / 100) for n in range(12, 0, -1)),
    pool_deviation=0.1,
    subset_deviation=0.2,
    pass_counts=(PassCounts(0.8, 4, 3, 2, 1),),
    near_optimal=NearOptimal(3, 0.95, 0.25, 0.75),
    frontier=(Frontier(0.0, None, None, None, None), Frontier(0.5, 1, 7, 0.5, 0.025)),
)
PAGE = """\
# Quality of the subset

- 2 of 5 items, 2 pilots. All figures are for the pilots that the subset was chosen with; expect \
less for other models.
- Order: Kendall tau 0.667, Spearman 0.500 with the pool.
- Mean: 1.23 points off on average, 0.45 calibrated by the ridge (each pilot from others).
- Gaps whose order is kept with 95 % probability: more than 20 points.
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

## Items that tell no pilots apart: subset (pool)

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
    assert text_of(QUALITY, ["x.svg"]) == PAGE + weakest + FRONTIER


def test_what_is_not_known_is_not_on_the_page() -> None:
    bare = replace(
        QUALITY,
        calibrated_error=None,
        reliability=replace(QUALITY.reliability, smallest_gap=None),
        near_optimal=NearOptimal(0, None, None, None),
        frontier=(),
    )
    page = text_of(bare, [])
    assert "- Mean: 1.23 points off on average.\n" in page
    assert "with 95 % probability: none.\n" in page
    assert "withheld in turn): no other subset is possible near it.\n" in page
    assert "Change against quality" not in page
    without_share = replace(QUALITY, near_optimal=NearOptimal(3, None, 0.25, 0.75))
    assert "in turn): 3 found; tau 0.250 to 0.750.\n" in text_of(without_share, [])


def test_the_charts_show_points_of_100_and_only_what_is_solved() -> None:
    drawn = charts(QUALITY)
    assert drawn["quality-means.svg"].points == ((0.5, 0.25), (0.125, 0.75))
    assert drawn["quality-means.svg"].diagonal
    assert drawn["quality-reliability.svg"].points == ((20.0, 0.96),)
    assert drawn["quality-frontier.svg"].points == ((0.5, 0.5),)
    bars = drawn["quality-discrimination.svg"]
    assert [bars.bar_width, len(bars.points)] == [0.01, 12]
    assert [count for _, count in bars.points] == [0.0] + [1.0] * 10 + [2.0]
    assert set(charts(replace(QUALITY, frontier=QUALITY.frontier[:1]))) == {
        "quality-means.svg", "quality-reliability.svg", "quality-discrimination.svg",
    }  # fmt: skip
    equal = replace(QUALITY, discrimination=())
    assert charts(equal)["quality-discrimination.svg"].bar_width == 1.0 / 12
