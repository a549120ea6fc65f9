"""What the place of a text says: headings, columns, captions, names that others refer to, dates."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import date, datetime

import openpyxl
import pytest
from docx import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from lxml import etree
from openpyxl.workbook.defined_name import DefinedName

from anonymization.documents.contracts import DocumentConfig
from anonymization.documents.document import mask_bytes
from anonymization.documents.spreadsheet import _labelled_cells, _pairs, _rows_of
from anonymization.documents.text_forms import (
    _page_edits,
    caption_names,
    column_people,
    show_caption,
    text_edits,
)
from anonymization.text.contracts import Edit, EntityType, Finding, Mode
from anonymization.text.masking.forms import open_text
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Collector, Piece, Visit, labelled
from tests.anonymization.documents.plants import letter, with_part
from tests.anonymization.text.masking.fakes import masker

MODEL = DocumentConfig().caption_model
PLAIN = DocumentConfig(caption_model="")


def workbook(rows: Sequence[Sequence[object]]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(list(row))
    return book


def masked(book: openpyxl.Workbook) -> openpyxl.Workbook:
    out = io.BytesIO()
    book.save(out)
    result = mask_bytes(out.getvalue(), "a.xlsx", masker(), PLAIN)
    assert result.report.refusal is None
    return openpyxl.load_workbook(io.BytesIO(result.data))


def test_a_defined_name_and_its_users_change_together() -> None:
    book = workbook([[1, "=Tel_13812345678*2", "=Tel_138*2"]])
    for name in ("Tel_13812345678", "Tel_138"):
        book.defined_names[name] = DefinedName(name, attr_text="Sheet!$A$1")
    new = masked(book)
    (name,) = set(new.defined_names) - {"Tel_138"}
    assert name.startswith("Tel_") and name != "Tel_13812345678"
    assert new.worksheets[0]["B1"].value == f"={name}*2"
    assert new.worksheets[0]["C1"].value == "=Tel_138*2"


class PassportDetector:
    """Finds a passport's number only where a label says that it is one."""

    def find(self, texts: Sequence[str]) -> list[list[Finding]]:
        pattern = re.compile(r"(?<=Passport: )[A-Z]\d{8}")
        return [
            [Finding(*match.span(), EntityType.PASSPORT, "p", 0.9) for match in pattern.finditer(t)]
            for t in texts
        ]


def test_in_a_letter_the_heading_of_a_column_or_row_says_what_its_cells_are() -> None:
    document = Document()
    for rows in (
        [["Passport", "Note", "Plate"], ["E48213907", "E48213908", ""]],
        [["Passport:", "E55512345"]],
    ):
        table = document.add_table(len(rows), len(rows[0]))
        for number, row in enumerate(rows):
            for column, text in enumerate(row):
                table.cell(number, column).text = text
    out = io.BytesIO()
    document.save(out)
    detecting = Masker(PassportDetector(), bytes(32), Mode.PLACEHOLDER, "session")
    masked_letter = mask_bytes(out.getvalue(), "a.docx", detecting, PLAIN).data
    first, second = Document(io.BytesIO(masked_letter)).tables
    assert [cell.text for cell in first.rows[1].cells] == ["<PASSPORT_1>", "E48213908", ""]
    assert [cell.text for cell in second.rows[0].cells] == ["Passport:", "<PASSPORT_2>"]


@pytest.mark.parametrize("tag", ["w:br", "w:tab"])
def test_text_within_a_break_is_masked_too(tag: str) -> None:
    document = Document()
    run = document.add_paragraph("see ").add_run()
    element = OxmlElement(tag)
    element.text = "Margaret "
    run._r.append(element)
    run.add_text(f"Thornquist, {ADA_MAIL}, or Ulrich Vandermeer")
    out = io.BytesIO()
    document.save(out)
    output = mask_bytes(out.getvalue(), "a.docx", masker(), PLAIN).data
    content = zipfile.ZipFile(io.BytesIO(output)).read("word/document.xml").decode()
    assert ADA_MAIL not in content and "Vandermeer" not in content
    assert "see " in content and "Thornquist, " in content and ", or " in content


