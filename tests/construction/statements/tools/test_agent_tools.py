"""Values of one series: its names, its periods, and refusals."""

from __future__ import annotations

import pytest

from construction.statements.asked_periods import Basis
from construction.statements.tools.agent_tools import get_company_fundamentals
from construction.statements.tools.database import Fundamentals, Refusal
from tests.construction.statements.tools.tiny import (
    CASH,
    KIRIGAURA,
    QUANDELL,
    REVENUE,
    SALES_JA,
    tiny_database,
)

DATABASE = tiny_database()


LONG = "x" * 201


def values(
    series_id: str, period: str | None = None, convention: Basis = Basis.FISCAL
) -> Fundamentals:
    company_id = series_id.split("/")[0]
    actual = get_company_fundamentals(DATABASE, company_id, series_id, None, period, convention)
    assert isinstance(actual, Fundamentals)
    return actual


def test_values_newest_first_with_both_periods() -> None:
    actual = values(REVENUE)
    result = [(v.value, v.fiscal_period, v.calendar_period, v.months) for v in actual.values]
    assert result == [
        ("125000000", "FY2024-Q1", "2024-Q1", 3),
        ("480000000", "FY2023", "2023", 12),
    ]
    assert actual.values[1].restatements == 1 and actual.values[0].unit == "USD"


@pytest.mark.parametrize(
    ("period", "convention", "value", "requests"),
    [
        ("FY2024", Basis.FISCAL, "7000", "fiscal year 2024"),
        ("FY2024", Basis.CALENDAR, "7000", "fiscal year 2024"),  # the text decides
        ("2023", Basis.CALENDAR, "7000", "calendar year 2023"),
        ("Q1 FY2024", Basis.FISCAL, "1500", "fiscal year 2024 Q1"),
        ("2023-Q2", Basis.CALENDAR, "1500", "calendar year 2023 Q2"),
        ("calendar 2023-Q2", Basis.FISCAL, "1500", "calendar year 2023 Q2"),
        ("2024年3月期", Basis.FISCAL, "7000", "ending in 2024-03"),
        ("Q1", Basis.FISCAL, "1500", "Q1 of every fiscal year"),
        ("2023-06-30", Basis.FISCAL, "1500", "ending 2023-06-30"),
    ],
)
def test_periods_in_either_convention(
    period: str, convention: Basis, value: str, requests: str
) -> None:
    actual = values(SALES_JA, period, convention)
    assert [v.value for v in actual.values] == [value]
    assert actual.period_asked == requests


def test_what_the_tools_write_they_also_read() -> None:
    for shown in values(SALES_JA).values:
        assert shown.fiscal_period is not None and shown.calendar_period is not None
        assert values(SALES_JA, shown.fiscal_period).values == (shown,)
        assert values(SALES_JA, shown.calendar_period, Basis.CALENDAR).values == (shown,)


def test_a_balance_answers_to_the_year_that_it_closes() -> None:
    assert [v.value for v in values(CASH, "FY2023").values] == ["-5"]


def test_no_value_lists_the_periods_there_are() -> None:
    actual = values(REVENUE, "FY2019")
    assert actual.values == () and actual.note is not None
    assert "FY2024-Q1 (calendar 2024-Q1), FY2023 (calendar 2023)" in actual.note


@pytest.mark.parametrize(
    "name",
    [
        "net sales",
        "Income statement | Net sales",
        "損益計算書 | 売上高",
        "売上高",
        "損益計算書｜売上高",
    ],
)
def test_series_by_name(name: str) -> None:
    actual = get_company_fundamentals(DATABASE, KIRIGAURA, series_name=name)
    assert isinstance(actual, Fundamentals) and actual.series_id == SALES_JA


def test_series_by_tag() -> None:
    actual = get_company_fundamentals(DATABASE, QUANDELL, series_name="Cash")
    assert isinstance(actual, Fundamentals) and actual.series_id == CASH


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (
            {"series_id": f"{QUANDELL}/Revenue/USD"},
            f"No such series_id. Call discover_company_series to find it. Nearest: {REVENUE}",
        ),
        ({"series_id": SALES_JA}, f"belongs to {KIRIGAURA}"),
        ({"series_name": "Total revenues"}, "2 series have that name; give series_id"),
        ({"series_name": "Total revenue"}, "No such series_name"),
        ({"series_name": "?"}, "No such series_name"),
        ({}, "Give either series_id or series_name"),
        ({"series_id": CASH, "series_name": "Cash"}, "Give either series_id or series_name"),
        ({"series_id": CASH, "period": "someday"}, "No such period: found text of 7 characters"),
    ],
)
def test_values_refused(arguments: dict[str, str], result: str) -> None:
    actual = get_company_fundamentals(DATABASE, QUANDELL, **arguments)  # type: ignore[arg-type]
    assert isinstance(actual, Refusal) and result in actual.text


def test_a_ticker_is_read_as_the_company_with_a_hint() -> None:
    expected = values(REVENUE)
    actual = get_company_fundamentals(DATABASE, "qndx", REVENUE)
    assert isinstance(actual, Fundamentals)
    assert actual.values == expected.values
    assert (expected.note, actual.company_id) == (None, QUANDELL)
    assert actual.note == f"Read as company_id {QUANDELL}; use that from now on."
    unknown = get_company_fundamentals(DATABASE, "QQQQ", REVENUE)
    assert isinstance(unknown, Refusal)
