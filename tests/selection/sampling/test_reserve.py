"""The reserve: its order and size, and which units replace rejected ones."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from data.randomness import keyed_hash
from selection.sampling import reserve
from selection.sampling.config import SamplingConfig
from selection.sampling.frame import (
    build_frame,
    inclusion_of_points,
)
from selection.sampling.reserve import fill, reserve_of
from selection.sampling.stages import draw_sample
from tests.selection.sampling.tables import (
    SMALL,
    UNEVEN,
    company,
    table,
)


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


@pytest.mark.parametrize("seed", range(5))
def test_the_reserve_is_ordered_by_the_logarithm_of_the_hash_over_the_probability(
    seed: int,
) -> None:
    config = SamplingConfig(size=4, us_share=0.75)
    units = inclusion_of_points(build_frame(UNEVEN), config)
    drawn = draw_sample(UNEVEN, config, seed).drawn
    reserve = reserve_of(units, drawn, 100.0, seed)
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
    sample = draw_sample(points, SamplingConfig(size=1, us_share=1, reserve=per_draw), 1)
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
        result = fill(drawn, spare, rejected)
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
        fill(drawn, spare, rejected).response["response_rate"].item()
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
    drawn = draw_sample(points, config, 1).drawn
    weights = units["pi_category"][0] * units["pi_series"][0]
    for step, turned in ((1e-10, False), (2e-9, True)):
        races = 1.0 - step * np.arange(4)  # each later unit comes earlier, if that counts
        monkeypatch.setattr(reserve, "_uniforms", lambda *_, r=races: np.exp(-r * weights))
        order = reserve_of(units, drawn, 2.0, 1)["at"].to_list()
        assert (order == sorted(order, reverse=True)) is turned
        assert (order == sorted(order)) is not turned
