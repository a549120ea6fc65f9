"""The draw in four stages: company, category, series, data point (FinRetrieval, sampling).

Each stage is keyed by what it draws from: how often a company is drawn depends on the companies of
its region, but which of its series are drawn, given how often, depends on the company alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from data.randomness import keyed_generator, keyed_order
from selection.sampling.config import Design, SamplingConfig
from selection.sampling.frame import (
    COLUMNS,
    Frame,
    build_frame,
    cell_expectation,
    company_expectation,
    inclusion_of_points,
    region_sizes,
    series_inclusion,
    series_weights,
)
from selection.sampling.reserve import SERIES_STAGE, reserve_of, series_keys
from selection.sampling.systematic import draw_with_replacement, start, systematic
from selection.sampling.weights import Floats, Ints

COMPANY_STAGE = "sample.company"
CATEGORY_STAGE = "sample.category"
POINT_STAGE = "sample.point"
_REGIONS = ("non-US", "US")
_SORTED = ("company", "category", "series_name", "point_id")


@dataclass(frozen=True, slots=True)
class Sample:
    """The drawn units, and the reserve that can replace them.

    Both tables have company, is_us, category, series_name, point_id, the stage probabilities of
    `stage_probabilities`, `pi_design`, `draws` (above 1 only with replacement), `replacement`.
    `reserve` also has `rank`, its position within the stratum (is_us, category).
    """

    drawn: pl.DataFrame
    reserve: pl.DataFrame


def draw_sample(points: pl.DataFrame, config: SamplingConfig, seed: int) -> Sample:
    """Draw `config.size` data points of a table with the columns of `frame.COLUMNS`, and a reserve.

    The same table, in any order, with the same config and seed gives the same sample, sorted by
    company, category, series and point. Errors: `InputError` as in `build_frame`, and if a region
    has fewer series than are to be drawn from it without replacement.
    """
    frame = build_frame(points)
    units = inclusion_of_points(frame, config)
    if config.design is Design.WITHOUT_REPLACEMENT:
        series = _draw_series(frame, config, seed)
        places = _keyed_places(frame, series, seed)
    else:
        series, places = _draw_independently(frame, config, seed)
    drawn = _rows(frame, units, series, places)
    drawn = drawn.group_by(drawn.columns).agg(draws=pl.len().cast(pl.Int64))
    reserve = reserve_of(units, drawn, config.reserve, seed)
    spare = reserve["at"].to_numpy().astype(np.int64)
    spares = _rows(frame, units, spare, _keyed_places(frame, spare, seed))
    return Sample(
        drawn.with_columns(replacement=pl.lit(False)).sort(*_SORTED),
        spares.with_columns(
            draws=pl.lit(1, pl.Int64), replacement=pl.lit(True), rank=reserve["rank"]
        ),
    )


def _draw_series(frame: Frame, config: SamplingConfig, seed: int) -> Ints:
    """Positions of the series drawn without replacement, stage by stage."""
    names = frame.companies["company"].to_list()
    cells = [f"{company}\0{category}" for company, category in frame.cells.iter_rows()]
    expected = company_expectation(frame, region_sizes(frame, config))
    of_company = _counts(expected, frame.region_of_company, _REGIONS, names, seed, COMPANY_STAGE)
    expected = cell_expectation(frame, of_company)
    of_cell = _counts(expected, frame.company_of_cell, names, cells, seed, CATEGORY_STAGE)
    expected = series_inclusion(frame, of_cell, series_weights(frame, config))
    keys = series_keys(frame.series)
    of_series = _counts(expected, frame.cell_of_series, cells, keys, seed, SERIES_STAGE)
    return np.flatnonzero(of_series).astype(np.int64)


def _counts(
    expected: Floats,
    groups: Ints,
    group_names: Sequence[str],
    names: Sequence[str],
    seed: int,
    stage: str,
) -> Ints:
    """Systematic draws within each group, each over its own order and from its own start."""
    counts = np.zeros(len(expected), dtype=np.int64)
    candidates = np.flatnonzero(expected > 0)
    by_group = candidates[np.argsort(groups[candidates], kind="stable")]
    bounds = np.flatnonzero(np.diff(groups[by_group])) + 1
    for members in np.split(by_group, bounds) if len(by_group) else []:
        order = np.array(keyed_order(seed, stage, [names[at] for at in members]), dtype=np.intp)
        begin = start(seed, stage, group_names[groups[members[0]]])
        counts[members] = systematic(expected[members], order, begin)
    return counts


def _draw_independently(frame: Frame, config: SamplingConfig, seed: int) -> tuple[Ints, Ints]:
    """Series and point positions drawn with replacement, one entry per draw."""
    weights = series_weights(frame, config)  # each cell sums to 1: categories are uniform
    company_of_series = frame.company_of_cell[frame.cell_of_series]
    series: list[int] = []
    places: list[int] = []
    for company, draws in _independent_companies(frame, config, seed).items():
        low, high = np.searchsorted(company_of_series, [company, company + 1])
        generator = keyed_generator(seed, SERIES_STAGE, frame.companies["company"][company])
        chosen = low + draw_with_replacement(weights[low:high], draws, generator)
        series += chosen.tolist()
        places += generator.integers(frame.points_of_series[chosen]).tolist()
    return np.array(series, dtype=np.int64), np.array(places, dtype=np.int64)


def _independent_companies(frame: Frame, config: SamplingConfig, seed: int) -> dict[int, int]:
    """How often each company is drawn with replacement within its region; only those drawn."""
    counts: dict[int, int] = {}
    for region, size in enumerate(region_sizes(frame, config)):
        members = np.flatnonzero(frame.region_of_company == region)
        if size:
            generator = keyed_generator(seed, COMPANY_STAGE, _REGIONS[region])
            drawn = draw_with_replacement(np.ones(len(members)), int(size), generator)
            companies, times = np.unique(members[drawn], return_counts=True)
            counts |= dict(zip(companies.tolist(), times.tolist(), strict=True))
    return counts


def _keyed_places(frame: Frame, series: Ints, seed: int) -> Ints:
    """Per series the position of its data point with the lowest keyed hash: uniform over its
    points."""
    points = frame.series["points"].gather(series).to_list()
    firsts = [keyed_order(seed, POINT_STAGE, ids)[0] for ids in points]
    return np.array(firsts, dtype=np.int64)


def _rows(frame: Frame, units: pl.DataFrame, series: Ints, places: Ints) -> pl.DataFrame:
    """The unit of each series with the id of the data point at the given position."""
    ids = frame.series["points"].gather(series).list.get(pl.Series(places))
    table = units[series].with_columns(point_id=ids)
    return table.select(*COLUMNS, pl.exclude(*COLUMNS))
