"""The helper of check programs: tables, numbers, dates and words of files, and findings."""

from __future__ import annotations

import datetime
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest

from construction.grading.checking import (
    Findings,
    about,
    beside,
    column,
    date,
    dates,
    deliverable,
    near,
    number,
    numbers,
    records,
    says,
    says_number,
    table,
    text,
    times,
)
from construction.grading.exports.writing import bundle_files
from construction.grading.findings import library, program_of


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("1,234.50 € and 12 %", [1234.5, 12.0]),
        ("(3.2) and -7, | (4) |", [-3.2, -7.0, -4.0]),
        ("Rye (12), 分部（3）, 5 (6)", [12.0, 3.0, 5.0, -6.0]),
        ("3k, 1.2万", [3000.0, 12000.0]),
        ("A12, v1.2.3 and B-14x", []),
        ("1 234 or 12,5", [1234.0, 12.5]),
        ("合计１２件，共 3 件", [12.0, 3.0]),
        ("总额1,234.50元，增长12.5%，第3名", [1234.5, 12.5, 3.0]),
        ("12，345和7", [12.0, 345.0, 7.0]),
        ("1月-3月降3千克，负4", [1.0, 3.0, 3.0, -4.0]),
        ("50%-60%, 3-5, -$5, €-6", [50.0, 60.0, 3.0, 5.0, -5.0, -6.0]),
        ("1.234,50 € and 1’234.50, 1.234.567", [1234.5, 1234.5, 1234567.0]),
        ("Rye 66 100 82.5", [66.0, 100.0, 82.5]),
        ("12kg in 5 m, 1.2 million, 3m, CNY3,000", [12.0, 5.0, 1.2e6, 3e6, 3000.0]),
        ("Rye,66", [66.0]),
        ("1e-3", [0.001]),
        ("22:00, 2026-03-05T08:15:30Z, 9:30-10:45, 10 pm: 7", [7.0]),
        ("5 March 2026 | 2026年3月5日 | 3月5日 | 05/03/2026 | 4", [4.0]),
        ("16:9, 3:1 in March 2026", [16.0, 9.0, 3.0, 1.0, 2026.0]),
        ("①12台，120㎡ or 80m², 12¹、-5", [1.0, 12.0, 120.0, 80.0, 12.0, -5.0]),
    ],
)
def test_numbers_are_read_whole(words: str, values: list[float]) -> None:
    assert numbers(words) == values


def test_a_cell_states_one_number_or_none() -> None:
    cells = (4, 2.5, "€ 1,200", "12%", True, None, "", "3 of 4")
    assert [number(cell) for cell in cells] == [4, 2.5, 1200, 12, None, None, None, None]
    assert (near("12.004", 12), near("12.02", 12), near("about", 12)) == (True, False, False)
    assert near("12.4", 12, tolerance=0.5)
    assert (near("82.5 %", 0.825), near("82.5", 0.825), near("12.9%", 0.12)) == (True, False, False)


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2026-03-05", "2026-03-05"),
        ("5 March 2026", "2026-03-05"),
        ("Mar 5, 2026", "2026-03-05"),
        ("05.03.2026", "2026-03-05"),
        ("12/31/2026", "2026-12-31"),
        ("5th of March, 2026", "2026-03-05"),
        ("5-Mar-2026", "2026-03-05"),
        ("20260305", "2026-03-05"),
        ("2026年3月5日", "2026-03-05"),
        (datetime.datetime(2026, 3, 5, 8), "2026-03-05"),
        ("2026-02-31", ""),
        ("soon", ""),
        (None, ""),
    ],
)
def test_dates_are_days(written: object, day: str) -> None:
    assert date(written) == day


def test_all_days_and_hours_of_a_text_are_read() -> None:
    words = "from 2026-03-05T22:00 to 5 April 2026, 9:30-10:45, 5 pm, 12:05 am, 晚上20时05分"
    assert dates(words) == ["2026-03-05", "2026-04-05"]
    assert times(words) == ["22:00", "09:30", "10:45", "17:00", "00:05", "20:05"]
    assert (dates("31.2.2026"), times("16:9 and 25:00, 10:15:99")) == ([], [])


