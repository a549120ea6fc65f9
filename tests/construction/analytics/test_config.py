"""Quotas from signals: the sum stays, families get what they weigh, and every category has one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.analytics.config import family_of, market_quotas
from construction.analytics.contracts import Category
from construction.signals.codebook import default_crosswalk

DECLARED = {
    "enterprise_industry": {"easy": 6, "medium": 2},
    "hypothesis_verification": {"medium": 4},
    "risk_assessment": {"medium": 3, "hard": 1},
}


def test_every_category_serves_a_known_family() -> None:
    families = set(default_crosswalk().task_families)
    assert {family_of(category) for category in Category} <= families


def test_families_share_by_weight_and_categories_by_what_was_declared() -> None:
    weights = {"data_reporting": 0.3, "finance_accounting": 0.1, "documents": 0.6}
    assert market_quotas(DECLARED, weights) == {
        "enterprise_industry": {"easy": 6, "medium": 2},
        "hypothesis_verification": {"medium": 4},
        "risk_assessment": {"medium": 3, "hard": 1},
    }
    turned = {"data_reporting": 0.25, "finance_accounting": 0.75}
    assert market_quotas(DECLARED, turned) == {
        "enterprise_industry": {"easy": 2, "medium": 1},
        "hypothesis_verification": {"medium": 1},
        "risk_assessment": {"medium": 9, "hard": 3},
    }


def test_without_a_weight_of_theirs_the_declared_quotas_stay() -> None:
    assert market_quotas(DECLARED, {}) == DECLARED
    assert market_quotas(DECLARED, {"media_handling": 1.0}) == DECLARED


@given(st.floats(0.001, 1), st.floats(0.001, 1))
def test_the_sum_stays(first: float, second: float) -> None:
    made = market_quotas(DECLARED, {"data_reporting": first, "finance_accounting": second})
    assert sum(n for levels in made.values() for n in levels.values()) == 16
    assert made.keys() == DECLARED.keys()


def test_an_unknown_category_is_an_error() -> None:
    with pytest.raises(KeyError):
        family_of("weather")
