"""What files of each kind show, and that hostile ones give one note within bounds."""

from __future__ import annotations

import io
import json
import sqlite3
import tarfile
import time
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import polars
import pptx
import pytest
from openpyxl.comments import Comment
from openpyxl.styles import PatternFill
from PIL import Image
from pptx.util import Inches

from construction.judging.evidence.views import (
    POINTER,
    FileView,
    ViewLimits,
    _size_of,
    look,
    tree_of,
)

Seen = Callable[..., FileView]


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    """The view of one file with this name and content."""

    def view_of(name: str, content: bytes | str, limits: ViewLimits | None = None) -> FileView:
        path = tmp_path / Path(name).name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return look({name: path}, limits)[0]

    return view_of


def saved(made: object) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def texts(view: FileView) -> str:
    return "\n".join(f"[{part.where}]\n{part.text}" for part in view.parts)


def stations() -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Stations"
    for row in (
        ["Gauges of the river Lune"],
        [],
        ["Station", "Level", "Share", "Read"],
        ["Halton", 1.5, 0.125, "2026-03-01"],
        ["Skerton", "#DIV/0!", 0.5, "2026-03-02"],
        ["Skerton", "#DIV/0!", 0.5, "2026-03-02"],
        ["Caton", "2.25", None, "2026-03-04"],
        ["Sum", "=SUM(B4:B6)", None, None],
    ):
        sheet.append(row)
    sheet["B5"].data_type = sheet["B6"].data_type = "e"
    for cell in ("C4", "C5", "C6"):
        sheet[cell].number_format = "0.0%"
    sheet["B4"].number_format = '0.00" m"'
    sheet["A4"].comment = Comment("moved in 2019", "jo")
    sheet["A7"].fill = PatternFill("solid", fgColor="FFFFFF00")
    sheet.merge_cells("A1:C1")
    sheet.row_dimensions[6].hidden = True
    book.create_sheet("Old").sheet_state = "hidden"
    return book


def test_a_workbook_is_shown_by_its_cells_columns_and_traps(seen: Seen) -> None:
    view = seen("data/stations.xlsx", saved(stations()))
    sheet, hidden = view.sheets
    columns = {column.name: column for column in sheet.columns}

    assert (view.kind, view.path, sheet.name) == ("table", "data/stations.xlsx", "Stations")
    assert (sheet.header_row, sheet.rows, sheet.duplicates, sheet.whole) == (3, 5, 1, True)
    assert sheet.head[0] == ("Gauges of the river Lune",)
    assert sheet.head[1] == ()
    assert sheet.head[3] == ("Halton", "1.5", "12.5%", "2026-03-01")
    assert sheet.errors == ("B5 #DIV/0!", "B6 #DIV/0!")
    assert sheet.formula_cells == ("B8 =SUM(B4:B6)",)
    assert "1 formula cells hold no computed value" in sheet.note
    assert columns["Level"].type == "mixed"
    assert (columns["Level"].low, columns["Level"].high) == ("1.5", "2.25")
    assert columns["Level"].format == '0.00" m"'
    assert (columns["Share"].blanks, columns["Share"].distinct) == (2, 2)
    assert (columns["Read"].type, columns["Read"].low) == ("date", "2026-03-01")
    for said in ("hidden rows: 6", "merged: A1:C1", "A4 “moved in 2019”", "A7 FFFF00"):
        assert said in sheet.note
    assert "number kept as text: B7" in sheet.note
    assert hidden.note.startswith("the sheet is hidden")


def test_tables_of_all_kinds_are_sheets(seen: Seen, tmp_path: Path) -> None:
    frame = polars.DataFrame({"town": ["Ripon", "Selby"], "beds": [12, 9]})
    frame.write_parquet(tmp_path / "beds.parquet")
    with sqlite3.connect(tmp_path / "beds.sqlite") as base:
        base.execute("CREATE TABLE beds (town TEXT, beds INTEGER)")
        base.execute("INSERT INTO beds VALUES ('Ripon', 12), ('Selby', 9)")
    base.close()
    files: dict[str, bytes | str] = {
        "beds.csv": "town,beds\nRipon,12\nSelby,9\n",
        "semicolons.csv": "town;beds\nRipon;12\nSelby;9\n",
        "beds.tsv": "town\tbeds\nRipon\t12\nSelby\t9\n",
        "old.csv": "town,beds\nRipon,12\nSelby,9\nMâlton,1".encode("cp1252"),
        "beds.json": '[{"town": "Ripon", "beds": 12}, {"town": "Selby", "beds": 9}]',
        "beds.jsonl": '{"town": "Ripon", "beds": 12}\n{"town": "Selby", "beds": 9}\n',
        "beds.parquet": (tmp_path / "beds.parquet").read_bytes(),
        "beds.db": (tmp_path / "beds.sqlite").read_bytes(),
    }
    for name, content in files.items():
        sheet = seen(name, content).sheets[0]
        assert [column.name for column in sheet.columns] == ["town", "beds"], name
        assert sheet.columns[1].type == "integer", name
        assert sheet.head[:3] == (("town", "beds"), ("Ripon", "12"), ("Selby", "9")), name


