"""The planted text document: what python-docx can write. The rest: `document_raw`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import docx

from tests.challenge.plants.document_raw import finish
from tests.challenge.plants.model import Bed, Kind, Plant
from tests.challenge.plants.package import Package, png
from tests.challenge.plants.repeated import repeated
from tests.challenge.plants.values import card, chat_token, resident_id


def build_document(out: Path) -> list[Plant]:
    """One document; its name is a plant as well."""
    name = "周慕云"
    bed = Bed(out / f"劳动合同-{name}-2024.docx", "docx")
    bed.put("file name", Kind.PERSON, name, "劳动合同-{}-2024.docx")
    document = docx.Document()
    _body(bed, document)
    _table(bed, document)
    _margins(bed, document)
    _comment(bed, document)
    _picture(bed, document)
    _properties(bed, document)
    for mark in ("RAW-INLINE", "RAW-BLOCK"):
        document.add_paragraph(mark)
    buffer = io.BytesIO()
    document.save(buffer)
    package = Package(buffer.getvalue())
    finish(bed, package)
    bed.path.write_bytes(package.save())
    return bed.plants


def _body(bed: Bed, document: Any) -> None:
    put = bed.put
    document.add_heading(
        put("heading", Kind.PERSON, "Rosamund Keating", "Employment agreement with {}"), 1
    )
    name = put("name split over runs", Kind.PERSON, "Frederick Abernathy", contextual=True)
    paragraph = document.add_paragraph("This agreement is made with ")
    paragraph.add_run(name[:4])
    paragraph.add_run(name[4:13]).bold = True
    paragraph.add_run(name[13:])
    paragraph.add_run(", who lives in Leeds.")
    phone = put("number split over runs", Kind.PHONE, "18658827301", contextual=True)
    paragraph = document.add_paragraph("紧急联系人电话：")
    paragraph.add_run(phone[:3]).italic = True
    paragraph.add_run(phone[3:7])
    paragraph.add_run(phone[7:] + "，请勿外传。")
    hidden = document.add_paragraph().add_run(
        put(
            "hidden text",
            Kind.NATIONAL_ID,
            resident_id("44030519761203356"),
            "证件号码{}（仅内部）",
        )
    )
    hidden.font.hidden = True
    document.add_paragraph(
        put("list item", Kind.SECRET, chat_token("list"), "Post to the channel with token {}"),
        style="List Bullet",
    )
    document.add_paragraph(repeated(bed, "paragraph, repeated value"))


def _table(bed: Bed, document: Any) -> None:
    table = document.add_table(rows=3, cols=2)
    rows = (
        ("Home address", Kind.ADDRESS, "14 Coppice Lane, Harrogate HG2 8QT"),
        ("开户账号", Kind.BANK_CARD, card("622848038917264510")),
    )
    for line, (label, kind, value) in enumerate(rows):
        table.cell(line, 0).text = label
        table.cell(line, 1).text = bed.put(f"table cell {line + 1}", kind, value, contextual=True)
    inner = table.cell(2, 1).add_table(rows=1, cols=1)
    inner.cell(0, 0).text = bed.put(
        "table inside a table", Kind.PERSON, "Nigel Strickland", "Line manager: {}"
    )


def _margins(bed: Bed, document: Any) -> None:
    section = document.sections[0]
    section.different_first_page_header_footer = True
    section.header.paragraphs[0].text = bed.put(
        "header", Kind.PERSON, "Cordelia Marsh", "Confidential: for {} only"
    )
    section.first_page_header.paragraphs[0].text = bed.put(
        "header of the first page", Kind.PHONE, "0571-88316204", "咨询电话{}转人事部"
    )
    section.footer.paragraphs[0].text = bed.put(
        "footer", Kind.EMAIL, "hr.records@marshandvale.com", "Corrections to {} please"
    )


def _comment(bed: Bed, document: Any) -> None:
    document.add_comment(
        document.paragraphs[1].runs[0],
        text=bed.put(
            "comment", Kind.PERSON, "Winifred Dalton", "I spoke with {} and she does not agree."
        ),
        author=bed.put("comment author", Kind.PERSON, "Oliver Pendlebury"),
        initials="OP",
    )


def _picture(bed: Bed, document: Any) -> None:
    text = bed.put(
        "picture metadata", Kind.PHONE, "+44 7700 900476", "Scan of the passport, call {} if lost"
    )
    shape = document.add_picture(io.BytesIO(png(text)))
    details = shape._inline.docPr
    details.set(
        "descr", bed.put("alt text", Kind.PERSON, "Barbara Wetherby", "Signature of {} in blue")
    )
    details.set(
        "title",
        bed.put("alt text title", Kind.CASE_NUMBER, "（2023）浙0106民初4821号", "案号{}附件"),
    )


def _properties(bed: Bed, document: Any) -> None:
    core = document.core_properties
    core.author = bed.put("core properties: author", Kind.PERSON, "Hubert Lancing")
    core.last_modified_by = bed.put(
        "core properties: last modified by", Kind.PERSON, "Daphne Colgrave"
    )
    core.title = bed.put(
        "core properties: title", Kind.PERSON, "Simon Attenbury", "Dismissal letter to {}"
    )
    core.keywords = bed.put(
        "core properties: keywords",
        Kind.PERSON_NUMBER,
        "CUST-7730154",
        "customer no. {}, dismissal",
    )