def test_text_between_elements_is_masked_too() -> None:
    page = f"<p>x<b>y</b> {ADA_MAIL} <i>z</i></p>"
    archive = with_part(letter(), "customXml/item1.xml", f"<a>{page}</a>".encode())
    result = mask_bytes(archive, "a.docx", masker(), PLAIN)
    assert result.report.refusal is None
    part = zipfile.ZipFile(io.BytesIO(result.data)).read("customXml/item1.xml")
    assert ADA_MAIL.encode() not in part
    assert b"<b>y</b>" in part and b"<i>z</i>" in part


def test_a_bookmark_and_its_link_change_together() -> None:
    document = Document()
    paragraph = document.add_paragraph("x")._p
    for tag, key in (("w:bookmarkStart", "w:name"), ("w:hyperlink", "w:anchor")):
        element = OxmlElement(tag)
        element.set(qn(key), "Ulrich_Vandermeer")
        paragraph.append(element)
    field = OxmlElement("w:instrText")
    field.text = " REF Ulrich_Vandermeer \\h "
    document.add_paragraph().add_run()._r.append(field)
    out = io.BytesIO()
    document.save(out)
    result = mask_bytes(out.getvalue(), "a.docx", masker(), PLAIN).data
    root = etree.fromstring(zipfile.ZipFile(io.BytesIO(result)).read("word/document.xml"))
    names = {
        str(value)
        for element in root.iter("{*}bookmarkStart", "{*}hyperlink")
        for value in element.attrib.values()
    }
    codes = [element.text for element in root.iter("{*}instrText")]
    assert len(names) == 1 and codes == [f" REF {names.pop()} \\h "]
    assert b"Vandermeer" not in result


@pytest.mark.parametrize(
    ("kind", "text_kind"),
    [("w:ins", "w:t"), ("w:del", "w:delText"), ("w:moveTo", "w:t"), ("w:moveFrom", "w:t")],
)
def test_a_change_on_one_side_alone_is_read(kind: str, text_kind: str) -> None:
    document = Document()
    change, run, inner = OxmlElement(kind), OxmlElement("w:r"), OxmlElement(text_kind)
    inner.text = "Ulrich Vandermeer"
    run.append(inner)
    change.append(run)
    document.add_paragraph("Ask ")._p.append(change)
    out = io.BytesIO()
    document.save(out)
    result = mask_bytes(out.getvalue(), "a.docx", masker(), PLAIN).data
    content = zipfile.ZipFile(io.BytesIO(result)).read("word/document.xml")
    assert b"Ask " in content
    assert b"Vandermeer" not in content


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ([["Name", "Age"], ["x", "1"]], ["", "", "Name", "Age"]),
        ([["Staff of the north"], ["Name", "Age"], ["x", "1"]], ["", "", "", "Name", "Age"]),
        (
            [["Name", "1"], [], ["Passport", "Plate"], ["E1", "2"]],
            ["", ""] * 2 + ["Passport", "Plate"],
        ),
    ],
    ids=["first row", "under a title", "after a gap"],
)
def test_headings_above(rows: list[list[str]], labels: list[str]) -> None:
    result = _labelled_cells(_rows_of(sheet_of(rows), lambda cell: cell.text or ""))
    assert [label for _, label in result] == labels


def test_rows_of_two_cells_are_pairs() -> None:
    root = sheet_of([["Passport", "E1"], ["Plate", "2", "x"], ["17", "y"]])
    assert list(_pairs(_rows_of(root, lambda cell: cell.text or ""))) == [("Passport", "E1")]


def sheet_of(rows: list[list[str]]) -> etree._Element:
    root = etree.Element("sheet")
    for number, row in enumerate(rows, start=1):
        element = etree.SubElement(root, "row", r=str(number))
        for column, text in zip("ABCD", row, strict=False):
            etree.SubElement(element, "c", r=f"{column}{number}").text = text
    return root


def test_amounts_and_formulas_stay_and_numbers_of_people_go() -> None:
    rows: list[list[object]] = [["Revenue", "Phone", "Note"], [13812345678, 13912345678, "=A2*2"]]
    sheet = masked(workbook(rows)).worksheets[0]
    assert sheet["A2"].value == 13812345678 and sheet["C2"].value == "=A2*2"
    assert sheet["B2"].value != 13912345678 and len(str(sheet["B2"].value)) == 11


