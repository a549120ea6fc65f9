"""EDINET collections read into the tables of the model, trap by trap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from construction.statements.model import COMPANIES, HISTORY, POINTS, ROWS, SERIES
from construction.statements.readers.edinet.read import read_edinet
from construction.statements.readers.edinet.source import EdinetConfig
from data.errors import InputError
from tests.construction.statements.readers.edinet.made import (
    ANNUAL,
    CODE_LIST,
    HALF,
    QUARTERS,
    company,
    filing,
    read,
    reasons,
    spans,
)

YEAR = ("2020-04-01", "2021-03-31")
Q1, Q2 = ("2020-04-01", "2020-06-30"), ("2020-07-01", "2020-09-30")


def test_an_annual_report(tmp_path: Path) -> None:
    tables: dict[str, Any] = {
        "bs": {"土地": "30", "総資産": "100"},
        "pl": {"売上高": "226626000000", "当期利益": "-5"},
        "cf": {"現金及び現金同等物": "7", "配当金の支払額": "-2"},
        "summary": {"１株当たり配当額": "5.00", "従業員数": "2249"},
    }
    read_in = read(tmp_path, company("E00001", filing("S1", **tables)))
    assert spans(read_in, "売上高") == [("226626000000", *YEAR, 12)]
    assert spans(read_in, "総資産") == [("100", None, YEAR[1], 0)]
    assert spans(read_in, "現金及び現金同等物") == [("7", None, YEAR[1], 0)]
    assert spans(read_in, "配当金の支払額") == [("-2", *YEAR, 12)]
    assert spans(read_in, "1株当たり配当額") == [("5.00", *YEAR, 12)]
    assert spans(read_in, "従業員数") == [("2249", None, YEAR[1], 0)]
    series = {row["concept"]: row for row in read_in.series.iter_rows(named=True)}
    land = series["土地"]
    assert land["series_id"] == "edinet:E00001/土地/Balance sheet/JPY"
    assert (land["name"], land["name_local"]) == ("Balance sheet | Land", "貸借対照表 | 土地")
    assert (land["label_method"], land["method"], land["depth"]) == ("table", "flat", 2)
    assert (land["unit"], land["currency"], land["row_order"]) == ("JPY", "JPY", 0)
    dividend = series["1株当たり配当額"]
    assert dividend["name_local"] == "主要な経営指標等の推移 | １株当たり配当額"
    assert (dividend["unit"], dividend["currency"]) == ("JPY/share", "JPY")
    assert (series["従業員数"]["unit"], series["従業員数"]["currency"]) == ("count", None)


def test_only_what_stands_in_the_summary_alone_is_auto_generated(tmp_path: Path) -> None:
    """The summary may hold the parent's figures: what a statement tells is taken from there."""
    tables: dict[str, Any] = {
        "bs": {"総資産": "100"},
        "pl": {"売上高": "50"},
        "summary": {"総資産額": "70", "売上高": "50", "経常利益": "9", "包括利益": "4"},
    }
    read_in = read(tmp_path, company("E00001", filing("S1", **tables)))
    result = read_in.points.join(read_in.series, on="series_id").sort("concept")
    assert result.select("concept", "value", "auto_generated").rows() == [
        ("包括利益", "4", True),
        ("売上高", "50", False),
        ("総資産", "100", False),
    ]
    assert reasons(read_in) == {
        "value.summary_differs": 1,
        "value.summary_same": 1,
        "value.summary_alone": 1,
    }
    assert set(result.filter("auto_generated")["statement"]) == {"Operating indicators"}


def test_quarterly_figures_run_from_the_start_of_the_year(tmp_path: Path) -> None:
    read_in = read(
        tmp_path,
        company(
            "E00001",
            filing("S1", QUARTERS[0], *Q1, pl={"売上高": "10"}),
            filing("S2", QUARTERS[1], *Q2, pl={"売上高": "21"}, cf={"営業キャッシュフロー": "3"}),
            filing("S3", QUARTERS[2], "2020-10-01", "2020-12-31", pl={"売上高": "33"}),
            filing("S4", ANNUAL, *YEAR, pl={"売上高": "45"}, bs={"土地": "1"}),
        ),
    )
    assert spans(read_in, "売上高") == [
        ("10", "2020-04-01", "2020-06-30", 3),
        ("21", "2020-04-01", "2020-09-30", 6),
        ("33", "2020-04-01", "2020-12-31", 9),
        ("45", "2020-04-01", "2021-03-31", 12),
    ]
    assert spans(read_in, "営業キャッシュフロー") == [("3", "2020-04-01", "2020-09-30", 6)]


def _ifrs(summary_profit: str | None, description: str = QUARTERS[1]) -> dict[str, object]:
    result = {} if summary_profit is None else {"税引前利益(IFRS)": summary_profit}
    return filing(
        "S2",
        description,
        *(YEAR if description == HALF else Q2),
        pl={"売上収益（IFRS）": "11", "税引前利益": "4", "当期利益": "3"},
        cf={"当期利益": "3", "税引前当期純利益": "9", "営業キャッシュフロー": "8"},
        summary=result,
    )


