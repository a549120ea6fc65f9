"""PDFs with private values: drawn anew with surrogates, and refused where that cannot be done."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    NameObject,
    NumberObject,
    PdfObject,
    StreamObject,
    TextStringObject,
)

from anonymization.documents.contracts import Refusal
from anonymization.documents.document import mask_bytes
from anonymization.documents.pdf import _replaced
from anonymization.pdf_pages import read_pages
from tests.anonymization.test_pdf_pages import LINE, NAME, PROSE, document, lines
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
    assert _replaced(texts, "Ann Lee", "Eve Fox") == new


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


def _named(**values: PdfObject) -> DictionaryObject:
    return DictionaryObject({NameObject(f"/{name}"): value for name, value in values.items()})


def _in_list(writer: PdfWriter) -> None:
    options = ArrayObject([TextStringObject(NAME), TextStringObject("other")])
    field = writer._add_object(_named(FT=NameObject("/Ch"), Opt=options))
    writer.root_object[NameObject("/AcroForm")] = _named(Fields=ArrayObject([field]))


def _in_a_dictionary_within(writer: PdfWriter) -> None:
    writer.pages[0][NameObject("/MK")] = _named(CA=TextStringObject(NAME))


def _stream(writer: PdfWriter, text: str) -> PdfObject:
    stream = StreamObject()
    stream.set_data(text.encode())
    return writer._add_object(stream)


def _in_a_form_of_xml(writer: PdfWriter) -> None:
    form = _stream(writer, f"<form>{NAME}</form>")
    writer.root_object[NameObject("/AcroForm")] = _named(XFA=form)


def _in_what_a_stamp_draws(writer: PdfWriter) -> None:
    first, last = NAME.split()
    drawn = _stream(writer, f"BT /F1 9 Tf [({first} {last[:3]}) -20 ({last[3:]})] TJ ET")
    writer.pages[0][NameObject("/Stamp")] = _named(AP=_named(N=drawn))


def _in_a_comment_of_what_is_drawn(writer: PdfWriter) -> None:
    writer.pages[0][NameObject("/Contents")] = _stream(writer, lines(PROSE) + f"\n% by {NAME}\n")


def _in_place_of_what_is_drawn(writer: PdfWriter) -> None:
    marked = f"/Span <</ActualText ({NAME})>> BDC\n{lines(PROSE)}\nEMC"
    writer.pages[0][NameObject("/Contents")] = _stream(writer, marked)


def _in_place_of_what_is_drawn_in_digits(writer: PdfWriter) -> None:
    digits = ("\ufeff" + NAME).encode("utf-16-be").hex()
    marked = f"/Span <</ActualText <{digits}>>> BDC\n{lines(PROSE)}\nEMC"
    writer.pages[0][NameObject("/Contents")] = _stream(writer, marked)


@pytest.mark.parametrize(
    "put",
    [
        _in_a_comment_of_what_is_drawn,
        _in_place_of_what_is_drawn,
        _in_place_of_what_is_drawn_in_digits,
    ],
)
def test_what_a_page_holds_but_does_not_show_is_refused(put: Callable[[PdfWriter], None]) -> None:
    writer = PdfWriter(io.BytesIO(document(lines(PROSE))))
    put(writer)
    out = io.BytesIO()
    writer.write(out)
    report = mask_bytes(out.getvalue(), "minutes.pdf", masker()).report
    assert report.refusal is Refusal.TEXT_LAYER


def _field(writer: PdfWriter, value: str, drawn: str) -> None:
    """A form with one field of text, and how its value was drawn last."""
    resources = writer.pages[0]["/Resources"]
    form = StreamObject()
    form.set_data(f"BT /F1 12 Tf 2 5 Td {drawn} Tj ET".encode("latin-1"))
    form.update(
        _named(
            Type=NameObject("/XObject"),
            Subtype=NameObject("/Form"),
            BBox=ArrayObject(NumberObject(side) for side in (0, 0, 300, 20)),
            Resources=resources,
        )
    )
    box = ArrayObject(NumberObject(side) for side in (50, 100, 350, 120))
    field = writer._add_object(
        _named(
            Type=NameObject("/Annot"),
            Subtype=NameObject("/Widget"),
            FT=NameObject("/Tx"),
            F=NumberObject(4),
            V=TextStringObject(value),
            Rect=box,
            AP=_named(N=writer._add_object(form)),
        )
    )
    writer.pages[0][NameObject("/Annots")] = ArrayObject([field])
    writer.root_object[NameObject("/AcroForm")] = _named(Fields=ArrayObject([field]))


@pytest.mark.parametrize("drawn", [f"({NAME})", f"<{NAME.encode().hex()}>"])
def test_a_filled_field_does_not_keep_its_old_value_in_how_it_was_drawn(drawn: str) -> None:
    writer = PdfWriter(io.BytesIO(document(lines(PROSE))))
    _field(writer, NAME, drawn)
    out = io.BytesIO()
    writer.write(out)
    assert any(NAME in text for text in next(read_pages(out.getvalue())).texts)
    masked = mask_bytes(out.getvalue(), "form.pdf", masker())
    assert masked.report.refusal is None
    annotations = PdfReader(io.BytesIO(masked.data)).pages[0].annotations
    assert annotations is not None
    field = annotations[0].get_object()
    assert isinstance(field, DictionaryObject)
    assert "/AP" not in field
    assert str(field["/V"]) != NAME
    assert NAME.split()[1].encode() not in masked.data
    assert NAME.encode().hex().encode() not in masked.data


def test_what_nothing_refers_to_and_comments_of_the_file_are_not_released() -> None:
    plain = document(lines(PROSE))
    assert mask_bytes(plain, "minutes.pdf", masker()).data == plain
    writer = PdfWriter(io.BytesIO(plain))
    _stream(writer, f"kept by {NAME}")
    out = io.BytesIO()
    writer.write(out)
    commented = plain.replace(b"endobj", b"endobj\n% kept by " + NAME.encode() + b"\n", 1)
    for data in (out.getvalue(), commented):
        assert NAME.encode() in data
        masked = mask_bytes(data, "minutes.pdf", masker())
        assert masked.report.refusal is None
        assert NAME.encode() not in masked.data


@pytest.mark.parametrize("page", [LINE, PROSE], ids=["page too", "nowhere else"])
@pytest.mark.parametrize(
    ("put", "refusal"),
    [
        (_in_list, None),
        (_in_a_dictionary_within, None),
        (_in_a_form_of_xml, Refusal.TEXT_LAYER),
        (_in_what_a_stamp_draws, Refusal.TEXT_LAYER),
    ],
)
def test_a_value_beside_the_pages_is_masked_or_refused(
    put: Callable[[PdfWriter], None], refusal: Refusal | None, page: str
) -> None:
    writer = PdfWriter(io.BytesIO(document(lines(page))))
    put(writer)
    out = io.BytesIO()
    writer.write(out)
    assert NAME.split()[0].encode() in out.getvalue()
    masked = mask_bytes(out.getvalue(), "minutes.pdf", masker())
    assert masked.report.refusal is refusal
    assert NAME.split()[0].encode() not in masked.data


def test_what_a_later_revision_replaced_is_not_released() -> None:
    first = document(lines(LINE))
    content = lines(PROSE).encode()
    start, before = len(first) + 1, first.rindex(b"xref\n0 6")
    changed = b"\n4 0 obj<</Length %d>>stream\n%s\nendstream endobj\n" % (len(content), content)
    table = b"xref\n4 1\n%010d 00000 n \ntrailer<</Size 6/Root 1 0 R/Prev %d>>\n" % (start, before)
    data = first + changed + table + b"startxref\n%d\n%%%%EOF" % len(first + changed)
    masked = mask_bytes(data, "minutes.pdf", masker())
    assert masked.report.refusal is None
    assert [page.texts for page in read_pages(masked.data)] == [
        page.texts for page in read_pages(data)
    ]
    assert NAME.encode() not in masked.data


def test_whoever_wrote_an_annotation_is_masked_though_no_rule_knows_the_login() -> None:
    writer = PdfWriter(io.BytesIO(document(lines(PROSE))))
    note = DictionaryObject({
        NameObject("/Type"): NameObject("/Annot"),
        NameObject("/Subtype"): NameObject("/Text"),
        NameObject("/T"): TextStringObject("kwexleyb"),
        NameObject("/Contents"): TextStringObject("ok"),
        NameObject("/Rect"): ArrayObject([NumberObject(n) for n in (10, 10, 30, 30)]),
    })  # fmt: skip
    writer.add_annotation(0, note)
    out = io.BytesIO()
    writer.write(out)
    assert b"kwexleyb" in out.getvalue()
    masked = mask_bytes(out.getvalue(), "minutes.pdf", masker())
    assert masked.report.refusal is None
    assert b"kwexleyb" not in masked.data
