"""Names that programs write inside documents: of tables and styles, parameters of mails, fields."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.styles import NamedStyle
from openpyxl.worksheet.table import Table

from anonymization.documents.contracts import Refusal
from anonymization.documents.document import mask_bytes
from anonymization.text.contracts import EntityType
from anonymization.text.masking.pieces import Piece
from tests.anonymization.text.masking.fakes import masker

_SEVEN_BITS = "長谷川さん".encode("iso2022_jp")
PERSON = "Margaret Thornquist"


def test_names_of_tables_styles_and_number_formats_are_masked_with_their_references() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["item"])
    sheet.append([3])
    sheet.add_table(Table(displayName="Margaret_Thornquist", ref="A1:A2"))
    sheet["B1"] = "=SUM(Margaret_Thornquist[item])"
    sheet["A2"].number_format = f'0 "{PERSON}"'
    book.add_named_style(NamedStyle(name=PERSON))
    out = io.BytesIO()
    book.save(out)
    masked = mask_bytes(out.getvalue(), "a.xlsx", masker())
    assert masked.report.refusal is None
    with zipfile.ZipFile(io.BytesIO(masked.data)) as archive:
        assert all(b"Thornquist" not in archive.read(name) for name in archive.namelist())
    opened = load_workbook(io.BytesIO(masked.data)).active
    assert opened is not None
    (table,) = opened.tables
    assert opened["B1"].value == f"=SUM({table}[item])"


def test_an_amount_that_is_masked_elsewhere_is_no_place_in_a_theme() -> None:
    book, out = Workbook(), io.BytesIO()
    book.save(out)
    worker = masker()
    worker.learn([Piece("100000", kind=EntityType.UNEXPLAINED)])
    assert worker.mask_texts(["It was 100000."]) != ["It was 100000."]
    masked = mask_bytes(out.getvalue(), "a.xlsx", worker)
    with zipfile.ZipFile(io.BytesIO(masked.data)) as archive:
        assert b'pos="100000"' in archive.read("xl/theme/theme1.xml")


def test_boundaries_and_parameters_of_a_mail_are_masked() -> None:
    boundary = "Margaret_Thornquist"
    data = (
        "From: a@example.org\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="{boundary}"'
        f'\n\n--{boundary}\nContent-Type: text/plain; charset=utf-8; x-by="{PERSON}"\n\nwords\n'
        f"--{boundary}--\n"
    ).encode()
    masked = mask_bytes(data, "a.eml", masker())
    assert masked.report.refusal is None
    assert b"Thornquist" not in masked.data and b"words" in masked.data


def test_an_array_whose_field_is_somebody_is_refused() -> None:
    for name, refusal in (("weight", None), (PERSON, Refusal.PRIVATE_PART_NAME)):
        out = io.BytesIO()
        np.save(out, np.zeros(2, dtype=[(name, "f8")]))
        assert mask_bytes(out.getvalue(), "a.npy", masker()).report.refusal is refusal


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("欧阳明月".encode("gb18030"), "a.txt"),
        (b"Content-Type: text/plain; charset=us-ascii\n\n" + _SEVEN_BITS, "a.eml"),
    ],
)
def test_a_text_in_unsure_letters_is_refused_with_its_own_reason(data: bytes, name: str) -> None:
    report = mask_bytes(data, name, masker()).report
    assert report.refusal is Refusal.ENCODING_UNSURE
