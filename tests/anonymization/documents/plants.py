"""Office files and mail with private values in every place that the libraries can write."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from typing import Any

from docx import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

PERSON, OTHER = "Margaret Thornquist", "Ulrich Vandermeer"
MAIL, PHONE = "m.thornquist@corpmail.com", "13812345678"
REMAINS = ("thornquist", "vandermeer", "corpmail", "13812345678")
_HYPERLINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"


def workbook() -> bytes:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = PERSON
    for row in (["Name", "Phone", "Note"], [PERSON, int(PHONE), f"see {OTHER}"],
                [OTHER, PHONE, f'=CONCATENATE("Margaret ","Thornquist")&" {MAIL}"']):  # fmt: skip
        sheet.append(row)
    sheet["A2"].comment = Comment(f"spoke to {OTHER}, {MAIL}", OTHER)
    sheet["D5"] = f"='{PERSON}'!A2"
    sheet["C2"].hyperlink = f"mailto:{MAIL}"
    hidden = book.create_sheet("Hidden")
    hidden.sheet_state = "hidden"
    hidden["A1"] = f"{OTHER} {MAIL}"
    book.defined_names["contact"] = DefinedName("contact", attr_text=f'"{MAIL}"')
    assert sheet.oddHeader is not None and sheet.oddHeader.center is not None
    sheet.oddHeader.center.text = f"{PERSON} {MAIL}"
    book.properties.creator, book.properties.lastModifiedBy = PERSON, OTHER
    book.properties.keywords = MAIL
    choice = DataValidation(type="list", formula1=f'"{PERSON},{OTHER}"', prompt=f"mail {MAIL}")
    choice.add("A9")
    sheet.add_data_validation(choice)
    return _saved(book)


def letter() -> bytes:
    document = Document()
    paragraph = document.add_paragraph("by ")
    for part in ("Marg", "aret Thorn", "quist", ", m.thorn", "quist@corpmail.com"):
        paragraph.add_run(part).bold = part == "Marg"
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = OTHER, MAIL
    document.sections[0].header.paragraphs[0].text = f"by {PERSON}"
    document.sections[0].footer.paragraphs[0].text = MAIL
    core = document.core_properties
    core.author, core.last_modified_by, core.comments = PERSON, OTHER, f"ring {PHONE}"
    changed = document.add_paragraph("for ")
    changed._p.append(_change("w:del", "w:delText", OTHER))
    changed._p.append(_change("w:ins", "w:t", PERSON))
    field = OxmlElement("w:instrText")
    field.text = f' HYPERLINK "mailto:{MAIL}" '
    document.add_paragraph().add_run()._r.append(field)
    document.part.relate_to(f"mailto:{MAIL}", _HYPERLINK, is_external=True)
    document.add_comment(paragraph.runs, text=f"ask {PERSON}", author=OTHER, initials="UV")
    return _saved(document)


def _change(kind: str, text_kind: str, text: str) -> Any:
    change, run, inner = OxmlElement(kind), OxmlElement("w:r"), OxmlElement(text_kind)
    change.set(qn("w:author"), OTHER)
    change.set(qn("w:id"), "7")
    inner.text = text
    run.append(inner)
    change.append(run)
    return change


def slides() -> bytes:
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = PERSON
    slide.placeholders[1].text = f"mail {MAIL}\n{OTHER}"
    slide.notes_slide.notes_text_frame.text = f"ring {OTHER} on {PHONE}"
    data: Any = CategoryChartData()
    data.categories = [PERSON, OTHER]
    data.add_series(MAIL, (1, 2))
    position = Inches(1), Inches(1), Inches(4), Inches(3)
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *position, data)
    slide.shapes.add_table(1, 1, *position).table.cell(0, 0).text = PERSON
    slide.shapes[0].name = f"Box of {PERSON}"
    show.core_properties.author = OTHER
    show.slide_masters[0].shapes[0].text_frame.text = OTHER
    return _saved(show)


def mail() -> bytes:
    message = EmailMessage()
    message["From"] = f"{PERSON} <{MAIL}>"
    message["To"] = "陈思远 <siyuan@corpmail.com>"
    message["Subject"] = f"Größe für {OTHER}"
    message["X-Sender"] = MAIL
    message.set_content(f"Hello,\n\nring {OTHER} on {PHONE}.\n")
    message.add_alternative(f"<p>by <b>Ulrich</b> Vandermeer<!-- {MAIL} --></p>", subtype="html")
    message.add_attachment(workbook(), maintype="application", subtype="vnd.ms-excel",
                           filename="Margaret_Thornquist_list.xlsx")  # fmt: skip
    message.add_attachment(f"a,b\n{OTHER},{MAIL}\n", subtype="csv", filename=f"{OTHER}.csv")
    return message.as_bytes()


def _saved(thing: object) -> bytes:
    out = io.BytesIO()
    thing.save(out)  # type: ignore[attr-defined]
    return out.getvalue()


def with_part(package: bytes, name: str, content: bytes) -> bytes:
    """The package with one part more, or another content of it."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(package)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
        new.writestr(name, content)
    return out.getvalue()
