"""The frame: probabilities of the stages and of the design, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from data.errors import InputError
from selection.config import Damping, SamplingConfig
from selection.sampling.frame import (
    build_frame,
    inclusion_of_points,
    region_sizes,
    stage_probabilities,
)
from selection.sampling.stages import _draw_sample
from tests.selection.sampling.tables import (
    SMALL,
    WITH,
    table,
)


def test_stage_probabilities_by_hand() -> None:
    stages = stage_probabilities(build_frame(SMALL), SamplingConfig())
    birch = stages.filter(company="Birch", series_name="S").row(0, named=True)
    root_2, root_3 = np.sqrt(np.log([2, 3]))
    assert birch["pi_company"] == pytest.approx(0.5 / 2)
    assert birch["pi_category"] == pytest.approx(1 / 2)
    assert birch["pi_series"] == pytest.approx(root_2 / (root_2 + root_3))
    assert birch["pi_point"] == pytest.approx(1 / 4)
    product = 0.25 * 0.5 * 0.25 * root_2 / (root_2 + root_3)
    assert birch["pi_draw"] == pytest.approx(product)


def test_design_of_one_draw_per_region_is_the_single_draw() -> None:
    units = inclusion_of_points(build_frame(SMALL), SamplingConfig(size=2))
    assert units["pi_design"].to_list() == pytest.approx((2 * units["pi_draw"]).to_list())


def test_design_over_both_roundings_by_hand() -> None:
    # Three draws outside the US on two companies: Birch gets 1.5, that is once or twice alike.
    config = SamplingConfig(size=3, us_share=0)
    outside = SMALL.filter(~pl.col("is_us"))
    units = inclusion_of_points(build_frame(outside), config)
    birch = units.filter(company="Birch", category="cash").row(0, named=True)
    # Once: half a draw for cash, whose one series is then certain. Twice: one draw for cash.
    assert birch["pi_design"] == pytest.approx(0.5 * 0.5 + 0.5 * 1)


@pytest.mark.parametrize(
    ("points", "config", "message"),
    [
        (SMALL.filter("is_us"), SamplingConfig(size=2), "no non-US companies.*us_share = 1"),
        (SMALL, SamplingConfig(size=20), "found 4 units to draw 10 from|found 6 units to draw 10"),
        (SMALL.drop("category"), SamplingConfig(), "category: None"),
        (SMALL.clear(), SamplingConfig(), "no data points"),
        (pl.concat([SMALL, SMALL[:1]]), SamplingConfig(), "1 repeated point ids"),
        (
            pl.concat([SMALL, table([("Ash", False, "cash", "E", "e")])]),
            SamplingConfig(),
            "company 'Ash' both US and non-US",
        ),
        (
            SMALL.with_columns(category=pl.lit(None, pl.String)),
            SamplingConfig(),
            "nulls in category",
        ),
    ],
)
def test_frames_that_do_not_fit(points: pl.DataFrame, config: SamplingConfig, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _draw_sample(points, config, 1)


@pytest.mark.parametrize(
    ("size", "share", "expected"),
    [
        (4, 0.5, [2, 2]),
        (5, 0.5, [2, 3]),  # rounded half up
        (3, 0.5, [1, 2]),
        (10, 0.24, [8, 2]),
        (10, 0.25, [7, 3]),
        (10, 0.0, [10, 0]),
        (10, 1.0, [0, 10]),
    ],
)
def test_regions_get_their_share_rounded_half_up(
    size: int, share: float, expected: list[int]
) -> None:
    config = SamplingConfig(size=size, us_share=share)
    assert region_sizes(build_frame(SMALL), config).tolist() == expected


def test_a_region_without_companies_matters_only_if_it_is_drawn_from() -> None:
    outside, inside = SMALL.filter(~pl.col("is_us")), SMALL.filter("is_us")
    assert region_sizes(build_frame(outside), SamplingConfig(size=1, us_share=0.4)).tolist() == [
        1,
        0,
    ]
    with pytest.raises(InputError, match=r"found no US companies.*draw 1 points.*us_share = 0"):
        region_sizes(build_frame(outside), SamplingConfig(size=1, us_share=0.5))
    with pytest.raises(InputError, match=r"found no non-US companies.*draw 3 points.*us_share = 1"):
        region_sizes(build_frame(inside), SamplingConfig(size=4, us_share=0.25))


def test_stages_multiply_and_sum_to_the_shares_of_the_regions() -> None:
    config = SamplingConfig(us_share=0.3, damping=Damping.NONE)
    stages = stage_probabilities(build_frame(SMALL), config)
    assert stages.columns == [
        *("company", "is_us", "category", "series_name"),
        *("pi_company", "pi_category", "pi_series", "pi_point", "pi_draw"),
    ]
    ash = stages.filter(company="Ash", series_name="C | a").row(0, named=True)
    assert ash["pi_company"] == pytest.approx(0.3)
    assert ash["pi_category"] == pytest.approx(1 / 2)
    assert ash["pi_series"] == pytest.approx(1 / 3)  # of three series, however they are nested
    assert ash["pi_point"] == pytest.approx(1 / 2)
    assert ash["pi_draw"] == pytest.approx(0.3 / 12)
    of_region = stages.group_by("is_us").agg((pl.col("pi_draw") / pl.col("pi_point")).sum())
    assert dict(of_region.iter_rows()) == pytest.approx({True: 0.3, False: 0.7})


def test_with_replacement_a_point_is_drawn_at_least_once_in_the_draws_of_its_region() -> None:
    config = SamplingConfig(size=5, us_share=0.4, design=WITH, damping=Damping.NONE)
    units = inclusion_of_points(build_frame(SMALL), config)
    single = 1 / 2 * 1 / 2 * 1  # Birch of two companies, cash of two categories, its one series
    birch = units.filter(company="Birch", category="cash")["pi_design"].item()
    assert birch == pytest.approx(1 - (1 - single) ** 3)  # three of five draws fall outside the US
    ash = units.filter(company="Ash", category="income")["pi_design"].item()
    assert ash == pytest.approx(1 - (1 - 1 / 2 * 1 / 2) ** 2)
