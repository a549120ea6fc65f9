"""The draw: fixed sizes, published probabilities, and draws that are repeated to the letter."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from selection.sampling.config import Damping, Design, SamplingConfig
from selection.sampling.frame import (
    build_frame,
    inclusion_of_points,
)
from selection.sampling.stages import Sample, draw_sample
from tests.selection.sampling.tables import (
    CELLS,
    COMPANIES,
    NINE,
    SMALL,
    UNEVEN,
    WITH,
    company,
    frame_of,
    table,
)


def largest_size(points: pl.DataFrame) -> int:
    """The largest even size that both regions can fill without replacement."""
    series = points.select("is_us", "company", "category", "series_name").unique()
    held = [int((series["is_us"] == side).sum()) for side in (False, True)]
    return 2 * min(held)


def conditional(sample: Sample) -> dict[str, tuple[int, list[str]]]:
    """Per company how often it was drawn, and which points."""
    rows = sample.drawn.group_by("company").agg(pl.col("draws").sum(), pl.col("point_id").sort())
    return {name: (draws, points) for name, draws, points in rows.iter_rows()}


@pytest.mark.parametrize("design", Design)
def test_frequencies_are_the_published_probabilities(design: Design) -> None:
    config = SamplingConfig(size=6, design=design, reserve=0)
    units = inclusion_of_points(build_frame(SMALL), config)
    keys = ["company", "category", "series_name"]
    seen = pl.concat([draw_sample(SMALL, config, seed).drawn for seed in range(400)])
    counts = seen.group_by([*keys, "point_id"]).agg(seen=pl.len())
    both = SMALL.join(units, on=keys).join(counts, on=[*keys, "point_id"], how="left")
    both = both.with_columns(pl.col("seen").fill_null(0))
    certain = both.filter(pl.col("pi_design") > 1 - 1e-9)
    assert (certain["seen"] == 400).all()
    free = both.filter(pl.col("pi_design") <= 1 - 1e-9)
    chance = free["pi_design"].to_numpy()
    z = (free["seen"].to_numpy() - 400 * chance) / np.sqrt(400 * chance * (1 - chance))
    assert np.abs(z).max() < 4


@settings(max_examples=40)
@given(COMPANIES, st.integers(0, 99), st.sampled_from(Damping), st.data())
def test_fixed_size_exact_probabilities_and_order_of_input(
    companies: list[tuple[bool, dict[str, dict[str, int]]]],
    seed: int,
    damping: Damping,
    data: st.DataObject,
) -> None:
    points = frame_of(companies)
    most = largest_size(points)
    assume(most > 0)
    size = data.draw(st.integers(1, most // 2)) * 2
    config = SamplingConfig(size=size, damping=damping)
    sample = draw_sample(points, config, seed)
    assert sample.drawn.group_by("is_us").len()["len"].to_list() == [size // 2] * 2
    assert sample.drawn["point_id"].n_unique() == size
    units = inclusion_of_points(build_frame(points), config)
    n_points = 1 / units["pi_point"]
    assert (units["pi_design"] * n_points).sum() == pytest.approx(size, abs=1e-6)
    assert (units["pi_draw"] * n_points).sum() == pytest.approx(1, abs=1e-12)
    assert units["pi_design"].is_between(0, 1, closed="right").all()
    again = draw_sample(points.sample(fraction=1, shuffle=True, seed=seed), config, seed)
    assert again.drawn.equals(sample.drawn)
    assert again.reserve.equals(sample.reserve)


@settings(max_examples=40)
@given(COMPANIES, CELLS, st.integers(0, 99), st.sampled_from(Design))
def test_a_new_company_changes_no_draw_within_another(
    companies: list[tuple[bool, dict[str, dict[str, int]]]],
    added: dict[str, dict[str, int]],
    seed: int,
    design: Design,
) -> None:
    points = frame_of(companies)
    size = min(largest_size(points), 6)
    assume(size > 0)
    config = SamplingConfig(size=size, design=design)
    before = conditional(draw_sample(points, config, seed))
    more = pl.concat([points, table(company("new", True, added))])
    after = conditional(draw_sample(more, config, seed))
    for name in before.keys() & after.keys():
        if before[name][0] == after[name][0]:
            assert after[name] == before[name]


def test_most_companies_keep_their_draws_beside_a_new_one() -> None:
    cells = {"cash": {"A": 4, "B": 4}}
    rows = [row for at in range(30) for row in company(f"c{at}", at % 2 == 0, cells)]
    config = SamplingConfig(size=20)
    before = conditional(draw_sample(table(rows), config, 1))
    after = conditional(draw_sample(table(rows + company("new", True, cells)), config, 1))
    same = [name for name in before if before[name] == after.get(name)]
    assert len(same) >= 15


def test_draws_with_replacement_are_counted() -> None:
    points = table(company("Ash", True, {"cash": {"A": 1}}))
    sample = draw_sample(points, SamplingConfig(size=5, us_share=1, design=WITH), 1)
    assert sample.drawn["draws"].to_list() == [5]
    assert sample.drawn["pi_design"].to_list() == [1.0]


def test_a_published_sample_is_drawn_again_to_the_letter() -> None:
    """The draws of a seed are part of a release: a change here changes what it holds."""
    sample = draw_sample(NINE, SamplingConfig(size=6, reserve=0.5), 11)
    assert sample.drawn["point_id"].to_list() == [
        *("c0/cash/S0/0", "c1/cash/S4/1", "c1/income/T/0"),
        *("c2/cash/S7/0", "c2/income/T | x/0", "c3/income/T | x/2"),
    ]
    assert list(sample.reserve.select("point_id", "rank").iter_rows()) == [
        ("c2/cash/S3/1", 1),
        ("c3/income/T/0", 1),
        ("c1/cash/S2/0", 1),
        ("c0/income/T | x/2", 1),
    ]
    again = draw_sample(NINE, SamplingConfig(size=6, reserve=0.5, design=WITH), 11)
    assert again.drawn["point_id"].to_list() == [
        *("c0/cash/S6/1", "c1/cash/S7/0", "c1/income/T | x/2"),
        *("c2/cash/S3/0", "c2/income/T/0", "c2/income/T | x/2"),
    ]
    assert sample.drawn["replacement"].any() is False
    assert sample.reserve["replacement"].all() is True
    assert set(sample.reserve["draws"]) == {1}


@pytest.mark.parametrize(
    ("points", "config", "drawn", "reserve"),
    [
        (
            UNEVEN,
            SamplingConfig(size=6, reserve=0.5),
            [("alone/cash/A/0", 1, 1.0), ("alone/cash/B | x/0", 1, 0.666667),
             ("alone/cash/B | z/0", 1, 0.666667), ("big/income/T/0", 1, 0.5),
             ("deep/cash/A | y/0", 1, 0.092633), ("wide/cash/B | y/1", 1, 0.030962)],
            ["alone/cash/B | y/0", "big/cash/S5/0", "wide/income/A/0"],
        ),
        (
            UNEVEN,
            SamplingConfig(size=6, reserve=0.5, design=WITH),
            [("alone/cash/A/0", 1, 0.79899), ("alone/cash/B | x/0", 2, 0.478849),
             ("big/cash/S3/0", 1, 0.027521), ("big/income/T/0", 1, 0.421296),
             ("wide/cash/B | x/0", 1, 0.09004)],
            ["alone/cash/B | z/0", "alone/cash/B | y/0", "big/cash/S5/0", "wide/income/A/0"],
        ),
        (
            NINE,
            SamplingConfig(size=6, reserve=0.5, damping=Damping.NONE),
            [("c0/income/T/0", 1, 0.375), ("c1/cash/S4/0", 1, 0.041667),
             ("c1/income/T | x/0", 1, 0.125), ("c2/cash/S8/1", 1, 0.041667),
             ("c2/income/T/0", 1, 0.375), ("c3/income/T/0", 1, 0.375)],
            ["c3/cash/S7/1", "c3/income/T | x/0", "c1/cash/S7/1", "c0/income/T | x/0"],
        ),
    ],
    ids=["uneven", "with replacement", "undamped"],
)  # fmt: skip
def test_a_seed_draws_the_same_sample_in_every_version(
    points: pl.DataFrame,
    config: SamplingConfig,
    drawn: list[tuple[str, int, float]],
    reserve: list[str],
) -> None:
    sample = draw_sample(points, config, 7)
    rows = sample.drawn.select("point_id", "draws", pl.col("pi_design").round(6))
    assert list(rows.iter_rows()) == drawn
    assert sample.reserve["point_id"].to_list() == reserve
    assert not sample.drawn["replacement"].any() and sample.reserve["replacement"].all()
    assert set(sample.reserve["draws"]) == {1}
