"""Cells of a sheet: headings, and numbers that are dates, at the edges of what counts as one."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from lxml import etree

from anonymization.documents.spreadsheet import (
    _column_of,
    _date_styles,
    _epoch,
    _labelled_cells,
    _pairs,
    _rows_of,
    _serial_edits,
)
from anonymization.text.contracts import Edit, EntityType

FIRST, MAC = date(1899, 12, 30), date(1904, 1, 1)


def sheet(*rows: tuple[int, dict[str, str]]) -> etree._Element:
    root = etree.Element("sheet")
    for number, cells in rows:
        row = etree.SubElement(root, "row", r=str(number))
        for column, text in cells.items():
            etree.SubElement(row, "c", r=f"{column}{number}").text = text
    return root


def labels(root: etree._Element) -> list[str]:
    return [label for _, label in _labelled_cells(_rows_of(root, lambda cell: cell.text or ""))]


def test_the_first_row_with_a_text_holds_the_headings() -> None:
    root = sheet(
        (1, {"A": " ", "B": ""}), (3, {"B": "Name", "D": "Phone"}), (4, {"A": "x", "D": "1"})
    )
    assert labels(root) == ["", "", "", "Phone"]


def test_a_row_after_a_gap_holds_headings_if_it_has_two_texts_or_more() -> None:
    body = (2, {"A": "x", "B": "y"})
    item = sheet((1, {"A": "Name", "B": "Age"}), body, (4, {"A": "Total"}))
    assert labels(item) == ["", "", "Name", "Age", "Name"]
    two = sheet(
        (1, {"A": "Name", "B": "Age"}), body, (4, {"A": "Plate", "B": "Town"}), (5, {"B": "z"})
    )
    assert labels(two) == ["", "", "Name", "Age", "", "", "Town"]
    near = sheet((1, {"A": "Name", "B": "Age"}), body, (3, {"A": "Plate", "B": "Town"}))
    assert labels(near) == ["", "", "Name", "Age", "Name", "Age"]
    mixed = sheet((1, {"A": "Name", "B": "Age"}), body, (4, {"A": "Plate", "B": "12"}))
    assert labels(mixed) == ["", "", "Name", "Age", "Name", "Age"]


def test_a_row_with_more_texts_than_headings_holds_headings() -> None:
    wide = sheet((1, {"A": "Staff"}), (2, {"A": "Name", "B": "Age"}), (3, {"A": "x", "B": "y"}))
    assert labels(wide) == ["", "", "", "Name", "Age"]


def test_rows_without_numbers_count_by_position() -> None:
    root = sheet((1, {"A": "Name", "B": "Age"}), (2, {"A": "Plate", "B": "Town"}))
    for row in root.iter("row"):
        del row.attrib["r"]
    assert labels(root) == ["", "", "Name", "Age"]


def test_pairs_are_rows_of_exactly_two_texts() -> None:
    root = sheet((1, {"A": "Passport", "C": "E1"}), (2, {"A": "Plate"}), (3, {"A": "5", "B": "x"}))
    assert list(_pairs(_rows_of(root, lambda cell: cell.text or ""))) == [("Passport", "E1")]
    assert _column_of(etree.Element("c", r="AB12")) == "AB"
    assert _column_of(etree.Element("c")) == ""


def workbook(formats: dict[int, str], styles: list[int], date1904: str | None = None) -> Any:
    root = etree.Element("styleSheet")
    own = etree.SubElement(root, "numFmts")
    for number, code in formats.items():
        etree.SubElement(own, "numFmt", numFmtId=str(number), formatCode=code)
    cells = etree.SubElement(root, "cellXfs")
    for style in styles:
        etree.SubElement(cells, "xf", numFmtId=str(style))
    book = etree.Element("workbook")
    if date1904 is not None:
        etree.SubElement(book, "workbookPr", date1904=date1904)
    return {"xl/styles.xml": root, "xl/workbook.xml": book}


def test_built_in_formats_that_show_a_day() -> None:
    shown = [14, 17, 22, 27, 31, 34, 36, 50, 58]
    hidden = [0, 13, 18, 21, 23, 26, 32, 33, 37, 49, 59]
    styles = _date_styles(workbook({}, shown + hidden))
    assert styles == {str(position) for position in range(len(shown))}
    assert _date_styles({}) == frozenset()


@pytest.mark.parametrize(
    ("code", "is_date"),
    [
        ("yyyy-mm-dd", True), ("D/M", True), ("ggge", True), ("0.00E+00", False),
        ("0.00E-00", False), ("#,##0", False), ('0 "days"', False), ("0\\d", False),
        ("[Red]0", False), ("[$-409]d", True), ("h:mm", False),
        ("General", False), ("GENERAL;[Red]-General", False), ("mm:ss AM/PM", False),
        ("ddmmmyy", True), ("[$-411]ge.m.d", True), ("yyyy\\年m\\月", True),
    ],
)  # fmt: skip
def test_formats_of_the_workbook_itself(code: str, is_date: bool) -> None:
    assert _date_styles(workbook({164: code}, [0, 164])) == (frozenset("1") if is_date else set())


def test_a_format_of_its_own_takes_the_place_of_a_built_in_one() -> None:
    assert _date_styles(workbook({14: "0.00", 0: "yyyy"}, [14, 0])) == {"1"}


@pytest.mark.parametrize(
    ("date1904", "first"), [(None, FIRST), ("0", FIRST), ("1", MAC), ("true", MAC), ("no", FIRST)]
)
def test_the_day_from_which_a_workbook_counts(date1904: str | None, first: date) -> None:
    assert _epoch(workbook({}, [], date1904)) == first
    assert _epoch({}) == FIRST


class NextDay:
    """A visitor that moves each date by one day, or puts a placeholder for it."""

    def __init__(self, new: str = "") -> None:
        self.new = new

    def look(self, piece: Any) -> list[Edit]:
        day = date.fromordinal(date.fromisoformat(piece.value).toordinal() + 1)
        size = len(piece.value)
        return [Edit(0, size, self.new or day.isoformat(), EntityType.DATE, "d", 0.9)]


@pytest.mark.parametrize(
    ("text", "first", "new"),
    [
        ("61", FIRST, "62"), ("60", FIRST, None), ("45356", FIRST, "45357"),
        ("45356.5", FIRST, "45357"), ("2958464", FIRST, "2958465"), ("2958466", FIRST, None),
        ("61", MAC, "62"), ("2957002", MAC, "2957003"), ("2957004", MAC, None),
        ("-5", FIRST, None), ("x", FIRST, None), ("45356.", FIRST, None), ("12345678", FIRST, None),
    ],
)  # fmt: skip
def test_a_number_that_is_a_date_moves_and_its_time_stays(
    text: str, first: date, new: str | None
) -> None:
    edits = _serial_edits(NextDay(), "Due", text, first)  # type: ignore[arg-type]
    whole = len(text.partition(".")[0])
    assert [(edit.start, edit.end, edit.new) for edit in edits] == (
        [(0, whole, new)] if new else []
    )


def test_a_placeholder_becomes_the_first_day() -> None:
    (edit,) = _serial_edits(NextDay("<DATE_1>"), "Due", "45356", FIRST)  # type: ignore[arg-type]
    assert edit.new == "61"