@pytest.mark.parametrize("summary_profit", ["9", None])
def test_the_income_statement_of_an_ifrs_filer_may_be_of_the_quarter_alone(
    tmp_path: Path, summary_profit: str | None
) -> None:
    read_in = read(tmp_path, company("E00001", _ifrs(summary_profit)))
    quarter, year_to_date = ("2020-07-01", "2020-09-30", 3), ("2020-04-01", "2020-09-30", 6)
    assert spans(read_in, "売上収益(IFRS)") == [("11", *quarter)]
    assert spans(read_in, "当期利益", "Cash flow statement") == [("3", *quarter)]
    assert spans(read_in, "営業キャッシュフロー") == [("8", *year_to_date)]
    # Taken over from the income statement, but not the same: which period, nobody can tell.
    assert spans(read_in, "税引前当期純利益") == []
    assert reasons(read_in)["value.period_unclear"] == 1


def test_an_ifrs_filer_whose_summary_agrees_reports_the_year_to_date(tmp_path: Path) -> None:
    read_in = read(tmp_path, company("E00001", _ifrs("4")))
    assert spans(read_in, "売上収益(IFRS)") == [("11", "2020-04-01", "2020-09-30", 6)]


def test_a_half_year_report_may_be_of_the_quarter_too(tmp_path: Path) -> None:
    read_in = read(tmp_path, company("E00001", _ifrs("9", HALF)))
    assert spans(read_in, "売上収益(IFRS)") == [("11", "2020-07-01", "2020-09-30", 3)]
    assert spans(read_in, "営業キャッシュフロー") == [("8", "2020-04-01", "2020-09-30", 6)]


def test_a_half_year_report_with_the_dates_of_the_year(tmp_path: Path) -> None:
    half = filing("S1", HALF, *YEAR, "2020-11-10 15:00", bs={"土地": "8"}, pl={"売上高": "20"})
    annual = filing("S2", ANNUAL, *YEAR, bs={"土地": "9"}, pl={"売上高": "45"})
    read_in = read(tmp_path, company("E00001", half, annual))
    assert spans(read_in, "売上高") == [
        ("20", "2020-04-01", "2020-09-30", 6),
        ("45", "2020-04-01", "2021-03-31", 12),
    ]
    assert spans(read_in, "土地") == [("8", None, "2020-09-30", 0), ("9", None, "2021-03-31", 0)]


def test_earnings_per_share_of_a_quarterly_summary_have_no_clear_period(tmp_path: Path) -> None:
    summary = {"１株当たり当期純利益又は当期純損失": "5.1", "１株当たり純資産額": "90"}
    first = filing("S1", QUARTERS[0], *Q1, summary=summary)
    second = filing("S2", QUARTERS[1], *Q2, summary=summary)
    read_in = read(tmp_path, company("E00001", first, second))
    assert spans(read_in, "1株当たり当期純利益又は当期純損失") == [("5.1", *Q1, 3)]
    assert [row[2] for row in spans(read_in, "1株当たり純資産額")] == ["2020-06-30", "2020-09-30"]
    assert reasons(read_in) == {"value.period_unclear": 1}


def test_an_irregular_year_keeps_its_balance_sheet_only(tmp_path: Path) -> None:
    odd = filing("S1", ANNUAL, "2020-02-21", "2021-03-31", bs={"土地": "8"}, pl={"売上高": "9"})
    read_in = read(tmp_path, company("E00001", odd))
    assert spans(read_in, "土地") == [("8", None, "2021-03-31", 0)]
    assert spans(read_in, "売上高") == []
    assert reasons(read_in) == {"value.period_irregular": 1}


def test_missing_and_broken_values_are_counted(tmp_path: Path) -> None:
    result = {"売上高": "－", "営業利益": "", "経常利益": "約9", "当期利益": 5, "減損損失": 1.5}
    odd = {"土地": None, "建物": ["1"], "": "4", "あ" * 201: "4", "商品": True}
    read_in = read(tmp_path, company("E00001", filing("S1", pl=result, bs=odd)))
    assert spans(read_in, "当期利益") == [("5", *YEAR, 12)]
    assert reasons(read_in) == {
        "value.missing": 3,
        "value.not_a_number": 4,
        "value.label": 2,
    }
    assert read_in.points.height == 1


def test_a_label_told_twice_has_no_value(tmp_path: Path) -> None:
    """Neither in one object, where a parser would keep the last, nor in two ways of writing."""
    line = (
        '{"edinetCode":"E00001","secCode":"13010","filerName":"甲","periods":[{"periodStart":'
        '"2020-04-01","periodEnd":"2021-03-31","docID":"S1","docDescription":"有価証券報告書",'
        '"submitDateTime":"2021-06-25 15:02","summary":{},"cf":{},"pl":{"売上高":"1","売上高":"2",'
        '"売上原価":"3"},"bs":{"１土地":"4","1 土地":"5"}}]}'
    )
    read_in = read(tmp_path, line)
    assert sorted(read_in.points["value"]) == ["3", "4"]
    assert reasons(read_in) == {"value.repeated_label": 2}
    assert read_in.companies["ticker"].to_list() == ["1301"]


