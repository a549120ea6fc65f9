"""Documents: nothing planted survives, each file opens, and what cannot be masked is rejected."""

from __future__ import annotations

import io
import os
import re
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from email import message_from_bytes, policy
from pathlib import Path

import openpyxl
import pytest
from docx import Document
from PIL import Image
from pptx import Presentation
from pypdf import PdfWriter

from anonymization.documents.child import _rewrite_any
from anonymization.documents.contracts import DocumentConfig, Pictures, Refusal, Refused
from anonymization.documents.document import mask_bytes, masked_path, pieces_in
from anonymization.documents.visitor import Visitor
from anonymization.text.contracts import Finding, Mode
from anonymization.text.masking.masker import Masker
from data.canonical import digest
from tests.anonymization.documents import plants
from tests.anonymization.text.masking.fakes import KEY, PatternDetector, masker

BUILDERS = {
    "a.xlsx": plants.workbook,
    "a.docx": plants.letter,
    "a.pptx": plants.slides,
    "a.eml": plants.mail,
}


def contents(data: bytes) -> Iterator[str]:
    """Everything in a file: parts, their names, their text without tags, parts of mail."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield name
                yield from contents(archive.read(name))
    elif b"MIME-Version" in data:
        for part in message_from_bytes(data, policy=policy.default).walk():
            yield " ".join(str(value) for _, value in part.items())
            payload = part.get_payload(decode=True)
            yield from contents(payload) if isinstance(payload, bytes) else ()
    else:
        text = data.decode("utf-8", "replace")
        yield text
        yield re.sub("<[^>]*>", "", text)


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_no_plant_survives(name: str) -> None:
    data = BUILDERS[name]()
    worker = masker()
    masked = mask_bytes(data, name, worker)
    assert masked.report.refusal is None
    for text in contents(masked.data):
        for rest in plants.REMAINS:
            assert rest not in text.lower(), text[:200]
    assert len(masked.report.rows) >= 12
    assert mask_bytes(data, name, masker()).data == masked.data


def test_a_workbook_opens_and_still_computes() -> None:
    masked = mask_bytes(plants.workbook(), "a.xlsx", masker()).data
    book = openpyxl.load_workbook(io.BytesIO(masked))
    sheet, hidden = book.worksheets
    assert sheet["D5"].value == f"='{sheet.title}'!A2" and sheet.title != plants.PERSON
    assert sheet["A2"].value == sheet.title and hidden.sheet_state == "hidden"
    assert isinstance(sheet["B2"].value, int) and str(sheet["B2"].value) == sheet["B3"].value
    assert sheet["A2"].comment is not None and sheet["A3"].value in sheet["A2"].comment.text
    assert sheet["A1"].value == "Name"


def test_where_a_cell_stands_is_no_text_unless_it_is_no_place() -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["Product", "Note"])
    for number in range(2000, 2100):
        sheet.append(["bolt", f"line {number}"])
    file = io.BytesIO()
    book.save(file)
    texts = {piece.value for piece in pieces_in(file.getvalue(), "a.xlsx")}
    assert {"bolt", "line 2000", "line 2099"} <= texts
    assert not {"A1", "B2", "A100", "B101"} & texts
    name = b"Ulrich Vandermeer"
    for old, new in (
        (b'r="B100"', b'r="%s"' % name),
        (b'<c r="B100"', b'%s<c r="B100"' % name),
        (b"</sheetData>", b"%s</sheetData>" % name),
        (b"<sheetData>", b"%s<sheetData>" % name),
        (b"</row></sheetData>", b"<odd>%s</odd></row></sheetData>" % name),
        (b"</c></row></sheetData>", b"<odd>%s</odd></c></row></sheetData>" % name),
        (b"</c></row></sheetData>", b"<v/>%s</c></row></sheetData>" % name),
    ):
        hidden = replaced(file.getvalue(), old, new)
        assert name.decode() in {piece.value for piece in pieces_in(hidden, "a.xlsx")}, new


def replaced(package: bytes, old: bytes, new: bytes) -> bytes:
    """The workbook with something else in its first sheet."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        content = archive.read("xl/worksheets/sheet1.xml").replace(old, new)
    return plants.with_part(package, "xl/worksheets/sheet1.xml", content)


class Slow(PatternDetector):
    """Takes longer than a document's process may."""

    def find(self, texts: Sequence[str]) -> list[list[Finding]]:
        time.sleep(2.1)
        return super().find(texts)


def test_a_document_waits_for_its_masker_as_long_as_that_takes() -> None:
    slow, data = Masker(Slow(), KEY, Mode.SURROGATE, "session"), plants.workbook()
    masked = mask_bytes(data, "a.xlsx", slow, DocumentConfig(seconds=1))
    assert masked.report.refusal is None
    assert masked.data == mask_bytes(data, "a.xlsx", masker()).data


