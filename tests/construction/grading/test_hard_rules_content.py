"""Rules on what files hold: what passes and fails each, on real files."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table

from construction.grading.attacks import holding, look_here, saved_anew
from construction.grading.file_look import RuleLimits, look
from construction.grading.file_types import type_of
from construction.grading.hard_rules import _judge_rule, _look_at_outputs
from data.contracts import Rule

SALES = "Region,Net Sales\nNorth,125\nSouth,90\nEast,\nNorth,125\n"


def reasons(folder: Path, kind: str, extension: str, **params: Any) -> str | None:
    rule = Rule(rule_id=kind, kind=kind, params={"extensions": [extension], **params}, text="…")
    outputs = _look_at_outputs([rule], folder, look=look_here)
    return _judge_rule(rule, outputs.files, outputs.overflow).reason


@pytest.mark.parametrize(
    ("unit", "size"), [("words", 5), ("characters", 24), ("rows", 0), ("pages", 0)]
)
def test_a_length_is_bounded_from_both_sides(unit: str, size: int, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Sales rose in the north.\n")
    assert reasons(tmp_path, "length", "txt", unit=unit, min=size, max=size) is None
    assert reasons(tmp_path, "length", "txt", unit=unit, min=size + 1) == "rules.too_short"
    if size:
        assert reasons(tmp_path, "length", "txt", unit=unit, max=size - 1) == "rules.too_long"


def test_slides_and_pages_and_rows_are_counted(tmp_path: Path) -> None:
    for extension in ("pptx", "pdf"):
        (tmp_path / f"a.{extension}").write_bytes(holding(extension, "Sales rose.") or b"")
        assert reasons(tmp_path, "length", extension, unit="pages", min=1, max=1) is None
        assert reasons(tmp_path, "length", extension, unit="pages", min=2) == "rules.too_short"
    (tmp_path / "a.csv").write_text(SALES)
    assert reasons(tmp_path, "length", "csv", unit="rows", min=4, max=4) is None
    (tmp_path / "a.json").write_text('{"rows": [{"region": "North"}, {"region": "South"}]}')
    assert reasons(tmp_path, "length", "json", unit="rows", min=2, max=2) is None


def test_columns_are_found_in_workbooks_csv_and_json_however_they_are_spelt(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in (["Sales of the year"], ["Region", "net_sales (EUR)"], ["North", 125]):
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    (tmp_path / "a.csv").write_text(SALES)
    (tmp_path / "a.json").write_text('[{"region": "N", "net sales": 1}, {"region": "S"}]')
    for extension in ("xlsx", "csv", "json"):
        assert reasons(tmp_path, "columns", extension, names=["Net_Sales", "region"]) is None
        failed = reasons(tmp_path, "columns", extension, names=["Net_Sales", "North"])
        assert failed == "rules.missing_column"
    assert reasons(tmp_path, "sheets", "xlsx", names=["sheet"]) is None
    assert reasons(tmp_path, "sheets", "xlsx", names=["Summary"]) == "rules.missing_sheet"


def test_texts_may_stand_in_different_files(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Net sales\n")
    (tmp_path / "b.md").write_text("Total: **215** EUR")
    assert reasons(tmp_path, "holds", "md", texts=["NET SALES", "215 EUR"]) is None
    assert reasons(tmp_path, "holds", "md", texts=["215 USD"]) == "rules.missing_text"


def test_a_file_about_something_else_fails_and_a_figure_may_stand_for_a_term(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    terms = {"terms": ["region", "north"], "min": 1}
    assert reasons(tmp_path, "mentions", "csv", **terms) == "rules.off_topic"
    assert reasons(tmp_path, "mentions", "csv", figures=True, **terms) is None
    (tmp_path / "b.csv").write_text(SALES)
    assert reasons(tmp_path, "mentions", "csv", **terms) is None
    assert reasons(tmp_path, "mentions", "csv", files=2, **terms) == "rules.off_topic"


def form_of(data: bytes, extension: str) -> int:
    return look(data, type_of(f"x.{extension}"), RuleLimits()).form


def book(*, bold: bool = False, total: str | None = None) -> bytes:
    made = openpyxl.Workbook()
    sheet = made.worksheets[0]
    sheet.append(["Region", "Net"])
    sheet.append(["North", 125])
    sheet["A1"].font = Font(bold=bold)
    sheet["B3"] = total
    target = BytesIO()
    made.save(target)
    return target.getvalue()


def test_an_input_that_is_saved_anew_is_unchanged_and_any_edit_changes_it(tmp_path: Path) -> None:
    given = book()
    forms = [form_of(given, "xlsx"), form_of(SALES.encode(), "csv")]
    for content, reason in (
        (given, "rules.unchanged"),
        (saved_anew("xlsx", given), "rules.unchanged"),
        (book(bold=True), None),
        (book(total="=SUM(B2:B2)"), None),
    ):
        (tmp_path / "a.xlsx").write_bytes(content or b"")
        assert reasons(tmp_path, "changed", "xlsx", forms=forms) == reason
    (tmp_path / "b.xlsx").write_bytes(given)
    assert reasons(tmp_path, "changed", "xlsx", forms=forms) is None, "one of two was edited"
    for text, reason in (
        (f"{SALES}\n\n", "rules.unchanged"),
        (SALES.replace("Net Sales", "net sales"), None),
        (SALES.replace("East,\n", "East\n"), None),
    ):
        (tmp_path / "a.csv").write_text(text)
        assert reasons(tmp_path, "changed", "csv", forms=forms) == reason


def _edits() -> dict[str, Callable[[Any], None]]:
    """Edits of a sheet that leave its cells and their look as they were."""

    def rule(sheet: Any) -> None:
        sheet.conditional_formatting.add("B2", CellIsRule(operator="lessThan", formula=["5"]))  # type: ignore[no-untyped-call]

    def name(sheet: Any) -> None:
        sheet.parent.defined_names["net"] = DefinedName("net", attr_text="Sheet!$B$2")

    def link(sheet: Any) -> None:
        sheet["A2"].hyperlink = "https://example.org/north"

    return {
        "rule": rule,
        "name": name,
        "link": link,
        "allowed": lambda sheet: sheet.add_data_validation(
            DataValidation(type="whole", sqref="B2", formula1="1", formula2="9")
        ),
        "table": lambda sheet: sheet.add_table(Table(displayName="Net", ref="A1:B2")),
        "print area": lambda sheet: setattr(sheet, "print_area", "A1:B2"),
        "landscape": lambda sheet: setattr(sheet.page_setup, "orientation", "landscape"),
        "protection": lambda sheet: sheet.protection.enable(),
    }


@pytest.mark.parametrize("edit", _edits())
def test_an_edit_around_the_cells_is_an_edit(edit: str, tmp_path: Path) -> None:
    opened = openpyxl.load_workbook(BytesIO(book()))
    _edits()[edit](opened.worksheets[0])
    target = BytesIO()
    opened.save(target)
    edited = form_of(target.getvalue(), "xlsx")
    assert edited != form_of(book(), "xlsx")
    assert edited == form_of(saved_anew("xlsx", target.getvalue()) or b"", "xlsx")


def test_only_the_named_file_counts_where_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one two three")
    (tmp_path / "notes.md").write_text("one")
    assert reasons(tmp_path, "length", "md", unit="words", min=2) == "rules.too_short"
    assert reasons(tmp_path, "length", "md", unit="words", min=2, names_of_files=["A.md"]) is None