@pytest.mark.parametrize(
    ("words", "phrase", "is_said"),
    [
        ("《总部》、分部", "总部，分部", True),
        ("合同", "《合同》", True),
        ("①Rye：12", "Rye", True),
        ("甲方、Mia Chen。", "Mia Chen", True),
        ("“Rye、Lydd”", "Rye, Lydd", True),
        ("の Ryeland の", "Rye", False),
        ("𠮷野家Rye店", "Rye", True),
    ],
)
def test_words_are_bounded_by_wide_signs_and_marks(words: str, phrase: str, is_said: bool) -> None:
    assert says(words, phrase) is is_said


REPORT = """# Depots
## Rye
Key figures:
- 66 boxes, 4 carts. Compared with Lydd (12), many.
### Carts
They are old.
## Lydd
It has 12 boxes.

| Rye | 66 |
| Rye Harbour | 9 |
67 at Rye and 13 at Lydd
Rye has 68 and Lydd 14.
In 2024 Rye had 69 and Lydd 15
"""
DEPOTS = ["Rye", "Lydd", "Rye Harbour"]


def test_what_is_said_of_one_of_several_names() -> None:
    rye, lydd = (numbers(about(REPORT, name, DEPOTS)) for name in DEPOTS[:2])
    assert rye == [66, 4, 66, 67, 68, 2024, 69, 15]  # what cannot be parted is said of both
    assert lydd == [12, 12, 13, 14, 2024, 69, 15]
    assert "They are old." in about(REPORT, "Rye", DEPOTS)
    assert numbers(about(REPORT, "Rye Harbour", DEPOTS)) == [9]
    assert about("总部仓库有66箱，分部12箱。", "分部", ["总部", "分部"]) == "分部12箱。"
    listed = "1. Rye\nhas 12\n2. **Lydd:** 13"
    assert numbers(about(listed, "Rye", DEPOTS)) == [12]
    assert (about("nothing", "Rye", DEPOTS), about("", "")) == ("", "")


def test_columns_are_found_by_heads_or_values(tmp_path: Path) -> None:
    rows = [["Depots", None], ["name", "Boxes (n)", "x"], ["Rye", "3 pcs", 1], ["Lydd", 4]]
    assert column(rows, "箱数", "boxes") == [None, "Boxes (n)", "3 pcs", 4]
    assert column(rows, {"lydd", "RYE"}) == ["Depots", "name", "Rye", "Lydd"]
    assert column(rows, [3, 4]) == column(rows, "boxes")
    assert column(rows, "x") == [None, "x", 1, None]
    assert column(rows, "carts", [77]) == column([], "boxes") == []
    (tmp_path / "a.csv").write_text("of,2026\nboxes,per\nDepot name,Boxes\nRye,3\n")
    rows_below = records(str(tmp_path / "a.csv"), heads=["depot", "boxes"])
    assert rows_below == [{"Depot name": "Rye", "Boxes": "3"}]
    assert records(str(tmp_path / "a.csv"), heads=["carts"]) == []


def test_names_of_files_that_are_there_are_compared_to_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "inv_77.pdf").write_text("a")
    findings = Findings()
    for expected, actual in (
        ("INV-77.pdf", "inv_77.pdf"), ("inv_77.pdf", "inv_77.pdf "), ("Example.com", "example.com"),
        ({"a/INV_77.PDF", "b.md"}, {"b.md", "a/inv_77.pdf"}), ("Inv 77", "inv_77"),
    ):  # fmt: skip
        findings.equal("name", expected, actual)
    assert [one["passed"] for one in findings.items] == [False, True, True, False, True]


