"""The draw: fixed sizes, published probabilities, and draws that are repeated to the letter.

And the reserve: its order and size, and which units replace rejected ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from data.contracts import Outcome
from data.randomness import keyed_hash
from selection.config import Damping, Design, SamplingConfig
from selection.sampling import stages
from selection.sampling.frame import (
    COLUMNS,
    build_frame,
    inclusion_of_points,
)
from selection.sampling.stages import (
    Sample,
    _compare_dampings,
    _compare_in_frame,
    _draw_sample,
    _fill,
    _fitting,
    _reserve_of,
    _sampling_report,
    sample_records,
)
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


@pytest.mark.slow(seconds=15)
@pytest.mark.parametrize("design", Design)
def test_frequencies_are_the_published_probabilities(design: Design) -> None:
    config = SamplingConfig(size=6, design=design, reserve=0)
    units = inclusion_of_points(build_frame(SMALL), config)
    keys = ["company", "category", "series_name"]
    seen = pl.concat([_draw_sample(SMALL, config, seed).drawn for seed in range(400)])
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
    sample = _draw_sample(points, config, seed)
    assert sample.drawn.group_by("is_us").len()["len"].to_list() == [size // 2] * 2
    assert sample.drawn["point_id"].n_unique() == size
    units = inclusion_of_points(build_frame(points), config)
    n_points = 1 / units["pi_point"]
    assert (units["pi_design"] * n_points).sum() == pytest.approx(size, abs=1e-6)
    assert (units["pi_draw"] * n_points).sum() == pytest.approx(1, abs=1e-12)
    assert units["pi_design"].is_between(0, 1, closed="right").all()
    again = _draw_sample(points.sample(fraction=1, shuffle=True, seed=seed), config, seed)
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
    before = conditional(_draw_sample(points, config, seed))
    more = pl.concat([points, table(company("new", True, added))])
    after = conditional(_draw_sample(more, config, seed))
    for name in before.keys() & after.keys():
        if before[name][0] == after[name][0]:
            assert after[name] == before[name]


def test_most_companies_keep_their_draws_beside_a_new_one() -> None:
    cells = {"cash": {"A": 4, "B": 4}}
    rows = [row for at in range(30) for row in company(f"c{at}", at % 2 == 0, cells)]
    config = SamplingConfig(size=20)
    before = conditional(_draw_sample(table(rows), config, 1))
    after = conditional(_draw_sample(table(rows + company("new", True, cells)), config, 1))
    same = [name for name in before if before[name] == after.get(name)]
    assert len(same) >= 15


def test_draws_with_replacement_are_counted() -> None:
    points = table(company("Ash", True, {"cash": {"A": 1}}))
    sample = _draw_sample(points, SamplingConfig(size=5, us_share=1, design=WITH), 1)
    assert sample.drawn["draws"].to_list() == [5]
    assert sample.drawn["pi_design"].to_list() == [1.0]


def test_a_published_sample_is_drawn_again_to_the_letter() -> None:
    """The draws of a seed are part of a release: a change here changes what it holds."""
    sample = _draw_sample(NINE, SamplingConfig(size=6, reserve=0.5), 11)
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
    again = _draw_sample(NINE, SamplingConfig(size=6, reserve=0.5, design=WITH), 11)
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
    sample = _draw_sample(points, config, 7)
    rows = sample.drawn.select("point_id", "draws", pl.col("pi_design").round(6))
    assert list(rows.iter_rows()) == drawn
    assert sample.reserve["point_id"].to_list() == reserve
    assert not sample.drawn["replacement"].any() and sample.reserve["replacement"].all()
    assert set(sample.reserve["draws"]) == {1}


def test_reserve_is_of_the_same_strata_and_fills_in_its_order() -> None:
    cells = {"cash": {f"S{at}": 2 for at in range(9)}, "income": {f"T{at}": 1 for at in range(9)}}
    points = table([row for at in range(6) for row in company(f"c{at}", at < 3, cells)])
    sample = _draw_sample(points, SamplingConfig(size=12, reserve=1.5), 5)
    keys = ["company", "category", "series_name"]
    assert sample.drawn.join(sample.reserve, on=keys).is_empty()
    strata = sample.drawn.group_by("is_us", "category").len()
    reserves = sample.reserve.group_by("is_us", "category").len(name="spare")
    joined = strata.join(reserves, on=["is_us", "category"])
    assert len(joined) == len(strata)
    assert joined["spare"].to_list() == np.ceil(joined["len"].to_numpy() * 1.5).tolist()
    gone = sample.drawn.filter(category="cash", is_us=True)["point_id"][0]
    spare = sample.reserve.filter(category="cash", is_us=True)["point_id"]
    filled = _fill(sample.drawn, sample.reserve, {gone, spare[0]})
    assert filled.rows.filter("replacement")["point_id"].to_list() == [spare[1]]
    assert len(filled.rows) == 12
    response = filled.response.filter(category="cash", is_us=True).row(0, named=True)
    n = response["drawn"]
    assert (response["rejected"], response["replaced"], response["missing"]) == (2, 1, 0)
    assert response["response_rate"] == pytest.approx(n / (n + 2))
    assert (filled.response.filter(category="income")["response_rate"] == 1).all()


def test_places_the_reserve_cannot_fill_are_missing() -> None:
    sample = _draw_sample(SMALL, SamplingConfig(size=2), 1)
    everything = [*sample.drawn["point_id"], *sample.reserve["point_id"]]
    filled = _fill(sample.drawn, sample.reserve, everything)
    assert filled.rows.is_empty()
    assert filled.response["missing"].sum() == 2
    assert (filled.response["response_rate"] == 0).all()


def test_where_a_stratum_is_used_up_the_region_fills_in() -> None:
    cells = {"cash": {f"S{at}": 2 for at in range(9)}, "income": {f"T{at}": 1 for at in range(9)}}
    points = table([row for at in range(6) for row in company(f"c{at}", at < 3, cells)])
    sample = _draw_sample(points, SamplingConfig(size=12, reserve=1.0), 5)
    cash = pl.concat([sample.drawn, sample.reserve.select(sample.drawn.columns)])
    gone = cash.filter(category="cash", is_us=True)["point_id"].to_list()
    filled = _fill(sample.drawn, sample.reserve, gone)
    assert len(filled.rows) == 12
    assert filled.rows.filter("is_us").height == 6
    called = filled.rows.filter("replacement")
    assert set(called["category"]) == {"income"}
    lacking = filled.response.filter(category="cash", is_us=True).row(0, named=True)
    assert lacking["missing"] == called.height == lacking["drawn"]


@pytest.mark.parametrize("seed", range(5))
def test_the_reserve_is_ordered_by_the_logarithm_of_the_hash_over_the_probability(
    seed: int,
) -> None:
    config = SamplingConfig(size=4, us_share=0.75)
    units = inclusion_of_points(build_frame(UNEVEN), config)
    drawn = _draw_sample(UNEVEN, config, seed).drawn
    reserve = _reserve_of(units, drawn, 100.0, seed)
    gone = set(drawn.select("company", "category", "series_name").iter_rows())
    races: dict[tuple[bool, str], list[tuple[float, int]]] = {}
    for at, row in enumerate(units.iter_rows(named=True)):
        key = (row["company"], row["category"], row["series_name"])
        if key in gone:
            continue
        hashed = int.from_bytes(keyed_hash(seed, "sample.series", "\0".join(key))[:8], "big")
        race = -np.log((hashed + 0.5) / 2**64) / (row["pi_category"] * row["pi_series"])
        races.setdefault((row["is_us"], row["category"]), []).append((round(race, 9), at))
    strata = set(drawn.select("is_us", "category").iter_rows())
    expected = [
        (at, rank)
        for stratum in sorted(strata)
        for rank, (_, at) in enumerate(sorted(races.get(stratum, [])), start=1)
    ]
    assert list(reserve.iter_rows()) == expected


@pytest.mark.parametrize(("per_draw", "kept"), [(0.0, 0), (0.5, 1), (1.0, 1), (1.01, 2), (2.0, 2)])
def test_a_reserve_is_rounded_up_per_stratum(per_draw: float, kept: int) -> None:
    points = table(company("Ash", True, {"cash": {f"S{at}": 1 for at in range(9)}}))
    sample = _draw_sample(points, SamplingConfig(size=1, us_share=1, reserve=per_draw), 1)
    assert sample.reserve.height == kept
    assert sample.reserve["rank"].to_list() == list(range(1, kept + 1))


def held(rows: list[tuple[bool, str, str]], replacement: bool) -> pl.DataFrame:
    """A table as `fill` takes it, one series per point; ranks count within the stratum."""
    frame = pl.DataFrame(rows, schema=["is_us", "category", "point_id"], orient="row")
    return frame.with_columns(
        pl.col("point_id").alias("company"),
        pl.col("point_id").alias("series_name"),
        draws=pl.lit(1, pl.Int64),
        replacement=pl.lit(replacement),
    )


def test_a_rejected_unit_is_replaced_by_the_next_of_its_stratum_then_of_its_region() -> None:
    drawn = held(
        [
            *((True, "cash", name) for name in ("d1", "d2", "d3")),
            (True, "income", "d4"),
            (False, "cash", "d5"),
        ],
        replacement=False,
    )
    spare = held(
        [
            (True, "cash", "r1"),
            (True, "cash", "r2"),
            *((True, "income", name) for name in ("s1", "s2", "s3")),
            *((False, "cash", name) for name in ("t1", "t2")),
        ],
        replacement=True,
    )
    spare = spare.with_columns(rank=pl.Series([1, 2, 1, 2, 3, 1, 2]))

    def filled(*rejected: str) -> tuple[list[str], dict[tuple[bool, str], tuple[int, ...]]]:
        result = _fill(drawn, spare, rejected)
        names = ("drawn", "rejected", "replaced", "missing")
        table = {(r["is_us"], r["category"]): r for r in result.response.iter_rows(named=True)}
        counts = {stratum: tuple(row[n] for n in names) for stratum, row in table.items()}
        return sorted(result.rows["point_id"]), counts

    rows, counts = filled()
    assert rows == ["d1", "d2", "d3", "d4", "d5"]
    assert counts[True, "cash"] == (3, 0, 0, 0)
    rows, counts = filled("d1")
    assert rows == ["d2", "d3", "d4", "d5", "r1"]
    assert counts[True, "cash"] == (3, 1, 1, 0)
    rows, counts = filled("d1", "r1")  # a replacement that is rejected in its turn
    assert rows == ["d2", "d3", "d4", "d5", "r2"]
    assert counts[True, "cash"] == (3, 2, 1, 0)
    rows, counts = filled("d1", "d2", "d3")  # two of its own, one of the region's other stratum
    assert rows == ["d4", "d5", "r1", "r2", "s1"]
    assert counts[True, "cash"] == (3, 3, 2, 1)
    assert counts[True, "income"] == (1, 0, 1, 0)
    rows, counts = filled("d1", "d2", "d3", "d4")  # its own stratum comes first
    assert rows == ["d5", "r1", "r2", "s1", "s2"]
    assert counts[True, "income"] == (1, 1, 2, 0)
    rows, counts = filled("d5", "t1", "t2")  # nothing is taken from another region
    assert rows == ["d1", "d2", "d3", "d4"]
    assert counts[False, "cash"] == (1, 3, 0, 1)


def test_response_rates_are_accepted_over_tried_units() -> None:
    drawn = held([(True, "cash", name) for name in ("d1", "d2", "d3", "d4")], replacement=False)
    spare = held([(True, "cash", name) for name in ("r1", "r2")], replacement=True)
    spare = spare.with_columns(rank=pl.Series([1, 2]))
    rates = [
        _fill(drawn, spare, rejected).response["response_rate"].item()
        for rejected in ((), ("d1",), ("d1", "r1"), ("d1", "d2", "d3"))
    ]
    assert rates == pytest.approx([1, 4 / 5, 4 / 6, 3 / 6])


def test_keys_that_differ_by_less_than_a_billionth_are_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The order of the frame decides then, not the last digits of a logarithm."""
    config = SamplingConfig(size=2, us_share=1.0)
    points = table(company("one", True, {"cash": {f"S{at}": 1 for at in range(6)}}))
    units = inclusion_of_points(build_frame(points), config)
    drawn = _draw_sample(points, config, 1).drawn
    weights = units["pi_category"][0] * units["pi_series"][0]
    for step, turned in ((1e-10, False), (2e-9, True)):
        races = 1.0 - step * np.arange(4)  # each later unit comes earlier, if that counts
        monkeypatch.setattr(stages, "_uniforms", lambda *_, r=races: np.exp(-r * weights))
        order = _reserve_of(units, drawn, 2.0, 1)["at"].to_list()
        assert (order == sorted(order, reverse=True)) is turned
        assert (order == sorted(order)) is not turned