def test_a_long_table_keeps_its_ends_and_says_so(seen: Seen) -> None:
    rows = "\n".join(f"{n},item {n},{n * 3}" for n in range(1, 60_001))
    sheet = seen("long.csv", f"id,name,triple\n{rows}\n").sheets[0]
    assert (sheet.rows, sheet.whole) == (60_000, False)
    assert sheet.head[1] == ("1", "item 1", "3")
    assert sheet.tail[-1] == ("60000", "item 60000", "180000")
    assert (sheet.last_row, sheet.columns[2].high) == (60_001, "180000")


def test_a_table_without_a_header_and_with_stray_delimiters(seen: Seen) -> None:
    bare = seen("bare.csv", "3,4.5\n7,8.5\n").sheets[0]
    assert (bare.header_row, bare.rows, [c.name for c in bare.columns]) == (0, 2, ["A", "B"])
    ragged = seen("ragged.csv", "a,b\nx,y\nx,y,z\n").sheets[0]
    assert ragged.note == "not of 2 cells: row 3"


def test_documents_keep_headings_tables_comments_and_changes(seen: Seen) -> None:
    made = docx.Document()
    made.add_paragraph("Before all.")
    made.add_heading("Ferry times", level=1)
    run = made.add_paragraph("The last boat leaves at 18:40.").runs[0]
    made.add_comment(run, text="check for winter", author="Ines")
    table = made.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Quay", "Fare 4.20"
    made.sections[0].footer.paragraphs[0].text = "page of the harbour office"
    view = seen("ferry.docx", saved(made))
    assert (view.kind, view.outline) == ("document", ("Heading 1: Ferry times",))
    assert [part.where for part in view.parts][:2] == ["beginning", "Heading 1: Ferry times"]
    assert "[table 1]\nQuay | Fare 4.20" in view.parts[1].text
    assert "[comments]\nInes: check for winter" in texts(view)
    assert "[footer]\npage of the harbour office" in texts(view)


def test_slides_keep_titles_tables_and_notes(seen: Seen) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Mussel harvest"
    table = slide.shapes.add_table(1, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Bay", "41 t"
    slide.notes_slide.notes_text_frame.text = "say why it fell"
    view = seen("harvest.pptx", saved(deck))
    assert (view.kind, view.outline) == ("slides", ("slide 1: Mussel harvest",))
    assert "[table]\nBay | 41 t" in view.parts[0].text
    assert "[notes] say why it fell" in view.parts[0].text


def test_mail_calendar_and_contacts_are_read_by_what_they_say(seen: Seen) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@dune.example", "b@dune.example", "Kelp"
    mail["Date"] = "Mon, 02 Mar 2026 09:00:00 +0000"
    mail.set_content("Two crates arrived.")
    mail.add_attachment(b"x", maintype="text", subtype="csv", filename="crates.csv")
    said_in = texts(seen("kelp.eml", mail.as_bytes()))
    for said in ("From: a@dune.example", "Subject: Kelp", "crates.csv", "Two crates arrived."):
        assert said in said_in
    box = b"".join(b"From x\n" + mail.as_bytes() + b"\n" for _ in range(2))
    assert [part.where for part in seen("kelp.mbox", box).parts] == ["mail 1", "mail 2"]
    event = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:7\r\nDTSTART;TZID=Europe/Rome:20260703T0930"
        "00\r\nSUMMARY:Net\r\n  mending\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    view = seen("nets.ics", event)
    assert view.kind == "calendar"
    assert view.parts[0].text == "DTSTART: 2026-07-03 09:30 (Europe/Rome)\nSUMMARY: Net mending"
    card = "BEGIN:VCARD\nFN:Ada Thorne\nTEL:+44 20\nEND:VCARD\n"
    assert (seen("a.vcf", card).kind, seen("a.vcf", card).note) == ("contacts", "1 contacts")


def test_code_notebooks_pages_and_data_show_their_structure(seen: Seen) -> None:
    code = "import os\n\nclass Kiln:\n    def fire(self, heat):\n        return heat\n"
    view = seen("kiln.py", code)
    assert (view.kind, view.outline) == (
        "code",
        ("line 3: class Kiln", "line 4: def Kiln.fire(self, heat)"),
    )
    cells = [
        {"cell_type": "markdown", "source": ["# Glaze\n"]},
        {"cell_type": "code", "source": "1+1", "outputs": [{"data": {"text/plain": "2"}}]},
    ]
    book = seen("glaze.ipynb", json.dumps({"cells": cells}))
    assert (book.kind, book.outline) == ("notebook", ("# Glaze",))
    assert book.parts[1].text == "1+1\n[output] 2"
    page = seen(
        "a.html",
        "<title>Kilns</title><script>bad()</script><h1>Heat</h1><p>Cone <b>6</b></p>"
        "<table><tr><td>Raku</td><td>900</td></tr></table>",
    )
    assert "# Heat\nCone 6\nRaku | 900" in page.parts[0].text
    assert "bad()" not in page.parts[0].text
    data = seen("a.json", '{"kiln": {"heat": 1200.50, "cones": [4, 6]}, "open": true}')
    assert data.parts[0].text == "kiln:\n  heat: 1200.50\n  cones: [4, 6]\nopen: true"
    assert data.outline == ("(top): 2 keys: kiln, open", "kiln: 2 keys: heat, cones",
                            "kiln.cones: list of 2")  # fmt: skip
    assert seen("a.xml", "<r><i n='1'/><i n='2'/></r>").outline == ("/r ×1", "/r/i ×2")
    assert seen("notes.md", "# One\ntext\n## Two\n").outline == ("line 1: # One", "line 3: ## Two")


def test_pictures_archives_and_binary_files(seen: Seen) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30)).save(buffer, "PNG")
    picture = seen("scan.dat", buffer.getvalue())
    assert (picture.kind, picture.pictures, picture.note) == ("picture", ("picture",), "PNG, 40×30")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/b.txt", "hello")
    assert seen("a.zip", buffer.getvalue()).outline == ("a/b.txt (5 bytes)",)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("x/y"), io.BytesIO())
    assert seen("a.tar.gz", buffer.getvalue()).outline == ("x/y (0 bytes)",)
    assert seen("a.bin", b"\x00\x01\x02" * 50).kind == "binary"
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    for content in (pointer, "/annex/objects/SHA256E-s9--00.mp3\n"):
        for name in ("a.mp3", "a.csv", "a.json"):
            view = seen(name, content)
            assert (view.kind, view.note, view.is_there) == ("unreadable", POINTER, False)
            assert not view.sheets and not view.parts