def test_words_and_numbers_stand_whole() -> None:
    assert (says("The Cat, sat", "cat"), says("concat", "cat")) == (True, False)
    assert (says("总部仓库", "总部"), says("anything", "")) == (True, False)
    assert (says("共有Rye分部12台", "Rye"), says("共312台", "12台")) == (True, False)
    assert (says_number("Rye has 312", 12), says_number("Rye has 12.", 12)) == (False, True)
    assert beside("Rye: 66 of 80\nRyeland: 9", "Rye") == [66, 80]
    assert beside("Q1: 12\nQ2: 14", "Q2") == [14]
    assert beside("Pier 3 holds 3 boats", "Pier 3") == [3]


def test_tables_of_all_kinds_are_rows(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["tool", "count"], ["Adze", 3], ["Rasp", 4]]
    book = openpyxl.Workbook()
    sheet: list[list[Any]] = [["Tools of the yard"], [], *rows]
    for row in sheet:
        book.worksheets[0].append(row)
    paper = docx.Document()
    own = paper.add_table(rows=3, cols=2)
    for at, row in enumerate(rows):
        for n, cell in enumerate(row):
            own.cell(at, n).text = str(cell)
    target, named = BytesIO(), [{"tool": tool, "count": count} for tool, count in rows[1:]]
    paper.save(target)
    book.save(tmp_path / "a.xlsx")
    files = {
        "a.csv": b"\xef\xbb\xbftool;count\nAdze;3\n\nRasp;4\n",
        "a.json": json.dumps({"yard": 1, "tools": named}).encode(),
        "a.md": b"# Tools\n\n| tool | count |\n|---|---|\n| Adze | 3 |\n| **Rasp** | 4 |\n",
        "a.docx": target.getvalue(),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    for name in (*files, "a.xlsx"):
        read = records(str(tmp_path / name))
        tools = [(row["tool"], number(row["count"])) for row in read]
        assert tools == [("Adze", 3), ("Rasp", 4)], name
        assert says(text(str(tmp_path / name)), "Rasp")
    (tmp_path / "years.csv").write_text("region,2024,2025\nRye,3,4\n")
    assert records(str(tmp_path / "years.csv")) == [{"region": "Rye", "2024": "3", "2025": "4"}]
    assert numbers(text(str(tmp_path / "years.csv"))) == [2024, 2025, 3, 4]
    (tmp_path / "torn.xlsx").write_bytes(b"PK")
    assert (table(str(tmp_path / "torn.xlsx")), text(str(tmp_path / "none.md"))) == ([], "")


def test_what_was_delivered_is_found_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs" / "sub").mkdir(parents=True)
    (tmp_path / "outputs" / "sub" / "Totals.md").write_text("a")
    assert deliverable("totals.md") == deliverable("*.md") == "outputs/sub/Totals.md"
    assert deliverable("totals.csv") == ""


def test_findings_are_printed_whatever_happens(capsys: pytest.CaptureFixture[str]) -> None:
    with Findings() as findings:
        findings.equal("total", 12.5, "12.50 €")
        findings.equal("day", datetime.date(2026, 3, 5), "5.3.2026")
        findings.equal("order", [3, 1], [1, 3])
        findings.equal("sums", [936713.2000000001, "2"], [936713.2, 2.0])
        findings.equal("rooms", {"room 12", 3.5}, {3.501, "Room 12"})
        findings.equal("halls", ["room 12"], ["hall 12"])
        findings.equal("names", {"Rye", "Lydd"}, {"lydd", "RYE"})
        findings.equal("who", "Rye", None)
        raise KeyError("x")
    printed = json.loads(capsys.readouterr().out)
    assert [one["passed"] for one in printed] == [
        *(True, True, False, True, True, False, True, False)
    ]
    assert printed[-1]["found"] == "nothing"
    assert printed[6]["expected"] == "{'Lydd', 'Rye'}"  # in one order, whatever the run


def test_the_helper_lies_beside_programs_and_in_the_exported_grader() -> None:
    assert list(library()) == ["checking.py", "formulas.py"]
    assert program_of("", {}, {}).files.items() >= library().items()
    for name in library():
        assert any(path.endswith(f"construction/grading/{name}") for path in bundle_files())
