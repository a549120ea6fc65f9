"""What a drawn sample means for the ledger and the report of a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import polars as pl

from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.ledger import close
from selection.sampling.config import SamplingConfig
from selection.sampling.frame import build_frame
from selection.sampling.report import compare_in_frame
from selection.sampling.reserve import Filled

SAMPLE = "sample"
HEADLINE_DEPTH = 2  # components of a name without sections: statement | label
_REGION = {True: "US", False: "non-US"}


def fitting(config: SamplingConfig, frame: pl.DataFrame) -> SamplingConfig:
    """The sampling as configured; material of one region fills the sample alone."""
    regions = set(frame["is_us"].unique())
    if len(regions) == 1:
        return config.model_copy(update={"us_share": float(regions.pop())})
    return config


def sample_records(
    frame: pl.DataFrame, tried: Collection[str]
) -> tuple[list[LedgerRow], StageTally]:
    """Points tried and not tried, counted per stratum: most of a database are never drawn."""
    counted = (
        frame.with_columns(tried=pl.col("point_id").is_in(list(tried)))
        .group_by("is_us", "category", "tried")
        .len()
        .sort("is_us", "category", "tried")
    )
    rows = []
    for is_us, category, was_tried, n in counted.iter_rows():
        stratum = f"{_REGION[is_us]}/{category}"
        outcome = Outcome.CHOSEN if was_tried else Outcome.NOT_CHOSEN
        rows.append(LedgerRow(SAMPLE, "point", f"({stratum})", outcome, stratum=stratum, n=n))
    counts = {Outcome.CHOSEN: len(tried), Outcome.NOT_CHOSEN: frame.height - len(tried)}
    return rows, close(SAMPLE, StageKind.CHOOSE, "point", frame.height, counts)


def sampling_report(
    frame: pl.DataFrame, filled: Filled, reserve: int, config: SamplingConfig
) -> dict[str, Any]:
    """What was drawn, by region and category, how many were replaced, and the response rates."""
    drawn = frame.filter(pl.col("point_id").is_in(filled.rows["point_id"].to_list()))
    by_region = Counter(_REGION[is_us] for is_us in drawn["is_us"])
    dampings = compare_in_frame(build_frame(frame), config, HEADLINE_DEPTH).shares
    return {
        "asked_for": config.size,
        "questions": drawn.height,
        "us_share": config.us_share,
        "by_region": dict(sorted(by_region.items())),
        "by_category": dict(sorted(Counter(drawn["category"]).items())),
        "replacements": int(filled.rows["replacement"].sum()),
        "reserve": reserve,
        "response": _rounded(filled.response),
        "dampings": _rounded(dampings),
    }


def _rounded(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with their floats to nine places (law 5)."""
    return table.with_columns(pl.col(pl.Float64).round(9)).to_dicts()
