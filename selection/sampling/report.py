"""What a drawn sample means for the ledger and the report of a release.

The report says what each damping rule does to breakdown series, those below the headline of their
name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.figures import percent
from data.ledger import close
from selection.sampling.config import SEPARATOR, Damping, SamplingConfig
from selection.sampling.frame import (
    STRATUM,
    Frame,
    build_frame,
    category_of,
    inclusion_of_points,
    stage_probabilities,
    with_quotas,
)
from selection.sampling.stages import Filled, Sample, draw_sample, fill
from selection.sampling.systematic import Floats, Ints, depths, leaf_probabilities


@dataclass(frozen=True, slots=True)
class DampingReport:
    """Probabilities of a single draw under each damping rule.

    `shares`: damping, breakdown (share of the probability on breakdown series), fall_points (how
    far that is below `none`, in percentage points), effective_series (1 / Σπ²: the number of
    equally likely series with the same concentration). `by_depth`: damping, depth, share. `series`
    and `breakdown_series` are numbers of series.
    """

    shares: pl.DataFrame
    by_depth: pl.DataFrame
    series: int
    breakdown_series: int


def compare_dampings(
    names: pl.Series,
    *,
    groups: Ints | None = None,
    mass: Floats | None = None,
    breakdown: NDArray[np.bool_] | None = None,
    headline_depth: int = 1,
    separator: str = SEPARATOR,
) -> DampingReport:
    """All damping rules over one hierarchy, or one per group whose probability `mass` has per name.

    `breakdown` marks breakdown series; without it, those whose name has more than `headline_depth`
    components.
    """
    depth = depths(names, separator)
    below = depth > headline_depth if breakdown is None else breakdown
    of_group = np.ones(len(names)) if mass is None else mass
    probabilities = {
        damping: of_group * leaf_probabilities(names, damping, groups=groups, separator=separator)
        for damping in Damping
    }
    base = float(probabilities[Damping.NONE][below].sum())
    shares = [_shares(damping, pi, below, base) for damping, pi in probabilities.items()]
    by_depth = [_by_depth(damping, pi, depth) for damping, pi in probabilities.items()]
    return DampingReport(
        pl.DataFrame(shares), pl.concat(by_depth), len(names), int(np.count_nonzero(below))
    )


def _shares(
    damping: Damping, pi: Floats, below: NDArray[np.bool_], base: float
) -> dict[str, str | float]:
    """A row of `DampingReport.shares`; `base` is the breakdown share under `none`."""
    share = float(pi[below].sum())
    return {
        "damping": damping.value,
        "breakdown": share,
        "fall_points": 100 * (base - share),
        "effective_series": float(pi.sum() ** 2 / np.square(pi).sum()),
    }


def _by_depth(damping: Damping, pi: Floats, depth: Ints) -> pl.DataFrame:
    """Rows of `DampingReport.by_depth`: the probability of each depth."""
    held = np.bincount(depth, weights=pi)
    present = np.unique(depth)
    return pl.DataFrame({"depth": present, "share": held[present]}).select(
        pl.lit(damping.value).alias("damping"), "depth", "share"
    )


def _compare_in_frame(
    frame: Frame, config: SamplingConfig, headline_depth: int = 1
) -> DampingReport:
    """All damping rules within the cells of a four-stage frame."""
    stages = stage_probabilities(frame, config)
    return compare_dampings(
        frame.series["series_name"],
        groups=frame.cell_of_series,
        mass=(stages["pi_company"] * stages["pi_category"]).to_numpy(),
        headline_depth=headline_depth,
        separator=config.separator,
    )


_SAMPLE = "sample"
_FEW = 0.05  # of the questions
_HEADLINE_DEPTH = 2  # components of a name without sections: statement | label
_REGION = {True: "US", False: "non-US"}


def _fitting(config: SamplingConfig, frame: pl.DataFrame) -> SamplingConfig:
    """The sampling as configured; material of one region fills the sample alone."""
    regions = set(frame["is_us"].unique())
    if len(regions) == 1:
        return config.model_copy(update={"us_share": float(regions.pop())})
    return config


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A sample drawn from a frame, with what it was drawn by."""

    frame: pl.DataFrame
    config: SamplingConfig
    sample: Sample

    def without(self, rejected: Collection[str]) -> pl.DataFrame:
        """The drawn points without the rejected ones, which the reserve replaces."""
        rows = fill(self.sample.drawn, self.sample.reserve, rejected).rows
        return rows.with_columns(category=category_of(pl.col("category")))

    def report(self, rejected: Collection[str]) -> dict[str, Any]:
        """What was drawn, by region and category, and what was replaced."""
        filled = fill(self.sample.drawn, self.sample.reserve, rejected)
        return _sampling_report(self.frame, filled, self.sample.reserve.height, self.config)


