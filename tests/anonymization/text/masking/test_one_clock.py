"""In files that belong together all dates move, or none does."""

from __future__ import annotations

import re
from datetime import date

import pytest

from anonymization.text.masking.one_clock import years_of
from tests.anonymization.text.masking.calls import mask_files

_MOVED = "visit,day\n1,2021-01-21\n2,2021-03-02\n"


@pytest.mark.parametrize(
    "odd",
    [
        "12. märz 2022",
        "3 de abril de 2022",
        "le 4 août",
        "05月",
        "MARCH 7",
        "due 18/6",
        "7/14 and 7/21",
        "gültig bis 17.09.",
        "9/4 夕方",
        "(10-07 反馈)",
        "八月份",
        "12 月",
        "by the 17th",
        "11 (a Sunday)",
        "line 3/OCT",
        "closed over Easter",
        "was decided in January",
        "Friday 4/9",
        "fri, 4/9",
        "the invoice of march 12",
        "the May figures",
        "春节前",
    ],
)
def test_days_that_cannot_move_stop_the_others_of_their_file(odd: str) -> None:
    text = f"Wartung {odd} \nNext check: 2022-05-20, then 2022-06-03.\nReport of 1 July 2022.\n"
    made = mask_files({"plan.txt": text, "visits.csv": _MOVED})
    assert made["plan.txt"] == text
    assert not re.search("2021-01-21|2021-03-02", made["visits.csv"])


def test_joined_files_have_one_clock() -> None:
    plan = "On 12. märz 2022 Ulrike Vossbeck comes.\n"
    row = "name,hired\nUlrike Vossbeck,2019-03-11\n"
    other = "name,hired\nTobias Wendling,2018-05-02\n"
    made = mask_files({"plan.txt": plan, "staff.csv": row, "other.csv": other})
    assert "Vossbeck" not in made["staff.csv"] and "2019-03-11" in made["staff.csv"]
    assert "2018-05-02" not in made["other.csv"]


def test_dates_of_birth_move_nevertheless() -> None:
    text = "name,date of birth,seen\nUlrike Vossbeck,1988-02-29,12. märz 2022\n"
    (made,) = mask_files({"patients.csv": text}).values()
    assert "1988-02-29" not in made and "12. märz 2022" in made


@pytest.mark.parametrize("key", [bytes([number]) * 32 for number in range(1, 6)])
def test_all_forms_move_by_one_shift(key: bytes) -> None:
    text = "day,note\n2021-01-21,a\nJan 28 21,b\n2/4/21,c\n12-14 March 2021,d\n令和3年4月1日,e\n"
    (made,) = mask_files({"visits.csv": text}, key).values()
    lines = made.splitlines()[1:]
    first = date.fromisoformat(lines[0].partition(",")[0])
    shift = first - date(2021, 1, 21)
    second = date(2021, 1, 28) + shift
    assert lines[1] == f"{second:%b} {second.day} {second:%y},b"
    start, end = date(2021, 3, 12) + shift, date(2021, 3, 14) + shift
    assert re.match(rf"{start.day}( {start:%B})?-{end.day} {end:%B} {end.year},d", lines[3])
    era = date(2021, 4, 1) + shift
    assert f"年{era.month}月{era.day}日" in lines[4]
    assert years_of("令和3年4月1日") == [2021] and years_of("Jan 28 21") == [2021]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rates_q1_2024.csv", "day,rate\n2024-01-02,1.0\n2024-01-03,1.1\n"),
        ("rates.csv", "year,day\n2024,2024-01-02\n2024,2024-01-03\n"),
        ("report.md", "# Rates of 2024\n\nOn 2024-01-02 they rose.\n"),
    ],
)
def test_years_alone_stop_the_dates_that_name_them(name: str, text: str) -> None:
    assert mask_files({name: text}) == {name: text}
    assert mask_files({"other.csv": text.replace("# Rates of 2024", "").replace("2024,", "")}) != {
        "other.csv": text
    }