def test_the_list_of_sheets_has_the_new_name() -> None:
    office = "http://schemas.openxmlformats.org/officeDocument/2006"
    listed = (
        f'<Properties xmlns="{office}/extended-properties" xmlns:vt="{office}/docPropsVTypes">'
        f'<TitlesOfParts><vt:vector size="1" baseType="lpstr"><vt:lpstr>{plants.PERSON}</vt:lpstr>'
        "</vt:vector></TitlesOfParts></Properties>"
    )
    package = plants.with_part(plants.workbook(), "docProps/app.xml", listed.encode())
    masked = mask_bytes(package, "a.xlsx", masker()).data
    title = openpyxl.load_workbook(io.BytesIO(masked)).worksheets[0].title
    with zipfile.ZipFile(io.BytesIO(masked)) as archive:
        assert f">{title}</" in archive.read("docProps/app.xml").decode()


def test_a_letter_opens_and_keeps_its_runs() -> None:
    document = Document(io.BytesIO(mask_bytes(plants.letter(), "a.docx", masker()).data))
    first = document.paragraphs[0]
    assert len(first.runs) == 7 and first.runs[1].bold  # the seventh marks the comment
    name = first.runs[1].text
    assert re.fullmatch(rf"by {name}, \S+@\S+\.example", first.text)
    assert document.sections[0].header.paragraphs[0].text == f"by {name}"
    assert document.core_properties.author == name


def test_slides_open_and_their_chart_agrees() -> None:
    show = Presentation(io.BytesIO(mask_bytes(plants.slides(), "a.pptx", masker()).data))
    slide = show.slides[0]
    title = slide.shapes.title.text
    chart = next(shape for shape in slide.shapes if shape.has_chart).chart
    assert next(iter(chart.plots[0].categories)) == title
    inner = openpyxl.load_workbook(io.BytesIO(chart.part.chart_workbook.xlsx_part.blob))
    assert inner.worksheets[0]["A2"].value == title


def test_mail_opens_with_names_of_files_masked() -> None:
    masked = mask_bytes(plants.mail(), "a.eml", masker()).data
    message = message_from_bytes(masked, policy=policy.default)
    names = [str(part.get_filename()) for part in message.iter_attachments()]
    assert names[0].endswith("_list.xlsx") and names[1].endswith(".csv")
    assert message["To"].addresses[0].addr_spec.endswith(".example")
    assert message["Subject"].startswith("Größe für ")


def test_names_of_files_are_masked() -> None:
    worker = masker()
    path = masked_path(Path("Margaret_Thornquist/Report Ulrich Vandermeer.docx"), worker)
    assert "Thornquist" not in str(path) and path.suffix == ".docx"
    assert path.parts[0].count("_") == 1 and path.name.startswith("Report ")


def picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 4)).save(out, "PNG")
    return out.getvalue()


def pdf(text: str = "") -> bytes:
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.add_metadata({"/Title": text})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def letter_with(part: str, content: bytes) -> bytes:
    return plants.with_part(plants.letter(), part, content)


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def nested(depth: int) -> bytes:
    data = b"x"
    for _ in range(depth):
        data = zipped({"a.zip": data})
    return data


