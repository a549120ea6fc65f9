"""Fiscal and calendar periods of points, against a table worked by hand.

Quarters and halves that nobody filed are exact differences.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construction.statements.conventions import PeriodConfig, YearLabel
from construction.statements.model import POINTS
from construction.statements.periods import (
    _difference,
    derived_points,
    period_reasons,
    with_periods,
)
from tests.construction.statements.frames import companies, points, series

FILLED = ("fiscal_year", "fiscal_period", "calendar_period", "period_type")


def _cases() -> list[list[str | None]]:
    text = Path(__file__).with_name("period_cases.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [[None if cell == "-" else cell for cell in line.split("\t")] for line in lines]


CASES = _cases()


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _point(name: str, start: str | None, end: str | None, months: int | None, **more: Any) -> Any:
    span = {"period_start": _day(start), "period_end": _day(end), "months": months}
    return {"point_id": name, "series_id": "s", **span, **more}


def test_there_are_sixty_cases_and_more() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(cell or "-" for cell in case))
def test_worked_case(case: list[str | None]) -> None:
    year_end, label, start, end, months, year, part, calendar, result = case
    point = points(_point("p", start, end, None if months is None else int(months)))
    company = companies({"fiscal_year_end": year_end})
    config = PeriodConfig(label_by=YearLabel(label or "end"))
    row = with_periods(point, company, config).row(0, named=True)
    reason = period_reasons(point, company, config)[0]
    kind = result if year else None
    assert tuple(row[name] for name in FILLED) == (year and int(year), part, calendar, kind)
    assert reason == (None if year else result)


def test_a_company_with_quarters_closes_its_second_quarter_in_mid_year() -> None:
    given_points = points(
        _point("mid", None, "2010-06-30", 0),
        _point("quarter", "2010-04-01", "2010-06-30", 3),
        _point("other year", None, "2012-06-30", 0),
    )
    actual = with_periods(given_points, companies({}), PeriodConfig())
    assert actual["fiscal_period"].to_list() == ["Q2", "Q2", "H1"]
    assert actual["period_type"].to_list() == ["quarter", "quarter", "half"]


def test_a_changed_year_end_is_followed() -> None:
    """Years to March until 2014, years to December from 2015, nine months between."""
    given_points = points(
        _point("old year", "2013-04-01", "2014-03-31", 12),
        _point("old quarter", "2013-04-01", "2013-06-30", 3),
        _point("old sheet", None, "2014-03-31", 0),
        _point("between", "2014-04-01", "2014-12-31", 9),
        _point("new year", "2015-01-01", "2015-12-31", 12),
        _point("new quarter", "2015-01-01", "2015-03-31", 3),
    )
    actual = with_periods(given_points, companies({"fiscal_year_end": "12-31"}), PeriodConfig())
    names = [(row["fiscal_year"], row["fiscal_period"]) for row in actual.iter_rows(named=True)]
    assert names == [
        (2014, "FY"), (2014, "Q1"), (2014, "FY"), (None, None), (2015, "FY"), (2015, "Q1"),
    ]  # fmt: skip


def test_a_trailing_year_beside_a_quarter_is_no_year_end() -> None:
    given_points = points(
        _point("trailing", "2009-04-01", "2010-03-31", 12),
        _point("quarter", "2010-01-01", "2010-03-31", 3),
    )
    actual = with_periods(given_points, companies({}), PeriodConfig())
    assert actual["fiscal_period"].to_list() == [None, "Q1"]


def test_the_name_of_a_year_comes_from_company_then_source() -> None:
    config = PeriodConfig(
        label_by_source={"sec": YearLabel.END, "x": YearLabel.START},
        label_by_company={"sec:2": YearLabel.START},
    )
    firms = companies(
        {"company_id": "sec:1", "source": "sec", "country": "JP", "fiscal_year_end": "03-31"},
        {"company_id": "sec:2", "source": "sec", "country": "JP", "fiscal_year_end": "03-31"},
        {"company_id": "x:3", "source": "x", "country": "JP", "fiscal_year_end": "03-31"},
        {"company_id": "y:4", "source": "y", "country": "US", "fiscal_year_end": "03-31"},
    )
    ids = firms["company_id"].to_list()
    span = ("2009-04-01", "2010-03-31", 12)
    given_points = points(*(_point(name, *span, company_id=name) for name in ids))
    actual = with_periods(given_points, firms, config)
    assert actual["fiscal_year"].to_list() == [2010, 2009, 2009, 2010]


def test_edinet_names_years_by_their_start() -> None:
    firm = companies({"company_id": "e", "source": "edinet", "fiscal_year_end": "03-31"})
    point = points(_point("p", "2015-04-01", "2016-03-31", 12, company_id="e"))
    assert with_periods(point, firm, PeriodConfig())["fiscal_year"][0] == 2015


def test_a_point_of_an_unknown_company_has_no_year_end() -> None:
    point = points(_point("p", "2015-04-01", "2016-03-31", 12, company_id="nobody"))
    assert period_reasons(point, companies({}), PeriodConfig())[0] == "period.no_year_end"


def test_no_points_give_no_points() -> None:
    empty = points()
    assert with_periods(empty, companies({}), PeriodConfig()).equals(empty)


@settings(max_examples=50)
@given(
    st.sampled_from(range(1, 13)),
    st.integers(1990, 2030),
    st.sampled_from([(12, 0), (6, 6), (6, 0), (3, 9), (3, 6), (3, 3), (3, 0), (9, 3), (0, 0)]),
    st.sampled_from(list(YearLabel)),
)
def test_every_regular_span_has_a_period_of_its_year(
    month: int, year: int, span: tuple[int, int], label: YearLabel
) -> None:
    """The parts of one fiscal year carry one name, whatever month it ends in."""
    months, to_go = span
    last = pl.date_range(date(year, month, 1), date(year, month, 1), eager=True).dt.month_end()
    end = last.dt.offset_by(f"-{to_go}mo").dt.month_end()
    point = points(_point("p", None, str(end[0]), months))
    firm = companies({"fiscal_year_end": last[0].strftime("%m-%d")})
    row = with_periods(point, firm, PeriodConfig(label_by=label)).row(0, named=True)
    start_year = year if month == 12 else year - 1
    assert row["fiscal_year"] == (year if label is YearLabel.END else start_year)
    assert row["period_type"] is not None


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_order_does_not_matter(shuffler: Any) -> None:
    listed = [
        _point(f"p{n}", start, end, int(months))
        for n, (_, _, start, end, months, *_) in enumerate(CASES)
        if end and months
    ]
    firm = companies({"fiscal_year_end": "03-31"})
    straight = with_periods(points(*listed), firm, PeriodConfig()).sort("point_id")
    shuffler.shuffle(listed)
    assert with_periods(points(*listed), firm, PeriodConfig()).sort("point_id").equals(straight)


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
    assert _difference(whole, part) == remaining


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20), max_value=10**20
    ),
    st.decimals(
        allow_nan=False, allow_infinity=False, places=2, min_value=-(10**20), max_value=10**20
    ),
)
def test_difference_adds_up(whole: Decimal, part: Decimal) -> None:
    remaining = _difference(format(whole, "f"), format(part, "f"))
    assert remaining is not None
    assert _difference(format(whole, "f"), remaining) is not None
    assert Decimal(_difference(format(whole, "f"), remaining) or "nan") == part


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
