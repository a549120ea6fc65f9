"""Each attack on releases whose risk is known beforehand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from anonymization.tables.attacks import measures
from anonymization.tables.attacks.linked import Knowledge, Metric, link, ranks, states
from anonymization.tables.config import PerturbMethod
from data.errors import InputError
from tests.anonymization.tables.attacks.world import (
    COMPANIES,
    NOISE,
    YEARS,
    shuffled,
    world,
)
from tests.anonymization.tables.build import KEY, company_config, step

THREE = ("assets", "people", "cash")


def test_the_original_released_is_found_by_all() -> None:
    frame, _, config = world(NOISE)
    linked = link(frame, frame, config).of(THREE)
    assert measures.prefix_join(linked, 3).rate > 0.97
    for metric in Metric:
        assert measures.nearest(linked, metric, within=True).rate > 0.97
    assert measures.ratio(linked).rate > 0.97
    assert measures.dominant(linked).rate == 1.0
    assert measures.assignment(linked, 2_000).rate > 0.97
    assert measures.history(linked, [linked]).rate == 1.0


def test_rows_dealt_out_anew_are_found_by_chance() -> None:
    frame, _, config = world(NOISE)
    linked = link(frame, shuffled(frame, "year"), config).of(THREE)
    for actual in (
        measures.nearest(linked, Metric.LOG, within=True),
        measures.assignment(linked, 2_000),
        measures.ratio(linked),
        measures.sign_history(linked),
    ):
        assert actual.ci_low <= actual.chance <= actual.ci_high


def test_exact_order_is_total_re_identification() -> None:
    frame, _, config = world(NOISE)
    grown = frame.with_columns((pl.col("people").cast(pl.Float64) ** 1.5).round(3))
    linked = link(frame, grown, config).of(("people",))
    assert measures.nearest(linked, Metric.RANK, within=True).rate > 0.97
    assert measures.nearest(linked, Metric.LOG, within=True).rate < 0.2


def test_a_factor_per_company_falls_to_ratios_only() -> None:
    frame, _, config = world(NOISE)
    draw = np.random.default_rng(3)
    factor = np.repeat(np.exp(draw.normal(0, 2, COMPANIES)), YEARS)
    moved = frame.with_columns(
        (pl.col(name) * pl.Series(factor)).round(3) for name in ("assets", "people", "equity")
    )
    linked = link(frame, moved, config).of(("assets", "people", "equity"))
    assert measures.nearest(linked, Metric.LOG, within=True).rate < 0.1
    assert measures.ratio(linked).rate > 0.9


def test_growth_gives_away_who_changed_levels() -> None:
    frame, released, config = world(step(PerturbMethod.LEVEL_SWAP, 0.5))
    linked = link(frame, released, config)
    run = measures.rerun(linked, frame, config, measures.seed_key(0)).of(THREE)
    part = linked.of(THREE)
    assert measures.nearest(part, Metric.LOG, within=True).rate < 0.25
    signs = measures.sign_history(part)
    assert signs.ci_low > 5 * signs.chance  # four changes: few patterns of signs
    assert measures.history(part, [run]).rate > 0.9


def test_largest_company_of_each_industry_and_year() -> None:
    frame, _, config = world(NOISE)
    top = frame.group_by("industry", "year").agg(pl.col("people").max().alias("top"))
    joined = frame.join(top, on=["industry", "year"], how="left", maintain_order="left")
    hidden = joined.with_columns(
        people=pl.when(pl.col("people") == pl.col("top")).then(1).otherwise(pl.col("people"))
    )
    actual = measures.dominant(link(frame, frame, config).of(("people",)))
    assert (actual.n, actual.rate, actual.chance) == (2 * YEARS, 1.0, 2 / COMPANIES)
    assert measures.dominant(link(frame, hidden, config).of(("people",))).rate == 0.0


def test_prefix_join_shares_among_equal_prefixes() -> None:
    frame = pl.DataFrame(
        {"id": ["a", "b", "c"], "industry": ["x"] * 3, "year": ["1"] * 3}
        | {name: [11, 12, 57] for name in ("assets", "liabilities", "equity", "cash", "people")}
    )
    linked = link(frame, frame, company_config(NOISE)).of(("people",))
    assert measures.prefix_join(linked, 1).hits == 2.0  # 11 and 12 share their digit: 1/2 + 1/2 + 1
    assert measures.prefix_join(linked, 2).hits == 3.0


def test_knowing_the_method_helps_against_rank_swap() -> None:
    frame, released, config = world(step(PerturbMethod.RANK_SWAP, 0.2))
    linked = link(frame, released, config)
    runs = [measures.rerun(linked, frame, config, measures.seed_key(n)) for n in range(4)]
    part, known = linked.of(THREE), [run.of(THREE) for run in runs]
    aware = measures.aware_assignment(part, known, 2_000)
    assert aware.rate > measures.assignment(part, 2_000).rate > 2 * aware.chance
    window = measures.rank_window(part, known)
    assert aware.rate > window.rate > window.chance


@pytest.mark.parametrize("columns", [("people",), THREE])
def test_a_published_seed_is_no_key(columns: tuple[str, ...]) -> None:
    seed = measures.seed_key(0)
    frame, sealed, config = world(NOISE)
    linked = link(frame, sealed, config)
    again = measures.rerun(linked, frame, config, seed)
    other = measures.rerun(linked, frame, config, measures.seed_key(0, "another"))
    knows = Knowledge.PUBLISHED
    safe = measures.rerun_match(linked.of(columns), again.of(columns), knows)
    control = measures.rerun_match(linked.of(columns), other.of(columns), knows)
    assert safe.ci_low < control.rate < safe.ci_high
    leaked = linked.against(world(NOISE, key=seed)[1])
    assert measures.rerun_match(leaked.of(columns), again.of(columns), knows).rate > 0.95


def test_missing_cells_and_signs_are_used() -> None:
    values = np.array([[np.nan, -1.0], [0.0, 5.0]])
    assert states(values).tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_ranks_within_labels_share_ties() -> None:
    values = np.array([[10.0], [30.0], [10.0], [7.0], [np.nan]])
    actual = ranks(values, np.array([0, 0, 0, 1, 0]))[:, 0]
    assert actual == pytest.approx([1 / 3, 5 / 6, 1 / 3, 0.5, 0.5])


def test_targets_have_a_number_to_know() -> None:
    frame, released, config = world(NOISE)
    holed = frame.with_columns(
        cash=pl.when(pl.col("id") == "C0001").then(None).otherwise(pl.col("cash"))
    )
    linked = link(holed, released, config)
    assert len(linked.knowing(("cash",))) == (COMPANIES - 1) * YEARS
    assert len(linked.knowing(("cash", "people"))) == COMPANIES * YEARS


def test_doubled_rows_are_counted_and_left_out() -> None:
    frame, released, config = world(NOISE)
    old, new = (pl.concat([table, table.head(3)]) for table in (frame, released))
    linked = link(old, new, config)
    assert (len(linked), linked.doubled) == (COMPANIES * YEARS, 3)


def test_tables_of_different_height_are_refused() -> None:
    frame, released, config = world(NOISE)
    with pytest.raises(InputError, match="the rows and measures of a single table"):
        link(frame, released.head(5), config)


def test_key_of_the_world_is_not_the_public_one() -> None:
    assert measures.seed_key(0) != KEY
