"""Quotas per category in proportion to what is in demand, by the crosswalk to task families."""

from __future__ import annotations

from collections.abc import Mapping

from construction.analytics.contracts import Category
from data.apportion import apportion
from data.text.lexicon import load_table

Quotas = Mapping[str, Mapping[str, int]]


def family_of(category: Category | str) -> str:
    """The task family of a category."""
    return str(load_table(__package__, "families.toml")[str(category)])


def market_quotas(declared: Quotas, weights: Mapping[str, float]) -> Quotas:
    """The declared quotas with the same sum, shared by the weights of the categories' families.

    Within a family, and within a category by difficulty, the declared proportions stay. Where no
    family of the categories has a weight, the quotas are the declared ones.
    """
    totals = {category: sum(levels.values()) for category, levels in declared.items()}
    of_family: dict[str, int] = {}
    for category, n in totals.items():
        of_family[family_of(category)] = of_family.get(family_of(category), 0) + n
    shares = {
        category: weights.get(family_of(category), 0.0) * n / max(of_family[family_of(category)], 1)
        for category, n in totals.items()
    }
    if not sum(shares.values()):
        return declared
    made = apportion(shares, sum(totals.values()))
    return {
        category: apportion({level: float(n) for level, n in levels.items()}, made[category])
        for category, levels in declared.items()
    }
