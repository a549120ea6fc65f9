"""The sampling frame (companies, company × category cells, series) and its exact probabilities.

Every stage has its probability for a single draw: the region by its share, the company uniform
within its region and the category uniform over those the company has, or both by the quotas
(`quotas`), the series by the hierarchical weights within its cell, the data point uniform within
its series (FinRetrieval, sampling).

By quotas, the cells of companies (category and length of period) get the weights whose expected
sample comes nearest to them, by iterative proportional fitting (Deming and Stephan 1940) within the
shares of the regions: what few companies have is drawn from them oftener. No company is drawn more
than `_OFTEN` times as often as the one in the middle, and no cell more than `_MOST` times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from data.errors import InputError
from selection.config import Design, SamplingConfig
from selection.sampling.systematic import (
    Floats,
    Ints,
    expected_draws,
    leaf_probabilities,
    with_replacement_inclusion,
)

COLUMNS = {
    "company": pl.String,
    "is_us": pl.Boolean,
    "category": pl.String,
    "series_name": pl.String,
    "point_id": pl.String,
}
_SERIES = ("company", "category", "series_name")


STRATUM = "/"  # between a category and a length of period
_ROUNDS = 50
_MOST = 200.0
_OFTEN = 20.0
_CELL = ("company", "category", "period")


def with_quotas(points: pl.DataFrame, config: SamplingConfig) -> pl.DataFrame:
    """The frame with strata of category and `period` as its categories, and their `weight`.

    Without a column `period`, or without quotas, the frame as it is. Strata with a quota of 0 are
    left out.
    """
    if "period" not in points.columns or not (config.categories or config.periods):
        return points
    cells = points.select("is_us", *_CELL).unique().sort(_CELL)
    wanted = (
        cells["category"].replace_strict(config.categories, default=1.0, return_dtype=pl.Float64)
        * cells["period"].replace_strict(config.periods, default=1.0, return_dtype=pl.Float64)
    ).to_numpy()
    cells = cells.filter(pl.Series(wanted > 0)) if (wanted > 0).any() else cells
    weighed = cells.with_columns(weight=pl.Series(_fitted(cells, config)).round(9))
    joined = points.join(weighed.drop("is_us"), on=_CELL, maintain_order="left")
    stratum = pl.concat_str("category", "period", separator=STRATUM)
    return joined.with_columns(category=stratum).drop("period")


def category_of(stratum: pl.Expr) -> pl.Expr:
    """The category of a stratum."""
    return stratum.str.split(STRATUM).list.first()


def _fitted(cells: pl.DataFrame, config: SamplingConfig) -> Floats:
    """The weight of each cell; those of a company sum to its own, 1 for one as likely as all."""
    company = cells["company"].cast(pl.Categorical).to_physical().to_numpy()
    region = cells["is_us"].to_numpy().astype(np.int64)
    sizes = np.bincount(region, minlength=2)
    n_companies = np.array(
        [cells.filter(pl.col("is_us") == is_us)["company"].n_unique() for is_us in (False, True)]
    )
    shares = np.array([1 - config.us_share, config.us_share]) * (sizes > 0)
    of_company = (shares / shares.sum() / np.maximum(n_companies, 1))[region]
    margins = [
        margin
        for name, quotas in (("category", config.categories), ("period", config.periods))
        if (margin := _margin(cells[name], quotas)) is not None
    ]
    margins.append((region, shares / shares.sum()))
    weights, held = np.ones(cells.height), np.bincount(company)
    even = of_company / held[company]
    for _ in range(_ROUNDS):
        for groups, targets in margins:
            reached = np.bincount(groups, weights=even * weights, minlength=len(targets))
            factor = np.where(reached > 0, targets / np.maximum(reached, 1e-12), 1.0)
            weights = np.clip(weights * factor[groups], 1 / _MOST, _MOST)
        often = np.bincount(company, weights=weights) / held
        middle = np.median(often)
        weights = weights * (np.clip(often, middle / _OFTEN, middle * _OFTEN) / often)[company]
    return np.asarray(weights / held[company])


def _margin(values: pl.Series, quotas: Mapping[str, float]) -> tuple[Ints, Floats] | None:
    """The group of each cell, and the share of each group among those that the frame has."""
    if not quotas:
        return None
    names = sorted(values.unique().to_list())
    listed = [quotas.get(name, 0.0) for name in names]
    rest = max(1 - sum(quotas.values()), 0.0) / max(sum(n not in quotas for n in names), 1)
    targets = np.array([one if name in quotas else rest
                        for name, one in zip(names, listed, strict=True)])  # fmt: skip
    groups = np.array([names.index(value) for value in values])
    total = targets.sum()
    return groups, (targets / total if total else np.full(len(names), 1 / len(names)))


@dataclass(frozen=True, slots=True)
class Frame:
    """What can be drawn, sorted by name. The three arrays hold row positions in the level above.

    `companies`: company, is_us. `cells`: company, category, weight; those of a company sum to its
    own weight. `series`: company, is_us, category, series_name and `points`, the ids of its data
    points in ascending order.
    """

    companies: pl.DataFrame
    cells: pl.DataFrame
    series: pl.DataFrame
    region_of_company: Ints  # 1 for US
    company_of_cell: Ints
    cell_of_series: Ints

    @property
    def weight_of_company(self) -> Floats:
        """How often each company is drawn beside the others of its region."""
        weights = self.cells["weight"].to_numpy()
        return np.asarray(np.bincount(self.company_of_cell, weights=weights).round(9), np.float64)

    @property
    def points_of_series(self) -> Ints:
        """The number of data points of each series."""
        return self.series["points"].list.len().to_numpy().astype(np.int64)


def build_frame(points: pl.DataFrame) -> Frame:
    """The frame of a table with one row per data point and the columns of `COLUMNS`.

    Other columns and the order of rows do not matter. Errors: `InputError` for missing columns,
    other types, nulls, repeated point ids, and companies that are both US and non-US.
    """
    _check(points)
    series = points.group_by(_SERIES).agg(
        pl.col("is_us").first(), pl.col("point_id").sort().alias("points")
    )
    series = series.sort(_SERIES).select("company", "is_us", *_SERIES[1:], "points")
    companies = series.select("company", "is_us").unique().sort("company")
    cells = series.select("company", "category").unique().sort("company", "category")
    cells = _weighed(cells, points)
    return Frame(
        companies=companies,
        cells=cells,
        series=series,
        region_of_company=companies["is_us"].cast(pl.Int64).to_numpy(),
        company_of_cell=_positions(cells, companies, ["company"]),
        cell_of_series=_positions(series, cells, ["company", "category"]),
    )


def _weighed(cells: pl.DataFrame, points: pl.DataFrame) -> pl.DataFrame:
    """The cells with the weight that `points` give them; without such a column those of each
    company share a weight of 1."""
    if "weight" not in points.columns:
        return cells.with_columns(weight=1.0 / pl.len().over("company"))
    given = points.select("company", "category", "weight").unique(["company", "category"])
    return cells.join(given, on=["company", "category"], maintain_order="left")


def stage_probabilities(frame: Frame, config: SamplingConfig) -> pl.DataFrame:
    """Per series, the probabilities of a single draw: a column per stage, and of one of its points.

    The row order is that of `frame.series`. `pi_company` includes the region's share, `pi_point` is
    that of one data point of the series, `pi_draw` the product of all; it sums to 1 over all
    points.
    """
    shares = np.array([1.0 - config.us_share, config.us_share])
    of_company = shares[frame.region_of_company] * _company_probabilities(frame)
    company_of_series = frame.company_of_cell[frame.cell_of_series]
    of_category = _cell_probabilities(frame)[frame.cell_of_series]
    of_series = series_weights(frame, config)
    of_point = 1.0 / frame.points_of_series
    return frame.series.drop("points").with_columns(
        pi_company=of_company[company_of_series],
        pi_category=of_category,
        pi_series=of_series,
        pi_point=of_point,
        pi_draw=of_company[company_of_series] * of_category * of_series * of_point,
    )


def _company_probabilities(frame: Frame) -> Floats:
    """That of each company within its region."""
    return _within(frame.weight_of_company, frame.region_of_company)


def _cell_probabilities(frame: Frame) -> Floats:
    return _within(frame.cells["weight"].to_numpy(), frame.company_of_cell)


def _within(weights: Floats, groups: Ints) -> Floats:
    return np.asarray(weights / np.bincount(groups, weights=weights)[groups])


def series_weights(frame: Frame, config: SamplingConfig) -> Floats:
    """The hierarchical probability of each series within its cell."""
    return leaf_probabilities(
        frame.series["series_name"],
        config.damping,
        groups=frame.cell_of_series,
        separator=config.separator,
    )


def _positions(rows: pl.DataFrame, table: pl.DataFrame, on: list[str]) -> Ints:
    """The row of `table` that matches each row of `rows`."""
    numbered = table.select(on).with_row_index("at")
    matched = rows.select(on).join(numbered, on=on, how="left", maintain_order="left")
    return matched["at"].to_numpy().astype(np.int64)


def _check(points: pl.DataFrame) -> None:
    wrong = [name for name, kind in COLUMNS.items() if points.schema.get(name) != kind]
    if wrong:
        actual = ", ".join(f"{name}: {points.schema.get(name)}" for name in wrong)
        expected = ", ".join(f"{name}: {COLUMNS[name]}" for name in wrong)
        raise _unfit(actual, expected, "Cast or add these columns.")
    nulls = [name for name in COLUMNS if points[name].null_count()]
    if nulls:
        raise _unfit(f"nulls in {', '.join(nulls)}", "no nulls", "Fill in or drop those rows.")
    if points.is_empty():
        raise _unfit(
            "no data points", "at least one", "Loosen the filters that run before sampling."
        )
    repeated = len(points) - points["point_id"].n_unique()
    if repeated:
        raise _unfit(f"{repeated} repeated point ids", "distinct ids", "Drop the duplicates.")
    sides = points.group_by("company").agg(pl.col("is_us").n_unique())
    both = sides.filter(pl.col("is_us") > 1)["company"].sort()
    if len(both):
        todo = "Set the same is_us for all of a company's points."
        raise _unfit(f"company {both[0]!r} both US and non-US", "one region per company", todo)


def _unfit(actual: str, expected: str, todo: str) -> InputError:
    return InputError("sampling frame", actual, expected, todo)


def inclusion_of_points(frame: Frame, config: SamplingConfig) -> pl.DataFrame:
    """`stage_probabilities` with `pi_design`: the probability that a point is in the sample.

    Without replacement the points of a sample come from different series, and `pi_design` sums to
    the size over all points. With replacement it is the probability of being drawn at least once.
    """
    stages = stage_probabilities(frame, config)
    if config.design is Design.WITHOUT_REPLACEMENT:
        pi_design = _without_replacement(frame, config) / frame.points_of_series
        return stages.with_columns(pi_design=pi_design)
    draws = region_sizes(frame, config)
    region = stages["is_us"].cast(pl.Int64).to_numpy()
    company_of_series = frame.company_of_cell[frame.cell_of_series]
    given_company = stages.select(pl.col("pi_category") * pl.col("pi_series") * pl.col("pi_point"))
    single = given_company.to_series().to_numpy()
    single = single * _company_probabilities(frame)[company_of_series]
    return stages.with_columns(pi_design=with_replacement_inclusion(single, draws[region]))


def region_sizes(frame: Frame, config: SamplingConfig) -> Ints:
    """How many points are drawn outside and inside the US.

    Errors: `InputError` if draws fall on a region without companies.
    """
    us = int(np.floor(config.size * config.us_share + 0.5))
    sizes = np.array([config.size - us, us], dtype=np.int64)
    held = np.bincount(frame.region_of_company, minlength=2)
    for size, companies, name, share in zip(sizes, held, ("non-US", "US"), (1, 0), strict=True):
        if size and not companies:
            raise InputError(
                "sampling frame",
                f"no {name} companies",
                f"companies to draw {size} points from",
                f"Add a source of {name} companies, or set us_share = {share}.",
            )
    return sizes


def company_expectation(frame: Frame, sizes: Ints) -> Floats:
    """Expected draws per company by its weight, at most its number of series."""
    caps = np.bincount(frame.company_of_cell[frame.cell_of_series]).astype(np.float64)
    totals = sizes.astype(np.float64)
    return expected_draws(frame.weight_of_company, frame.region_of_company, totals, caps)


def cell_expectation(frame: Frame, of_company: Ints) -> Floats:
    """Expected draws per category, given its company's draws: by the weights of its cells."""
    caps = np.bincount(frame.cell_of_series).astype(np.float64)
    totals = of_company.astype(np.float64)
    return expected_draws(frame.cells["weight"].to_numpy(), frame.company_of_cell, totals, caps)


def series_inclusion(frame: Frame, of_cell: Ints, weights: Floats) -> Floats:
    """Inclusion probability of each series, given its cell's draws: min(1, c·weight)."""
    totals = of_cell.astype(np.float64)
    return expected_draws(weights, frame.cell_of_series, totals, np.ones(len(weights)))


def _without_replacement(frame: Frame, config: SamplingConfig) -> Floats:
    """Inclusion probability of each series, summed over all numbers of draws its cell can get.

    A company's expectation e is rounded up with probability e - ⌊e⌋, else down; given that, so is
    each of its categories'. The probability is the sum over these at most four cases.
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
