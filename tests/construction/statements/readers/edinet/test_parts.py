"""The small parts: spans of reports, numbers as written, units, the code list."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.statements.readers.edinet.read import (
    _Listed,
    _mended_name,
    _read_code_lists,
    _year_end,
)
from construction.statements.readers.edinet.source import EdinetConfig, Filing
from construction.statements.readers.edinet.values import (
    Kind,
    _clean_number,
    _months_between,
    _unit_of,
    report_of,
    span_of,
)
from data.text.folding import without_spaces
from tests.construction.statements.readers.edinet.made import CODE_LIST


@pytest.mark.parametrize(
    ("description", "result"),
    [
        ("有価証券報告書－第93期(2015/04/01－2016/03/31)", (Kind.ANNUAL, 93, None)),
        ("有価証券報告書", (Kind.ANNUAL, None, None)),
        (
            "四半期報告書－第96期第3四半期(平成30年10月1日－平成30年12月31日)",
            (Kind.QUARTER, 96, 3),
        ),
        ("四半期報告書－第９期第２四半期", (Kind.QUARTER, 9, 2)),
        ("半期報告書－第102期(2024/04/01－2025/03/31)", (Kind.HALF, 102, None)),
        ("訂正四半期報告書－第5期第1四半期", (Kind.QUARTER, 5, 1)),
        ("訂正有価証券報告書－第5期", (Kind.ANNUAL, 5, None)),
    ],
)
def test_a_description_tells_the_report(
    description: str, result: tuple[Kind, int | None, int | None]
) -> None:
    report = report_of(description)
    assert report is not None
    assert (report.kind, report.term, report.quarter) == result


@pytest.mark.parametrize("description", ["有価証券届出書", "臨時報告書", "", "第3四半期"])
def test_other_documents_are_no_reports(description: str) -> None:
    assert report_of(description) is None


def _days(text: str) -> tuple[date, date]:
    start, end = text.split("..")
    return date.fromisoformat(start), date.fromisoformat(end)


# description, stated days, first day of the term by its annual report, true days, months
SPANS = [
    ("有価証券報告書", "2020-04-01..2021-03-31", None, "2020-04-01..2021-03-31", 12),
    ("有価証券報告書", "2019-02-21..2020-02-20", None, "2019-02-21..2020-02-20", 12),
    ("有価証券報告書", "2022-04-01..2022-12-31", None, "2022-04-01..2022-12-31", 9),
    ("有価証券報告書", "2018-07-01..2018-12-31", None, "2018-07-01..2018-12-31", 6),
    ("有価証券報告書", "2017-03-21..2018-02-28", None, "2017-03-21..2018-02-28", None),
    ("有価証券報告書", "2022-02-21..2023-03-31", None, "2022-02-21..2023-03-31", None),
    ("有価証券報告書", "2023-06-01..2024-09-30", None, "2023-06-01..2024-09-30", None),
    # Half-year reports mostly state the whole fiscal year.
    ("半期報告書", "2024-04-01..2025-03-31", None, "2024-04-01..2024-09-30", 6),
    ("半期報告書", "2025-04-01..2025-09-30", None, "2025-04-01..2025-09-30", 6),
    ("半期報告書", "2024-01-21..2025-01-20", None, "2024-01-21..2024-07-20", 6),
    ("半期報告書", "2024-03-01..2025-02-28", None, "2024-03-01..2024-08-31", 6),
    ("半期報告書", "2024-09-01..2025-08-31", None, "2024-09-01..2025-02-28", 6),
    ("半期報告書", "2025-06-01..2026-02-28", None, "2025-06-01..2025-11-30", 6),
    # Quarterly reports state the quarter, or the year to date, or era dates gone wrong.
    ("四半期報告書－第1四半期", "2019-04-01..2019-06-30", None, "2019-04-01..2019-06-30", 3),
    ("四半期報告書－第2四半期", "2019-07-01..2019-09-30", None, "2019-04-01..2019-09-30", 6),
    ("四半期報告書－第3四半期", "2019-10-01..2019-12-31", None, "2019-04-01..2019-12-31", 9),
    ("四半期報告書－第3四半期", "2018-04-01..2018-12-31", None, "2018-04-01..2018-12-31", 9),
    ("四半期報告書－第3四半期", "2019-12-01..2020-02-29", None, "2019-06-01..2020-02-29", 9),
    ("四半期報告書－第2四半期", "2019-05-21..2019-08-20", None, "2019-02-21..2019-08-20", 6),
    ("四半期報告書－第1四半期", "1989-04-01..2019-06-30", None, "2019-04-01..2019-06-30", 3),
    ("四半期報告書－第3四半期", "2019-10-31..2019-12-31", None, "2019-04-01..2019-12-31", 9),
    ("四半期報告書－第2四半期", "2021-07-01..2023-09-30", None, "2023-04-01..2023-09-30", 6),
    ("四半期報告書－第3四半期", "2022-12-01..2022-12-31", None, "2022-04-01..2022-12-31", 9),
    # The annual report of the term settles what the number of the quarter cannot.
    ("四半期報告書－第9期", "2019-07-01..2019-09-30", "2019-04-01", "2019-04-01..2019-09-30", 6),
    ("四半期報告書－第9期", "2019-07-01..2019-09-30", None, "2019-07-01..2019-09-30", None),
    (
        "四半期報告書－第9期第3四半期",
        "2022-10-01..2022-12-31",
        "2022-02-21",
        "2022-02-21..2022-12-31",
        None,
    ),
    (
        "四半期報告書－第9期第4四半期",
        "2024-03-01..2024-05-31",
        "2023-06-01",
        "2023-06-01..2024-05-31",
        None,
    ),
]


@pytest.mark.parametrize(("description", "stated", "term", "true", "months"), SPANS)
def test_span(
    description: str, stated: str, term: str | None, true: str, months: int | None
) -> None:
    start, end = _days(stated)
    filing = Filing("E00001", "S1", description, start, end, end, (), "f", 1)
    report = report_of(description)
    assert report is not None
    terms = {("E00001", 9): date.fromisoformat(term)} if term else {}
    span = span_of(filing, report, terms)
    assert (span.start, span.end) == _days(true)
    assert span.months == months


@given(st.dates(date(1990, 1, 1), date(2060, 1, 1)), st.integers(1, 3))
def test_a_quarter_counts_its_months_from_the_start_of_the_year(start: date, quarter: int) -> None:
    """Whatever first day is stated, the span has three months a quarter and ends where told."""
    report = report_of(f"四半期報告書－第{quarter}四半期")
    assert report is not None
    span = span_of(Filing("E00001", "S1", "", start, start, start, (), "f", 1), report, {})
    assert (span.end, span.months) == (start, 3 * quarter)
    assert span.start <= span.quarter_start <= span.end
    assert _months_between(span.quarter_start, span.end) == 3


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("226626000000", "226626000000", None),
        ("-235000000", "-235000000", None),
        ("0.239", "0.239", None),
        ("214.97", "214.97", None),
        ("１２３，４５６", "123456", None),
        ("１２．５", "12.5", None),
        ("１２３ ４５６", "123456", None),
        ("△1,234", "-1234", None),
        ("▲５６", "-56", None),
        ("−7", "-7", None),
        ("(8,000)", "-8000", None),
        ("－", None, "value.missing"),
        ("-", None, "value.missing"),
        ("―", None, "value.missing"),
        ("", None, "value.missing"),
        ("　", None, "value.missing"),
        ("1,23", None, "value.not_a_number"),
        ("1e9", None, "value.not_a_number"),
        ("NaN", None, "value.not_a_number"),
        ("１２百万円", None, "value.not_a_number"),
        ("--1", None, "value.not_a_number"),
        ("9" * 41, None, "value.not_a_number"),
        ("٣", None, "value.not_a_number"),
    ],
)
def test_number(text: str, value: str | None, reason: str | None) -> None:
    assert _clean_number(text) == (value, reason)


@pytest.mark.parametrize(
    ("label", "unit"),
    [
        ("売上高", "JPY"),
        ("１株当たり純資産額", "JPY/share"),
        ("潜在株式調整後１株当たり当期純利益", "JPY/share"),
        ("１株当たり中間配当額", "JPY/share"),
        ("自己資本比率", "ratio"),
        ("自己資本利益率、経営指標等", "ratio"),
        ("株価収益率", "ratio"),
        ("配当性向", "ratio"),
        ("従業員数", "count"),
        ("平均臨時雇用人員", "count"),
        ("発行済株式総数（普通株式）", "shares"),
        ("自己株式", "JPY"),
        ("資本金", "JPY"),
        ("人件費", "JPY"),
        ("（その他）", "JPY"),
    ],
)
def test_unit(label: str, unit: str) -> None:
    assert _unit_of(without_spaces(label)) == unit


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("3月31日", "03-31"),
        ("2月末日", "02-28"),
        ("２月２８日", "02-28"),
        ("11月末日", "11-30"),
        ("3月20日", "03-20"),
        ("", None),
        ("13月1日", None),
        ("2月30日", None),
        ("0月1日", None),
    ],
)
def test_year_end(text: str, result: str | None) -> None:
    assert _year_end(text) == result


@pytest.mark.parametrize("encoding", ["cp932", "utf-8-sig", "utf-8"])
def test_the_code_list_in_either_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "EdinetcodeDlInfo.csv"
    path.write_bytes(CODE_LIST.encode(encoding))
    listed, rows = _read_code_lists([path], EdinetConfig())
    assert [str(row.outcome) for row in rows] == ["kept"]
    assert listed == {
        "E00001": _Listed("KO Foods CO.,LTD.", "食料品", "03-31", "JP", "コウ"),
        "E00002": _Listed("Otsu Inc.", "機械", "12-31", "US", "オツ"),
        "E00003": _Listed(None, None, None, "JP"),
    }


@pytest.mark.parametrize(
    ("content", "actual"),
    [
        (b"", "no header of a code list"),
        (b"a,b\n1,2\n", "no header of a code list"),
        (b"a,b\n\x81", "text in another encoding than UTF-8 and Shift JIS"),
        (b"a" * 200_000, "broken CSV"),
        (b"a" * 300_000, "more than 250,000 bytes"),
    ],
)
def test_a_broken_code_list_is_in_the_ledger(tmp_path: Path, content: bytes, actual: str) -> None:
    path = tmp_path / "EdinetcodeDlInfo.csv"
    path.write_bytes(content)
    listed, rows = _read_code_lists([path], EdinetConfig(max_code_list_bytes=250_000))
    assert listed == {}
    assert [(row.reason, row.evidence["found"]) for row in rows] == [("file.no_code_list", actual)]


@pytest.mark.parametrize(
    ("listed", "filed", "name"),
    [
        ("Tarumi Corpolation", "垂水株式会社", "Tarumi Corporation"),
        ("TARUMI PHARMACEUTIAL COMANY", "垂水", "TARUMI PHARMACEUTICAL COMPANY"),
        ("Tarumi Corporation", "垂水", "Tarumi Corporation"),
        ("Tarumi Incorporation", "垂水", "Tarumi Incorporation"),  # another word
        ("SUNCORPORATION", "垂水", "SUNCORPORATION"),
        ("Tarumi Raobtics Inc.", "Tarumi Robotics Inc.", "Tarumi Robotics Inc."),
        ("Tarumi Robotics Inc.", "TRI", "Tarumi Robotics Inc."),
        (None, "垂水", None),
    ],
)
def test_slips_of_the_code_list_are_mended(
    listed: str | None, filed: str, name: str | None
) -> None:
    assert _mended_name(listed, filed) == name
