"""Periods in words, read and written."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.statements.asked_periods import Basis, PeriodQuery, parse_period
from construction.statements.conventions import PeriodConfig
from construction.statements.periods import with_periods
from data.errors import InputError
from tests.construction.statements.frames import companies, points

FISCAL, CALENDAR = Basis.FISCAL, Basis.CALENDAR
READ = {
    "FY2010": PeriodQuery(2010, "FY", FISCAL),
    "fy 2010": PeriodQuery(2010, "FY", FISCAL),
    "FY10": PeriodQuery(2010, "FY", FISCAL),
    "fiscal 2010": PeriodQuery(2010, "FY", FISCAL),
    "fiscal year 2010": PeriodQuery(2010, "FY", FISCAL),
    "2010": PeriodQuery(2010, "FY"),
    "CY2010": PeriodQuery(2010, "FY", CALENDAR),
    "calendar year 2010": PeriodQuery(2010, "FY", CALENDAR),
    "2010Q1": PeriodQuery(2010, "Q1"),
    "2010-Q1": PeriodQuery(2010, "Q1"),
    "2010 h2": PeriodQuery(2010, "H2"),
    "1Q2010": PeriodQuery(2010, "Q1"),
    "Q1 '10": PeriodQuery(2010, "Q1"),
    "Q1 FY2010": PeriodQuery(2010, "Q1", FISCAL),
    "FY2010 Q1": PeriodQuery(2010, "Q1", FISCAL),
    "fiscal Q3 2010": PeriodQuery(2010, "Q3", FISCAL),
    "H1 2010": PeriodQuery(2010, "H1"),
    "9M 2010": PeriodQuery(2010, "9M"),
    "calendar 2010-Q2": PeriodQuery(2010, "Q2", CALENDAR),
    "CY2010Q2": PeriodQuery(2010, "Q2", CALENDAR),
    "first quarter of fiscal year 2010": PeriodQuery(2010, "Q1", FISCAL),
    "the second half of 2010": PeriodQuery(2010, "H2"),
    "first nine months of fiscal 2010": PeriodQuery(2010, "9M", FISCAL),
    "FY": PeriodQuery(None, "FY"),
    "April 1 to August 31, 2009": PeriodQuery(end=date(2009, 8, 31)),
    "the 5 months ended August 31, 2009": PeriodQuery(end=date(2009, 8, 31)),
    "Q3": PeriodQuery(None, "Q3"),
    "2010-03-31": PeriodQuery(end=date(2010, 3, 31)),
    "2010/3/31": PeriodQuery(end=date(2010, 3, 31)),
    "20100331": PeriodQuery(end=date(2010, 3, 31)),
    "March 31, 2010": PeriodQuery(end=date(2010, 3, 31)),
    "31 March 2010": PeriodQuery(end=date(2010, 3, 31)),
    "as of Mar. 31 2010": PeriodQuery(end=date(2010, 3, 31)),
    "2010年3月31日": PeriodQuery(end=date(2010, 3, 31)),
    "2016年3月期": PeriodQuery(part="FY", end_month="2016-03"),
    "2016年3月期第1四半期": PeriodQuery(part="Q1", end_month="2015-06"),
    "for the fiscal year ending March 2023": PeriodQuery(part="FY", end_month="2023-03"),
    "at the end of the third quarter of the fiscal year ending February 2020": PeriodQuery(
        part="Q3", end_month="2019-11"
    ),
    "for the period from December 1, 2021 to February 28, 2022": PeriodQuery(end=date(2022, 2, 28)),
    "2015年度": PeriodQuery(2015, "FY", FISCAL),
    "２０１５年度第１四半期": PeriodQuery(2015, "Q1", FISCAL),
    "2015年度第二四半期累計期間": PeriodQuery(2015, "H1", FISCAL),
    "2015年度中間期": PeriodQuery(2015, "H1", FISCAL),
}


@pytest.mark.parametrize("text", READ)
def test_read(text: str) -> None:
    assert parse_period(text) == READ[text]


@pytest.mark.parametrize(
    "text", ["", "soon", "2010-13-45", "Q5 2010", "FY2010-2012", "1899", "FY1", "x" * 5000]
)
def test_refused(text: str) -> None:
    with pytest.raises(InputError, match="names no period"):
        parse_period(text)


def _filled(year_end: str, *spans: tuple[str | None, str, int]) -> pl.DataFrame:
    listed = [
        {
            "point_id": f"{start}..{end}",
            "series_id": "s",
            "period_start": start and date.fromisoformat(start),
            "period_end": date.fromisoformat(end),
            "months": months,
        }
        for start, end, months in spans
    ]
    firm = companies({"fiscal_year_end": year_end})
    return with_periods(points(*listed), firm, PeriodConfig())


WRITTEN: list[tuple[tuple[str | None, str, int], str]] = [
    (
        ("2009-04-01", "2010-03-31", 12),
        "fiscal year 2010 (April 1, 2009 to March 31, 2010)",
    ),
    (
        ("2009-04-01", "2009-06-30", 3),
        "the first quarter of fiscal year 2010 (April 1 to June 30, 2009)",
    ),
    (
        ("2009-10-01", "2010-03-31", 6),
        "the second half of fiscal year 2010 (October 1, 2009 to March 31, 2010)",
    ),
    (
        ("2009-04-01", "2009-12-31", 9),
        "the first nine months of fiscal year 2010 (April 1 to December 31, 2009)",
    ),
    ((None, "2010-03-31", 0), "as of March 31, 2010"),
    (("2009-04-01", "2009-08-31", 5), "April 1 to August 31, 2009"),
    ((None, "2009-08-31", 5), "the 5 months ended August 31, 2009"),
]


_ALL = _filled(
    "03-31",
    ("2009-04-01", "2010-03-31", 12),
    ("2009-04-01", "2009-06-30", 3),
    ("2009-07-01", "2009-09-30", 3),
    ("2009-04-01", "2009-09-30", 6),
    ("2009-10-01", "2010-03-31", 6),
    ("2009-04-01", "2009-12-31", 9),
    (None, "2010-03-31", 0),
    (None, "2009-09-30", 0),
)


def _actual(text: str, default: Basis = FISCAL) -> list[str]:
    return _ALL.filter(parse_period(text).expression(default))["point_id"].to_list()


def test_a_balance_sheet_answers_to_each_period_that_it_closes() -> None:
    sheet = "None..2010-03-31"
    assert _actual("Q4 FY2010") == [sheet]
    assert sheet in _actual("FY2010")
    assert sheet in _actual("H2 FY2010")
    assert "None..2009-09-30" in _actual("H1 FY2010")
    assert "None..2009-09-30" in _actual("Q2 FY2010")


def test_the_basis_decides_the_year() -> None:
    year, sheet = "2009-04-01..2010-03-31", "None..2010-03-31"
    assert _actual("FY2010") == [year, sheet]
    assert _actual("2010") == [year, sheet]
    assert _actual("CY2009") == [year]
    assert _actual("2009", CALENDAR) == [year]
    assert _actual("calendar 2010-Q1") == [sheet]
    assert _actual("calendar 2009-Q2") == ["2009-04-01..2009-06-30"]


def test_a_japanese_term_is_named_by_the_month_it_ends_in() -> None:
    assert _actual("2010年3月期") == ["2009-04-01..2010-03-31", "None..2010-03-31"]


@given(st.text(max_size=200) | st.from_regex(r"(FY|Q1|20|calendar|[ -年月期]){1,6}"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        actual: Any = parse_period(text)
    except InputError:
        return
    assert actual != PeriodQuery()


@pytest.mark.parametrize(
    ("text", "part", "end"),
    [
        ("the fiscal year ended March 31, 2016 (its 93rd fiscal term)", "FY", date(2016, 3, 31)),
        (
            "for the quarter ended April 30, 2009 (the first quarter of its fiscal year)",
            "Q1",
            date(2009, 4, 30),
        ),
        (
            "the nine months ended March 31, 2009 (the first nine months of its fiscal year)",
            "9M",
            date(2009, 3, 31),
        ),
        (
            "fiscal 2010 (the year ended February 27, 2010)",
            "FY",
            date(2010, 2, 27),
        ),
    ],
)
def test_periods_are_read_as_questions_name_them(text: str, part: str | None, end: date) -> None:
    query = parse_period(text)
    assert (query.part, query.end) == (part, end)


def test_a_true_last_day_finds_the_rounded_one_and_no_other_quarter() -> None:
    ends = pl.DataFrame({"period_end": [date(2010, 1, 31), date(2010, 4, 30), date(2010, 7, 31)]})
    for day in (date(2010, 4, 30), date(2010, 5, 1), date(2010, 5, 9), date(2010, 4, 20)):
        shown = ends.filter(PeriodQuery(end=day).expression())["period_end"].to_list()
        assert shown == [date(2010, 4, 30)]
