"""Quarters and halves as exact differences."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.statements.model import POINTS
from construction.statements.periods.config import PeriodConfig
from construction.statements.periods.derive import derived_points, difference
from construction.statements.periods.fill import with_periods
from tests.construction.statements.frames import companies, points, series


@pytest.mark.parametrize(
    ("whole", "part", "remaining"),
    [
        ("300", "100", "200"),
        ("0.3", "0.1", "0.2"),
        ("10.50", "0.5", "10.00"),
        ("100", "300", "-200"),
        ("-5", "-5", "0"),
        ("123456789012345678901234567890.01", "0.02", "123456789012345678901234567889.99"),
        ("1E+999999", "1", None),
        ("1,000", "1", None),
        ("", "1", None),
        (None, "1", None),
    ],
)
def test_difference(whole: str | None, part: str | None, remaining: str | None) -> None:
    assert difference(whole, part) == remaining


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20), max_value=10**20
    ),
    st.decimals(
        allow_nan=False, allow_infinity=False, places=2, min_value=-(10**20), max_value=10**20
    ),
)
def test_difference_adds_up(whole: Decimal, part: Decimal) -> None:
    remaining = difference(format(whole, "f"), format(part, "f"))
    assert remaining is not None
    assert difference(format(whole, "f"), remaining) is not None
    assert Decimal(difference(format(whole, "f"), remaining) or "nan") == part


SPANS = {
    "Q1": ("2010-01-01", "2010-03-31", 3, "10"),
    "H1": ("2010-01-01", "2010-06-30", 6, "30"),
    "9M": ("2010-01-01", "2010-09-30", 9, "60"),
    "FY": ("2010-01-01", "2010-12-31", 12, "100.5"),
    "H2": ("2010-07-01", "2010-12-31", 6, "71"),
}


def _filed(*parts: str, **more: Any) -> pl.DataFrame:
    listed = []
    for part in parts:
        start, end, months, value = SPANS[part]
        listed.append(
            {
                "point_id": f"s/{part}",
                "series_id": "s",
                "period_start": date.fromisoformat(start),
                "period_end": date.fromisoformat(end),
                "months": months,
                "value": value,
                "document": f"D{part}",
                **more,
            }
        )
    return with_periods(points(*listed), companies({}), PeriodConfig())


def _derived(filed: pl.DataFrame, **unit: str | None) -> dict[str, str]:
    actual = derived_points(filed, series({"series_id": "s", **unit}))
    return dict(actual.select("fiscal_period", "value").iter_rows())


def test_all_differences() -> None:
    actual = _derived(_filed("Q1", "H1", "9M", "FY"))
    assert actual == {"Q2": "20", "Q3": "30", "Q4": "40.5", "H2": "70.5"}


def test_what_was_filed_is_not_derived() -> None:
    assert _derived(_filed("H1", "FY", "H2")) == {}


@pytest.mark.parametrize(
    ("unit", "currency"), [("USD/share", "USD"), ("ratio", None), ("shares", None)]
)
def test_only_money_adds_up(unit: str, currency: str | None) -> None:
    assert _derived(_filed("Q1", "H1"), unit=unit, currency=currency) == {}


def test_computed_points_are_not_built_upon() -> None:
    assert _derived(_filed("Q1", "H1", computed=True)) == {}


def test_a_derived_point_says_what_it_is() -> None:
    row = derived_points(_filed("Q1", "H1"), series({"series_id": "s"})).row(0, named=True)
    assert row["point_id"] == "s/H1/H1-Q1"
    assert (row["period_start"], row["period_end"]) == (date(2010, 4, 1), date(2010, 6, 30))
    assert (row["months"], row["fiscal_year"], row["period_type"]) == (3, 2010, "quarter")
    assert (row["calendar_period"], row["document"]) == ("2010-Q2", "DH1")
    assert (row["computed"], row["auto_generated"], row["line"]) == (True, False, None)


def test_the_columns_are_those_of_points() -> None:
    actual = derived_points(_filed("Q1", "H1"), series({"series_id": "s"}))
    assert actual.schema == pl.Schema(POINTS.schema)
    assert derived_points(points(), series()).schema == pl.Schema(POINTS.schema)
