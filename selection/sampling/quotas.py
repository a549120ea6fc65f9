"""Quotas for categories and lengths of periods: weights of the cells of the frame.

The cells of companies (category and length of period) get the weights whose expected sample comes
nearest to the quotas, by iterative proportional fitting (Deming and Stephan 1940) within the shares
of the regions: what few companies have is drawn from them oftener. No company is drawn more than
`_OFTEN` times as often as the one in the middle, and no cell more than `_MOST` times.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from selection.sampling.config import SamplingConfig
from selection.sampling.weights import Floats, Ints

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