def draw(frame: pl.DataFrame, config: SamplingConfig, seed: int) -> _Drawing:
    """Draw as configured; material of one region fills the sample alone."""
    fitted = _fitting(config, frame)
    weighed = with_quotas(frame, fitted)
    return _Drawing(weighed, fitted, draw_sample(weighed, fitted, seed))


def lacking(frame: pl.DataFrame, config: SamplingConfig) -> list[str]:
    """A line for each quota of which the material allows less than half, and for each source (what
    the ids of companies begin with) that so few companies come from that hardly any is drawn."""
    fitted = _fitting(config, frame)
    weighed = with_quotas(frame, fitted)
    built = build_frame(weighed)
    expected = inclusion_of_points(built, fitted).with_columns(
        expected=pl.col("pi_design") * built.points_of_series / config.size,
        source=pl.col("company").str.split(":").list.first(),
    )
    strata = expected.group_by("category").agg(pl.col("expected").sum())
    reached = Counter[str]()
    for stratum, share in strata.iter_rows():
        reached.update(dict.fromkeys(stratum.split(STRATUM), share))
    by_source = expected.group_by("source").agg(
        pl.col("company").n_unique(), pl.col("expected").sum()
    )
    quotas = {} if weighed is frame else config.categories | config.periods
    return [
        *(
            f"{name}: quota {percent(quota)}, but the material allows only about "
            f"{percent(reached[name])}"
            for name, quota in quotas.items()
            if reached[name] < quota / 2
        ),
        *(
            f"{source}: {companies} of {built.companies.height} companies, "
            f"about {config.size * share:.1f} of {config.size} questions"
            for source, companies, share in by_source.sort("source").iter_rows()
            if share < _FEW
        ),
    ]


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
        rows.append(LedgerRow(_SAMPLE, "point", f"({stratum})", outcome, stratum=stratum, n=n))
    counts = {Outcome.CHOSEN: len(tried), Outcome.NOT_CHOSEN: frame.height - len(tried)}
    return rows, close(_SAMPLE, StageKind.CHOOSE, "point", frame.height, counts)


def _sampling_report(
    frame: pl.DataFrame, filled: Filled, reserve: int, config: SamplingConfig
) -> dict[str, Any]:
    """What was drawn, by region and category, how many were replaced, and the response rates."""
    drawn = frame.filter(pl.col("point_id").is_in(filled.rows["point_id"].to_list()))
    by_region = Counter(_REGION[is_us] for is_us in drawn["is_us"])
    dampings = _compare_in_frame(build_frame(frame), config, _HEADLINE_DEPTH).shares
    return {
        "asked_for": config.size,
        "questions": drawn.height,
        "us_share": config.us_share,
        "by_region": dict(sorted(by_region.items())),
        **_by_stratum(drawn["category"]),
        "replacements": int(filled.rows["replacement"].sum()),
        "reserve": reserve,
        "response": _rounded(filled.response),
        "dampings": _rounded(dampings),
    }


def _by_stratum(strata: pl.Series) -> dict[str, dict[str, int]]:
    """How many were drawn by category, and by length of period where the strata have one."""
    parts = [one.partition(STRATUM)[::2] for one in strata]
    counts = {"by_category": Counter(category for category, _ in parts)}
    counts["by_period"] = Counter(period for _, period in parts if period)
    return {name: dict(sorted(counted.items())) for name, counted in counts.items()}


def _rounded(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with their floats to nine places (law 5)."""
    return table.with_columns(pl.col(pl.Float64).round(9)).to_dicts()
