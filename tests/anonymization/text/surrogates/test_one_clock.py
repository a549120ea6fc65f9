"""All forms of dates of a scope agree after they have moved."""

from __future__ import annotations

import re
from datetime import date

import numpy as np
import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.masker import Masker
from anonymization.text.surrogates.dates import Shift
from data.text.dates import MONTHS
from data.text.numbers import write_chinese


def shift(seed: int, *watched: str) -> Shift:
    made = Shift(np.random.default_rng(seed))
    for value in watched:
        made.watch(value)
    return made


def moved(made: Shift, value: str) -> str:
    return made.date(value, np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(12))
def test_months_alone_move_as_their_days_do(seed: int) -> None:
    made = shift(seed, "2021-03-15")
    assert made.days % 7 == 0
    day = date.fromisoformat(moved(made, "2021-03-15"))
    assert moved(made, "March") == MONTHS[day.month - 1]
    assert moved(made, "3月") == moved(made, "3月底")[:-1] == f"{day.month}月"
    assert day.month != 3


def test_forms_of_logs_headings_and_identifiers_agree() -> None:
    made = shift(3, "2021-01-06", "January 6th 2021")
    made.year = 2021
    day = date.fromisoformat(moved(made, "2021-01-06"))
    name = MONTHS[day.month - 1]
    assert moved(made, "06-Jan-2021") == f"{day.day:02}-{name[:3]}-{day.year}"
    assert moved(made, "06/Jan/2021") == f"{day.day:02}/{name[:3]}/{day.year}"
    late = date.fromisoformat(moved(made, "2021-05-13"))  # `May` is whole and short alike
    assert moved(made, "13-May-2021") == f"{late.day:02}-{MONTHS[late.month - 1][:3]}-{late.year}"
    assert moved(made, "13 May 2021").split()[1] == MONTHS[late.month - 1]
    assert moved(made, "2021_01_06") == f"{day:%Y_%m_%d}"
    assert moved(made, "January6th 2021").startswith(f"{name}{day.day}")
    assert moved(made, "Jan 6").split()[1] == str(day.day)


@pytest.mark.parametrize(
    "value",
    [
        "Mar 09/2018",
        "平成30年 3月 9日",
        "民國107年3月9日",
        "民国 107 年 3 月 9 日",
        "平成三十年三月九日",
    ],
)
def test_dates_of_eras_and_minutes_move_as_others_do(value: str) -> None:
    made = shift(3, "2018-03-09")
    day = date.fromisoformat(moved(made, "2018-03-09"))
    era = day.year - (1911 if value[0] == "民" else 1988 if day.year < 2019 else 2018)
    name = "平成" if day.year < 2019 else "令和"
    forms = {
        "M": f"{MONTHS[day.month - 1][:3]} {day:%d}/{day.year}",
        "民": re.sub("107(.*)3(.*)9", rf"{era}\g<1>{day.month}\g<2>{day.day}", value),
        "平": f"{name}{era}年 {day.month}月 {day.day}日",
    }
    if "三" in value:
        numbers = map(write_chinese, (era, day.month, day.day))
        forms["平"] = name + "".join(map("{}{}".format, numbers, "年月日"))
    assert moved(made, value) == forms[value[0]]


def test_a_year_of_the_republic_may_pass_a_hundred() -> None:
    made = shift(3)
    made.days = 7 * 104
    assert moved(made, "民國九十九年三月") == "民國101年三月"


def test_days_without_a_year_keep_their_distance() -> None:
    made = shift(5, "2023-10-27", "2016-10-29", "2021-10-26")
    made.year = 2023
    days = [date.fromisoformat(moved(made, f"2023-10-{day}")) for day in (26, 27, 29)]
    written = [moved(made, f"Oct {day}") for day in (26, 27, 29)]
    assert written == [f"{MONTHS[day.month - 1][:3]} {day.day}" for day in days]


@pytest.mark.parametrize("text", ["28 Mar 95", "9 SEP 04", "02 May 99"])
def test_years_of_two_figures_move_too(text: str) -> None:
    made = shift(6)
    day, name, year = text.split()
    full = moved(made, f"{day} {name} {'19' if year > '50' else '20'}{year}")
    assert moved(made, text) == full[:-4] + full[-2:] != text


@pytest.mark.parametrize(
    ("watched", "is_day_first"),
    [(["25/02/2019"], True), (["02/25/2019"], False), (["2019-04-03"], True), ([], False)],
)
def test_the_order_of_day_and_month_is_that_of_the_file(
    watched: list[str], is_day_first: bool
) -> None:
    made = shift(4, *watched, "03/04/2019")
    iso = moved(made, "2019-04-03" if is_day_first else "2019-03-04")
    year, month, day = iso.split("-")
    expected = f"{day}/{month}/{year}" if is_day_first else f"{month}/{day}/{year}"
    assert moved(made, "03/04/2019") == expected


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.STRICT))


