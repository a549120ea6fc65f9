"""Dates in prose and as values; the same parts whatever the notation."""

from __future__ import annotations

import time
from datetime import date

import pytest

from data.text.dates import (
    CHINESE_VALUE,
    MONTHS,
    VALUE_FORMS,
    Moment,
    calendar_parts,
    find_dates,
    month_number,
    read_date,
)


def test_months_by_name_and_abbreviation() -> None:
    for number, name in enumerate(MONTHS, start=1):
        assert {month_number(name), month_number(name[:3].upper())} == {number}
    assert month_number("Sept") == 9
    with pytest.raises(KeyError):
        month_number("Smarch")


@pytest.mark.parametrize(
    ("text", "moments"),
    [
        ("by 2025-03-12", ["2025-03-12"]),
        ("by 2025/3", ["2025-03"]),
        ("version 2025.10 of it", []),
        ("on 31/12/2024", ["2024-12-31"]),
        ("on 3rd of March, 2025", ["2025-03-03"]),
        ("on Sept. 4", ["????-09-04"]),
        ("in Dec 2024", ["2024-12"]),
        ("they may go in 3 days", []),
        ("2025年3月12日", ["2025-03-12"]),
        ("二〇二五年三月", ["2025-03"]),
        ("三月二十五号", ["????-03-25"]),
        ("2025年", ["2025"]),
        ("Q3 2024 and 第二季度", ["2024-Q3", "????-Q2"]),
        ("at 5:30 pm, 9 am", ["17:30", "09:00"]),
        ("下午三点半", ["15:30"]),
        ("13/13/2025", []),
    ],
)
def test_dates_in_prose(text: str, moments: list[str]) -> None:
    assert [str(moment) for _, _, moment in sorted(find_dates(text), key=lambda d: d[0])] == moments


def test_a_moment_covers_what_states_less() -> None:
    whole = Moment(2025, 3, 12)
    assert whole.covers(Moment(2025, 3))
    assert not Moment(2025, 3).covers(whole)
    assert Moment(2025, 4, 3, swapped=True).covers(Moment(2025, 3, 4))


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("2025-03-12", (2025, 3, 12)),
        ("20250312", (2025, 3, 12)),
        ("12.03.25", (2025, 12, 3)),
        ("12/03/71", (1971, 12, 3)),
        ("12th of March 2025", (2025, 3, 12)),
        ("Mar 12, 2025", (2025, 3, 12)),
        ("March 2025", (2025, 3, None)),
        ("2025年3月", (2025, 3, None)),
        ("3月12号", (None, 3, 12)),
        ("1987", (1987, None, None)),
        ("August", (None, 8, None)),
    ],
)
def test_values_are_read_by_the_first_form_that_fits(
    value: str, parts: tuple[int | None, int | None, int | None]
) -> None:
    match = next(match for form in VALUE_FORMS if (match := form.search(value)))
    assert calendar_parts(match) == parts


def test_the_order_of_two_figures_is_the_callers() -> None:
    match = next(match for form in VALUE_FORMS if (match := form.search("12.03.2025")))
    assert calendar_parts(match, day_first=True) == (2025, 3, 12)


def test_a_value_in_chinese_numerals() -> None:
    match = CHINESE_VALUE.fullmatch("一九八七年十二月二十三日")
    assert match is not None
    assert calendar_parts(match) == (1987, 12, 23)


@pytest.mark.parametrize(
    "text",
    ["2010-03-31", "20100331", "March 31, 2010", "mar 31 2010", "31 march 2010", "2010年3月31日"],
)
def test_read_date(text: str) -> None:
    assert read_date(text) == date(2010, 3, 31)


@pytest.mark.parametrize("text", ["", "2010", "2010-02-30", "March 2010", "from 2010-03-31"])
def test_what_is_no_day(text: str) -> None:
    assert read_date(text) is None


@pytest.mark.parametrize("unit", ["2025-", "三", "Mar ", "1/", "12:", "二〇二五年"])
def test_time_is_linear(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    began = time.process_time()
    list(find_dates(text))
    assert time.process_time() - began < 5
