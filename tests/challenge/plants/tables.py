"""The planted tables: one in UTF-8, one with a mark and semicolons, UTF-16 and GB 18030."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from tests.challenge.plants.model import Bed, Kind, Plant
from tests.challenge.plants.repeated import repeated
from tests.challenge.plants.values import card, company_code, full_width, resident_id, token


def build_tables(out: Path) -> list[Plant]:
    """Four tables; the first one's name is a plant as well."""
    return [*_plain(out), *_semicolons(out), *_utf16(out), *_gb18030(out)]


def _plain(out: Path) -> list[Plant]:
    bed = Bed(out / "leads_13736184205.csv", "csv")
    put = bed.put
    put("file name", Kind.PHONE, "13736184205", "leads_{}.csv")
    wide = put("full-width digits", Kind.PHONE, "15068329741", contextual=True)
    long = put("digits in groups", Kind.BANK_CARD, card("622848001942733816"), contextual=True)
    address = put(
        "quoted cell over lines",
        Kind.ADDRESS,
        "58 Quarry Road, Sheffield S10 2LN",
        "Moved last year.\nNew address:\n{}\nring twice",
    )
    mail = put("JSON in a cell", Kind.EMAIL, "n.farraday@quarrystone.co.uk", '{"mail": "{}"}')
    rows = (
        (
            "Customer",
            put("header row", Kind.PERSON, "Lavender Crossley", "Remarks by {}"),
            "备注",
        ),
        (
            put("cell of a column", Kind.PERSON, "Alistair Dunmore", contextual=True),
            address,
            put("cell, no blanks", Kind.PERSON, "皇甫书瑶", "已与{}女士确认，下周签约"),
        ),
        (
            put("doubled quotes", Kind.PERSON, "Benedict Oxley", 'He said "ask {}" and hung up'),
            put("formula prefix", Kind.PHONE, "+44 7700 900857", '=HYPERLINK("tel:{}")'),
            f"手机：{full_width(wide)}",
        ),
        (
            put("at-sign prefix", Kind.PERSON, "Septimus Vickers", "@paid by {} in cash"),
            mail,
            "卡号 " + " ".join(long[start : start + 4] for start in range(0, len(long), 4)),
        ),
        (repeated(bed, "cell, repeated value"), "", ""),
    )
    bed.path.write_bytes(_table(rows, ",").encode())
    return bed.plants


def _semicolons(out: Path) -> list[Plant]:
    bed = Bed(out / "contacts.csv", "csv")
    put = bed.put
    rows = (
        ("Name", "Mobile", "Notiz"),
        (
            put("semicolons: name", Kind.PERSON, "Hildegard Stavers", contextual=True),
            put("semicolons: number", Kind.PHONE, "+49 171 5550 8231", contextual=True),
            put("semicolons: cell with commas", Kind.PERSON, "Leopoldine Hurst", "a, b, {}, c"),
        ),
        (
            put("minus prefix", Kind.PHONE, "19856407312", "-{}"),
            "",
            put("path in a cell", Kind.USER_PATH, "cassian.hythe", r"C:\Users\{}\leads\q3.csv"),
        ),
        ("", "", put("token in a cell", Kind.SECRET, token("csv", 40), "api_key={}")),
    )
    # The mark stands before the first heading, as spreadsheets write it.
    bed.path.write_bytes(_table(rows, ";").encode("utf-8-sig"))
    return bed.plants


def _utf16(out: Path) -> list[Plant]:
    bed = Bed(out / "export.csv", "csv")
    put = bed.put
    code = resident_id("61010219820417338")
    rows = (
        ("姓名", "证件号", "Comment"),
        (
            put("UTF-16: name", Kind.PERSON, "上官若水", contextual=True),
            put("UTF-16: number", Kind.NATIONAL_ID, code, contextual=True),
            put("UTF-16: sentence", Kind.PERSON, "Peregrine Yardley", "Spoke with {} at length."),
        ),
    )
    bed.path.write_bytes("\ufeff".encode("utf-16-le") + _table(rows, "\t").encode("utf-16-le"))
    return bed.plants


def _gb18030(out: Path) -> list[Plant]:
    bed = Bed(out / "供应商.csv", "csv")
    put = bed.put
    rows = (
        ("公司", "信用代码", "联系人"),
        (
            put("GB 18030: company", Kind.ORGANIZATION, "绍兴越岚纺织品有限公司", contextual=True),
            put(
                "GB 18030: code",
                Kind.COMPANY_CODE,
                company_code("330602", "MA2B7T4N"),
                contextual=True,
            ),
            put("GB 18030: name", Kind.PERSON, "夏侯明轩", "{}（采购部经理）"),
        ),
    )
    bed.path.write_bytes(_table(rows, ",").encode("gb18030"))
    return bed.plants


def _table(rows: Sequence[Sequence[str]], mark: str) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=mark).writerows(rows)
    return buffer.getvalue()
