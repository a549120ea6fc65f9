"""The same sample in every version, and what a sample means for the ledger and the report."""

from __future__ import annotations

import polars as pl
import pytest

from data.contracts import Outcome
from selection.sampling.config import Damping, SamplingConfig
from selection.sampling.drawn import fitting, sample_records, sampling_report
from selection.sampling.reserve import fill
from selection.sampling.stages import draw_sample
from tests.selection.sampling.tables import NINE, SMALL, UNEVEN, WITH


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


def test_material_of_one_region_fills_the_sample_alone() -> None:
    config = SamplingConfig(us_share=0.3)
    assert fitting(config, SMALL) == config
    assert fitting(config, SMALL.filter("is_us")).us_share == 1.0
    assert fitting(config, SMALL.filter(~pl.col("is_us"))).us_share == 0.0


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
    sample = draw_sample(SMALL, config, 3)
    gone = sample.drawn["point_id"][0]
    report = sampling_report(SMALL, fill(sample.drawn, sample.reserve, [gone]), 4, config)
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
