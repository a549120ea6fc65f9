"""Pictures and PDFs: released only as approved, without metadata, never with private text."""

from __future__ import annotations

import hashlib
import io

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject

from anonymization.documents.contracts import DocumentConfig, Refusal
from anonymization.documents.document import MaskedDocument, mask_bytes
from tests.anonymization.documents.plants import PERSON
from tests.anonymization.text.masking.fakes import masker

WORDS = f"taken by {PERSON}"


def approved(data: bytes) -> DocumentConfig:
    return DocumentConfig(approvals=frozenset({hashlib.sha256(data).hexdigest()}), caption_model="")


def mask(data: bytes, name: str, config: DocumentConfig | None = None) -> MaskedDocument:
    return mask_bytes(data, name, masker(), config or DocumentConfig(caption_model=""))


def saved(kind: str, **settings: object) -> bytes:
    picture = Image.radial_gradient("L").resize((40, 30)).convert("RGB")
    out = io.BytesIO()
    picture.save(out, kind, **settings)
    return out.getvalue()


def png() -> bytes:
    chunks = PngInfo()
    chunks.add_text("Author", WORDS)
    chunks.add_itxt("Description", WORDS, zip=True)
    return saved("PNG", pnginfo=chunks, exif=exif()) + WORDS.encode()


def exif() -> bytes:
    told = Image.Exif()
    told[0x013B] = WORDS  # Artist
    return told.tobytes()


def gif() -> bytes:
    frames = [Image.new("P", (8, 8), colour) for colour in (1, 2)]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], loop=0, comment=WORDS)
    return out.getvalue()


PICTURES = {
    "a.png": png(),
    "a.jpg": saved("JPEG", comment=WORDS.encode(), exif=exif(), progressive=True) + WORDS.encode(),
    "a.gif": gif(),
    "a.webp": saved("WEBP", exif=exif()),
}


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_an_approved_picture_loses_its_metadata_and_no_pixel(name: str) -> None:
    data = PICTURES[name]
    assert PERSON.encode() in data
    assert mask(data, name).report.refusal is Refusal.NOT_APPROVED
    masked = mask(data, name, approved(data))
    assert masked.report.refusal is None
    assert PERSON.encode() not in masked.data and b"Artist" not in masked.data
    with Image.open(io.BytesIO(data)) as old, Image.open(io.BytesIO(masked.data)) as new:
        assert getattr(new, "n_frames", 1) == getattr(old, "n_frames", 1)
        assert new.convert("RGB").tobytes() == old.convert("RGB").tobytes()
        assert dict(new.getexif()) == {}


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_picture_that_is_cut_off_is_refused(name: str) -> None:
    data = PICTURES[name][:70]
    assert mask(data, name, approved(data)).report.refusal is Refusal.BROKEN


def test_a_picture_that_cannot_be_stripped_must_read_clean() -> None:
    clean, private = saved("TIFF"), saved("TIFF", description=WORDS)
    assert mask(clean, "a.tiff", approved(clean)).data == clean
    assert mask(private, "a.tiff", approved(private)).report.refusal is Refusal.TEXT_LAYER


def pdf(drawn: bytes = b"", author: str = "", attached: bytes = b"") -> bytes:
    writer = PdfWriter()
    page = writer.add_blank_page(200, 200)
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font")})
    font[NameObject("/Subtype")] = NameObject("/Type1")
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    stream = StreamObject()
    stream.set_data(drawn)
    page[NameObject("/Contents")] = writer._add_object(stream)
    if author:
        writer.add_metadata({"/Author": author})
    if attached:
        writer.add_attachment("notes.txt", attached)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def shown(text: str) -> bytes:
    return f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()


SCANNED = b"q 1 0 0 1 0 0 cm\n" + b"0 0 m 10 10 l S\n" * 9 + b"Q"


def test_a_pdf_whose_text_is_clean_is_admitted_as_it_is() -> None:
    data = pdf(shown("Figures for the third quarter"))
    assert mask(data, "a.pdf").data == data


@pytest.mark.parametrize(
    "data",
    [
        pdf(shown(f"Signed by {PERSON}")),
        pdf(shown("Figures"), author=PERSON),
        pdf(shown("Figures"), attached=WORDS.encode()),
    ],
    ids=["page", "metadata", "attachment"],
)
def test_a_pdf_with_private_text_is_refused_even_if_approved(data: bytes) -> None:
    assert mask(data, "a.pdf", approved(data)).report.refusal is Refusal.TEXT_LAYER


@pytest.mark.parametrize(
    "data",
    [pdf(SCANNED), pdf(shown("Figures"), attached=b"notes")],
    ids=["page without text", "attachment"],
)
def test_what_no_text_tells_of_needs_an_approval(data: bytes) -> None:
    assert mask(data, "a.pdf").report.refusal is Refusal.NOT_APPROVED
    assert mask(data, "a.pdf", approved(data)).data == data
