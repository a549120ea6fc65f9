"""The exact inclusion probability of every unit of the frame, in closed form."""

from __future__ import annotations

import numpy as np
import polars as pl

from data.errors import InputError
from selection.sampling.config import Design, SamplingConfig
from selection.sampling.damping import Floats, Ints
from selection.sampling.design import expected_draws, with_replacement_inclusion
from selection.sampling.frame import Frame, series_weights, stage_probabilities


def inclusion_of_points(frame: Frame, config: SamplingConfig) -> pl.DataFrame:
    """`stage_probabilities` with `pi_design`: how likely a point of the series is in the sample.

    Without replacement the points of a sample are of different series; `pi_design` sums to the
    size over all points. With replacement it is the probability to be drawn at least once.
    """
    stages = stage_probabilities(frame, config)
    if config.design is Design.WITHOUT_REPLACEMENT:
        pi_design = _without_replacement(frame, config) / frame.points_of_series
        return stages.with_columns(pi_design=pi_design)
    draws = region_sizes(frame, config)
    region = stages["is_us"].cast(pl.Int64).to_numpy()
    in_region = np.bincount(frame.region_of_company, minlength=2)[region]
    given_region = stages.select(pl.col("pi_category") * pl.col("pi_series") * pl.col("pi_point"))
    single = given_region.to_series().to_numpy() / in_region
    return stages.with_columns(pi_design=with_replacement_inclusion(single, draws[region]))


def region_sizes(frame: Frame, config: SamplingConfig) -> Ints:
    """How many points are drawn outside and inside the US.

    Errors: `InputError` if draws fall on a region without a company.
    """
    us = int(np.floor(config.size * config.us_share + 0.5))
    sizes = np.array([config.size - us, us], dtype=np.int64)
    held = np.bincount(frame.region_of_company, minlength=2)
    for size, companies, name, share in zip(sizes, held, ("non-US", "US"), (1, 0), strict=True):
        if size and not companies:
            raise InputError(
                "sampling frame",
                f"no {name} company",
                f"companies to draw {size} points from",
                f"Add a source of {name} companies, or set us_share = {share}.",
            )
    return sizes


def company_expectation(frame: Frame, sizes: Ints) -> Floats:
    """Expected draws of each company: equal within its region, at most its number of series."""
    caps = np.bincount(frame.company_of_cell[frame.cell_of_series]).astype(np.float64)
    totals = sizes.astype(np.float64)
    return expected_draws(np.ones(len(caps)), frame.region_of_company, totals, caps)


def cell_expectation(frame: Frame, of_company: Ints) -> Floats:
    """Expected draws of each category, given the draws of its company: equal within the company."""
    caps = np.bincount(frame.cell_of_series).astype(np.float64)
    totals = of_company.astype(np.float64)
    return expected_draws(np.ones(len(caps)), frame.company_of_cell, totals, caps)


def series_inclusion(frame: Frame, of_cell: Ints, weights: Floats) -> Floats:
    """Inclusion probability of each series, given the draws of its cell: min(1, c·weight)."""
    totals = of_cell.astype(np.float64)
    return expected_draws(weights, frame.cell_of_series, totals, np.ones(len(weights)))


def _without_replacement(frame: Frame, config: SamplingConfig) -> Floats:
    """Inclusion probability of each series over all ways in which its cell can get its draws.

    A company gets its expectation e rounded down or up, the latter with probability e - ⌊e⌋, and
    so does, given that, each of its categories: at most four cases, whose sum this is.
    """
    weights = series_weights(frame, config)
    total = np.zeros(len(weights))
    companies = company_expectation(frame, region_sizes(frame, config))
    for of_company, p_company in _roundings(companies):
        for of_cell, p_cell in _roundings(cell_expectation(frame, of_company)):
            p_case = (p_company[frame.company_of_cell] * p_cell)[frame.cell_of_series]
            total += p_case * series_inclusion(frame, of_cell, weights)
    return np.minimum(total, 1.0)


def _roundings(expected: Floats) -> list[tuple[Ints, Floats]]:
    """The two whole numbers that systematic sampling gives each unit, with their probabilities."""
    low = np.floor(expected)
    high = np.ceil(expected)
    up = expected - low
    return [(low.astype(np.int64), 1.0 - up), (high.astype(np.int64), up)]
