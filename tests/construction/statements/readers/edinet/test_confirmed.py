"""What a summary and the titles of reports tell beside the statements: figures, and terms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.construction.statements.readers.edinet.made import ANNUAL, company, filing, read, reasons

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


@pytest.mark.parametrize(
    ("investing", "other", "is_cut"),
    [
        ("-228000000", "580100000", True),
        ("-228681000", "580100000", False),  # in full
        ("-229000000", "580100000", False),  # not the summary's figure
        ("-228000000", "580000000", False),  # the statement is in millions itself
    ],
)
def test_a_summarys_figure_in_millions_is_no_total_of_a_statement_in_thousands(
    tmp_path: Path, investing: str, other: str, is_cut: bool
) -> None:
    summary = {"売上高": "3076000000", "総資産額": "8364000000", "経常利益": "-74000000"}
    flows = {"営業キャッシュフロー": other, "財務キャッシュフロー": f"7{other}"}
    report = filing(
        "S1",
        bs={"総資産": "8364163000"},
        cf=flows | {"投資キャッシュフロー": investing},
        summary=summary | {"投資活動によるキャッシュ・フロー": "-228000000"},
    )
    result = read(tmp_path, company("E00001", report))
    assert (reasons(result).get("value.cut_to_millions") == 1) is is_cut
    assert (investing in result.points["value"].to_list()) is not is_cut


@pytest.mark.parametrize(("term", "offset"), [("11", -2011), ("12", None)])
def test_a_term_is_known_if_all_annual_reports_count_alike(
    tmp_path: Path, term: str, offset: int | None
) -> None:
    later = filing(
        "S2", ANNUAL.replace("10", term), "2021-04-01", "2022-03-31", "2022-06-25", bs={"資産": "1"}
    )
    result = read(tmp_path, company("E00001", filing("S1", bs={"資産": "5"}), later))
    (row,) = result.conventions.to_dicts()
    assert (row["named_by"], row["term_offset"], row["days"]) == (None, offset, "stated")
    assert (row["agreeing"], row["disagreeing"]) == ((2, 0) if offset else (0, 2))
