"""PDFs with private values: drawn anew with surrogates, and refused where that cannot be done."""

from __future__ import annotations

import io

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    NameObject,
    NumberObject,
    StreamObject,
)

from anonymization.documents.contracts import Refusal
from anonymization.documents.document import mask_bytes
from anonymization.documents.pdf_masking import replaced
from anonymization.documents.pdf_pages import read_pages
from tests.anonymization.documents.test_pdf_pages import LINE, NAME, PROSE, document, lines
from tests.anonymization.text.masking.fakes import masker


def test_a_name_is_replaced_and_the_rest_of_the_page_stays() -> None:
    data = document(lines(LINE + " " + PROSE))
    masked = mask_bytes(data, "minutes.pdf", masker())
    assert masked.report.refusal is None
    (before,), (after,) = read_pages(data), read_pages(masked.data)
    old, new = set(before.texts[0].split()), set(after.texts[0].split())
    assert old - new == set(NAME.split())
    assert len(new - old) == 2
    assert NAME.split()[1].encode() not in masked.data
    assert mask_bytes(data, "minutes.pdf", masker()).data == masked.data


def test_the_same_value_has_the_same_surrogate_in_a_text_and_in_a_pdf() -> None:
    worker = masker()
    note = mask_bytes(f"asked by {NAME}\n".encode(), "note.txt", worker).data.decode()
    masked = mask_bytes(document(lines(LINE)), "minutes.pdf", worker)
    (page,) = read_pages(masked.data)
    assert note.removeprefix("asked by ").strip() in page.texts[0]


@pytest.mark.parametrize(
    ("texts", "new"),
    [
        (["by Ann Lee on"], ["by Eve Fox on"]),
        (["by Ann", " ", "Lee", " on"], ["by Eve Fox", " ", "", " on"]),
        (["Ann ", "Lee, Ann Lee"], ["Eve Fox ", ", Eve Fox"]),
        (list("AnnLee!"), ["Eve Fox", "", "", "", "", "", "!"]),
        (["Anne Lee"], ["Anne Lee"]),
    ],
)
def test_a_value_may_be_drawn_in_several_pieces(texts: list[str], new: list[str]) -> None:
    assert replaced(texts, "Ann Lee", "Eve Fox") == new


def test_what_is_drawn_inside_a_form_cannot_be_masked() -> None:
    reader = PdfReader(io.BytesIO(document("/X1 Do " + " " * 80)))
    writer = PdfWriter(clone_from=reader)
    resources = writer.pages[0]["/Resources"].get_object()
    assert isinstance(resources, DictionaryObject)
    form = StreamObject()
    form.set_data(lines(LINE).encode())
    form.update(
        {
            NameObject("/Type"): NameObject("/XObject"),
            NameObject("/Subtype"): NameObject("/Form"),
            NameObject("/BBox"): ArrayObject(NumberObject(side) for side in (0, 0, 612, 792)),
            NameObject("/Resources"): resources,
        }
    )
    resources[NameObject("/XObject")] = DictionaryObject(
        {NameObject("/X1"): writer._add_object(form)}
    )
    out = io.BytesIO()
    writer.write(out)
    (page,) = read_pages(out.getvalue())
    assert NAME in page.texts[0]
    assert mask_bytes(out.getvalue(), "a.pdf", masker()).report.refusal is Refusal.TEXT_LAYER
