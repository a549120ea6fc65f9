"""Which figures of a summary count although no statement holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.construction.statements.readers.edinet.made import company, filing, read

AGREEING = {"総資産額": "70", "売上高": "50", "経常利益": "9", "従業員数": "12"}


@pytest.mark.parametrize(
    ("change", "generated"),
    [({}, False), ({"経常利益": "8"}, True), ({"経常利益": "－"}, True)],
)
def test_a_summary_is_confirmed_by_three_items_of_its_statements(
    tmp_path: Path, change: dict[str, str], generated: bool
) -> None:
    report = filing(
        "S1",
        bs={"総資産": "70"},
        pl={"売上高": "50", "経常利益": "9"},
        summary=AGREEING | change,
    )
    staff = read(tmp_path, company("E00001", report)).points
    figures = staff.filter(series_id="edinet:E00001/従業員数/Operating indicators/count")
    assert figures["auto_generated"].to_list() == [generated]


@pytest.mark.parametrize(("again", "generated"), [("12", False), ("13", True)])
def test_a_summary_is_confirmed_by_a_second_filing_with_the_same_figure(
    tmp_path: Path, again: str, generated: bool
) -> None:
    first = filing("S1", summary={"従業員数": "12"})
    second = filing("S2", filed="2021-07-01", summary={"従業員数": again})
    points = read(tmp_path, company("E00001", first, second)).points
    assert points.select("value", "auto_generated").rows() == [(again, generated)]