def test_an_amended_report_replaces_the_value_and_keeps_the_history(tmp_path: Path) -> None:
    first = filing("S1", ANNUAL, *YEAR, pl={"売上高": "45", "売上原価": "30"})
    amended = f"訂正{ANNUAL}"
    second = filing("S2", amended, *YEAR, "2021-09-01 09:00", pl={"売上高": "44", "売上原価": "30"})
    read_in = read(tmp_path, company("E00001", first, second))
    assert spans(read_in, "売上高") == [("44", *YEAR, 12)]
    assert read_in.history.select("value", "document").rows() == [("45", "S1")]
    assert sorted(read_in.points.select("value", "document", "restatements").rows()) == [
        ("30", "S2", 0),
        ("44", "S2", 1),
    ]
    assert read_in.history["replaced_by"][0] in set(read_in.points["point_id"])
    assert reasons(read_in) == {"point.restated": 1, "point.filed_again": 1}


def test_rows_keep_the_order_and_text_of_the_filing(tmp_path: Path) -> None:
    first = filing("S1", bs={"総資産": "9", "その他、投資その他の資産": "1", "土地": "－"})
    other = filing("S2", filed="2021-07-01", bs={"土地": "2"}, summary={"総資産額": "9"})
    read_in = read(tmp_path, company("E00001", first, other))
    assert read_in.rows.select("document", "report", "line", "label").rows() == [
        ("S1", 1, 0, "総資産"),
        ("S1", 1, 1, "その他、投資その他の資産"),
        ("S1", 1, 2, "土地"),
        ("S2", 1, 0, "土地"),
    ]


def test_a_label_cannot_add_a_section_to_a_name(tmp_path: Path) -> None:
    result = filing("S1", bs={"謎 | の\n項目": "1"})
    series = read(tmp_path, company("E00001", result)).series.row(0, named=True)
    assert (series["name"], series["label"]) == ("Balance sheet | 謎 / の 項目", "謎 / の 項目")
    assert series["name_local"] == "貸借対照表 | 謎 / の 項目"


def test_two_items_of_a_statement_never_share_a_label(tmp_path: Path) -> None:
    """The table's own item keeps the label; of two composed or two told ones neither does."""
    result = {"総資産": "1", "資産合計": "2", "その他流動資産": "3", "その他の流動資産": "4"}
    read_in = read(tmp_path, company("E00001", filing("S1", bs=result)))
    labels = {row["concept"]: row["label"] for row in read_in.series.iter_rows(named=True)}
    assert labels == {
        "総資産": "総資産",
        "資産合計": "資産合計",
        "その他の流動資産": "Other current assets",
        "その他流動資産": "その他流動資産",
    }
    untranslated = read_in.series.filter(label_method="untranslated")
    assert set(untranslated["concept"]) == {"総資産", "資産合計", "その他流動資産"}
    assert set(untranslated["name"]) == {
        f"Balance sheet | {label}" for label in ("総資産", "資産合計", "その他流動資産")
    }


def test_companies_with_and_without_the_code_list(tmp_path: Path) -> None:
    report = filing("S1", pl={"売上高": "1"})
    records = [company("E00001", report), company("E00009", report | {"docID": "S2"})]
    bare = read(tmp_path, *records, us_traded=("E00009",)).companies
    assert bare.select("name", "name_local", "fiscal_year_end", "us").rows() == [
        ("株式会社 甲", "株式会社 甲", "03-31", False),
        ("株式会社 甲", "株式会社 甲", "03-31", True),
    ]
    (tmp_path / "EdinetcodeDlInfo.csv").write_bytes(CODE_LIST.encode("cp932"))
    listed = read(tmp_path, *records).companies
    assert listed.row(0, named=True) == {
        "company_id": "edinet:E00001",
        "source": "edinet",
        "disclosure": "public",
        "ticker": "1301",
        "name": "KO Foods CO.,LTD.",
        "name_local": "株式会社 甲",
        "name_kana": "コウ",
        "country": "JP",
        "exchange": None,
        "us": False,
        "industry": "食料品",
        "fiscal_year_end": "03-31",
        "language": "ja",
    }
    assert listed["name"][1] == "株式会社 甲"


def test_the_frames_have_the_schemas_of_the_model(tmp_path: Path) -> None:
    read_in = read(tmp_path, company("E00001"))
    for table in (COMPANIES, SERIES, POINTS, HISTORY, ROWS):
        assert dict(getattr(read_in, table.name).schema) == table.schema, table.name
    full = read(tmp_path, company("E00001", filing("S1", pl={"売上高": "1"})))
    for table in (COMPANIES, SERIES, POINTS, HISTORY, ROWS):
        assert dict(getattr(full, table.name).schema) == table.schema, table.name


def test_nothing_to_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no summaries"):
        read_edinet([tmp_path], EdinetConfig())
    with pytest.raises(InputError, match="nothing"):
        read_edinet([tmp_path / "missing"], EdinetConfig())