def test_a_head_alone_is_a_table_without_rows(seen: Seen) -> None:
    (sheet,) = seen("a.csv", "stop,boxes\n").sheets
    assert (sheet.rows, sheet.header_row) == (0, 1)
    (sheet,) = seen("a.csv", "stop,7\n").sheets
    assert (sheet.rows, sheet.header_row) == (1, 0)


def test_what_is_broken_gives_one_note(seen: Seen, tmp_path: Path) -> None:
    assert seen("a.pdf", b"%PDF-1.4 nothing").kind == "unreadable"
    assert seen("a.xlsx", b"PK\x03\x04 torn").kind == "unreadable"
    assert seen("a.docx", saved(stations())).kind == "table"  # the bytes say what it is
    assert seen("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)).kind == "unreadable"
    broken = seen("a.json", '{"a": [1, 2')
    assert (broken.kind, broken.note) == (
        "text", "is broken, or no json file (JSONDecodeError): shown as text"
    )  # fmt: skip
    (tmp_path / "secret.txt").write_text("private")
    (tmp_path / "link.txt").symlink_to(tmp_path / "secret.txt")
    link = look({"link.txt": tmp_path / "link.txt"})[0]
    assert (link.kind, link.note, link.parts) == ("unreadable", "is no regular file", ())


def test_hostile_files_stay_within_bounds(seen: Seen) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
        archive.writestr("xl/workbook.xml", bytes(400 << 20))
    limits = ViewLimits(seconds=10)
    began = time.monotonic()
    assert seen("bomb.xlsx", bomb.getvalue(), limits).note == "holds more than is read of one file"
    laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
    )
    assert seen("laughs.yaml", laughs, limits).kind in ("data", "text")
    entities = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><r>&b;</r>'
    assert "haha" not in texts(seen("laughs.xml", entities, limits))
    outside = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><r>&x;</r>'
    assert Path("/etc/hostname").read_text().strip() not in texts(seen("x.xml", outside, limits))
    assert seen("deep.json", "[" * 100_000, limits).kind in ("text", "unreadable")
    wide = openpyxl.Workbook()
    wide.worksheets[0]["A1"], wide.worksheets[0]["XFD1048576"] = "start", "end"
    assert seen("wide.xlsx", saved(wide), limits).kind in ("table", "unreadable")
    assert time.monotonic() - began < 60


def test_views_of_a_case_stay_within_its_characters_and_are_deterministic(tmp_path: Path) -> None:
    files = {}
    for n in range(6):
        path = tmp_path / f"{n}.txt"
        path.write_text("".join(f"line {k} of file {n}\n" for k in range(20_000 if n else 3)))
        files[f"logs/{n}\x1b[2J.txt"] = path
    limits = ViewLimits(chars=100_000, case_chars=200_000)
    views = look(files, limits)
    assert views == look(files, limits)
    assert sum(map(_size_of, views)) <= 200_000
    assert views[0].parts[0].text == "line 0 of file 0\nline 1 of file 0\nline 2 of file 0"
    assert views[1].parts[-1].text.endswith("line 19999 of file 1")
    assert "characters in the middle were not read" in views[1].note


def test_a_folder_tree_counts_types() -> None:
    assert tree_of(["b.md", "a/x.csv", "a/y.csv", "a/z"]) == (
        "./ 1 .md",
        "a/ 2 .csv, 1 no extension",
    )
