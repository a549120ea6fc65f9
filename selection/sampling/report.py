"""What each damping rule does to breakdown series, those below the headline of their name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from selection.sampling.config import SEPARATOR, Damping, Floats, Ints, SamplingConfig
from selection.sampling.frame import Frame, stage_probabilities
from selection.sampling.tree import depths, leaf_probabilities

SEED_FALL = (28, 39)  # percentage points by which the seed's breakdown share falls under √log


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


def compare_in_frame(
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


def markdown(report: DampingReport) -> str:
    """The report as a section of a page: a table of shares and a table by depth."""
    low, high = SEED_FALL
    lines = [
        f"{report.breakdown_series:,} of {report.series:,} series are breakdowns. `none` draws all "
        "series of a hierarchy alike; the fall is in percentage points against it "
        f"(the seed's under sqrtlog: {low} to {high}).",
        "",
        "| damping | breakdown share | fall, points | effective series |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row['damping']} | {row['breakdown']:.1%} | {row['fall_points']:.1f} "
        f"| {row['effective_series']:,.0f} |"
        for row in report.shares.iter_rows(named=True)
    ]
    wide = report.by_depth.pivot("depth", index="damping", values="share")
    lines += [
        "",
        "| damping | " + " | ".join(f"depth {depth}" for depth in wide.columns[1:]) + " |",
        "|---|" + "---|" * (wide.width - 1),
    ]
    lines += [
        f"| {damping} | " + " | ".join(f"{share:.1%}" for share in shares) + " |"
        for damping, *shares in wide.iter_rows()
    ]
    return "\n".join(lines) + "\n"