@pytest.mark.parametrize(
    "text",
    [
        "BEGIN:VTIMEZONE\nBEGIN:STANDARD\nDTSTART:20071104T020000\nEND:STANDARD\nEND:VTIMEZONE\n",
        "epoch begins 1970-01-01T00:00:00Z for all of them",
        "Server built:   Sep 14 2018 09:10:11 UTC",
        "rtt min/avg/max = 17/31/28 ms over 13/14/15",
        "pdfTeX <2003/12/01>\nFile: brief.sty 1999/04/07 Letters\n",
        "Package: grid 2001/05/19 v1.1 Lines",
        "Their fiscal year runs from Apr 1 to Mar 31 as before.",
        "Maps exist (for 1999, 2004, and 2010); those of 2004 are better.",
    ],
)
def test_constants_and_years_of_data_stay(detector: TextDetector, text: str) -> None:
    assert Masker(detector, bytes(32), Mode.SURROGATE, "s").mask_texts([text]) == [text]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("09-Mar-2018 05:43:24.065 INFO [main] started", "09-Mar-2018"),
        ("Your August performance was good", "August"),
        ('## May 7th 2020 "Freeze" (telecon)\n', "May 7th 2020"),
        ("## October12th 2020 meeting", "October12th 2020"),
        ("see report_2026-05-29.md", "2026-05-29"),
        ("by relay id 7Q; Thu, 9 Nov 95 21:17 GMT", "9 Nov 95"),
        ("log opened 14 AUG 1997 09:21", "14 AUG 1997"),
        ("From ana@quill.example Mon Sep 4 08:12 PDT 1995\n", "Sep 4 08:12 PDT 1995"),
    ],
)
def test_each_form_is_found(detector: TextDetector, text: str, value: str) -> None:
    dates = {text[f.start : f.end] for f in detector.find([text])[0] if f.type is EntityType.DATE}
    assert value in dates


def test_days_without_a_year_are_of_the_year_of_their_text(detector: TextDetector) -> None:
    masker = Masker(detector, bytes(32), Mode.SURROGATE, "s")
    births = "Born on 4 May 1981, on 9 June 1981, on 3 July 1981, on 8 August 1981."
    notes = "Met on 6 November 2024 and on 2024-11-08. Before that on October 27."
    _, new = masker.mask_texts([births, notes])
    same = Masker(detector, bytes(32), Mode.SURROGATE, "s").mask_texts(["Met on October 27, 2024."])
    assert new.rpartition("on ")[2].rstrip(".") == same[0].rpartition("on ")[2].partition(",")[0]


def test_a_blank_for_a_figure_goes_where_the_day_has_two() -> None:
    made = shift(7)
    days = [moved(made, f"Mar  {day} 10:00:00 2021") for day in range(1, 10)]
    for new in days:
        assert ("  " in new) == (len(new.split()[1]) == 1)
    assert any(len(new.split()[1]) == 2 for new in days)


def test_a_term_is_no_house(detector: TextDetector) -> None:
    text = "Larkby & Quell Park Combined Service Term 3 Plan"
    assert not [f for f in detector.find([text])[0] if "3" in text[f.start : f.end]]


@pytest.mark.parametrize("seed", range(20))
def test_days_stay_in_the_month_that_a_text_names(seed: int) -> None:
    made = shift(seed, "2023-09-01", "2023-09-30", "2023-08-31", "2023年9月", "8月", "2023-10-01")
    made.settle()
    first, last = (date.fromisoformat(moved(made, f"2023-09-{day}")) for day in ("01", "30"))
    assert first.month == last.month
    assert moved(made, "2023年9月") == f"{first.year}年{first.month}月"
    assert date.fromisoformat(moved(made, "2023-08-31")).month == int(moved(made, "8月")[:-1])
    made.watch("2019-02-01")
    before = made.days
    made.settle()
    assert made.days == before


@pytest.mark.parametrize("form", ["9月 30 08:15", "9月 30  2023"])
def test_days_of_listings_in_other_tongues_move(form: str) -> None:
    made = shift(4, "2023-09-30")
    made.year = 2023
    day = date.fromisoformat(moved(made, "2023-09-30"))
    value = form.removesuffix(" 08:15")
    new = moved(made, value).split()
    assert [int(new[0][:-1]), int(new[1])] == [day.month, day.day]
    assert new[2:] == ([str(day.year)] if "2023" in value else [])