_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
_ENTITIES = b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
REFUSED: dict[str, tuple[Callable[[], bytes], Refusal]] = {
    "a.bin": (lambda: b"\0\1\2" + os.urandom(9), Refusal.UNKNOWN_TYPE),
    "a.doc": (lambda: _COMPOUND, Refusal.UNKNOWN_TYPE),
    "b.docx": (lambda: _COMPOUND, Refusal.ENCRYPTED),
    "a.zip": (lambda: zipped({"a.bin": b"\0\1\2"}), Refusal.UNKNOWN_TYPE),
    "b.zip": (lambda: zipped({"../a.txt": b"x"}), Refusal.BROKEN),
    "c.zip": (lambda: nested(5), Refusal.EMBEDDED_UNKNOWN),
    "a.docx": (lambda: plants.letter()[:-300], Refusal.BROKEN),
    "c.docx": (lambda: letter_with("word/vbaProject.bin", b"x"), Refusal.MACROS),
    "d.docx": (lambda: letter_with("word/embeddings/o.bin", b"x"), Refusal.EMBEDDED_UNKNOWN),
    "e.docx": (lambda: letter_with("word/media/a.emf", b"\x01\0\0\0x"), Refusal.NOT_APPROVED),
    "f.docx": (lambda: letter_with("word/x.xml", _ENTITIES), Refusal.DOCTYPE),
    "g.docx": (lambda: letter_with("word/x.xml", b"<a>" + b" " * (1 << 20)), Refusal.INFLATES),
    "a.png": (picture, Refusal.NOT_APPROVED),
    "b.pdf": (lambda: b"%PDF-1.7 nonsense", Refusal.BROKEN),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_cannot_be_masked_is_rejected(name: str) -> None:
    build, reason = REFUSED[name]
    config = DocumentConfig(free_inflated_bytes=1 << 20, max_inflation_ratio=1)
    with pytest.raises(Refused) as refused:
        _rewrite_any(Visitor(masker().edits, config, _rewrite_any), build(), name)
    assert refused.value.reason is reason


def test_an_unapproved_picture_in_a_document_becomes_a_grey_one_of_its_size() -> None:
    letter = letter_with("word/media/a.png", picture())
    masked = mask_bytes(letter, "e.docx", masker(), DocumentConfig(caption_model=""))
    assert masked.report.refusal is None
    replaced = [row for row in masked.report.rows if row.recognizer == "picture_replaced"]
    assert [row.part for row in replaced] == ["word/media/a.png"]
    with zipfile.ZipFile(io.BytesIO(masked.data)) as parts:
        shown = Image.open(io.BytesIO(parts.read("word/media/a.png")))
    assert (shown.format, shown.size, shown.getcolors()) == ("PNG", (4, 4), [(16, 0xE0)])


def test_an_archive_is_masked_inside() -> None:
    members = {
        "Ulrich Vandermeer/a.csv": f"Name\n{plants.OTHER}\n".encode(),
        "b.docx": plants.letter(),
        "c.zip": zipped({"d.txt": plants.MAIL.encode()}),
    }
    masked = mask_bytes(zipped(members), "a.zip", masker())
    with zipfile.ZipFile(io.BytesIO(masked.data)) as archive:
        assert [name.rpartition("/")[2] for name in archive.namelist()] == [
            "a.csv",
            "b.docx",
            "c.zip",
        ]
        assert archive.read(archive.namelist()[0]).startswith(b"Name\n")
    assert [rest for text in contents(masked.data) for rest in plants.REMAINS if rest in text] == []
    assert plants.OTHER not in str(masked.report)


def test_what_is_clean_or_approved_is_admitted() -> None:
    assert mask_bytes(picture(), "a.png", masker()).report.refusal is Refusal.NOT_APPROVED
    assert mask_bytes(pdf("Quarterly figures"), "a.pdf", masker()).report.refusal is None
    config = DocumentConfig(approvals=frozenset({digest(picture())}))
    assert mask_bytes(picture(), "a.png", masker(), config).data == picture()
    letter = plants.with_part(plants.letter(), "word/media/a.png", picture())
    assert mask_bytes(letter, "a.docx", masker(), config).report.refusal is None


def test_pictures_of_a_published_source_need_no_approval_but_texts_are_still_read() -> None:
    config = DocumentConfig(pictures=Pictures.PUBLISHED)
    assert mask_bytes(picture(), "a.png", masker(), config).data == picture()
    masked = mask_bytes(pdf("by Margaret Thornquist"), "a.pdf", masker(), config)
    assert masked.report.refusal is None
    assert b"Thornquist" not in masked.data


def test_a_parser_without_memory_or_time_is_no_answer() -> None:
    config = DocumentConfig(memory_bytes=1 << 28, seconds=1)
    deep = b"<a>" * 200_000
    letter = plants.with_part(plants.letter(), "word/x.xml", deep)
    refusal = mask_bytes(letter, "a.docx", masker(), config).report.refusal
    assert refusal in {Refusal.BROKEN, Refusal.CRASHED, Refusal.INFLATES}


@pytest.mark.parametrize("part", ["docProps/thumbnail.jpeg", "xl/metadata"])
def test_what_shows_the_first_page_or_is_encrypted_is_dropped(part: str) -> None:
    letter = plants.with_part(plants.letter(), part, b"\xff\xd8\xff")
    masked = mask_bytes(letter, "a.docx", masker())
    assert masked.report.refusal is None
    assert part not in zipfile.ZipFile(io.BytesIO(masked.data)).namelist()
    assert Document(io.BytesIO(masked.data)).paragraphs


def test_an_address_between_angle_brackets_is_no_tag_of_a_page() -> None:
    page = b"<html><p>From: <m.thornquist@corpmail.com><br>See <https://h.orlo.example/iv></p>"
    masked = mask_bytes(page, "mail.html", masker())
    assert masked.report.refusal is None
    assert b"thornquist" not in masked.data
    assert masked.data.startswith(b"<html><p>From: <")
    assert masked.data.count(b"<") == page.count(b"<")
