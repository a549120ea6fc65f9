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
from anonymization.documents.document import _MaskedDocument, mask_bytes
from tests.anonymization.documents.plants import PERSON
from tests.anonymization.text.masking.fakes import masker

WORDS = f"taken by {PERSON}"


def approved(data: bytes) -> DocumentConfig:
    return DocumentConfig(approvals=frozenset({hashlib.sha256(data).hexdigest()}), caption_model="")


def mask(data: bytes, name: str, config: DocumentConfig | None = None) -> _MaskedDocument:
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
    result = Image.Exif()
    result[0x013B] = WORDS  # Artist
    return result.tobytes()


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


def png_chunk(kind: bytes, content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + kind + content + b"crc4"


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + (len(content) + 2).to_bytes(2, "big") + content


def riff(*chunks: bytes) -> bytes:
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + len(body).to_bytes(4, "little") + body


def webp_chunk(kind: bytes, content: bytes) -> bytes:
    padding = b"\0" * (len(content) % 2)
    return kind + len(content).to_bytes(4, "little") + content + padding


JFIF = segment(0xE0, b"JFIF\0" + bytes(9))
SCAN = segment(0xDA, b"scan") + b"\x01\xff\x00\xff\xd3\x02\xff"
GIF_HEAD = b"GIF89a" + bytes([8, 0, 8, 0])
PALETTE = bytes(range(12))  # four colours: flags 0x81
FRAME = b"\x2c" + bytes(8) + b"\x00\x02" + b"\x03abc\x00"
FRAME_OWN = b"\x2c" + bytes(8) + b"\x80" + bytes(6) + b"\x02" + b"\x01a\x02bc\x00"
CONTROL = b"\x21\xf9\x04abcd\x00"
LOOP = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
COMMENT = b"\x21\xfe\x04Ada \x03Lov\x00"
STRIPPED = [
    (
        b"\x89PNG\r\n\x1a\n",
        [(True, png_chunk(b"IHDR", b"size")), (False, png_chunk(b"tEXt", b"Ada Lovelace")),
         (True, png_chunk(b"IDAT", b"pixels")), (False, png_chunk(b"eXIf", b"")),
         (True, png_chunk(b"IEND", b"")), (False, b"Ada Lovelace")],
    ),
    (
        b"\xff\xd8",
        [(True, JFIF), (False, segment(0xE0, b"JFIF\0" + bytes(10))),
         (False, segment(0xE0, b"JFXX\0" + bytes(9))), (False, segment(0xE1, b"Exif")),
         (False, segment(0xEF, b"x")), (False, segment(0xFE, b"Ada")), (False, b"\xff\xff"),
         (True, segment(0xEE, b"Adobe")), (False, segment(0xEE, b"Ada")),
         (True, segment(0xDB, b"table")), (True, segment(0xC0, b"")), (True, SCAN), (True, SCAN),
         (True, b"\xff\xd9"), (False, b"Ada Lovelace")],
    ),
    (
        GIF_HEAD + b"\x81\x00\x00" + PALETTE,
        [(True, LOOP), (True, CONTROL), (False, COMMENT), (True, FRAME), (True, FRAME_OWN),
         (False, b"\x21\xff\x0bXMP DataXMP\x03Ada\x00"), (False, b"\x21\x01\x01x\x00"),
         (True, b";"), (False, b"Ada Lovelace")],
    ),
    (GIF_HEAD + b"\x00\x00\x00", [(True, FRAME), (True, b";")]),
]  # fmt: skip


@pytest.mark.parametrize(("head", "parts"), STRIPPED, ids=["png", "jpeg", "gif", "gif bare"])
def test_the_parts_that_show_the_picture_are_kept_byte_for_byte(
    head: bytes, parts: list[tuple[bool, bytes]]
) -> None:
    data = head + b"".join(part for _, part in parts)
    kept = head + b"".join(part for is_kept, part in parts if is_kept)
    masked = mask(data, "a.bin", approved(data))
    assert (masked.data, masked.report.refusal) == (kept, None)


@pytest.mark.parametrize("head", [head for head, _ in STRIPPED], ids=["png", "jpeg", "gif", "bare"])
def test_a_picture_without_its_end_is_refused(head: bytes) -> None:
    parts = next(parts for start, parts in STRIPPED if start == head)
    whole = head + b"".join(part for is_kept, part in parts if is_kept)
    assert mask(whole, "a.bin", approved(whole)).data == whole
    for size in range(len(head) + 1, len(whole)):
        data = whole[:size]
        assert mask(data, "a.bin", approved(data)).report.refusal is Refusal.BROKEN


def test_a_webp_loses_profile_and_metadata_and_says_so_in_its_flags() -> None:
    flags = webp_chunk(b"VP8X", b"\x3e" + bytes(9))
    pixels = webp_chunk(b"VP8 ", b"odd")
    dropped = [webp_chunk(kind, b"Ada Lovelace!") for kind in (b"EXIF", b"XMP ", b"ICCP")]
    data = riff(flags, dropped[2], pixels, dropped[0], pixels, dropped[1])
    kept = riff(webp_chunk(b"VP8X", b"\x12" + bytes(9)), pixels, pixels)
    for given in (data, data + b"Ada Lovelace"):
        masked = mask(given, "a.webp", approved(given))
        assert (masked.data, masked.report.refusal) == (kept, None)
    cut = data[:-1]
    assert mask(cut, "a.webp", approved(cut)).report.refusal is Refusal.BROKEN


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xd8\xff" + JFIF[1:] + b"\x00\xd9",
        b"\xff\xd8" + b"\xff\xdb\x00\x01" + b"\xff\xd9",
        GIF_HEAD + b"\x00\x00\x00" + b"\x00;",
    ],
    ids=["no marker", "segment shorter than its length", "no block"],
)
def test_a_picture_with_a_part_of_no_kind_is_refused(data: bytes) -> None:
    assert mask(data, "a.bin", approved(data)).report.refusal is Refusal.BROKEN


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
        pdf(SCANNED + shown(f"Signed by {PERSON}"), attached=b"notes"),
        pdf(shown("Figures"), attached=WORDS.encode()),
        pdf(SCANNED, author=PERSON),
    ],
    ids=["page and attachment", "attachment", "scan"],
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


SILENCE = b"RIFF\x24\x10\0\0WAVEfmt \x10\0\0\0" + bytes(4096)
FILM = b"\0\0\0\x18ftypmp42" + bytes(4096)
SONG = b"ID3\x03\0\0" + bytes(4096)


@pytest.mark.parametrize(
    ("data", "name"), [(SILENCE, "call.wav"), (FILM, "clip.mp4"), (SONG, "song.mp3")]
)
def test_sound_and_film_are_released_as_pictures_are(data: bytes, name: str) -> None:
    """Approved they stay as they are, else they are refused; a name inside them refuses them."""
    assert mask(data, name).report.refusal is Refusal.NOT_APPROVED
    assert mask(data, name, approved(data)).data == data
    tagged = data + WORDS.encode()
    assert mask(tagged, name, approved(tagged)).report.refusal is Refusal.TEXT_LAYER