NAMES = pl.Series(["A", "B", *(f"B | {at}" for at in range(8))])


def test_shares_by_hand() -> None:
    report = _compare_dampings(NAMES)
    assert (report.series, report.breakdown_series) == (10, 8)
    shares = {row["damping"]: row for row in report.shares.iter_rows(named=True)}
    assert shares["none"]["breakdown"] == pytest.approx(0.8)
    assert shares["none"]["effective_series"] == pytest.approx(10)
    assert shares["sqrt"]["breakdown"] == pytest.approx(3 / 4 * 8 / 9)
    assert shares["sqrt"]["fall_points"] == pytest.approx(100 * (0.8 - 2 / 3))
    by_depth = report.by_depth.filter(damping="sqrt")
    assert by_depth["depth"].to_list() == [1, 2]
    assert by_depth["share"].to_list() == pytest.approx([1 / 3, 2 / 3])


def test_breakdowns_can_be_named_or_begin_deeper() -> None:
    named = np.zeros(len(NAMES), dtype=np.bool_)
    named[0] = True
    none = _compare_dampings(NAMES, breakdown=named).shares.filter(damping="none")
    assert none["breakdown"].item() == pytest.approx(0.1)
    assert _compare_dampings(NAMES, headline_depth=2).breakdown_series == 0


