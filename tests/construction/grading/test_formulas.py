"""Values of formulas: as office programs compute them, or a plain word that they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.worksheet.formula import ArrayFormula

from construction.grading import checking, formulas
from construction.grading.checking import Findings, computed, records, table
from construction.grading.formulas import with_values

ROWS = [
    ["depot", "boxes", "share"], ["Rye", 12, 0.5], ["Lydd", None, 0.25], ["Hythe", 8.5, 0.125],
    ["rye", 3, "x"],
]  # fmt: skip


def workbook(folder: Path, *formulas: object) -> str:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "Data 1"
    for row in ROWS:
        sheet.append(row)
    other = book.create_sheet("Sum")
    for at, formula in enumerate(formulas, 1):
        other.cell(at, 1).value = formula
    path = folder / "book.xlsx"
    book.save(path)
    return str(path)


# Each with the value that LibreOffice 7 gives it; XLOOKUP, which that does not know, and SUM of a
# text as Excel's manual has them. {A}, {B}, {C} are the columns of the sheet "Data 1".
@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=SUM({B})", 23.5), ("=SUM('Data 1'!B:B)", 23.5), ("=SUM({B},1,\"2\",TRUE)", 27.5),
        ("=AVERAGE({B})", 23.5 / 3), ("=MAX({B})-MIN({B})", 9), ("=COUNT({B})", 3),
        ("=COUNTA({A})", 4), ('=COUNTIF({A},"rye")', 2), ('=COUNTIF({A},"*y*")', 4),
        ('=COUNTIF({B},"<>12")', 3), ('=COUNTIF({B},"<>")', 3), ('=COUNTIF({B},"")', 1),
        ('=SUMIF({A},"Rye",{B})', 15), ('=SUMIFS({B},{A},"Rye",{B},">5")', 12),
        ('=AVERAGEIF({A},"rye",{B})', 7.5), ("=SUMPRODUCT('Data 1'!B2:B4,'Data 1'!C2:C4)", 7.0625),
        ('=SUMPRODUCT(({A}="Rye")*({B}))', 15), ("=SUMPRODUCT(--({B}>5))", 2),
        ('=IF(\'Data 1\'!B3="","none",1/0)', "none"), ("=IF(1>2,1)", False),
        ('=IFERROR(1/0,"n/a")', "n/a"), ("=1/0", "#DIV/0!"), ('="x"+1', "#VALUE!"),
        ("=AVERAGE({A})", "#DIV/0!"), ("=ROUND(2.675,2)", 2.68), ("=ROUND(-2.5,0)", -3),
        ("=ROUND(1234,-2)", 1200), ("=ROUNDUP(2.01,1)", 2.1), ("=ROUNDDOWN(-2.99,0)", -2),
        ("=ABS(-3)", 3), ("=INT(-2.5)", -3), ("=-2^2", 4), ("=2^3^2", 64), ("=10%*5", 0.5),
        ('="a"&1+2&"b"', "a3b"), ("=1+2=3", True), ("=0.1+0.2=0.3", True), ('="B"="b"', True),
        ('=VLOOKUP("hythe",\'Data 1\'!A2:C5,2,FALSE)', 8.5), ('=VLOOKUP("q",{A},1,0)', "#N/A"),
        ('=INDEX({B},MATCH("Hythe",{A},0))', 8.5), ("=MATCH(0,{B},0)", "#N/A"),
        ('=_xlfn.XLOOKUP("Hythe",{A},{B})', 8.5), ('=_xlfn.XLOOKUP("q",{A},{B},"no")', "no"),
        ("=AND(1,2>1)", True), ("=OR(FALSE,1>2)", False), ("=NOT(TRUE)", False),
        ("='Data 1'!B3", 0), ("=SUMPRODUCT({A},{B})", 0),
    ],
)  # fmt: skip
def test_formulas_have_the_value_of_an_office_program(
    formula: str, value: object, tmp_path: Path
) -> None:
    for name in "ABC":
        formula = formula.replace(f"{{{name}}}", f"'Data 1'!{name}2:{name}5")
    copy, lacking = with_values(workbook(tmp_path, formula))
    actual = openpyxl.load_workbook(copy)["Sum"]["A1"].value
    assert (actual, lacking) == (pytest.approx(value) if isinstance(value, float) else value, [])


@pytest.mark.parametrize(
    ("formula", "what"),
    [
        ("=OFFSET(A1,1,0)", "OFFSET"), ("=IFERROR(TODAY(),0)", "TODAY"),
        ("=SUM('Data 1'!B2:B5*2)", "SUM of an array"), ("=Total", "the reference Total"),
        ("='Data 1'!B2:B5*2", "a range in the place of one value"),
        ("=A1+1", "a circular reference"), ("=ROUND(1,2,3)", "a formula of this form"),
        ("=Nowhere!A1", "the reference Nowhere!A1"), ("=MATCH(5,{1,5})", "the sign {"),
        ("=MATCH(10,'Data 1'!B2:B5)", "a lookup of this order"),
        ("=COUNTIF('Data 1'!A2:A5,\">2026-01-02\")", "a criterion with a day in words"),
        ('=VLOOKUP("H*",\'Data 1\'!A2:B5,2,0)', "a lookup by a pattern"),
        (ArrayFormula("A1:A2", "=B1:B2"), "a formula of this form"),
    ],
)  # fmt: skip
def test_what_is_not_computed_says_so_wherever_it_is_used(
    formula: object, what: str, tmp_path: Path
) -> None:
    copy, lacking = with_values(workbook(tmp_path, formula, "=A1&A1", "=1+1"))
    cells = [cell.value for (cell,) in openpyxl.load_workbook(copy)["Sum"]["A1:A3"]]
    assert (cells, lacking) == ([f"cannot be computed: {what}"] * 2 + [2], [what])


def test_a_long_chain_is_computed_from_its_end(tmp_path: Path) -> None:
    chain = [f"=A{row + 1}+1" for row in range(1, 2_000)]
    copy, _ = with_values(workbook(tmp_path, *chain, 1))
    assert openpyxl.load_workbook(copy)["Sum"]["A1"].value == 2_000


def test_checks_open_the_copy_in_the_place_of_the_workbook(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_not_computed", set())
    path = workbook(tmp_path, "total", "='Data 1'!B2*2")
    assert table(path, "Sum")[1] == ["='Data 1'!B2*2"]
    assert table(computed(path), "Sum")[1] == [24]
    assert records(computed(path))[0]["boxes"] == 12
    assert computed("") == "" and computed(str(tmp_path / "none.csv")).endswith("none.csv")
    lacking = computed(workbook(tmp_path, "=TODAY()"))
    with Findings() as actual:
        actual.equal("day", 7, table(lacking, "Sum")[0][0])
    (printed,) = json.loads(capsys.readouterr().out)
    assert not printed["passed"] and "cannot be computed: TODAY" in printed["found"]


def test_real_workbooks_get_the_values_that_an_office_program_kept(
    material: Path, tmp_path: Path
) -> None:
    """Formulas of the material whose values are kept, computed again without them."""
    compared = 0
    files = sorted((material / "sessions-with-files").glob("officebench/**/*.xlsx"))
    for at, path in enumerate(path for path in files if path.stat().st_size < 30_000):
        try:
            book, kept = openpyxl.load_workbook(path), openpyxl.load_workbook(path, data_only=True)
        except Exception:  # some of them are broken on purpose
            continue
        cells = [c for s in book.worksheets for r in s.iter_rows() for c in r if c.data_type == "f"]
        if not cells:
            continue
        bare = tmp_path / f"{at}.xlsx"
        book.save(bare)  # which leaves the values of formulas out
        again = openpyxl.load_workbook(with_values(str(bare))[0], data_only=True)
        for cell in cells:
            name = cell.parent.title
            wanted, actual = kept[name][cell.coordinate].value, again[name][cell.coordinate].value
            if wanted is not None and not str(actual).startswith("cannot be computed: "):
                assert actual == (pytest.approx(wanted) if isinstance(wanted, float) else wanted)
                compared += 1
    assert compared >= 6


@pytest.mark.parametrize(
    ("formula", "what"),
    [
        ("=SUM(A2:XFD1048576)", "a range of this size"),
        ("=SUMPRODUCT((B1:B5000)*(C1:XFD1))", "a range of this size"),
        ("=" + "ABS(" * 1_000 + "1" + ")" * 1_000, "a formula nested this deep"),
        ("=" + "1+" * 3_000 + "1", 3_001),
        ("=9^9^9^9", "a formula of this form"),
        ("=1E999", "#NUM!"),
        ('=COUNTIF(B1:B1,"' + "*a" * 40 + 'b")', 0),
    ],
)
def test_hostile_formulas_end(formula: str, what: object, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append([formula, "a" * 30_000, "=B1&B1"])
    sheet["XFD1048576"] = 1  # makes no cells between
    book.save(tmp_path / "a.xlsx")
    first = openpyxl.load_workbook(with_values(str(tmp_path / "a.xlsx"))[0]).worksheets[0]
    actual = first["A1"].value
    assert actual in (what, f"cannot be computed: {what}") and first["C1"].value == "#VALUE!"


def test_rings_and_more_than_can_be_computed_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = [f"=A{row % 3_000 + 1}+1" for row in range(1, 3_001)]
    assert with_values(workbook(tmp_path, *ring))[1] == ["a circular reference"]
    monkeypatch.setattr(formulas, "_MOST_STEPS", 1_000)
    sums = ["=SUM('Data 1'!B:B)"] * 50
    copy, lacking = with_values(workbook(tmp_path, *sums))
    assert lacking == ["a workbook with this much to compute"]
    assert openpyxl.load_workbook(copy)["Sum"]["A1"].value == 23.5