def test_dates_of_cells_move_as_dates_of_texts_do() -> None:
    rows: list[list[object]] = [
        ["Due", "Note"],
        [datetime(2024, 3, 5, 12, 30), "due 2024-03-05"],
        [45356, "x"],
    ]
    sheet = masked(workbook(rows)).worksheets[0]
    moved = sheet["A2"].value
    assert isinstance(moved, datetime) and (moved.hour, moved.minute) == (12, 30)
    assert sheet["B2"].value == f"due {moved.date().isoformat()}"
    assert moved.date() != date(2024, 3, 5)
    assert sheet["A3"].value == 45356


def test_a_column_of_mostly_names_is_one_of_names() -> None:
    cells = ["Ines Ironside", "Ada Lovelace", "Alan Turing", "not yet known", "42"]
    pieces = [labelled("Interviewer", cell) for cell in cells]

    def edits(piece: Piece) -> list[Edit]:
        known = piece.value in {"Ada Lovelace", "Alan Turing"}
        size = len(piece.value)
        return [Edit(0, size, "x", EntityType.PERSON, "fake", 1.0)] if known else []

    assert column_people(pieces, edits) == []
    assert column_people(pieces[:3], edits) == [Piece("Ines Ironside", kind=EntityType.PERSON)]


@pytest.mark.parametrize(
    ("caption", "names"),
    [
        ("Sales of Imogen Vasey", ["Imogen Vasey"]),
        ("Call Hyacinth Poole now", ["Hyacinth Poole"]),
        ("Portrait of Siobhan O'Leary-Smith", ["Siobhan O'Leary-Smith"]),
        ("Quarterly Business Review", []),
        ("Gantt Chart of the Supply Chain", []),
        ("Content Placeholder 2", []),
    ],
)
def test_names_in_captions(caption: str, names: list[str]) -> None:
    seen = Collector()
    show_caption(seen, caption)
    assert [piece.text for piece in caption_names(seen.pieces, MODEL)] == names
    assert caption_names(seen.pieces, "") == []


ADA_MAIL = "ada@corpmail.com"
ADA = Piece("Ada Lovelace", kind=EntityType.PERSON)
LINKED = '<script type="application/ld+json">{"@type": "Person", "name": "Ada Lovelace"}</script>'
PAIR = "<table><tr><td>Passport no.</td><td>E48213907</td></tr></table>"
SCRIPT = '<script>var a = {"user": "\\u9648\\u601d\\u8fdc"};</script>'
PLACES = [
    ("a.html", '<meta name="author" content="Ada Lovelace">', ADA),
    ("a.html", LINKED, ADA),
    ("a.html", PAIR, labelled("Passport no.", "E48213907")),
    ("a.html", '<img alt="by Ada Lovelace">', labelled("Caption", "by Ada Lovelace")),
    ("a.html", SCRIPT, labelled("user", "陈思远")),
    ("a.csv", "Phone\n-13812345678\n", labelled("Phone", "13812345678")),
    ("a.csv", 'a\n"=HYPERLINK(""tel:+1"")"\n', Piece("tel:+1")),
]


@pytest.mark.parametrize(("name", "text", "shown"), PLACES)
def test_what_a_place_shows(name: str, text: str, shown: Piece) -> None:
    seen = Collector()
    text_edits(text, name, seen)
    assert shown in seen.pieces


@pytest.mark.parametrize(
    "piece", ["<tr>", "<table><tr><td>", "<script>", '<a b="', "<meta ", "<td"]
)
def test_hostile_pages_are_read_to_the_end(piece: str) -> None:
    """In time that is linear: a square of this length would not end within the suite."""
    assert _page_edits(piece * 60_000, Visit(Collector(), open_text)) == []


def test_escaped_strings_of_scripts_are_masked_as_they_are_written() -> None:
    result = mask_bytes(SCRIPT.encode(), "a.html", masker(), PLAIN).data
    assert (
        result != SCRIPT.encode()
        and result.isascii()
        and result.startswith(b'<script>var a = {"user": "\\u')
    )