def test_in_a_frame_each_cell_keeps_its_probability() -> None:
    rows = [("Ash", True, "cash", name, f"a{at}") for at, name in enumerate(NAMES)]
    rows += [("Birch", False, "cash", "A", "b")]
    frame = build_frame(pl.DataFrame(rows, schema=COLUMNS, orient="row"))
    shares = _compare_in_frame(frame, SamplingConfig()).shares
    assert shares.filter(damping="none")["breakdown"].item() == pytest.approx(0.5 * 0.8)


def test_the_fall_on_the_reference_is_the_seeds(material: Path) -> None:
    reference = pl.read_csv(material / "sampling" / "sampler_reference_10k.csv")
    breakdown = (reference["kind"] == "breakdown").to_numpy()
    report = _compare_dampings(reference["name"], breakdown=breakdown, separator="|")
    fall = report.shares.filter(damping="sqrtlog")["fall_points"].item()
    assert fall == pytest.approx(39.2, abs=0.05)


def test_material_of_one_region_fills_the_sample_alone() -> None:
    config = SamplingConfig(us_share=0.3)
    assert _fitting(config, SMALL) == config
    assert _fitting(config, SMALL.filter("is_us")).us_share == 1.0
    assert _fitting(config, SMALL.filter(~pl.col("is_us"))).us_share == 0.0


