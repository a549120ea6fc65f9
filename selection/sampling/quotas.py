"""Quotas for categories and lengths of periods: weights of the cells of the frame.

Companies stay equally likely within their region. Within each company its cells (category and
length of period) get the weights whose expected sample comes nearest to the quotas, by iterative
proportional fitting (Deming and Stephan 1940): what few companies have is drawn from them oftener,
up to `_MOST` times.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from data.figures import percent
from selection.sampling.config import SamplingConfig
from selection.sampling.weights import Floats

Groups = npt.NDArray[np.intp]
STRATUM = "/"  # between a category and a length of period
_ROUNDS = 50
_MOST = 200.0
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


def lacking(points: pl.DataFrame, config: SamplingConfig) -> list[str]:
    """A line for each quota of which the material allows less than half."""
    if "period" not in points.columns:
        return []
    weighed = with_quotas(points, config)
    if "weight" not in weighed.columns:
        return []
    strata = weighed.select("company", "is_us", "category", "weight").unique()
    reached: dict[str, float] = dict.fromkeys([*config.categories, *config.periods], 0.0)
    within = pl.col("weight") / pl.col("weight").sum().over("company")
    region = {True: config.us_share, False: 1 - config.us_share}
    companies: dict[bool, int] = dict(
        strata.group_by("is_us").agg(pl.col("company").n_unique()).iter_rows()
    )
    for is_us, stratum, share in strata.select("is_us", "category", share=within).iter_rows():
        for part in stratum.split(STRATUM):
            if part in reached:
                reached[part] += share * region[is_us] / companies[is_us]
    quotas = config.categories | config.periods
    return [
        f"{name}: quota {percent(quota)}, the material allows about {percent(reached[name])}"
        for name, quota in quotas.items()
        if reached[name] < quota / 2
    ]


def category_of(stratum: pl.Expr) -> pl.Expr:
    """The category of a stratum."""
    return stratum.str.split(STRATUM).list.first()


def _fitted(cells: pl.DataFrame, config: SamplingConfig) -> Floats:
    """The weight of each cell, relative within its company."""
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
    weights, held = np.ones(cells.height), np.bincount(company)
    for _ in range(_ROUNDS):
        for groups, targets in margins:
            weights = weights / (np.bincount(company, weights=weights) / held)[company]
            expected = of_company * weights / held[company]
            reached = np.bincount(groups, weights=expected, minlength=len(targets))
            factor = np.where(reached > 0, targets / np.maximum(reached, 1e-12), 1.0)
            weights = np.clip(weights * factor[groups], 1 / _MOST, _MOST)
    return weights


def _margin(values: pl.Series, quotas: Mapping[str, float]) -> tuple[Groups, Floats] | None:
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
