from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from data.errors import InputError
from selection.sampling.config import Damping, Design, SamplingConfig
from selection.sampling.frame import COLUMNS, build_frame, inclusion_of_points, stage_probabilities
from selection.sampling.reserve import fill
from selection.sampling.stages import Sample, draw_sample

Row = tuple[str, bool, str, str, str]
WITH = Design.WITH_REPLACEMENT


def table(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def company(name: str, is_us: bool, cells: dict[str, dict[str, int]]) -> list[Row]:
    """Data points of one company: category → series → how many."""
    return [
        (name, is_us, category, series, f"{name}/{category}/{series}/{at}")
        for category, held in cells.items()
        for series, points in held.items()
        for at in range(points)
    ]


SMALL = table(
    company("Ash", True, {"cash": {"C | a": 2, "C | b": 1, "D": 3}, "income": {"R": 2}})
    + company("Birch", False, {"cash": {"C": 1}, "income": {"R": 1, "R | x": 1, "S": 4}})
    + company("Cedar", False, {"income": {"T": 2, "T | x | y": 1}})
)
SERIES = st.sampled_from(["A", "A | x", "A | y", "B | x | z", "B | x", "C"])
CELLS = st.dictionaries(
    st.sampled_from(["cash", "guidance", "income"]),
    st.dictionaries(SERIES, st.integers(1, 3), min_size=1),
    min_size=1,
)
COMPANIES = st.lists(st.tuples(st.booleans(), CELLS), min_size=2, max_size=7)


def frame_of(companies: list[tuple[bool, dict[str, dict[str, int]]]]) -> pl.DataFrame:
    rows = [row for at, (us, cells) in enumerate(companies) for row in company(f"c{at}", us, cells)]
    return table(rows)


def largest_size(points: pl.DataFrame) -> int:
    """The largest even size that both regions can fill without replacement."""
    series = points.select("is_us", "company", "category", "series_name").unique()
    held = [int((series["is_us"] == side).sum()) for side in (False, True)]
    return 2 * min(held)


def conditional(sample: Sample) -> dict[str, tuple[int, list[str]]]:
    """Per company how often it was drawn, and which points."""
    rows = sample.drawn.group_by("company").agg(pl.col("draws").sum(), pl.col("point_id").sort())
    return {name: (draws, points) for name, draws, points in rows.iter_rows()}


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


@settings(max_examples=40, deadline=None)
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


@settings(max_examples=40, deadline=None)
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


def test_reserve_is_of_the_same_strata_and_fills_in_its_order() -> None:
    cells = {"cash": {f"S{at}": 2 for at in range(9)}, "income": {f"T{at}": 1 for at in range(9)}}
    points = table([row for at in range(6) for row in company(f"c{at}", at < 3, cells)])
    sample = draw_sample(points, SamplingConfig(size=12, reserve=1.5), 5)
    keys = ["company", "category", "series_name"]
    assert sample.drawn.join(sample.reserve, on=keys).is_empty()
    strata = sample.drawn.group_by("is_us", "category").len()
    reserves = sample.reserve.group_by("is_us", "category").len(name="spare")
    joined = strata.join(reserves, on=["is_us", "category"])
    assert len(joined) == len(strata)
    assert joined["spare"].to_list() == np.ceil(joined["len"].to_numpy() * 1.5).tolist()
    gone = sample.drawn.filter(category="cash", is_us=True)["point_id"][0]
    spare = sample.reserve.filter(category="cash", is_us=True)["point_id"]
    filled = fill(sample.drawn, sample.reserve, {gone, spare[0]})
    assert filled.rows.filter("replacement")["point_id"].to_list() == [spare[1]]
    assert len(filled.rows) == 12
    response = filled.response.filter(category="cash", is_us=True).row(0, named=True)
    n = response["drawn"]
    assert (response["rejected"], response["replaced"], response["missing"]) == (2, 1, 0)
    assert response["response_rate"] == pytest.approx(n / (n + 2))
    assert (filled.response.filter(category="income")["response_rate"] == 1).all()


def test_places_the_reserve_cannot_fill_are_missing() -> None:
    sample = draw_sample(SMALL, SamplingConfig(size=2), 1)
    everything = [*sample.drawn["point_id"], *sample.reserve["point_id"]]
    filled = fill(sample.drawn, sample.reserve, everything)
    assert filled.rows.is_empty()
    assert filled.response["missing"].sum() == 2
    assert (filled.response["response_rate"] == 0).all()


def test_where_a_stratum_is_used_up_the_region_fills_in() -> None:
    cells = {"cash": {f"S{at}": 2 for at in range(9)}, "income": {f"T{at}": 1 for at in range(9)}}
    points = table([row for at in range(6) for row in company(f"c{at}", at < 3, cells)])
    sample = draw_sample(points, SamplingConfig(size=12, reserve=1.0), 5)
    cash = pl.concat([sample.drawn, sample.reserve.select(sample.drawn.columns)])
    gone = cash.filter(category="cash", is_us=True)["point_id"].to_list()
    filled = fill(sample.drawn, sample.reserve, gone)
    assert len(filled.rows) == 12
    assert filled.rows.filter("is_us").height == 6
    called = filled.rows.filter("replacement")
    assert set(called["category"]) == {"income"}
    lacking = filled.response.filter(category="cash", is_us=True).row(0, named=True)
    assert lacking["missing"] == called.height == lacking["drawn"]


def test_draws_with_replacement_are_counted() -> None:
    points = table(company("Ash", True, {"cash": {"A": 1}}))
    sample = draw_sample(points, SamplingConfig(size=5, us_share=1, design=WITH), 1)
    assert sample.drawn["draws"].to_list() == [5]
    assert sample.drawn["pi_design"].to_list() == [1.0]


@pytest.mark.parametrize(
    ("points", "config", "message"),
    [
        (SMALL.filter("is_us"), SamplingConfig(size=2), "no non-US company.*us_share = 1"),
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
        draw_sample(points, config, 1)
