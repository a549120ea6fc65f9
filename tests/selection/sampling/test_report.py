from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from data.contracts import Outcome
from selection.sampling.config import Damping, SamplingConfig
from selection.sampling.frame import COLUMNS, build_frame
from selection.sampling.report import (
    _compare_in_frame,
    _fitting,
    _sampling_report,
    compare_dampings,
    sample_records,
)
from selection.sampling.stages import draw_sample, fill
from tests.selection.sampling.tables import SMALL

NAMES = pl.Series(["A", "B", *(f"B | {at}" for at in range(8))])


def test_shares_by_hand() -> None:
    report = compare_dampings(NAMES)
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
    none = compare_dampings(NAMES, breakdown=named).shares.filter(damping="none")
    assert none["breakdown"].item() == pytest.approx(0.1)
    assert compare_dampings(NAMES, headline_depth=2).breakdown_series == 0


def test_in_a_frame_each_cell_keeps_its_probability() -> None:
    rows = [("Ash", True, "cash", name, f"a{at}") for at, name in enumerate(NAMES)]
    rows += [("Birch", False, "cash", "A", "b")]
    frame = build_frame(pl.DataFrame(rows, schema=COLUMNS, orient="row"))
    shares = _compare_in_frame(frame, SamplingConfig()).shares
    assert shares.filter(damping="none")["breakdown"].item() == pytest.approx(0.5 * 0.8)


def test_the_fall_on_the_reference_is_the_seeds(material: Path) -> None:
    reference = pl.read_csv(material / "sampling" / "sampler_reference_10k.csv")
    breakdown = (reference["kind"] == "breakdown").to_numpy()
    report = compare_dampings(reference["name"], breakdown=breakdown, separator="|")
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
    sample = draw_sample(SMALL, config, 3)
    gone = sample.drawn["point_id"][0]
    report = _sampling_report(SMALL, fill(sample.drawn, sample.reserve, [gone]), 4, config)
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