def test_points_tried_and_not_tried_are_counted_by_stratum() -> None:
    tried = ["Ash/cash/D/0", "Ash/cash/D/1", "Birch/cash/C/0"]
    rows, tally = sample_records(SMALL, tried)
    assert [(row.item_id, row.stratum, row.outcome, row.n) for row in rows] == [
        ("(non-US/cash)", "non-US/cash", Outcome.CHOSEN, 1),
        ("(non-US/income)", "non-US/income", Outcome.NOT_CHOSEN, 9),
        ("(US/cash)", "US/cash", Outcome.NOT_CHOSEN, 4),
        ("(US/cash)", "US/cash", Outcome.CHOSEN, 2),
        ("(US/income)", "US/income", Outcome.NOT_CHOSEN, 2),
    ]
    assert tally.counts == {Outcome.CHOSEN: 3, Outcome.NOT_CHOSEN: 15}


def test_the_report_counts_what_was_drawn_and_replaced() -> None:
    config = SamplingConfig(size=2, us_share=0.5)
    sample = _draw_sample(SMALL, config, 3)
    gone = sample.drawn["point_id"][0]
    report = _sampling_report(SMALL, _fill(sample.drawn, sample.reserve, [gone]), 4, config)
    assert {key: report[key] for key in ("asked_for", "questions", "us_share", "reserve")} == {
        "asked_for": 2, "questions": 2, "us_share": 0.5, "reserve": 4,
    }  # fmt: skip
    assert report["by_region"] == {"US": 1, "non-US": 1}
    assert sum(report["by_category"].values()) == 2
    assert report["replacements"] == 1
    assert sum(row["rejected"] for row in report["response"]) == 1
    dampings = {row["damping"]: row for row in report["dampings"]}
    assert set(dampings) == set(Damping)
    # Below statement and label: one of the two series of Cedar, which has a quarter of all.
    assert dampings["none"]["breakdown"] == round(0.25 / 2, 9)
