"""The planted workbook: what openpyxl can write. The rest: `sheets_raw`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image
from openpyxl.formatting.rule import Rule
from openpyxl.packaging.relationship import Relationship
from openpyxl.styles import PatternFill
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.workbook.external_link.external import (
    ExternalBook,
    ExternalLink,
    ExternalSheetNames,
)
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.worksheet import Worksheet

from tests.challenge.plants.model import Bed, Kind, Plant
from tests.challenge.plants.package import Package, png
from tests.challenge.plants.repeated import repeated
from tests.challenge.plants.sheets_raw import finish
from tests.challenge.plants.values import card, company_code, password, resident_id


def build_sheets(out: Path) -> list[Plant]:
    """One workbook; its name is a plant as well."""
    name = "Martin Ashdown"
    bed = Bed(out / f"Expense claim {name} 2024-11.xlsx", "xlsx")
    bed.put("file name", Kind.PERSON, name, "Expense claim {} 2024-11.xlsx")
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Orders"
    _cells(bed, sheet)
    _columns(bed, sheet)
    _notes(bed, sheet)
    _rules(bed, sheet)
    _hidden(bed, book)
    _names(bed, book)
    _pictures(bed, sheet)
    _properties(bed, book)
    buffer = io.BytesIO()
    book.save(buffer)
    package = Package(buffer.getvalue())
    finish(bed, package)
    bed.path.write_bytes(package.save())
    return bed.plants


def _cells(bed: Bed, sheet: Worksheet) -> None:
    put = bed.put
    sheet["A1"] = put("cell", Kind.PERSON, "Catherine Holloway", "Please return the form to {}.")
    sheet["A2"] = put(
        "cell, Chinese", Kind.PHONE, "13867241905", "请致电王经理，手机{}，工作日有效。"
    )
    sheet["A3"] = "RICH"
    sheet["A4"] = put(
        "formula literal",
        Kind.EMAIL,
        "j.pemberton@harcourtmills.com",
        '=IF(B2>0,"write to {} about the late fee","")',
    )
    sheet["A5"] = '=CONCATENATE("Card on file: ",B6)'
    sheet["A6"] = repeated(bed, "cell, repeated value")
    sheet["A7"] = put(
        "cell with line breaks",
        Kind.ADDRESS,
        "27 Larkspur Terrace, Bristol BS6 5QF",
        "Deliver to:\n{}\nleave with the neighbour if out.",
    )
    sheet["A8"] = put(
        "cell, no blanks", Kind.PERSON, "陈思远", "联系人：{}（财务部），转账前请先确认"
    )


def _columns(bed: Bed, sheet: Worksheet) -> None:
    rows: list[tuple[str | int, ...]] = [
        ("姓名", "手机号", "身份证号", "Passport no."),
        (
            bed.put("column of names", Kind.PERSON, "欧阳若琳", contextual=True),
            int(bed.put("cell stored as a number", Kind.PHONE, "15921846037", contextual=True)),
            bed.put(
                "cell stored as text",
                Kind.NATIONAL_ID,
                resident_id("33010619880914275"),
                contextual=True,
            ),
            bed.put("labelled column", Kind.PASSPORT, "E48213907", contextual=True),
        ),
    ]
    for line, row in enumerate(rows, start=12):
        for column, value in enumerate(row, start=1):
            sheet.cell(line, column, value)


def _notes(bed: Bed, sheet: Worksheet) -> None:
    text = bed.put(
        "comment", Kind.BANK_CARD, card("622202400113752904"), "报销款请打到工行卡{}，谢谢。"
    )
    author = bed.put("comment author", Kind.PERSON, "Philip Garrow")
    sheet["B2"] = 12
    sheet["B2"].comment = Comment(text, author)
    sheet["B3"] = "timesheet"
    sheet["B3"].hyperlink = Hyperlink(
        ref="B3",
        target=bed.put(
            "hyperlink target",
            Kind.EMAIL,
            "louisa.trent@pinefieldlegal.co.uk",
            "mailto:{}?subject=timesheet",
        ),
        tooltip=bed.put("hyperlink tooltip", Kind.PERSON, "Louisa Trent", "Send a mail to {}"),
    )
    # The stubs call the margins optional; a new sheet has them all.
    page: Any = sheet
    page.oddHeader.center.text = bed.put(
        "page header", Kind.PERSON, "Gerald Thornbury", "Prepared by {} for the audit committee"
    )
    page.evenFooter.left.text = bed.put(
        "footer of even pages", Kind.PHONE, "+44 7700 900318", "Questions? Call {} any time"
    )
    page.oddFooter.right.text = bed.put(
        "page footer", Kind.EMAIL, "audit.desk@thornburyco.com", "Mail {}"
    )


def _rules(bed: Bed, sheet: Worksheet) -> None:
    people = bed.put(
        "validation list",
        Kind.PERSON,
        "Dominic Farrell",
        '"{},Finance team,Nobody"',
        contextual=False,
    )
    rule = DataValidation(type="list", formula1=people, allow_blank=True)
    rule.promptTitle = "Approver"
    rule.prompt = bed.put(
        "validation prompt", Kind.PHONE, "(202) 555-0147", "Not sure? Ring Dominic at {}."
    )
    rule.errorTitle = "Unknown approver"
    rule.error = bed.put(
        "validation error", Kind.EMAIL, "approvals@farrellgroup.org", "Write to {} to be added."
    )
    sheet.add_data_validation(rule)
    rule.add("C2:C9")
    formula = bed.put(
        "conditional format formula", Kind.PERSON, "Vanessa Kirkbride", '$A2="paid to {}"'
    )
    fill = DifferentialStyle(fill=PatternFill("solid", bgColor="FFEEAA"))
    sheet.conditional_formatting.add("A2:A9", Rule("expression", formula=[formula], dxf=fill))


def _hidden(bed: Bed, book: Workbook) -> None:
    sheet = book.worksheets[0]
    sheet["A30"] = bed.put(
        "hidden row", Kind.SECRET, password("row"), "admin login for the portal, password: {}"
    )
    sheet.row_dimensions[30].hidden = True
    sheet["H2"] = bed.put(
        "hidden column", Kind.PERSON_NUMBER, "EMP-0048213", "Employee number {} (on leave)"
    )
    sheet.column_dimensions["H"].hidden = True
    hidden = book.create_sheet("Lookup")
    hidden["A1"] = bed.put("hidden sheet", Kind.PERSON, "Rebecca Langley", "Salary of {}: 61,200")
    hidden.sheet_state = "hidden"
    deep = book.create_sheet("Config")
    deep["B7"] = bed.put(
        "very hidden sheet",
        Kind.COMPANY_CODE,
        company_code("310115", "MA1K4Q7T"),
        "开票资料：统一社会信用代码{}，电话另附",
    )
    deep.sheet_state = "veryHidden"
    named = bed.put("sheet name", Kind.PERSON, "Janet Crosby", "Payslip {}")
    book.create_sheet(named)["A1"] = "Gross"


def _names(bed: Bed, book: Workbook) -> None:
    constant = bed.put(
        "defined name, constant", Kind.PERSON, "Howard Penrose", '"Signed off by {}"'
    )
    book.defined_names["SignOff"] = DefinedName("SignOff", attr_text=constant)
    title = bed.put("defined name, its own name", Kind.PHONE, "13950718264", "Tel_{}")
    comment = bed.put(
        "defined name, comment", Kind.PERSON, "Alison Redfern", "Ask {} before changing this"
    )
    name = DefinedName(title, attr_text="Orders!$B$2", comment=comment)
    book.defined_names[title] = name
    path = bed.put(
        "external link path",
        Kind.USER_PATH,
        "hwexcombe",
        "file:///C:\\Users\\{}\\Documents\\budget.xlsx",
    )
    sheets = ExternalSheetNames(sheetName=("Plan",))
    link = ExternalLink(externalBook=ExternalBook(id="rId1", sheetNames=sheets))
    link.file_link = Relationship(
        "rId1", type="externalLinkPath", Target=path, TargetMode="External"
    )
    # The stub knows the loaded form only.
    book._external_links.append(link)  # type: ignore[attr-defined]


def _pictures(bed: Bed, sheet: Worksheet) -> None:
    text = bed.put(
        "picture metadata", Kind.PERSON, "Frances Oakley", "Photo taken by {} at the site visit"
    )
    sheet.add_image(Image(io.BytesIO(png(text))), "J2")
    chart = BarChart()
    chart.title = bed.put(
        "chart title", Kind.PERSON, "Stephen Wakefield", "Commission of {} by quarter"
    )
    sheet["F1"], sheet["F2"], sheet["F3"] = "Q", 3, 5
    chart.add_data(Reference(sheet, min_col=6, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "J12")


def _properties(bed: Bed, book: Workbook) -> None:
    core = book.properties
    core.creator = bed.put("core properties: author", Kind.PERSON, "Nicholas Brandreth")
    core.lastModifiedBy = bed.put("core properties: last modified by", Kind.PERSON, "Yvonne Castle")
    core.title = bed.put(
        "core properties: title", Kind.PERSON, "Amelia Stratton", "Severance terms for {}"
    )
    core.description = bed.put(
        "core properties: comments",
        Kind.PHONE,
        "020 7946 0821",
        "Version agreed by telephone on {} last Monday",
    )
